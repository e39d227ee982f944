//! One source file: checked, and read for what it imports, exports and uses of its imports. What comes out owns its
//! text and knows nothing of other files.

use std::collections::{HashMap, HashSet};

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    BindingIdentifier, Declaration, ExportDefaultDeclarationKind, Expression, ImportDeclarationSpecifier,
    ModuleExportName, Program, Statement,
};
use oxc_ast_visit::Visit;
use oxc_parser::Parser;
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_span::{GetSpan, SourceType, Span};

use super::edit::{Edit, blank};
use super::error::{LinkError, Spot};
use super::typescript;
use super::uses::{UseVisitor, Uses};

/// A file, read.
pub(super) struct Parsed {
    /// As the script names it.
    pub(super) path: String,
    /// Its text.
    pub(super) source: String,
    /// Other modules that it names, each once, in order of first mention.
    pub(super) requests: Vec<Request>,
    /// Names that it imports.
    pub(super) imports: Vec<ImportedName>,
    /// Names that it exports, apart from `export *`.
    pub(super) exports: Vec<Export>,
    /// `export * from`: indices of requests.
    pub(super) stars: Vec<usize>,
    /// Changes that do not depend on other files.
    pub(super) edits: Vec<Edit>,
    /// Whether the default export is a function declaration without a name.
    pub(super) names_default_function: bool,
    /// The prefix of our own names in this file.
    pub(super) mark: String,
    /// What its factory must be.
    pub(super) kind: Kind,
    /// The text that people know, where `source` was made of it.
    pub(super) original: Option<String>,
    /// Whether it uses `require`.
    pub(super) uses_require: bool,
    /// Whether it uses `import()`.
    pub(super) uses_dynamic: bool,
}

/// What sort of module a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An ES module.
    Script,
    /// An ES module with `await` outside of its functions.
    Awaiting,
    /// A CommonJS module. Strict as in k6, but for files of packages, which were written for other hosts.
    CommonJs {
        /// Whether the rules of sloppy mode hold.
        is_sloppy: bool,
    },
}

impl Parsed {
    /// Whether a name that leads nowhere may be that of a type: those are exported by nothing that runs.
    pub(super) fn may_name_types(&self) -> bool {
        self.original.is_some()
    }

    /// A place in the file, as people know it.
    pub(super) fn spot(&self, offset: usize) -> Spot {
        let spot = Spot::new(&self.path, &self.source, offset);
        match &self.original {
            Some(original) => spot.shown_in(original),
            None => spot,
        }
    }
}

/// A module that is named in `from '…'`.
pub(super) struct Request {
    pub(super) specifier: String,
    pub(super) offset: usize,
    pub(super) way: Way,
}

/// How a module is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A statement: it must be there, and it runs first.
    Import,
    /// `import('…')`: it runs when the call does.
    Dynamic,
    /// `require('…')`: likewise.
    Require,
}

/// What of another module is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// One export.
    Name(String),
    /// The namespace object.
    Namespace,
}

/// `import { name as local }`.
pub(super) struct ImportedName {
    pub(super) request: usize,
    pub(super) part: Part,
    pub(super) local: String,
    pub(super) offset: usize,
    pub(super) uses: Vec<Use>,
}

/// A place where an imported name is used.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) span: Span,
    pub(super) shape: Shape,
    /// The name of the member, where only that is used: `namespace.member`.
    pub(super) member: Option<String>,
}

/// What must be written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The member.
    Plain,
    /// `(0,member)`, so that `this` is undefined in the call.
    Called,
    /// The same at the start of a statement: a semicolon keeps it apart from the line above.
    CalledFirst,
    /// `name:member` in an object.
    Shorthand,
}

/// A name of the namespace.
pub(super) struct Export {
    pub(super) name: String,
    pub(super) offset: usize,
    pub(super) origin: Origin,
}

/// Where an export comes from.
pub(super) enum Origin {
    /// A variable of this file.
    Local(String),
    /// Another module.
    Other { request: usize, part: Part },
}

/// Reads the text of a file: JavaScript, TypeScript or JSON, as its name says.
pub(super) fn parse(path: &str, text: String) -> Result<Parsed, LinkError> {
    let name = path.split(['?', '#']).next().unwrap_or(path);
    let ending =
        name.rsplit(['/', '\\']).next().and_then(|file| file.rsplit_once('.')).map_or("", |(_, ending)| ending);
    match ending {
        "json" => json(path, text),
        "ts" | "mts" | "cts" => typed(path, text),
        "tsx" | "jsx" => {
            let message = "JSX is not supported: scripts have no pages to draw".to_owned();
            Err(LinkError::Unsupported { spot: Spot::file(path), message })
        }
        _ => {
            let is_sloppy = ending == "cjs" || path.contains("/node_modules/") || path.starts_with("node_modules/");
            match javascript(path, &text, is_sloppy) {
                // Types in a file that does not say so.
                Err(error @ LinkError::Syntax { .. }) => typed(path, text).map_err(|_| error),
                other => other,
            }
        }
    }
}

fn typed(path: &str, text: String) -> Result<Parsed, LinkError> {
    let source = typescript::strip(path, &text)?;
    let in_original = |error| match error {
        LinkError::Syntax { spot, message } => LinkError::Syntax { spot: spot.shown_in(&text), message },
        LinkError::Unsupported { spot, message } => LinkError::Unsupported { spot: spot.shown_in(&text), message },
        other => other,
    };
    let parsed = javascript(path, &source, false).map_err(in_original)?;
    Ok(Parsed { original: Some(text), ..parsed })
}

/// A JSON file exports its value as `default`.
fn json(path: &str, text: String) -> Result<Parsed, LinkError> {
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        let start: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let spot = Spot::new(path, &text, (start + error.column().saturating_sub(1)).min(text.len()));
        // The place stands in front.
        let sentence = error.to_string();
        let message = format!("not JSON: {}", sentence.split(" at line ").next().unwrap_or_default());
        return Err(LinkError::Syntax { spot, message });
    }
    // As JavaScript, `__proto__` would be the prototype.
    let source = if text.contains("__proto__") {
        let lines = "\n".repeat(text.matches('\n').count());
        format!("export default JSON.parse({});{lines}", serde_json::Value::from(text.as_str()))
    } else {
        format!("export default {text}")
    };
    let parsed = javascript(path, &source, false)?;
    Ok(Parsed { original: Some(text), ..parsed })
}

/// Reads JavaScript: as an ES module, and where that is not possible as CommonJS.
fn javascript(path: &str, source: &str, is_sloppy: bool) -> Result<Parsed, LinkError> {
    let error = match read(path, source, SourceType::mjs(), is_sloppy) {
        Err(error @ LinkError::Syntax { .. }) => error,
        other => return other,
    };
    // Only this one lets a file end with `return`, and a sloppy file use what is gone from the language.
    match read(path, source, SourceType::cjs(), is_sloppy) {
        Ok(parsed) if matches!(parsed.kind, Kind::CommonJs { .. }) => Ok(parsed),
        _ => Err(error),
    }
}

fn read(path: &str, source: &str, source_type: SourceType, is_sloppy: bool) -> Result<Parsed, LinkError> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, source_type).parse();
    let wrong = |message: String, offset: usize| LinkError::Syntax { spot: Spot::new(path, source, offset), message };
    if let Some(first) = parsed.diagnostics.first() {
        let offset = first.labels.first().map_or(0, |label| label.offset() as usize);
        return Err(wrong(first.message.to_string(), offset));
    }
    let semantic = SemanticBuilder::new_compiler().build(&parsed.program);
    if let Some(first) = semantic.diagnostics.first() {
        let offset = first.labels.last().map_or(0, |label| label.offset() as usize);
        return Err(wrong(first.message.to_string(), offset));
    }
    let scoping = semantic.semantic.scoping();
    let mut reader = Reader::new(source, scoping);
    reader.statements(&parsed.program);
    let uses = find_uses(&parsed.program, scoping, &reader)
        .map_err(|(message, offset)| LinkError::Unsupported { spot: Spot::new(path, source, offset), message })?;
    if let Some((message, offset)) = reader.mistake.take().or(uses.mistake) {
        return Err(wrong(message, offset));
    }
    for (at, place) in uses.of_imports {
        reader.imports[at].uses.push(place);
    }
    let mark = reader.mark.clone();
    reader.edits.extend(uses.comment_starts.iter().map(|&at| Edit::insert(at, " ".to_owned())));
    reader.edits.extend(uses.metas.iter().map(|&span| Edit::replace(span, format!("{mark}meta"))));
    reader.edits.extend(uses.dynamics.iter().map(|(span, _)| Edit::replace(*span, format!("{mark}dynamic"))));
    for (specifier, offset) in uses.requires {
        reader.asks(&specifier, offset, Way::Require);
    }
    for (span, specifier) in &uses.dynamics {
        if let Some(specifier) = specifier {
            reader.asks(specifier, span.start as usize, Way::Dynamic);
        }
    }
    let is_strict = parsed.program.directives.iter().any(|directive| directive.directive == "use strict");
    let kind = match () {
        () if uses.is_common_js => Kind::CommonJs { is_sloppy: is_sloppy && !is_strict },
        () if uses.awaits => Kind::Awaiting,
        () => Kind::Script,
    };
    let Reader { requests, imports, exports, stars, edits, names_default_function, .. } = reader;
    Ok(Parsed {
        path: path.to_owned(),
        requests,
        imports,
        exports,
        stars,
        edits,
        names_default_function,
        mark,
        kind,
        original: None,
        uses_require: uses.uses_require,
        uses_dynamic: !uses.dynamics.is_empty(),
        source: source.to_owned(),
    })
}

fn find_uses(program: &Program<'_>, scoping: &Scoping, reader: &Reader<'_>) -> Result<Uses, (String, usize)> {
    let mut of_import = HashMap::new();
    for (at, symbol) in reader.import_symbols.iter().enumerate() {
        of_import.extend(scoping.get_resolved_reference_ids(*symbol).iter().map(|&reference| (reference, at)));
    }
    let mut visitor = UseVisitor::new(of_import, reader.source, scoping);
    visitor.visit_program(program);
    let is_module = !reader.requests.is_empty() || !reader.exports.is_empty() || reader.has_declarations;
    visitor.finish(is_module)
}

/// Collects the module declarations of one file.
struct Reader<'s> {
    source: &'s str,
    scoping: &'s Scoping,
    requests: Vec<Request>,
    imports: Vec<ImportedName>,
    import_symbols: Vec<oxc_semantic::SymbolId>,
    exports: Vec<Export>,
    stars: Vec<usize>,
    edits: Vec<Edit>,
    names_default_function: bool,
    mark: String,
    mistake: Option<(String, usize)>,
    /// Whether there is an import or export statement, be it an empty one.
    has_declarations: bool,
}

impl<'s> Reader<'s> {
    fn new(source: &'s str, scoping: &'s Scoping) -> Self {
        Self {
            source,
            scoping,
            requests: Vec::new(),
            imports: Vec::new(),
            import_symbols: Vec::new(),
            exports: Vec::new(),
            stars: Vec::new(),
            edits: Vec::new(),
            names_default_function: false,
            mark: unused_prefix(scoping),
            mistake: None,
            has_declarations: false,
        }
    }

    fn statements(&mut self, program: &Program<'_>) {
        if let Some(hashbang) = &program.hashbang {
            self.blank(hashbang.span);
        }
        // Imports first: an export may stand above the import that it passes on.
        for statement in &program.body {
            if let Statement::ImportDeclaration(import) = statement {
                let request = self.request(&import.source.value, import.source.span);
                for specifier in import.specifiers.iter().flatten() {
                    self.import(request, specifier);
                }
                self.blank(import.span);
            } else if let Statement::ExportAllDeclaration(export) = statement {
                self.request(&export.source.value, export.source.span);
            } else if let Statement::ExportFromDeclaration(export) = statement {
                self.request(&export.source.value, export.source.span);
            }
        }
        self.has_declarations = program.body.iter().any(Statement::is_module_declaration);
        for statement in &program.body {
            self.export_statement(statement);
        }
    }

    fn export_statement(&mut self, statement: &Statement<'_>) {
        match statement {
            Statement::ExportAllDeclaration(export) => {
                let request = self.request(&export.source.value, export.source.span);
                match &export.exported {
                    None => self.stars.push(request),
                    Some(name) => self.export(name, Origin::Other { request, part: Part::Namespace }),
                }
                self.blank(export.span);
            }
            Statement::ExportFromDeclaration(export) => {
                let request = self.request(&export.source.value, export.source.span);
                for specifier in &export.specifiers {
                    let part = Part::Name(specifier.local.name().to_string());
                    self.export(&specifier.exported, Origin::Other { request, part });
                }
                self.blank(export.span);
            }
            Statement::ExportNamedDeclaration(export) => {
                for specifier in &export.specifiers {
                    let origin = self.origin_of(&specifier.local);
                    self.export(&specifier.exported, origin);
                }
                self.blank(export.span);
            }
            Statement::ExportDeclaration(export) => {
                self.export_declaration(&export.declaration);
                self.blank(Span::new(export.span.start, export.declaration.span().start));
            }
            Statement::ExportDefaultDeclaration(export) => {
                let head = Span::new(export.span.start, export.declaration.span().start);
                self.export_default(head, &export.declaration);
            }
            _ => {}
        }
    }

    fn request(&mut self, specifier: &str, span: Span) -> usize {
        self.asks(specifier, span.start as usize, Way::Import)
    }

    fn asks(&mut self, specifier: &str, offset: usize, way: Way) -> usize {
        let is_known = |request: &Request| request.specifier == specifier && request.way == way;
        if let Some(known) = self.requests.iter().position(is_known) {
            return known;
        }
        self.requests.push(Request { specifier: specifier.to_owned(), offset, way });
        self.requests.len() - 1
    }

    fn import(&mut self, request: usize, specifier: &ImportDeclarationSpecifier<'_>) {
        let (part, local) = match specifier {
            ImportDeclarationSpecifier::ImportSpecifier(it) => (Part::Name(it.imported.name().to_string()), &it.local),
            ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => (Part::Name("default".to_owned()), &it.local),
            ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => (Part::Namespace, &it.local),
        };
        let offset = specifier.span().start as usize;
        self.import_symbols.push(local.symbol_id());
        self.imports.push(ImportedName { request, part, local: local.name.to_string(), offset, uses: Vec::new() });
    }

    fn origin_of(&mut self, local: &ModuleExportName<'_>) -> Origin {
        let name = local.name();
        if let Some(import) = self.imports.iter().find(|import| import.local == name.as_str()) {
            return Origin::Other { request: import.request, part: import.part.clone() };
        }
        let declared = match local {
            ModuleExportName::IdentifierReference(it) => self.scoping.has_binding(it.reference_id()),
            _ => false,
        };
        if !declared {
            let mistake = (format!("`{name}` is exported but declared nowhere"), local.span().start as usize);
            self.mistake.get_or_insert(mistake);
        }
        Origin::Local(name.to_string())
    }

    fn export(&mut self, name: &ModuleExportName<'_>, origin: Origin) {
        let offset = name.span().start as usize;
        self.exports.push(Export { name: name.name().to_string(), offset, origin });
    }

    fn export_local(&mut self, name: &str, local: &str, offset: u32) {
        let origin = Origin::Local(local.to_owned());
        self.exports.push(Export { name: name.to_owned(), offset: offset as usize, origin });
    }

    fn export_declaration(&mut self, declaration: &Declaration<'_>) {
        let mut bound: Vec<&BindingIdentifier<'_>> = Vec::new();
        match declaration {
            Declaration::VariableDeclaration(variables) => {
                bound.extend(variables.declarations.iter().flat_map(|one| one.id.get_binding_identifiers()));
            }
            Declaration::FunctionDeclaration(function) => bound.extend(&function.id),
            Declaration::ClassDeclaration(class) => bound.extend(&class.id),
            _ => {}
        }
        for name in bound {
            self.export_local(&name.name, &name.name, name.span.start);
        }
    }

    fn export_default(&mut self, head: Span, declaration: &ExportDefaultDeclarationKind<'_>) {
        let default = format!("{}d", self.mark);
        let named = match declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(it) => it.id.as_ref(),
            ExportDefaultDeclarationKind::ClassDeclaration(it) => it.id.as_ref(),
            _ => None,
        };
        self.export_local("default", named.map_or(&default, |name| name.name.as_str()), head.start);
        if named.is_some() {
            self.blank(head);
            return;
        }
        match declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                self.blank(head);
                self.edits.push(Edit::insert(function.params.span.start, format!(" {default}")));
                self.names_default_function = true;
            }
            _ if is_anonymous(declaration) => {
                // The key of the object gives the function or class its name, as the language wants it.
                self.replace_head(head, &format!(";const {default}={{default:"));
                self.edits.push(Edit::insert(declaration.span().end, "}.default;".to_owned()));
            }
            _ => self.replace_head(head, &format!(";const {default}=")),
        }
    }

    /// Takes a piece of text out: a semicolon parts what stands before and behind it.
    fn blank(&mut self, span: Span) {
        self.replace_head(span, ";");
    }

    fn replace_head(&mut self, span: Span, with: &str) {
        self.edits.push(Edit::replace(span, blank(&self.source[span.start as usize..span.end as usize], with)));
    }
}

/// Whether the expression is a function or class that takes the name of what it is assigned to.
fn is_anonymous(declaration: &ExportDefaultDeclarationKind<'_>) -> bool {
    match declaration {
        ExportDefaultDeclarationKind::ClassDeclaration(class) => class.id.is_none(),
        _ => declaration.as_expression().is_some_and(|expression| match expression.without_parentheses() {
            Expression::ArrowFunctionExpression(_) => true,
            Expression::FunctionExpression(function) => function.id.is_none(),
            Expression::ClassExpression(class) => class.id.is_none(),
            _ => false,
        }),
    }
}

/// The shortest prefix that no identifier of the file begins with, followed by one of our own words.
fn unused_prefix(scoping: &Scoping) -> String {
    let unresolved = scoping.root_unresolved_references().keys().map(|name| name.as_str());
    let names: HashSet<&str> = scoping.symbol_names().chain(unresolved).collect();
    let free = |prefix: &str| {
        !names.iter().any(|name| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with(['m', 'd']) || rest == "import" || rest == "export")
        })
    };
    std::iter::once("__".to_owned())
        .chain((0..).map(|number| format!("__{number}")))
        .find(|prefix| free(prefix))
        .expect("a file has finitely many names")
}

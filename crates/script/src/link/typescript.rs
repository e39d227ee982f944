//! TypeScript without its types: spaces stand where they stood, so that lines stay lines and columns stay columns. What
//! has no JavaScript of its own – enums, namespaces, parameter properties – is written out on the lines it is on. Checks
//! no type.

mod block;
mod class;
mod import;

use std::collections::HashSet;

use oxc_allocator::Allocator;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_semantic::{ScopeFlags, Scoping, SemanticBuilder, SymbolId};
use oxc_span::{GetSpan, SourceType, Span};

use super::edit::{Edit, apply, blank};
use super::error::{LinkError, Spot};

/// The JavaScript of a TypeScript file.
pub(super) fn strip(path: &str, source: &str) -> Result<String, LinkError> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::ts()).parse();
    if let Some(first) = parsed.diagnostics.first() {
        let offset = first.labels.first().map_or(0, |label| label.offset() as usize);
        let spot = Spot::new(path, source, offset);
        return Err(LinkError::Syntax { spot, message: first.message.to_string() });
    }
    let semantic = SemanticBuilder::new_compiler().build(&parsed.program);
    let mut stripper = Stripper::new(source, semantic.semantic.scoping());
    stripper.visit_program(&parsed.program);
    if let Some((message, offset)) = stripper.unsupported {
        return Err(LinkError::Unsupported { spot: Spot::new(path, source, offset as usize), message });
    }
    let mut text = String::with_capacity(source.len());
    apply(source, stripper.edits, &mut text);
    Ok(text)
}

struct Stripper<'s> {
    source: &'s str,
    scoping: &'s Scoping,
    edits: Vec<Edit>,
    /// Where types that are gone ended.
    blank_ends: HashSet<u32>,
    /// What a class, function, enum or namespace of this file has already made.
    declared: HashSet<SymbolId>,
    exported: HashSet<String>,
    unsupported: Option<(String, u32)>,
}

impl<'s> Stripper<'s> {
    fn new(source: &'s str, scoping: &'s Scoping) -> Self {
        Self {
            source,
            scoping,
            edits: Vec::new(),
            blank_ends: HashSet::new(),
            declared: HashSet::new(),
            exported: HashSet::new(),
            unsupported: None,
        }
    }

    fn text(&self, span: Span) -> &'s str {
        &self.source[span.start as usize..span.end as usize]
    }

    /// Puts `with` and spaces over a piece of text.
    fn put(&mut self, span: Span, with: &str) {
        self.edits.push(Edit::replace(span, blank(self.text(span), with)));
    }

    /// Takes a type out.
    fn erase(&mut self, span: Span) {
        self.blank_ends.insert(span.end);
        self.put(span, "");
    }

    /// Takes a declaration out: a semicolon parts what stands before and behind it.
    fn erase_statement(&mut self, span: Span) {
        self.put(span, ";");
    }

    fn insert(&mut self, at: u32, text: impl Into<String>) {
        self.edits.push(Edit::insert(at, text.into()));
    }

    fn refuse(&mut self, message: &str, span: Span) {
        self.unsupported.get_or_insert((message.to_owned(), span.start));
    }

    /// Where `wanted` stands as code, not in a comment, in a piece of text without strings.
    fn find(&self, start: u32, end: u32, wanted: &str) -> Option<Span> {
        let text = self.text(Span::new(start, end));
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            if rest.starts_with("//") {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                at += rest.find("*/").map_or(rest.len(), |found| found + 2);
            } else if rest.starts_with(wanted) {
                let from = start + u32::try_from(at).expect("sources are below 4 GiB");
                return Some(Span::sized(from, u32::try_from(wanted.len()).expect("a short word")));
            } else {
                at += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
        None
    }

    /// Takes out a mark such as `?` that stands between two parts.
    fn erase_mark(&mut self, start: u32, end: u32, mark: &str) {
        if let Some(span) = self.find(start, end, mark) {
            self.erase(span);
        }
    }

    /// A comma behind `at`, with nothing between.
    fn comma_behind(&self, at: u32) -> Option<Span> {
        let end = u32::try_from(self.source.len()).expect("sources are below 4 GiB");
        let comma = self.find(at, end, ",")?;
        let between = Span::new(at, comma.start);
        let next = self.find(at, end, ")").into_iter().chain(self.find(at, end, "}")).map(|span| span.start).min();
        (next.is_none_or(|next| comma.start < next) && !self.text(between).contains(['(', '{'])).then_some(comma)
    }
}

impl<'a> Visit<'a> for Stripper<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        match it {
            Statement::TSTypeAliasDeclaration(_)
            | Statement::TSInterfaceDeclaration(_)
            | Statement::TSExternalModuleDeclaration(_)
            | Statement::TSGlobalDeclaration(_)
            | Statement::TSNamespaceExportDeclaration(_) => return self.erase_statement(it.span()),
            Statement::VariableDeclaration(variables) if variables.declare => return self.erase_statement(it.span()),
            _ => {}
        }
        walk::walk_statement(self, it);
        let end = it.span().end;
        if self.blank_ends.remove(&end) {
            // The type also kept the line below apart.
            self.insert(end, ";");
        }
    }

    fn visit_export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        self.export_of(it);
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        match &it.declaration {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => self.erase_statement(it.span),
            ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.body.is_none() => {
                self.erase_statement(it.span);
            }
            ExportDefaultDeclarationKind::ClassDeclaration(class) => {
                if let Some(word) = self.find(it.span.start, class.span.start, "abstract") {
                    self.put(word, "");
                }
                walk::walk_export_default_declaration(self, it);
            }
            _ => walk::walk_export_default_declaration(self, it),
        }
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.import(it);
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.export_names(it.span, it.export_kind, &it.specifiers);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.export_names(it.span, it.export_kind, &it.specifiers);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        if it.export_kind.is_type() {
            self.erase_statement(it.span);
        }
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        if it.import_kind.is_type() {
            self.erase_statement(it.span);
        } else {
            self.put(Span::new(it.span.start, it.id.span.start), "const ");
        }
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.put(Span::new(it.span.start, it.expression.span().start), "module.exports = ");
        self.visit_expression(&it.expression);
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        self.enumeration(it);
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        self.namespace(it);
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.erase(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.erase(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.erase(it.span);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.erase(Span::new(it.expression.span().end, it.span.end));
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.erase(Span::new(it.expression.span().end, it.span.end));
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        // The parenthesis keeps an object an object behind `=>`.
        self.put(Span::new(it.span.start, it.expression.span().start), "(");
        self.visit_expression(&it.expression);
        self.insert(it.span.end, ")");
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.erase(Span::new(it.span.end - 1, it.span.end));
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        let comma = self.comma_behind(it.span.end);
        self.put(Span::new(it.span.start, comma.map_or(it.span.end, |comma| comma.end)), "");
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (true, Some(annotation)) = (it.definite, &it.type_annotation) {
            self.erase_mark(it.id.span().end, annotation.span.start, "!");
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        self.parameter(it);
        walk::walk_formal_parameter(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if it.declare || it.body.is_none() {
            return self.erase_statement(it.span);
        }
        self.declared.extend(it.id.iter().filter_map(|id| id.symbol_id.get()));
        walk::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        if let Some(annotation) = &it.return_type
            && self.text(annotation.span).contains('\n')
        {
            // No line may end between the parameters and the arrow.
            let bracket = Span::new(it.params.span.end - 1, it.params.span.end);
            self.put(bracket, " ");
            self.insert(annotation.span.end, ")");
        }
        walk::walk_arrow_function_expression(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class(it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        self.class_element(it);
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(super::uses::DECORATOR, it.span);
    }
}

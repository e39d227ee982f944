//! Finds every use of an imported name in a file, and the parts of JavaScript that cannot be linked.

use std::collections::{HashMap, HashSet};

use oxc_allocator::ArenaVec;
use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AwaitExpression, BinaryExpression, CallExpression, Decorator,
    ExportFromDeclaration, ExportNamedDeclaration, Expression, ForOfStatement, Function, IdentifierReference,
    ImportExpression, ImportMeta, ObjectProperty, Statement, StaticMemberExpression, TaggedTemplateExpression,
    UnaryExpression, UnaryOperator, VariableDeclaration, VariableDeclarationKind,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::{ReferenceId, ScopeFlags, Scoping};
use oxc_span::{GetSpan, Span};

use super::parse::{Shape, Use};

/// What is said of a decorator.
pub(super) const DECORATOR: &str =
    "decorators are not supported: JavaScript does not have them yet; call the function instead";
const MIXED: &str = "stands in a file with `import` or `export` statements, or `await` outside of a function: \
    such a file is an ES module, so write `export` instead";
/// The names that a CommonJS file finds around it.
const COMMON_JS: [&str; 3] = ["require", "module", "exports"];

/// What was found.
#[derive(Default)]
pub(super) struct Uses {
    /// Index of the import, and where it is used.
    pub(super) of_imports: Vec<(usize, Use)>,
    /// Where a space must part `<` and `!--`: in a script, unlike a module, the two begin a comment.
    pub(super) comment_starts: Vec<u32>,
    /// Every `import.meta`.
    pub(super) metas: Vec<Span>,
    /// `require('…')`: what is named, and where.
    pub(super) requires: Vec<(String, usize)>,
    /// `import('…')`: where it stands, and what is named if that is a text.
    pub(super) dynamics: Vec<(Span, Option<String>)>,
    /// `await` outside of a function.
    pub(super) awaits: bool,
    /// A use of `require`.
    pub(super) uses_require: bool,
    /// A use of `require`, `module` or `exports`.
    pub(super) is_common_js: bool,
    /// An assignment to an import.
    pub(super) mistake: Option<(String, usize)>,
}

pub(super) struct UseVisitor<'s> {
    /// Which import a reference means.
    of_import: HashMap<ReferenceId, usize>,
    source: &'s str,
    scoping: &'s Scoping,
    shapes: HashMap<ReferenceId, Shape>,
    members: HashMap<ReferenceId, String>,
    /// Where expression statements of a statement list begin: there a parenthesis could join the line above.
    list_starts: HashSet<u32>,
    function_depth: usize,
    /// Names of CommonJS that the file tests with `typeof` before it uses them, and those that it uses.
    tested: HashSet<&'static str>,
    common_js: Vec<(&'static str, usize)>,
    unsupported: Option<(String, usize)>,
    found: Uses,
}

impl<'s> UseVisitor<'s> {
    pub(super) fn new(of_import: HashMap<ReferenceId, usize>, source: &'s str, scoping: &'s Scoping) -> Self {
        Self {
            of_import,
            source,
            scoping,
            shapes: HashMap::new(),
            members: HashMap::new(),
            list_starts: HashSet::new(),
            function_depth: 0,
            tested: HashSet::new(),
            common_js: Vec::new(),
            unsupported: None,
            found: Uses::default(),
        }
    }

    /// The uses, or the first part of the file that is not supported. A file that has import or export statements is
    /// no CommonJS module; what it asks `typeof` about before it uses it will not run.
    pub(super) fn finish(mut self, is_module: bool) -> Result<Uses, (String, usize)> {
        if is_module || self.found.awaits {
            let wrong = self.common_js.iter().find(|(name, _)| !self.tested.contains(name));
            if let Some(&(name, offset)) = wrong {
                let name = if name == "module" { "module.exports" } else { name };
                note(&mut self.unsupported, &format!("`{name}` {MIXED}"), offset);
            }
            self.found.is_common_js = false;
        }
        match self.unsupported {
            Some(unsupported) => Err(unsupported),
            None => Ok(self.found),
        }
    }

    fn unsupported(&mut self, sentence: &str, span: Span) {
        note(&mut self.unsupported, sentence, span.start as usize);
    }

    /// If `expression` is a use of an import, it must be written so.
    fn shape(&mut self, expression: &Expression<'_>, shape: Shape) {
        if let Expression::Identifier(it) = expression.without_parentheses()
            && self.of_import.contains_key(&it.reference_id())
        {
            self.shapes.insert(it.reference_id(), shape);
        }
    }

    /// The name of [`COMMON_JS`] that `expression` is.
    fn common_js(&self, expression: &Expression<'_>) -> Option<&'static str> {
        let Expression::Identifier(it) = expression else { return None };
        let name = COMMON_JS.iter().find(|name| it.name == **name)?;
        (!self.scoping.has_binding(it.reference_id())).then_some(*name)
    }
}

/// Keeps the mistake that stands first in the file.
fn note(kept: &mut Option<(String, usize)>, sentence: &str, offset: usize) {
    if kept.as_ref().is_none_or(|(_, at)| offset < *at) {
        *kept = Some((sentence.to_owned(), offset));
    }
}

impl<'a> Visit<'a> for UseVisitor<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let reference = it.reference_id();
        if COMMON_JS.iter().any(|name| it.name == *name) && !self.scoping.has_binding(reference) {
            self.found.is_common_js = true;
            self.found.uses_require |= it.name == "require";
        }
        let Some(&import) = self.of_import.get(&reference) else { return };
        if self.scoping.get_reference(reference).is_write() {
            let mistake = (format!("`{}` is imported and cannot be assigned", it.name), it.span.start as usize);
            self.found.mistake.get_or_insert(mistake);
        }
        let shape = match self.shapes.get(&reference) {
            Some(Shape::Called) if self.list_starts.contains(&it.span.start) => Shape::CalledFirst,
            known => known.copied().unwrap_or(Shape::Plain),
        };
        self.found.of_imports.push((import, Use { span: it.span, shape, member: self.members.remove(&reference) }));
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.shape(&it.callee, Shape::Called);
        if self.common_js(&it.callee) == Some("require")
            && let Some(Argument::StringLiteral(name)) = it.arguments.first()
        {
            self.found.requires.push((name.value.to_string(), name.span.start as usize));
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.shape(&it.tag, Shape::Called);
        walk::walk_tagged_template_expression(self, it);
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        if it.shorthand {
            self.shape(&it.value, Shape::Shorthand);
        }
        walk::walk_object_property(self, it);
    }

    fn visit_statements(&mut self, it: &ArenaVec<'a, Statement<'a>>) {
        let starts = it.iter().filter(|one| matches!(one, Statement::ExpressionStatement(_)));
        self.list_starts.extend(starts.map(|one| one.span().start));
        walk::walk_statements(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.function_depth += 1;
        walk::walk_function(self, it, flags);
        self.function_depth -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.function_depth += 1;
        if let Some(expression) = it.get_expression() {
            // The tree calls this a list of one statement, but no semicolon may stand before it.
            self.visit_formal_parameters(&it.params);
            self.visit_expression(expression);
        } else {
            walk::walk_arrow_function_expression(self, it);
        }
        self.function_depth -= 1;
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        if self.function_depth == 0 {
            self.found.awaits = true;
        }
        walk::walk_await_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if it.r#await && self.function_depth == 0 {
            self.found.awaits = true;
        }
        walk::walk_for_of_statement(self, it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if it.kind == VariableDeclarationKind::AwaitUsing && self.function_depth == 0 {
            self.found.awaits = true;
        }
        walk::walk_variable_declaration(self, it);
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        let right = it.right.span().start;
        if self.source[..right as usize].ends_with('<') && self.source[right as usize..].starts_with("!--") {
            self.found.comment_starts.push(right);
        }
        walk::walk_binary_expression(self, it);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        let name = match &it.source {
            Expression::StringLiteral(name) => Some(name.value.to_string()),
            _ => None,
        };
        self.found.dynamics.push((Span::sized(it.span.start, 6), name));
        walk::walk_import_expression(self, it);
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.unsupported(DECORATOR, it.span);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.found.metas.push(it.span);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if let Expression::Identifier(object) = &it.object {
            self.members.insert(object.reference_id(), it.property.name.to_string());
        }
        match self.common_js(&it.object) {
            Some("module") if it.property.name != "exports" => {}
            Some(name @ ("module" | "exports")) => self.common_js.push((name, it.span.start as usize)),
            _ => {}
        }
        walk::walk_static_member_expression(self, it);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if it.operator == UnaryOperator::Typeof
            && let Some(name) = self.common_js(&it.argument)
        {
            self.tested.insert(name);
        }
        walk::walk_unary_expression(self, it);
    }

    // The names in these are no uses: the statements are taken out.
    fn visit_export_named_declaration(&mut self, _: &ExportNamedDeclaration<'a>) {}
    fn visit_export_from_declaration(&mut self, _: &ExportFromDeclaration<'a>) {}
}

//! Classes and parameters: modifiers, marks, members that are types alone, and parameter properties.

use super::*;

const MODIFIERS: [&str; 7] = ["public", "private", "protected", "readonly", "override", "abstract", "declare"];

impl Stripper<'_> {
    pub(super) fn class(&mut self, it: &Class<'_>) {
        if it.declare {
            return self.erase_statement(it.span);
        }
        self.declared.extend(it.id.iter().filter_map(|id| id.symbol_id.get()));
        let head_end = it.id.as_ref().map_or(it.body.span.start, |id| id.span.start);
        if it.r#abstract
            && let Some(word) = self.find(it.span.start, head_end, "abstract")
        {
            self.put(word, "");
        }
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) {
            let types = it.type_parameters.as_ref().map(|one| one.span.end);
            let heritage = it.heritage.as_ref().map(|one| {
                one.type_arguments.as_ref().map_or(one.expression.span().end, |arguments| arguments.span.end)
            });
            let from = heritage.or(types).or(it.id.as_ref().map(|id| id.span.end)).unwrap_or(it.span.start);
            if let Some(word) = self.find(from, first.span.start, "implements") {
                self.put(Span::new(word.start, last.span.end), "");
            }
        }
        for decorator in &it.decorators {
            self.visit_decorator(decorator);
        }
        if let Some(types) = &it.type_parameters {
            self.visit_ts_type_parameter_declaration(types);
        }
        if let Some(heritage) = &it.heritage {
            self.visit_class_heritage(heritage);
        }
        self.visit_class_body(&it.body);
    }

    pub(super) fn class_element(&mut self, it: &ClassElement<'_>) {
        let span = it.span();
        match it {
            ClassElement::TSIndexSignature(_) => return self.erase_statement(span),
            ClassElement::MethodDefinition(method) => {
                if method.value.body.is_none() {
                    return self.erase_statement(span);
                }
                self.modifiers(span.start, method.key.span().start, true);
                let parameters = &method.value.type_parameters;
                let behind = parameters.as_ref().map_or(method.value.params.span.start, |types| types.span.start);
                if method.optional {
                    self.erase_mark(method.key.span().end, behind, "?");
                }
                if method.kind == MethodDefinitionKind::Constructor {
                    self.parameter_properties(&method.value);
                }
            }
            ClassElement::PropertyDefinition(property) => {
                if property.declare || property.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition {
                    return self.erase_statement(span);
                }
                self.modifiers(span.start, property.key.span().start, true);
                let annotation = property.type_annotation.as_ref().map(|annotation| annotation.span.start);
                let value = property.value.as_ref().map(|value| value.span().start);
                let behind = annotation.or(value).unwrap_or(span.end);
                for (is_there, mark) in [(property.optional, "?"), (property.definite, "!")] {
                    if is_there {
                        self.erase_mark(property.key.span().end, behind, mark);
                    }
                }
            }
            _ => {}
        }
        walk::walk_class_element(self, it);
        if matches!(it, ClassElement::PropertyDefinition(_)) && self.blank_ends.remove(&span.end) {
            self.insert(span.end, ";");
        }
    }

    pub(super) fn parameter(&mut self, it: &FormalParameter<'_>) {
        self.modifiers(it.span.start, it.pattern.span().start, false);
        if it.optional {
            let annotation = it.type_annotation.as_ref().map(|annotation| annotation.span.start);
            self.erase_mark(it.pattern.span().end, annotation.unwrap_or(it.span.end), "?");
        }
    }

    /// Takes out the words in front of a name. A class member that begins with one begins with a semicolon then, so
    /// that it does not join the line above.
    fn modifiers(&mut self, start: u32, end: u32, is_member: bool) {
        let text = self.text(Span::new(start, end));
        let mut at = 0;
        while let Some(word_start) = text[at..].find(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '[') {
            let from = at + word_start;
            let rest = &text[from..];
            if rest.starts_with("//") {
                at = from + rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            if rest.starts_with("/*") {
                at = from + rest.find("*/").map_or(rest.len(), |found| found + 2);
                continue;
            }
            let length = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            if length == 0 {
                return;
            }
            if MODIFIERS.contains(&&rest[..length]) {
                let offset = start + u32::try_from(from).expect("sources are below 4 GiB");
                let span = Span::sized(offset, u32::try_from(length).expect("a short word"));
                self.put(span, if is_member && from == 0 { ";" } else { "" });
            }
            at = from + length;
        }
    }

    /// `constructor(private a) {}` sets `this.a`: first of all, or behind `super(…)`.
    fn parameter_properties(&mut self, constructor: &Function<'_>) {
        let is_property = |one: &&FormalParameter<'_>| one.accessibility.is_some() || one.readonly || one.r#override;
        let names: Vec<String> = constructor
            .params
            .items
            .iter()
            .filter(is_property)
            .flat_map(|one| one.pattern.get_binding_identifiers())
            .map(|name| name.name.to_string())
            .collect();
        let Some(body) = constructor.body.as_ref().filter(|_| !names.is_empty()) else { return };
        let sets: String = names.iter().map(|name| format!("this.{name}={name};")).collect();
        let calls_super = |one: &&Statement<'_>| {
            matches!(one, Statement::ExpressionStatement(statement)
                if matches!(&statement.expression, Expression::CallExpression(call)
                    if matches!(call.callee, Expression::Super(_))))
        };
        match body.statements.iter().find(calls_super) {
            Some(call) => self.insert(call.span().end, format!(";{sets}")),
            None => {
                let at = body.directives.last().map_or(body.span.start + 1, |last| last.span.end);
                self.insert(at, if body.directives.is_empty() { sets } else { format!(";{sets}") });
            }
        }
    }
}

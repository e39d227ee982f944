//! Imports and exports of types.

use super::*;

impl Stripper<'_> {
    /// Drops what is imported as a type or used as a type alone; an import that names nothing else is gone.
    pub(super) fn import(&mut self, it: &ImportDeclaration<'_>) {
        let Some(specifiers) = it.specifiers.as_ref().filter(|all| !all.is_empty()) else {
            if it.import_kind.is_type() {
                self.erase_statement(it.span);
            }
            return;
        };
        let is_type = |specifier: &ImportDeclarationSpecifier<'_>| {
            let marked =
                matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(one) if one.import_kind.is_type());
            let mut uses = self.scoping.get_resolved_references(specifier.local().symbol_id());
            marked || !uses.any(|one| one.is_read() || one.is_write())
        };
        let dropped: Vec<bool> = specifiers.iter().map(is_type).collect();
        if it.import_kind.is_type() || dropped.iter().all(|&is_dropped| is_dropped) {
            return self.erase_statement(it.span);
        }
        let mut end_before = it.span.start;
        for (specifier, is_dropped) in specifiers.iter().zip(dropped) {
            let span = specifier.span();
            if is_dropped && matches!(specifier, ImportDeclarationSpecifier::ImportNamespaceSpecifier(_)) {
                self.put(Span::new(end_before, span.end), "");
            } else if is_dropped {
                self.drop_specifier(span);
            }
            end_before = span.end;
        }
    }

    pub(super) fn export_names(&mut self, span: Span, kind: ImportOrExportKind, specifiers: &[ExportSpecifier<'_>]) {
        if kind.is_type() {
            return self.erase_statement(span);
        }
        for specifier in specifiers {
            if specifier.export_kind.is_type() || self.names_type(&specifier.local) {
                self.drop_specifier(specifier.span);
            }
        }
    }

    /// An exported declaration: gone if it is a type, and its second `export` too if it adds to the first.
    pub(super) fn export_of(&mut self, it: &ExportDeclaration<'_>) {
        let (is_type, name) = match &it.declaration {
            Declaration::TSTypeAliasDeclaration(_)
            | Declaration::TSInterfaceDeclaration(_)
            | Declaration::TSExternalModuleDeclaration(_)
            | Declaration::TSGlobalDeclaration(_) => (true, None),
            Declaration::VariableDeclaration(variables) => (variables.declare, None),
            Declaration::FunctionDeclaration(function) => {
                let id = function.id.as_ref().map(|id| id.name.to_string());
                (function.declare || function.body.is_none(), id)
            }
            Declaration::ClassDeclaration(class) => (class.declare, class.id.as_ref().map(|id| id.name.to_string())),
            Declaration::TSEnumDeclaration(one) => (one.declare, Some(one.id.name.to_string())),
            Declaration::TSNamespaceDeclaration(one) => (!Self::has_values(one), Some(one.id.name.to_string())),
            Declaration::TSImportEqualsDeclaration(one) => (one.import_kind.is_type(), None),
        };
        if is_type {
            return self.erase_statement(it.span);
        }
        if name.is_some_and(|name| !self.exported.insert(name)) {
            self.put(Span::new(it.span.start, it.declaration.span().start), ";");
        }
        walk::walk_export_declaration(self, it);
    }

    fn names_type(&self, local: &ModuleExportName<'_>) -> bool {
        let ModuleExportName::IdentifierReference(reference) = local else { return false };
        let symbol = self.scoping.get_reference(reference.reference_id()).symbol_id();
        symbol.is_some_and(|symbol| {
            let flags = self.scoping.symbol_flags(symbol);
            !flags.is_value() && !flags.is_import()
        })
    }

    fn drop_specifier(&mut self, span: Span) {
        let comma = self.comma_behind(span.end);
        self.put(Span::new(span.start, comma.map_or(span.end, |comma| comma.end)), "");
    }
}

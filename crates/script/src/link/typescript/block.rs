//! Enums and namespaces, written out as objects that functions fill.

use super::*;

impl Stripper<'_> {
    /// `var E=E||{};((e)=>{…[A=n("A",v+1),B=n("B",5)]})(E);`: members are variables too, since later ones may use them.
    pub(super) fn enumeration(&mut self, it: &TSEnumDeclaration<'_>) {
        if it.declare {
            return self.erase_statement(it.span);
        }
        let name = it.id.name.as_str();
        let head = self.object_of(&it.id);
        let variables: String = it
            .body
            .members
            .iter()
            .filter_map(|member| match &member.id {
                TSEnumMemberName::Identifier(id) => Some(format!(",{}", id.name)),
                _ => None,
            })
            .collect();
        let note = "const __enum=(k,v)=>(typeof v===\"string\"?__of[k]=v:__of[__of[k]=v]=k,__last=v)";
        let head = format!("{head}((__of)=>{{let __last=-1{variables};{note};[");
        self.put(Span::new(it.span.start, it.body.span.start + 1), &head);
        for member in &it.body.members {
            let key = serde_json::Value::from(member.id.static_name().as_str()).to_string();
            let variable = match &member.id {
                TSEnumMemberName::Identifier(id) => format!("{}=", id.name),
                _ => String::new(),
            };
            match &member.initializer {
                Some(value) => {
                    let head = Span::new(member.span.start, value.span().start);
                    self.put(head, &format!("{variable}__enum({key},"));
                    self.visit_expression(value);
                    self.insert(member.span.end, ")");
                }
                None => self.put(member.span, &format!("{variable}__enum({key},__last+1)")),
            }
        }
        self.put(Span::new(it.body.span.end - 1, it.body.span.end), &format!("]}})({name});"));
    }

    pub(super) fn namespace(&mut self, it: &TSNamespaceDeclaration<'_>) {
        if !Self::has_values(it) {
            return self.erase_statement(it.span);
        }
        let mut end = it.span.start;
        let mut tail = String::new();
        let mut inner = it;
        let mut outer: Option<&str> = None;
        let mut head = String::new();
        loop {
            let name = inner.id.name.as_str();
            match outer {
                None => head.push_str(&self.object_of(&inner.id)),
                Some(outer) => head.push_str(&format!("const {name}={outer}.{name}||={{}};")),
            }
            head.push_str(&format!("(({name})=>{{"));
            tail.insert_str(0, &format!("}})({name});"));
            outer = Some(name);
            match &inner.body {
                TSNamespaceDeclarationBody::TSNamespaceDeclaration(next) => inner = next,
                TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                    for exported in exported_names(block) {
                        let get = format!("get:()=>{exported},set:(v)=>{{{exported}=v}},enumerable:true");
                        head.push_str(&format!(
                            "Object.defineProperty({name},\"{exported}\",{{{get},configurable:true}});"
                        ));
                    }
                    self.put(Span::new(end, block.span.start + 1), &head);
                    self.members(block);
                    end = block.span.end;
                    break;
                }
            }
        }
        self.put(Span::new(end - 1, end), &tail);
    }

    /// Whether anything of a namespace is there when the script runs.
    pub(super) fn has_values(it: &TSNamespaceDeclaration<'_>) -> bool {
        let of_statement = |one: &Statement<'_>| match one {
            Statement::TSTypeAliasDeclaration(_) | Statement::TSInterfaceDeclaration(_) => false,
            Statement::TSNamespaceDeclaration(inner) => Self::has_values(inner),
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_) => false,
                Declaration::TSNamespaceDeclaration(inner) => Self::has_values(inner),
                _ => true,
            },
            _ => true,
        };
        !it.declare
            && match &it.body {
                TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => Self::has_values(inner),
                TSNamespaceDeclarationBody::TSModuleBlock(block) => block.body.iter().any(of_statement),
            }
    }

    /// The statements of a namespace, without their `export`.
    fn members(&mut self, block: &TSModuleBlock<'_>) {
        for statement in &block.body {
            if let Statement::ExportDeclaration(export) = statement {
                let known = std::mem::take(&mut self.exported);
                let edits = self.edits.len();
                self.export_of(export);
                self.exported = known;
                let is_gone = self.edits[edits..].first().is_some_and(|first| first.covers(export.span));
                if !is_gone {
                    self.put(Span::new(export.span.start, export.declaration.span().start), ";");
                }
            } else {
                self.visit_statement(statement);
            }
        }
    }

    /// Makes the object that an enum or namespace fills, if nothing of that name is there yet.
    fn object_of(&mut self, id: &BindingIdentifier<'_>) -> String {
        let is_new = id.symbol_id.get().is_none_or(|symbol| self.declared.insert(symbol));
        let name = id.name.as_str();
        if is_new { format!("var {name}={name}||{{}};") } else { ";".to_owned() }
    }
}

fn exported_names(block: &TSModuleBlock<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for statement in &block.body {
        let Statement::ExportDeclaration(export) = statement else { continue };
        match &export.declaration {
            Declaration::VariableDeclaration(variables) if !variables.declare => {
                let bound = variables.declarations.iter().flat_map(|one| one.id.get_binding_identifiers());
                names.extend(bound.map(|name| name.name.to_string()));
            }
            Declaration::FunctionDeclaration(one) if one.body.is_some() => {
                names.extend(one.id.iter().map(|id| id.name.to_string()));
            }
            Declaration::ClassDeclaration(one) if !one.declare => {
                names.extend(one.id.iter().map(|id| id.name.to_string()));
            }
            Declaration::TSEnumDeclaration(one) if !one.declare => names.push(one.id.name.to_string()),
            Declaration::TSNamespaceDeclaration(one) if Stripper::has_values(one) => {
                names.push(one.id.name.to_string());
            }
            _ => {}
        }
    }
    names.sort();
    names.dedup();
    names
}

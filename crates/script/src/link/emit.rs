//! Writes the factory of a file: the file's own text, with its module declarations taken out and its uses of imports
//! replaced, behind one line of preparation.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::edit::{Edit, apply};
use super::error::LinkError;
use super::graph::{Graph, Target};
use super::parse::{ImportedName, Kind, Origin, Parsed, Part, Shape, Way};
use super::resolve::{Binding, Found, Seen};
use super::{Import, Lead, Module, ModuleKind};

/// The factory of `file`; `positions` gives a file's index in the bundle.
pub(super) fn emit(graph: &Graph, file: usize, positions: &[usize], seen: &Seen) -> Result<Module, LinkError> {
    let parsed = &graph.files[file].parsed;
    let mut emitter = Emitter { graph, file, positions, seen, imports: Vec::new(), constants: String::new() };
    let mut edits = parsed.edits.clone();
    for import in &parsed.imports {
        emitter.import(import, &mut edits)?;
    }
    let exports = if graph.is_common_js(file) { String::new() } else { emitter.exports()? };
    let mut source = head(parsed);
    let mark = &parsed.mark;
    for index in 0..emitter.imports.len() {
        write!(source, "const {mark}m{index}={mark}import({index});").expect("a String takes all");
    }
    source.push_str(&emitter.constants);
    source.push_str(&exports);
    if parsed.names_default_function {
        // Not `Object`, which the file may declare for itself.
        let name = "\"name\",{value:\"default\",configurable:true}";
        write!(source, "({{}}).constructor.defineProperty({mark}d,{name});").expect("a String takes all");
    }
    source.push_str("yield;");
    apply(&parsed.source, edits, &mut source);
    // The file may end with a comment.
    source.push_str("\n})");
    let kind = match parsed.kind {
        Kind::Script => ModuleKind::Script,
        Kind::Awaiting => ModuleKind::Awaiting,
        Kind::CommonJs { .. } => ModuleKind::CommonJs,
    };
    let (needs, leads) = leads(graph, file, positions);
    Ok(Module { path: parsed.path.clone(), source, imports: emitter.imports, kind, needs, leads })
}

/// The beginning of a factory.
fn head(parsed: &Parsed) -> String {
    let mark = &parsed.mark;
    let has_calls = parsed.uses_dynamic || parsed.uses_require;
    let dynamic = if has_calls { format!(",{mark}dynamic") } else { String::new() };
    let awaiting = if parsed.kind == Kind::Awaiting { "async " } else { "" };
    match parsed.kind {
        Kind::Script | Kind::Awaiting => {
            // What is not used must not take a place: the file may have the name for itself.
            let require = if parsed.uses_require { ",require" } else { "" };
            format!("({awaiting}function*({mark}import,{mark}export,{mark}meta{dynamic}{require}){{\"use strict\";")
        }
        Kind::CommonJs { is_sloppy } => {
            let strict = if is_sloppy { "" } else { "\"use strict\";" };
            format!("(function*(require,module,exports{dynamic}){{{strict}")
        }
    }
}

/// What must run before a file, and where the names lead that it gives to `require` and `import()`.
fn leads(graph: &Graph, file: usize, positions: &[usize]) -> (Vec<usize>, BTreeMap<String, Lead>) {
    let loaded = &graph.files[file];
    let (mut needs, mut leads) = (Vec::new(), BTreeMap::new());
    for (request, target) in loaded.parsed.requests.iter().zip(&loaded.targets) {
        let lead = match target {
            Target::File(file) => Lead::Import(Import::Module(positions[*file])),
            Target::Builtin(name) => Lead::Import(Import::Builtin(name.clone())),
            Target::Missing(sentence) => Lead::Nowhere(sentence.clone()),
        };
        match (request.way, lead) {
            (Way::Import, Lead::Import(Import::Module(position))) if !needs.contains(&position) => needs.push(position),
            (Way::Import, _) => {}
            (Way::Require | Way::Dynamic, lead) => {
                leads.entry(request.specifier.clone()).or_insert(lead);
            }
        }
    }
    (needs, leads)
}

struct Emitter<'g> {
    graph: &'g Graph,
    file: usize,
    positions: &'g [usize],
    seen: &'g Seen,
    imports: Vec<Import>,
    /// Imports that never change, as constants under their own names.
    constants: String,
}

impl Emitter<'_> {
    fn import(&mut self, import: &ImportedName, edits: &mut Vec<Edit>) -> Result<(), LinkError> {
        let loaded = &self.graph.files[self.file];
        let target = &loaded.targets[import.request];
        let binding = match self.graph.resolve_part(target, &import.part) {
            Found::Binding(binding) => binding,
            found => {
                let request = &loaded.parsed.requests[import.request].specifier;
                if loaded.parsed.may_name_types() && import.uses.is_empty() && found == Found::Nothing {
                    return Ok(());
                }
                return Err(self.not_exported(request, target, &import.part, &found, import.offset));
            }
        };
        if import.uses.is_empty() {
            return Ok(());
        }
        let expression = self.expression(&binding);
        let Binding::Own { .. } = binding else {
            write!(self.constants, "const {}={expression};", import.local).expect("a String takes all");
            return Ok(());
        };
        for place in &import.uses {
            let text = match place.shape {
                Shape::Plain => expression.clone(),
                Shape::Called => format!("(0,{expression})"),
                Shape::CalledFirst => format!(";(0,{expression})"),
                Shape::Shorthand => format!("{}:{expression}", import.local),
            };
            edits.push(Edit::replace(place.span, text));
        }
        Ok(())
    }

    /// One call of the export function per name, in the order of a namespace's keys: by UTF-16 code units.
    fn exports(&mut self) -> Result<String, LinkError> {
        let loaded = &self.graph.files[self.file];
        let mark = &loaded.parsed.mark;
        let mut names: Vec<String> = self.graph.names(self.file).into_iter().collect();
        names.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
        let mut text = String::new();
        for name in names {
            let explicit = loaded.parsed.exports.iter().find(|export| export.name == name);
            let found = self.graph.resolve(self.file, &name);
            let getter = match (explicit.map(|export| (&export.origin, export.offset)), found) {
                (Some((Origin::Other { .. }, _)), Found::Nothing) if loaded.parsed.may_name_types() => continue,
                (Some((Origin::Other { request, part }, offset)), found @ (Found::Nothing | Found::Ambiguous)) => {
                    let specifier = &loaded.parsed.requests[*request].specifier;
                    return Err(self.not_exported(specifier, &loaded.targets[*request], part, &found, offset));
                }
                _ if !self.seen.has(self.file, &name) => continue,
                (Some((Origin::Local(local), _)), _) => local.clone(),
                (_, Found::Binding(binding)) => self.expression(&binding),
                // What two `export *` give differently is left out.
                (_, Found::Nothing | Found::Ambiguous) => continue,
            };
            write!(text, "{mark}export({},()=>{getter});", quoted(&name)).expect("a String takes all");
        }
        Ok(text)
    }

    /// JavaScript that gives a binding's value of the moment.
    fn expression(&mut self, binding: &Binding) -> String {
        match binding {
            Binding::Own { file, name } => self.namespace(&Target::File(*file)) + &member(name),
            Binding::Builtin { module, name } => self.namespace(&Target::Builtin(module.clone())) + &member(name),
            Binding::Namespace(target) => self.namespace(target),
        }
    }

    fn namespace(&mut self, target: &Target) -> String {
        let import = match target {
            Target::File(file) => Import::Module(self.positions[*file]),
            Target::Builtin(module) => Import::Builtin(module.clone()),
            Target::Missing(_) => unreachable!("what is imported by a statement is there"),
        };
        let index = self.imports.iter().position(|known| *known == import).unwrap_or_else(|| {
            self.imports.push(import);
            self.imports.len() - 1
        });
        format!("{}m{index}", self.graph.files[self.file].parsed.mark)
    }

    fn not_exported(&self, specifier: &str, target: &Target, part: &Part, found: &Found, offset: usize) -> LinkError {
        let parsed = &self.graph.files[self.file].parsed;
        let spot = parsed.spot(offset);
        let Part::Name(name) = part else { unreachable!("a namespace always resolves") };
        let names: Vec<String> = match target {
            Target::Missing(_) => Vec::new(),
            Target::File(file) => self.graph.names(*file).into_iter().collect(),
            Target::Builtin(module) => {
                ["default"].iter().chain(self.graph.builtins[module]).map(|&n| n.to_owned()).collect()
            }
        };
        let message = match found {
            Found::Ambiguous => format!("`{specifier}` exports `{name}` twice, from different files"),
            _ if names.contains(name) => format!("`{specifier}` exports `{name}` only from a circle of files"),
            _ if names.is_empty() => format!("`{specifier}` has no export `{name}`: it exports nothing"),
            _ => format!("`{specifier}` has no export `{name}`: it exports {}", names.join(", ")),
        };
        LinkError::Import { spot, message }
    }
}

fn member(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    if name.chars().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty() {
        format!(".{name}")
    } else {
        format!("[{}]", quoted(name))
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

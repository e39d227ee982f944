//! Which variable of which file an exported name means, by the rules of the language.

use std::collections::{BTreeSet, HashSet};

use super::graph::{Graph, Target};
use super::parse::{Kind, Origin, Part, Way};

/// What a name means in the end, however many files pass it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// An export of a file that is a variable of it.
    Own { file: usize, name: String },
    /// A namespace object.
    Namespace(Target),
    /// An export of a module of k6.
    Builtin { module: String, name: String },
}

/// What a search for a name ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Binding(Binding),
    /// No such export.
    Nothing,
    /// Two `export *` give different things under this name.
    Ambiguous,
}

/// What of the files can be seen from outside of them: the rest need not be exported, and every user is smaller.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Files whose namespace object somebody holds.
    whole: BTreeSet<usize>,
    names: HashSet<(usize, String)>,
}

impl Seen {
    pub(super) fn has(&self, file: usize, name: &str) -> bool {
        self.whole.contains(&file) || self.names.contains(&(file, name.to_owned()))
    }
}

impl Graph {
    /// Everything that can be seen, if the host holds the namespace of `entry`.
    pub(super) fn seen(&self, entry: usize) -> Seen {
        let mut seen = Seen::default();
        let mut waiting = vec![entry];
        for loaded in &self.files {
            for (request, target) in loaded.parsed.requests.iter().zip(&loaded.targets) {
                if let (Way::Require | Way::Dynamic, Target::File(file)) = (request.way, target) {
                    waiting.push(*file);
                }
            }
            for import in loaded.parsed.imports.iter().filter(|import| !import.uses.is_empty()) {
                let found = self.resolve_part(&loaded.targets[import.request], &import.part);
                let members: Option<Vec<&String>> = import.uses.iter().map(|place| place.member.as_ref()).collect();
                match (&found, members) {
                    // A namespace of which only members are used need not have the others.
                    (Found::Binding(Binding::Namespace(Target::File(file))), Some(members)) => {
                        for member in members {
                            seen.names.insert((*file, member.clone()));
                            Self::see(self.resolve(*file, member), &mut seen, &mut waiting);
                        }
                    }
                    _ => Self::see(found, &mut seen, &mut waiting),
                }
            }
        }
        while let Some(file) = waiting.pop() {
            if seen.whole.insert(file) {
                for name in self.names(file) {
                    Self::see(self.resolve(file, &name), &mut seen, &mut waiting);
                }
            }
        }
        seen
    }

    fn see(found: Found, seen: &mut Seen, waiting: &mut Vec<usize>) {
        match found {
            Found::Binding(Binding::Own { file, name }) => {
                seen.names.insert((file, name));
            }
            Found::Binding(Binding::Namespace(Target::File(file))) => waiting.push(file),
            _ => {}
        }
    }

    /// What `part` of the module that a request leads to means.
    pub(super) fn resolve_part(&self, target: &Target, part: &Part) -> Found {
        self.part(target, part, &mut HashSet::new())
    }

    /// What `name` means as an export of `file`.
    pub(super) fn resolve(&self, file: usize, name: &str) -> Found {
        self.export(file, name, &mut HashSet::new())
    }

    fn part(&self, target: &Target, part: &Part, seen: &mut HashSet<(usize, String)>) -> Found {
        let name = match part {
            Part::Namespace => return Found::Binding(Binding::Namespace(target.clone())),
            Part::Name(name) => name,
        };
        match target {
            Target::File(file) => self.export(*file, name, seen),
            Target::Builtin(module) if name == "default" || self.builtins[module].contains(&name.as_str()) => {
                Found::Binding(Binding::Builtin { module: module.clone(), name: name.clone() })
            }
            Target::Builtin(_) | Target::Missing(_) => Found::Nothing,
        }
    }

    fn export(&self, file: usize, name: &str, seen: &mut HashSet<(usize, String)>) -> Found {
        if !seen.insert((file, name.to_owned())) {
            return Found::Nothing;
        }
        let loaded = &self.files[file];
        if self.is_common_js(file) {
            // What it exports shows when it has run.
            return Found::Binding(Binding::Own { file, name: name.to_owned() });
        }
        if let Some(export) = loaded.parsed.exports.iter().find(|export| export.name == name) {
            return match &export.origin {
                Origin::Local(_) => Found::Binding(Binding::Own { file, name: name.to_owned() }),
                Origin::Other { request, part } => self.part(&loaded.targets[*request], part, seen),
            };
        }
        if name == "default" {
            return Found::Nothing;
        }
        let mut found = Found::Nothing;
        let leads_to_common_js =
            |request: usize| matches!(loaded.targets[request], Target::File(file) if self.is_common_js(file));
        let (last, first): (Vec<usize>, Vec<usize>) =
            loaded.parsed.stars.iter().partition(|&&request| leads_to_common_js(request));
        for request in first {
            match self.part(&loaded.targets[request], &Part::Name(name.to_owned()), seen) {
                Found::Nothing => {}
                Found::Ambiguous => return Found::Ambiguous,
                other if found == Found::Nothing || found == other => found = other,
                Found::Binding(_) => return Found::Ambiguous,
            }
        }
        match last.first() {
            Some(&request) if found == Found::Nothing => {
                self.part(&loaded.targets[request], &Part::Name(name.to_owned()), seen)
            }
            _ => found,
        }
    }

    pub(super) fn is_common_js(&self, file: usize) -> bool {
        matches!(self.files[file].parsed.kind, Kind::CommonJs { .. })
    }

    /// All names that `file` exports, those that turn out ambiguous included.
    pub(super) fn names(&self, file: usize) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut seen = HashSet::from([file]);
        let mut waiting = vec![file];
        while let Some(at) = waiting.pop() {
            let loaded = &self.files[at];
            // `export *` leaves out the default.
            let passed_on = |name: &str| at == file || name != "default";
            let own = loaded.parsed.exports.iter().map(|export| &export.name);
            names.extend(own.filter(|name| passed_on(name)).cloned());
            for &request in &loaded.parsed.stars {
                match &loaded.targets[request] {
                    Target::File(next) => {
                        if seen.insert(*next) {
                            waiting.push(*next);
                        }
                    }
                    Target::Missing(_) => {}
                    Target::Builtin(module) => {
                        names.extend(self.builtins[module].iter().map(|&name| name.to_owned()));
                    }
                }
            }
        }
        names
    }
}

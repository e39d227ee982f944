//! `k6/experimental/csv`: tables from files. What `parse` gives exists once for all users, as a SharedArray does.

use std::cell::RefCell;
use std::io::Cursor;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use csv::{Reader, ReaderBuilder, StringRecord};
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};
use serde_json::{Map, Value as Json};

use super::{Builtin, data};
use crate::host::Host;
use crate::realm::evaluate_own;

pub(super) const MODULE: Builtin = Builtin { name: "k6/experimental/csv", exports: &["Parser", "parse"], make };

fn make<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let of = host.clone();
    let load = move |ctx: Ctx<'js>, wanted: Wanted, _: Value<'js>| {
        of.in_init(&ctx, "csv.parse()")?;
        let known = of.world.arrays.lock().expect("no panic while the lock is held").get(&wanted.key()).cloned();
        let elements = match known {
            Some(elements) => elements,
            None => {
                let rows = wanted.rows(&of).and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>);
                let rows = rows.map_err(|error| Exception::throw_message(&ctx, &error))?;
                let elements: Arc<[String]> = rows.iter().map(Json::to_string).collect();
                let mut arrays = of.world.arrays.lock().expect("no panic while the lock is held");
                arrays.entry(wanted.key()).or_insert(elements).clone()
            }
        };
        data::elements(&ctx, elements)
    };
    let of = host.clone();
    let parser = move |ctx: Ctx<'js>, wanted: Wanted| {
        of.in_init(&ctx, "new csv.Parser()")?;
        let rows = wanted.rows(&of).map_err(|error| Exception::throw_message(&ctx, &error))?;
        let rows = RefCell::new(rows);
        let next = move |ctx: Ctx<'js>| -> Result<Option<String>> {
            let row = rows.borrow_mut().next().transpose();
            let row = row.map_err(|error| Exception::throw_message(&ctx, &error))?;
            Ok(row.map(|row| row.to_string()))
        };
        Function::new(ctx.clone(), next)
    };
    let shared = evaluate_own(ctx, "k6/data.js", include_str!("data.js"))?;
    let load = Function::new(ctx.clone(), load)?;
    let shared: Object<'js> = shared.as_function().expect("data.js is a function").call((load,))?;
    let parser = Function::new(ctx.clone(), parser)?;
    let module = evaluate_own(ctx, "k6/csv.js", include_str!("csv.js"))?;
    module.as_function().expect("csv.js is a function").call((shared.get::<_, Value<'js>>("SharedArray")?, parser))
}

/// A table that a script asks for, as `csv.js` has checked it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wanted {
    path: String,
    /// Position in the file to begin at.
    at: usize,
    delimiter: u8,
    /// First and last record, counted from 0.
    from: usize,
    to: usize,
    /// Whether the first record names the others' fields.
    as_objects: bool,
}

impl<'js> rquickjs::FromJs<'js> for Wanted {
    fn from_js(_: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        let object = value.into_object().expect("csv.js gives an object");
        Ok(Self {
            path: object.get("path")?,
            at: object.get("at")?,
            delimiter: object.get("delimiter")?,
            from: object.get("from")?,
            to: object.get::<_, Option<usize>>("to")?.unwrap_or(usize::MAX),
            as_objects: object.get("asObjects")?,
        })
    }
}

impl Wanted {
    /// Its name among the arrays that all users share, which no script can give to another.
    fn key(&self) -> String {
        format!("\0{self:?}")
    }

    fn rows(&self, host: &Host) -> std::result::Result<Rows, String> {
        let files = host.world.files.lock().expect("no panic while the lock is held");
        let bytes = files.get(Path::new(&self.path)).expect("it was opened").clone();
        drop(files);
        Rows::new(self, bytes)
    }
}

/// The records of a table, one by one.
struct Rows {
    reader: Reader<Cursor<Arc<[u8]>>>,
    record: StringRecord,
    names: Option<Vec<String>>,
    /// Fields of the first record: all must have as many.
    fields: Option<usize>,
    /// Number of the next record.
    next: usize,
    to: usize,
}

impl Rows {
    fn new(wanted: &Wanted, bytes: Arc<[u8]>) -> std::result::Result<Self, String> {
        let mut cursor = Cursor::new(bytes);
        cursor.set_position(wanted.at as u64);
        let reader =
            ReaderBuilder::new().has_headers(false).flexible(true).delimiter(wanted.delimiter).from_reader(cursor);
        let record = StringRecord::new();
        let mut rows = Self { reader, record, names: None, fields: None, next: 0, to: wanted.to };
        if wanted.as_objects {
            rows.names = rows.read()?;
        }
        while rows.next < wanted.from {
            if rows.read()?.is_none() {
                return Err(format!("{}: there is no record number {}", wanted.path, wanted.from));
            }
        }
        Ok(rows)
    }

    fn read(&mut self) -> std::result::Result<Option<Vec<String>>, String> {
        self.next += 1;
        match self.reader.read_record(&mut self.record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let fields = *self.fields.get_or_insert(self.record.len());
                if fields == self.record.len() {
                    return Ok(Some(self.record.iter().map(str::to_owned).collect()));
                }
                let line = self.record.position().map_or(0, csv::Position::line);
                Err(format!("record on line {line}: {} fields instead of {fields}", self.record.len()))
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Iterator for Rows {
    type Item = std::result::Result<Json, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next > self.to {
            return None;
        }
        let fields = match self.read() {
            Ok(fields) => fields?,
            Err(error) => return Some(Err(error)),
        };
        Some(Ok(match &self.names {
            None => fields.into(),
            Some(names) => {
                let pairs = names.iter().cloned().zip(fields.into_iter().map(Json::String));
                Json::Object(pairs.collect::<Map<_, _>>())
            }
        }))
    }
}

/// Reads a table of which a fuzzer wrote both the text and how it is to be read.
#[cfg(any(test, fuzzing))]
pub(crate) fn read_any(delimiter: u8, [at, from, to]: [u8; 3], as_objects: bool, table: &[u8]) {
    let [at, from, to] = [at, from, to].map(usize::from);
    let wanted = Wanted { path: "any".into(), at, delimiter, from, to, as_objects };
    let Ok(rows) = Rows::new(&wanted, table.into()) else { return };
    // As many as were asked for, and not more than there are bytes.
    let count = rows.take(table.len() + 2).count();
    assert!(count <= (to + 1).saturating_sub(from) && count <= table.len() + 1);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(text: &[u8], delimiter: u8) -> Vec<std::result::Result<Json, String>> {
        let wanted = Wanted { path: "t".into(), at: 0, delimiter, from: 0, to: usize::MAX, as_objects: false };
        Rows::new(&wanted, text.into()).unwrap().take(10_000).collect()
    }

    fn quoted(field: &str) -> String {
        format!("\"{}\"", field.replace('"', "\"\""))
    }

    proptest! {
        #[test]
        fn what_is_written_by_the_rules_is_read_back(table in prop::collection::vec(prop::collection::vec(".*", 3), 1..9)) {
            let lines: Vec<_> = table.iter().map(|row| row.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(";")).collect();
            let read: Vec<_> = rows(lines.join("\n").as_bytes(), b';').into_iter().map(|row| row.unwrap()).collect();
            prop_assert_eq!(read, table.into_iter().map(Json::from).collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_give_rows_or_errors(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = rows(&bytes, b',');
        }
    }
}

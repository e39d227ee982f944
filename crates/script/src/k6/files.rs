//! `k6/experimental/fs`: files that are read once for all users, each user with a position of its own.

use std::path::Path;
use std::rc::Rc;

use rquickjs::{ArrayBuffer, Ctx, Exception, Function, Object, Result};

use super::Builtin;
use crate::host::{Host, Phase};
use crate::realm::{evaluate_own, read_file};

pub(super) const MODULE: Builtin = Builtin { name: "k6/experimental/fs", exports: &["SeekMode", "open"], make };

fn make<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let of = host.clone();
    native.set("isInit", Function::new(ctx.clone(), move || of.seat().phase.get() == Phase::Init)?)?;
    let of = host.clone();
    let kind = move |path: String| {
        let path = of.world.folder.join(path);
        // What was read once is there, whatever has become of it on the disk.
        let is_known = of.world.files.lock().expect("no panic while the lock is held").contains_key(&path);
        if is_known {
            return "file";
        }
        if path.is_dir() {
            "directory"
        } else if path.exists() {
            "file"
        } else {
            "nothing"
        }
    };
    native.set("kind", Function::new(ctx.clone(), kind)?)?;
    let of = host.clone();
    let open = move |ctx: Ctx<'js>, path: String| open(&ctx, &of, &path);
    native.set("open", Function::new(ctx.clone(), open)?)?;
    let of = host.clone();
    let slice = move |ctx: Ctx<'js>, path: String, from: usize, to: usize| {
        let files = of.world.files.lock().expect("no panic while the lock is held");
        let bytes = files.get(Path::new(&path)).and_then(|bytes| bytes.get(from..to)).unwrap_or_default();
        ArrayBuffer::new_copy(ctx, bytes)
    };
    native.set("slice", Function::new(ctx.clone(), slice)?)?;
    let module = evaluate_own(ctx, "k6/files.js", include_str!("files.js"))?;
    module.as_function().expect("files.js is a function").call((native,))
}

/// Path, name and size of a file, which is read if nobody has read it yet.
fn open<'js>(ctx: &Ctx<'js>, host: &Host, path: &str) -> Result<Object<'js>> {
    let path = host.world.folder.join(path);
    let bytes = read_file(ctx, host, &path)?;
    let shown = path.to_str().ok_or_else(|| Exception::throw_message(ctx, "open(): the path is not UTF-8"))?;
    let file = Object::new(ctx.clone())?;
    file.set("path", shown)?;
    file.set("name", path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned()))?;
    file.set("size", bytes.len())?;
    Ok(file)
}

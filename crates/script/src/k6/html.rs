//! `k6/html`: pages are parsed once and live outside of JavaScript; selections there hold numbers of nodes.

mod document;
mod matching;
mod parser;
mod selector;
mod serialize;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use model::record::Level;
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::convert::List;
use rquickjs::function::Constructor;
use rquickjs::object::Property;
use rquickjs::{Class, Ctx, Exception, Function, Object, Result, Value};
use url::Url;

use super::{Builtin, HttpResponse};
use crate::host::Host;
use crate::realm::evaluate_own;
use document::{Document, Kind, Node, NodeId};
use selector::Selector;

pub(super) const MODULE: Builtin = Builtin { name: "k6/html", exports: &["parseHTML"], make };

/// Selectors that are kept: scripts that make up new ones must not fill the memory.
const SELECTORS_MAX: usize = 512;

/// A page, held by an object of a script.
pub(crate) struct HtmlPage(Document);

impl<'js> Trace<'js> for HtmlPage {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for HtmlPage {
    const NAME: &'static str = "HtmlPage";
    type Mutable = Readable;

    fn prototype(_: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        Ok(None)
    }

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

type Page<'js> = Class<'js, HtmlPage>;

fn make<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("parseHTML", library(ctx, host)?.get::<_, Value<'js>>("parseHTML")?)?;
    Ok(module)
}

/// What `html.js` makes: once for all users of a realm, whoever asks first.
pub(super) fn library<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    const KEPT: &str = "__html";
    let holder = Class::<HttpResponse>::prototype(ctx)?.expect("a response has a prototype");
    if let Some(library) = holder.get::<_, Option<Object<'js>>>(KEPT)? {
        return Ok(library);
    }
    let typed = evaluate_own(ctx, "k6/elements.js", include_str!("html/elements.js"))?;
    let code = evaluate_own(ctx, "k6/html.js", include_str!("html/html.js"))?;
    let library: Object<'js> = code.as_function().expect("html.js is a function").call((natives(ctx, host)?, typed))?;
    holder.prop(KEPT, Property::from(library.clone()))?;
    Ok(library)
}

fn natives<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let parse = |ctx: Ctx<'js>, text: String| {
        let page = document::parse(&text).map_err(|error| Exception::throw_message(&ctx, &error.to_string()))?;
        Class::instance(ctx, HtmlPage(page))
    };
    natives.set("parse", Function::new(ctx.clone(), parse)?)?;
    let selectors = Rc::new(Selectors { host: host.clone(), known: RefCell::default() });
    let of = selectors.clone();
    let find = move |page: Page<'js>, ids: Vec<NodeId>, selector: String| {
        let page = &page.borrow().0;
        let Some(selector) = of.get(&selector) else { return Vec::new() };
        unique(page, ids.into_iter().flat_map(|id| page.inside(id).filter(|&id| selector.fits(page, id))))
    };
    natives.set("find", Function::new(ctx.clone(), find)?)?;
    let keep = move |page: Page<'js>, ids: Vec<NodeId>, selector: String| {
        let page = &page.borrow().0;
        let Some(selector) = selectors.get(&selector) else { return Vec::new() };
        ids.into_iter().filter(|&id| selector.fits(page, id)).collect()
    };
    natives.set("keep", Function::new(ctx.clone(), keep)?)?;
    let related = |ctx: Ctx<'js>, page: Page<'js>, ids: Vec<NodeId>, kind: String| related(&ctx, &page, &ids, &kind);
    natives.set("related", Function::new(ctx.clone(), related)?)?;
    let text = |page: Page<'js>, id: NodeId| page.borrow().0.text(id);
    natives.set("text", Function::new(ctx.clone(), text)?)?;
    let inner = |page: Page<'js>, id: NodeId| serialize::inner(&page.borrow().0, id);
    natives.set("inner", Function::new(ctx.clone(), inner)?)?;
    let outer = |page: Page<'js>, id: NodeId| serialize::outer(&page.borrow().0, id);
    natives.set("outer", Function::new(ctx.clone(), outer)?)?;
    let attribute = |page: Page<'js>, id: NodeId, name: String| page.borrow().0.attribute(id, &name).map(str::to_owned);
    natives.set("attribute", Function::new(ctx.clone(), attribute)?)?;
    natives.set("attributes", Function::new(ctx.clone(), |page: Page<'js>, id: NodeId| attributes(&page, id))?)?;
    natives.set("about", Function::new(ctx.clone(), |page: Page<'js>, id: NodeId| about(&page, id))?)?;
    let join = |base: String, address: String| Url::parse(&base).ok()?.join(&address).ok().map(String::from);
    natives.set("join", Function::new(ctx.clone(), join)?)?;
    Ok(natives)
}

/// Selectors that scripts have used.
struct Selectors {
    host: Rc<Host>,
    known: RefCell<HashMap<String, Option<Rc<Selector>>>>,
}

impl Selectors {
    /// A selector from its text. What is none finds nothing, as in k6, and is said once.
    fn get(&self, text: &str) -> Option<Rc<Selector>> {
        if let Some(known) = self.known.borrow().get(text) {
            return known.clone();
        }
        let selector = match Selector::parse(text) {
            Ok(selector) => Some(Rc::new(selector)),
            Err(error) => {
                self.host.meter.log(Level::Warn, format!("k6/html: {error}; it finds nothing"));
                None
            }
        };
        let mut known = self.known.borrow_mut();
        if known.len() >= SELECTORS_MAX {
            known.clear();
        }
        known.insert(text.to_owned(), selector.clone());
        selector
    }
}

/// The numbers that are there, each once, in their order.
fn unique(page: &Document, ids: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
    let mut seen = std::collections::HashSet::new();
    ids.filter(|&id| page.has(id) && seen.insert(id)).collect()
}

/// The relatives of nodes: of each node in turn, and each once.
fn related(ctx: &Ctx<'_>, page: &Page<'_>, ids: &[NodeId], kind: &str) -> Result<Vec<NodeId>> {
    let page = &page.borrow().0;
    let next: fn(&Node) -> Option<NodeId> = |node| node.next;
    let previous: fn(&Node) -> Option<NodeId> = |node| node.previous;
    let is_element = |id: &NodeId| page.element(*id).is_some();
    let mut found = Vec::new();
    for &id in ids {
        match kind {
            "contents" => found.extend(page.children(id)),
            "children" => found.extend(page.children(id).filter(is_element)),
            "above" => found.extend(page.node(id).parent),
            "parent" => found.extend(page.node(id).parent.filter(is_element)),
            "parents" => found.extend(page.along(id, |node| node.parent).filter(is_element)),
            "after" => found.extend(page.node(id).next),
            "before" => found.extend(page.node(id).previous),
            "next" => found.extend(page.along(id, next).find(is_element)),
            "nextAll" => found.extend(page.along(id, next).filter(is_element)),
            "prev" => found.extend(page.along(id, previous).find(is_element)),
            "prevAll" => found.extend(page.along(id, previous).filter(is_element)),
            "siblings" => {
                let all = page.node(id).parent.into_iter().flat_map(|parent| page.children(parent));
                found.extend(all.filter(is_element).filter(|&other| other != id));
            }
            _ => return Err(Exception::throw_internal(ctx, "html.js asks for relatives that there are not")),
        }
    }
    Ok(unique(page, found.into_iter()))
}

/// Names and values.
fn attributes(page: &Page<'_>, id: NodeId) -> Vec<Vec<String>> {
    let page = page.borrow();
    let attributes = page.0.element(id).map(|element| element.attributes.as_slice()).unwrap_or_default();
    attributes.iter().map(|attribute| vec![attribute.name.local.to_string(), attribute.value.to_string()]).collect()
}

/// Type, name and namespace of a node, and the text of a text.
fn about(page: &Page<'_>, id: NodeId) -> List<(u8, String, String, Option<String>)> {
    const HTML: &str = "http://www.w3.org/1999/xhtml";
    let page = page.borrow();
    let (kind, name, namespace, text) = match &page.0.node(id).kind {
        Kind::Document => (9, "#document", HTML, None),
        Kind::Doctype(name) => (10, name.as_str(), HTML, None),
        Kind::Comment(_) => (8, "#comment", HTML, None),
        Kind::Text(text) => (3, "#text", HTML, Some(text.clone())),
        Kind::Element(element) => (1, &*element.name.local, &*element.name.ns, None),
    };
    List((kind, name.to_owned(), namespace.to_owned(), text))
}

//! A page as a tree in one vector, parsed once and shared by all that look at it. Must never recurse: pages come from
//! strangers.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, LocalName, Namespace, ParseOpts, QualName, parse_document};

/// Elements inside of each other: the parser looks through all open ones for each tag.
pub(super) const DEPTH_MAX: u32 = 4096;
/// Nodes of a page: unclosed formatting elements are repeated, so that a short text can become a large tree.
const NODES_MAX: usize = 3_000_000;
/// The text is given to the parser in pieces, so that it can be stopped.
const PIECE_BYTES: usize = 4096;

/// The number of a node; a page begins with node 0, the document itself.
pub(super) type NodeId = u32;

/// Why a text is no page that can be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ParseError {
    /// Hostile, or broken by a generator.
    #[error("cannot parse the HTML: its elements are nested more than {DEPTH_MAX} deep")]
    Deep,
    /// Larger than anything that is worth looking at.
    #[error("cannot parse the HTML: it has more than {NODES_MAX} nodes")]
    Large,
}

/// What a node is.
#[derive(Debug)]
pub(super) enum Kind {
    Document,
    Doctype(String),
    Text(String),
    Comment(String),
    Element(Box<Element>),
}

/// A tag and its attributes.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: QualName,
    pub(super) attributes: Vec<Attribute>,
}

/// A node and its neighbours.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) parent: Option<NodeId>,
    pub(super) first: Option<NodeId>,
    pub(super) last: Option<NodeId>,
    pub(super) previous: Option<NodeId>,
    pub(super) next: Option<NodeId>,
    depth: u32,
}

/// A page.
#[derive(Debug)]
pub(super) struct Document {
    nodes: Vec<Node>,
}

/// Parses a text by the rules of HTML.
pub(super) fn parse(text: &str) -> Result<Document, ParseError> {
    let mut parser = parse_document(Builder::new(), ParseOpts::default());
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        parser.process(StrTendril::from_slice(piece));
        rest = after;
        let builder = &parser.tokenizer.sink.sink;
        if builder.depth.get() > DEPTH_MAX {
            return Err(ParseError::Deep);
        }
        if builder.nodes.borrow().len() > NODES_MAX {
            return Err(ParseError::Large);
        }
    }
    Ok(parser.finish())
}

impl Document {
    /// A node that is there.
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// Whether there is such a node.
    pub(super) fn has(&self, id: NodeId) -> bool {
        (id as usize) < self.nodes.len()
    }

    /// The element that a node is.
    pub(super) fn element(&self, id: NodeId) -> Option<&Element> {
        match &self.node(id).kind {
            Kind::Element(element) => Some(element),
            _ => None,
        }
    }

    /// The name of an element's tag.
    pub(super) fn tag(&self, id: NodeId) -> Option<&str> {
        self.element(id).map(|element| &*element.name.local)
    }

    /// The value of an attribute.
    pub(super) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        let attributes = &self.element(id)?.attributes;
        attributes.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
    }

    /// Where one kind of step leads from a node, again and again.
    pub(super) fn along(&self, id: NodeId, step: fn(&Node) -> Option<NodeId>) -> impl Iterator<Item = NodeId> {
        std::iter::successors(step(self.node(id)), move |&id| step(self.node(id)))
    }

    /// The children of a node.
    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.node(id).first, |&id| self.node(id).next)
    }

    /// All that is inside of a node, in the order of the page.
    pub(super) fn inside(&self, root: NodeId) -> impl Iterator<Item = NodeId> {
        let after = move |&id: &NodeId| {
            if let Some(first) = self.node(id).first {
                return Some(first);
            }
            let mut at = id;
            while at != root {
                if let Some(next) = self.node(at).next {
                    return Some(next);
                }
                at = self.node(at).parent?;
            }
            None
        };
        std::iter::successors(self.node(root).first, after)
    }

    /// All text in a node.
    pub(super) fn text(&self, id: NodeId) -> String {
        let own = std::iter::once(id).chain(self.inside(id));
        let texts = own.filter_map(|id| match &self.node(id).kind {
            Kind::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// A page while it is parsed.
struct Builder {
    nodes: RefCell<Vec<Node>>,
    depth: Cell<u32>,
}

impl Builder {
    fn new() -> Self {
        let builder = Self { nodes: RefCell::default(), depth: Cell::new(0) };
        builder.add(Kind::Document);
        builder
    }

    fn add(&self, kind: Kind) -> NodeId {
        let mut nodes = self.nodes.borrow_mut();
        let id = NodeId::try_from(nodes.len()).expect("a page is far smaller");
        nodes.push(Node { kind, parent: None, first: None, last: None, previous: None, next: None, depth: 0 });
        id
    }

    /// Puts a node before `next`, or behind the last child of `parent`.
    fn put(&self, child: NodeId, parent: NodeId, next: Option<NodeId>) {
        self.take_out(child);
        let nodes = &mut *self.nodes.borrow_mut();
        let previous = match next {
            Some(next) => nodes[next as usize].previous,
            None => nodes[parent as usize].last,
        };
        let depth = nodes[parent as usize].depth + 1;
        let node = &mut nodes[child as usize];
        (node.parent, node.previous, node.next, node.depth) = (Some(parent), previous, next, depth);
        match previous {
            Some(previous) => nodes[previous as usize].next = Some(child),
            None => nodes[parent as usize].first = Some(child),
        }
        match next {
            Some(next) => nodes[next as usize].previous = Some(child),
            None => nodes[parent as usize].last = Some(child),
        }
        self.depth.set(self.depth.get().max(depth));
    }

    fn take_out(&self, id: NodeId) {
        let nodes = &mut *self.nodes.borrow_mut();
        let node = &mut nodes[id as usize];
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        let Some(parent) = parent else { return };
        match previous {
            Some(previous) => nodes[previous as usize].next = next,
            None => nodes[parent as usize].first = next,
        }
        match next {
            Some(next) => nodes[next as usize].previous = previous,
            None => nodes[parent as usize].last = previous,
        }
    }

    fn insert(&self, parent: NodeId, next: Option<NodeId>, child: NodeOrText<NodeId>) {
        let text = match child {
            NodeOrText::AppendNode(node) => return self.put(node, parent, next),
            NodeOrText::AppendText(text) => text,
        };
        let before = {
            let nodes = self.nodes.borrow();
            next.map_or(nodes[parent as usize].last, |next| nodes[next as usize].previous)
        };
        if let Some(before) = before
            && let Kind::Text(known) = &mut self.nodes.borrow_mut()[before as usize].kind
        {
            known.push_str(&text);
            return;
        }
        let node = self.add(Kind::Text(text.to_string()));
        self.put(node, parent, next);
    }

    fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes.borrow()[id as usize].parent
    }
}

/// The name of an element, for the parser.
#[derive(Debug)]
struct Name(QualName);

impl ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl TreeSink for Builder {
    type Handle = NodeId;
    type Output = Document;
    type ElemName<'a> = Name;

    fn finish(self) -> Document {
        Document { nodes: self.nodes.into_inner() }
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        0
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Name {
        match &self.nodes.borrow()[*target as usize].kind {
            Kind::Element(element) => Name(element.name.clone()),
            _ => unreachable!("the parser asks for names of elements only"),
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> NodeId {
        self.add(Kind::Element(Box::new(Element { name, attributes })))
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.add(Kind::Comment(text.to_string()))
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> NodeId {
        self.create_comment(data)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.insert(*parent, None, child);
    }

    fn append_based_on_parent_node(&self, element: &NodeId, previous: &NodeId, child: NodeOrText<NodeId>) {
        match self.parent(*element) {
            Some(parent) => self.insert(parent, Some(*element), child),
            None => self.insert(*previous, None, child),
        }
    }

    fn append_doctype_to_document(&self, name: StrTendril, _: StrTendril, _: StrTendril) {
        let doctype = self.add(Kind::Doctype(name.to_string()));
        self.put(doctype, 0, None);
    }

    /// As in k6, what is in a template is in the page.
    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        *target
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        let parent = self.parent(*sibling).expect("the parser names a sibling that is in the tree");
        self.insert(parent, Some(*sibling), child);
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Attribute>) {
        if let Kind::Element(element) = &mut self.nodes.borrow_mut()[*target as usize].kind {
            for attribute in attributes {
                if element.attributes.iter().all(|known| known.name != attribute.name) {
                    element.attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.take_out(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        loop {
            let first = self.nodes.borrow()[*node as usize].first;
            let Some(first) = first else { return };
            self.put(first, *new_parent, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_without_end_is_an_error_and_neither_a_crash_nor_slow() {
        for tag in ["<div>", "<b>", "<table><tr><td>", "<svg>", "<a href=x><p>", "<select><option>"] {
            let result = parse(&tag.repeat(100_000));
            assert!(result.is_ok() || matches!(result, Err(ParseError::Deep | ParseError::Large)));
        }
        let error = parse(&"<div>".repeat(100_000)).unwrap_err();
        assert_eq!(error.to_string(), "cannot parse the HTML: its elements are nested more than 4096 deep");
    }

    #[test]
    fn a_page_has_its_texts_in_order() {
        let page = parse("<p>a<b>b</b>c<table>x<tr><td>d</table>").unwrap();
        assert_eq!(page.text(0), "abcxd");
        assert_eq!(page.inside(0).filter(|&id| page.tag(id) == Some("td")).count(), 1);
    }
}

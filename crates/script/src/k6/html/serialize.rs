//! From the tree back to text, as k6 writes it. Must never recurse.

use super::document::{Document, Kind, NodeId};

/// Elements without content.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "meta", "param", "source", "track",
    "wbr",
];
/// Elements whose text is written as it is.
const RAW: &[&str] = &["iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "xmp"];

/// What is inside of a node.
pub(super) fn inner(page: &Document, id: NodeId) -> String {
    let mut text = String::new();
    for child in page.children(id) {
        write(page, child, &mut text);
    }
    text
}

/// A node with its tag.
pub(super) fn outer(page: &Document, id: NodeId) -> String {
    let mut text = String::new();
    write(page, id, &mut text);
    text
}

fn write(page: &Document, root: NodeId, out: &mut String) {
    let mut at = root;
    loop {
        open(page, at, at != root, out);
        if let Some(first) = page.node(at).first {
            at = first;
            continue;
        }
        loop {
            close(page, at, out);
            if at == root {
                return;
            }
            if let Some(next) = page.node(at).next {
                at = next;
                break;
            }
            at = page.node(at).parent.expect("all nodes below the root have a parent");
        }
    }
}

fn open(page: &Document, id: NodeId, has_parent: bool, out: &mut String) {
    match &page.node(id).kind {
        Kind::Document => {}
        Kind::Doctype(name) => out.extend(["<!DOCTYPE ", name, ">"]),
        Kind::Comment(text) => out.extend(["<!--", text, "-->"]),
        Kind::Text(text) => {
            let parent = page.node(id).parent.filter(|_| has_parent);
            let is_raw = parent.and_then(|parent| page.tag(parent)).is_some_and(|tag| RAW.contains(&tag));
            if is_raw { out.push_str(text) } else { escape(text, out) }
        }
        Kind::Element(element) => {
            out.extend(["<", &*element.name.local]);
            for attribute in &element.attributes {
                let prefix = attribute.name.prefix.as_deref().filter(|prefix| !prefix.is_empty());
                out.push(' ');
                out.extend(prefix.into_iter().flat_map(|prefix| [prefix, ":"]));
                out.extend([&*attribute.name.local, "=\""]);
                escape(&attribute.value, out);
                out.push('"');
            }
            out.push_str(if VOID.contains(&&*element.name.local) { "/>" } else { ">" });
        }
    }
}

fn close(page: &Document, id: NodeId, out: &mut String) {
    if let Some(tag) = page.tag(id).filter(|tag| !VOID.contains(tag)) {
        out.extend(["</", tag, ">"]);
    }
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '\r' => out.push_str("&#13;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k6::html::document::parse;

    #[test]
    fn what_is_written_is_what_k6_writes() {
        let page = parse("<p id='1' x>a &lt; 'b'<br>c<!--d--><style>e>f</style></p>").unwrap();
        let wanted = "<html><head></head><body><p id=\"1\" x=\"\">a &lt; &#39;b&#39;<br/>c<!--d--><style>e>f</style></p></body></html>";
        assert_eq!(inner(&page, 0), wanted);
        assert_eq!(outer(&page, 0), wanted);
    }
}

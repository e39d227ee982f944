//! Whether a node is what a selector asks for. Must never recurse over the page, only over the selector.

use super::document::{Document, Kind, Node, NodeId};
use super::selector::{Chain, Joint, Part, Selector, Test};

/// How the left part of a chain fits.
enum Fit {
    Yes,
    No,
    /// Not here, and at no node further up either: nobody needs to look there.
    Never,
}

impl Selector {
    /// Whether a node is an element that one of the alternatives describes.
    pub(super) fn fits(&self, page: &Document, id: NodeId) -> bool {
        let fits = |chain: &Chain| matches!(fit(page, id, &chain.0), Fit::Yes);
        page.element(id).is_some() && self.0.iter().any(fits)
    }
}

fn fit(page: &Document, id: NodeId, chain: &[(Joint, Vec<Part>)]) -> Fit {
    let Some(((joint, parts), left)) = chain.split_last() else { return Fit::Yes };
    if page.element(id).is_none() || !parts.iter().all(|part| holds(page, id, part)) {
        return Fit::No;
    }
    if left.is_empty() {
        return Fit::Yes;
    }
    let previous = |node: &Node| node.previous;
    let mut earlier = page.along(id, previous).filter(|&id| page.element(id).is_some());
    match joint {
        Joint::Inside => decided(page, page.along(id, |node| node.parent), left).unwrap_or(Fit::Never),
        Joint::Child => page.node(id).parent.map_or(Fit::Never, |parent| fit(page, parent, left)),
        Joint::Next => earlier.next().map_or(Fit::No, |id| fit(page, id, left)),
        Joint::Later => decided(page, earlier, left).unwrap_or(Fit::No),
    }
}

fn decided(page: &Document, mut ids: impl Iterator<Item = NodeId>, left: &[(Joint, Vec<Part>)]) -> Option<Fit> {
    ids.find_map(|id| Some(fit(page, id, left)).filter(|fit| !matches!(fit, Fit::No)))
}

fn holds(page: &Document, id: NodeId, part: &Part) -> bool {
    let tag = page.tag(id).unwrap_or_default();
    match part {
        Part::Any => true,
        Part::Tag(name) => tag.eq_ignore_ascii_case(name),
        Part::Id(wanted) => page.attribute(id, "id") == Some(wanted),
        Part::Class(wanted) => words(page.attribute(id, "class").unwrap_or_default()).any(|word| word == wanted),
        Part::Attribute { name, test, ignores_case } => {
            let value = page.attribute(id, name);
            let lower = value.filter(|_| *ignores_case).map(str::to_lowercase);
            passes(lower.as_deref().or(value), test)
        }
        Part::Not(inner) => !inner.fits(page, id),
        Part::Has(inner) => page.inside(id).any(|id| inner.fits(page, id)),
        Part::HasChild(inner) => page.children(id).any(|id| inner.fits(page, id)),
        Part::Contains { text, is_own } => shown(page, id, *is_own).to_lowercase().contains(text),
        Part::Matches { regex, is_own } => regex.is_match(&shown(page, id, *is_own)),
        Part::Nth { step, offset, from_end, of_type } => {
            let rest = position(page, id, *from_end, *of_type) - offset;
            if *step == 0 { rest == 0 } else { rest % step == 0 && rest / step >= 0 }
        }
        Part::OnlyChild { of_type } => [false, true].iter().all(|end| position(page, id, *end, *of_type) == 1),
        Part::Language(wanted) => is_language(page, id, wanted),
        Part::Empty => page.children(id).all(|id| matches!(page.node(id).kind, Kind::Comment(_))),
        Part::Root => page.node(id).parent == Some(0),
        Part::Input => matches!(tag, "input" | "select" | "textarea" | "button"),
        Part::Link => matches!(tag, "a" | "area" | "link") && page.attribute(id, "href").is_some(),
        Part::Enabled => can_be_disabled(tag) && !is_disabled(page, id),
        Part::Disabled => can_be_disabled(tag) && is_disabled(page, id),
        Part::Checked => match tag {
            "option" => page.attribute(id, "selected").is_some(),
            "input" => {
                let kind = page.attribute(id, "type").unwrap_or_default();
                matches!(kind, "checkbox" | "radio") && page.attribute(id, "checked").is_some()
            }
            _ => false,
        },
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_ascii_whitespace()
}

fn passes(value: Option<&str>, test: &Test) -> bool {
    let Some(value) = value else { return matches!(test, Test::Unequal(_)) };
    match test {
        Test::Present => true,
        Test::Equal(wanted) => value == wanted,
        Test::Unequal(wanted) => value != wanted,
        Test::Word(wanted) => words(value).any(|word| word == wanted),
        Test::Dash(wanted) => {
            value.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        }
        Test::Prefix(wanted) => value.starts_with(wanted),
        Test::Suffix(wanted) => value.ends_with(wanted),
        Test::Within(wanted) => value.contains(wanted),
        Test::Regex(wanted) => wanted.is_match(value),
    }
}

/// The text in an element, or only what is directly in it.
fn shown(page: &Document, id: NodeId, is_own: bool) -> String {
    if !is_own {
        return page.text(id);
    }
    let texts = page.children(id).filter_map(|id| match &page.node(id).kind {
        Kind::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Which child an element is, counted from 1.
fn position(page: &Document, id: NodeId, from_end: bool, of_type: bool) -> i64 {
    let step: fn(&Node) -> Option<NodeId> = if from_end { |node| node.next } else { |node| node.previous };
    let counts = |&id: &NodeId| page.element(id).is_some();
    let before = page.along(id, step).filter(counts).filter(|&other| !of_type || page.tag(other) == page.tag(id));
    1 + i64::try_from(before.count()).expect("a page is far smaller")
}

/// k6 looks at all elements around, not only at the nearest with a language.
fn is_language(page: &Document, id: NodeId, wanted: &str) -> bool {
    let mut line = std::iter::once(id).chain(page.along(id, |node| node.parent));
    let test = Test::Dash(wanted.to_owned());
    line.any(|id| page.attribute(id, "lang").is_some_and(|language| passes(Some(&language.to_lowercase()), &test)))
}

fn can_be_disabled(tag: &str) -> bool {
    matches!(tag, "button" | "input" | "select" | "textarea" | "option" | "optgroup" | "fieldset" | "menuitem")
}

/// By its own attribute or by what it is in.
fn is_disabled(page: &Document, id: NodeId) -> bool {
    let has_attribute = |id| page.attribute(id, "disabled").is_some();
    let above = if page.tag(id) == Some("option") { "optgroup" } else { "fieldset" };
    has_attribute(id) || page.along(id, |node| node.parent).any(|id| page.tag(id) == Some(above) && has_attribute(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k6::html::document::parse;

    fn found(html: &str, selector: &str) -> String {
        let page = parse(html).unwrap();
        let selector = match Selector::parse(selector) {
            Ok(selector) => selector,
            Err(error) => return error.to_string(),
        };
        let ids = page.inside(0).filter(|&id| selector.fits(&page, id));
        ids.filter_map(|id| page.attribute(id, "id")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn selectors_find_what_k6_finds() {
        let html = "<div id=a class='x  y'><p id=p1>One<b id=b>Two</b></p><p id=p2 lang=en-US>3</p></div><input id=i>";
        for (selector, wanted) in [
            ("div > p, b", "p1 b p2"),
            ("div b", "b"),
            ("p + p", "p2"),
            ("p:nth-child(2n+1)", "p1"),
            ("p:last-child", "p2"),
            ("p:not(:has(b))", "p2"),
            (":containsOwn(one)", "p1"),
            ("div:contains('TWO')", "a"),
            ("p:matches(^O.eT)", "p1"),
            ("[id!=p1][id^=p]", "p2"),
            ("[id#=^[ab]$]", "a b"),
            ("[class~=y]", "a"),
            ("p:lang(en)", "p2"),
            (":input", "i"),
            ("P#\\70 1", "p1"),
        ] {
            assert_eq!(found(html, selector), wanted, "{selector}");
        }
    }

    #[test]
    fn what_is_no_selector_says_why() {
        assert_eq!(found("", "p:eq(1)"), "'p:eq(1)' is no selector: there is no ':eq'");
        assert_eq!(found("", "p >"), "'p >' is no selector: a name, '#', '.', '[' or ':' is expected, and it ends");
        assert!(found("", &":not(".repeat(100_000)).ends_with("it has more than 32 selectors inside of each other"));
        assert!(found("", &"a ".repeat(100_000)).ends_with("it has more than 256 parts in a row"));
        for wrong in
            ["[", "[[", "[a=]", "[a=5]", "\"", "a..b", "\\", ":nth-child(x)", ":matches((", "a,", "", "ä|b", "[a#=(]"]
        {
            assert!(found("", wrong).contains("is no selector"), "{wrong}");
        }
    }

    #[test]
    fn long_chains_on_deep_pages_end() {
        let html = "<div>".repeat(3000);
        assert_eq!(found(&html, &format!("{}p", "div ".repeat(200))), "");
        assert_eq!(found(&html, &format!("p {}div", "div ".repeat(10))), "");
    }
}

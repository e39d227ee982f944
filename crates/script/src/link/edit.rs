//! Changes to a text that keep its lines, and its columns where they can.

use oxc_span::Span;

/// Text in place of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    start: usize,
    end: usize,
    text: String,
}

impl Edit {
    pub(super) fn replace(span: Span, text: String) -> Self {
        Self { start: span.start as usize, end: span.end as usize, text }
    }

    pub(super) fn insert(at: u32, text: String) -> Self {
        Self::replace(Span::new(at, at), text)
    }
}

impl Edit {
    /// Whether it replaces exactly this piece.
    pub(super) fn covers(&self, span: Span) -> bool {
        self.start == span.start as usize && self.end == span.end as usize
    }
}

/// Appends `source`, changed by `edits`, which must not overlap, to `out`.
pub(super) fn apply(source: &str, mut edits: Vec<Edit>, out: &mut String) {
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut at = 0;
    for edit in edits {
        debug_assert!(at <= edit.start, "edits overlap at byte {}", edit.start);
        out.push_str(&source[at..edit.start]);
        out.push_str(&edit.text);
        at = edit.end;
    }
    out.push_str(&source[at..]);
}

/// `with`, then as many spaces as `text` is longer, and its line breaks where they are.
pub(super) fn blank(text: &str, with: &str) -> String {
    let is_break = |c: char| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    let spaces: String = text.chars().map(|c| if is_break(c) { c } else { ' ' }).collect();
    match spaces.strip_prefix(&" ".repeat(with.len())) {
        Some(rest) => format!("{with}{rest}"),
        None => format!("{with}{spaces}"),
    }
}

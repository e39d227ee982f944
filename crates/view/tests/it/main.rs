//! What readers see, as snapshots, and what holds for all of it: no line beyond the margin, no NaN.

mod export;
mod lab;
mod sample;
mod summary;
mod verdict;

use view::Style;

/// No colour, every character.
const UNICODE: Style = Style { color: false, unicode: true };
/// No colour, ASCII only.
const ASCII: Style = Style { color: false, unicode: false };
/// Everything.
const COLOR: Style = Style { color: true, unicode: true };

/// Asserts what every text for people keeps to.
fn assert_readable(text: &str) {
    for line in text.lines() {
        // A Trend of the summary stays on one line, since people grep for it.
        assert!(line.chars().count() <= 100 || line.contains("avg="), "longer than 100 columns: {line}");
        assert!(!line.ends_with(' '), "ends with a space: {line:?}");
    }
    for nonsense in ["NaN", "inf ", "inf\n", "-0 "] {
        assert!(!text.contains(nonsense), "{nonsense:?} in:\n{text}");
    }
    assert!(text.ends_with('\n') && !text.contains('\r'));
}

/// The text without its colours.
fn without_colors(text: &str) -> String {
    let mut plain = String::new();
    for (position, part) in text.split("\x1b[").enumerate() {
        let from = if position == 0 { 0 } else { part.find('m').map_or(0, |end| end + 1) };
        plain.push_str(&part[from..]);
    }
    plain
}

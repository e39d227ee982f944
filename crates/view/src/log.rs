//! One log line for people.

use model::record::Level;

use crate::style::{Paint, Style};

/// Columns of the level and the gap behind it; further lines of a message begin there.
const LEAD: usize = 6;

/// A message with its level in front and, unless it is empty, where it comes from behind: `WARN  text  [console]`.
/// Ends without a line end.
pub fn line(level: Level, text: &str, source: &str, style: Style) -> String {
    let (word, paint) = match level {
        Level::Debug => ("DEBUG", Paint::Dim),
        Level::Info => ("INFO", Paint::Cyan),
        Level::Warn => ("WARN", Paint::Yellow),
        Level::Error => ("ERROR", Paint::Red),
    };
    let word = format!("{}{}", style.paint(paint, word), " ".repeat(LEAD - word.len()));
    let source = if source.is_empty() { String::new() } else { style.paint(Paint::Dim, &format!("  [{source}]")) };
    let text = text.trim_end().replace('\n', &format!("\n{}", " ".repeat(LEAD)));
    format!("{word}{text}{source}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_align_and_further_lines_hang() {
        let plain = Style::default();
        assert_eq!(line(Level::Warn, "slow\nvery", "", plain), "WARN  slow\n      very");
        assert_eq!(line(Level::Error, "broken\n", "console", plain), "ERROR broken  [console]");
        let colored = Style { color: true, unicode: true };
        assert_eq!(line(Level::Info, "a", "", colored), "\x1b[36mINFO\x1b[0m  a");
    }
}

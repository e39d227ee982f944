//! Log lines for people: how one looks, and how often the same one is worth showing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::record::Level;

use crate::number::count;
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

/// The same as one JSON object, in k6's words; `time` is when it was said.
pub fn json_line(level: Level, text: &str, source: &str, time: &str) -> String {
    let level = match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warning",
        Level::Error => "error",
    };
    serde_json::json!({ "level": level, "msg": text, "source": source, "time": time }).to_string()
}

/// Times that a message is shown whenever it comes.
const SHOWN_ALWAYS: u64 = 3;
/// Messages that are told apart; others are always shown, so that memory stays flat.
const MESSAGES_MAX: usize = 1000;

/// Counts messages, so that one that comes again and again does not push everything else off the screen: it is shown
/// three times, then at its 10th, 100th, 1,000th, … time with its number, and how often it came is said at the end.
#[derive(Debug, Default)]
pub struct Repeats {
    messages: BTreeMap<String, Said>,
}

#[derive(Debug)]
struct Said {
    level: Level,
    times: u64,
    /// How often it had come when that was last shown.
    shown: u64,
}

impl Repeats {
    /// What to show of a message that comes now, if anything.
    pub fn take<'a>(&mut self, level: Level, text: &'a str) -> Option<Cow<'a, str>> {
        let Some(said) = self.messages.get_mut(text) else {
            if self.messages.len() < MESSAGES_MAX {
                self.messages.insert(text.to_owned(), Said { level, times: 1, shown: 1 });
            }
            return Some(text.into());
        };
        said.times += 1;
        let is_due = said.times <= SHOWN_ALWAYS || said.times.ilog10() > (said.times - 1).ilog10();
        if !is_due {
            return None;
        }
        said.shown = said.times;
        Some(if said.times <= SHOWN_ALWAYS { text.into() } else { times(said.times, "so far", text).into() })
    }

    /// What is left to say at the end: the messages that came again since they were last shown, most frequent first.
    pub fn rest(&mut self) -> Vec<(Level, String)> {
        let hidden = std::mem::take(&mut self.messages).into_iter().filter(|(_, said)| said.times > said.shown);
        let mut hidden: Vec<_> = hidden.collect();
        hidden.sort_by_key(|(_, said)| std::cmp::Reverse(said.times));
        hidden.into_iter().map(|(text, said)| (said.level, times(said.times, "in all", &text))).collect()
    }
}

fn times(number: u64, until: &str, text: &str) -> String {
    format!("{} times {until}: {}", count(number), text.lines().next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_again_and_again_is_counted_and_not_shown() {
        let mut repeats = Repeats::default();
        let mut shown: Vec<_> = (0..4812).filter_map(|_| repeats.take(Level::Error, "boom\n  at x")).collect();
        shown.extend(repeats.take(Level::Info, "once"));
        let wanted = [
            "boom\n  at x",
            "boom\n  at x",
            "boom\n  at x",
            "10 times so far: boom",
            "100 times so far: boom",
            "1,000 times so far: boom",
            "once",
        ];
        assert_eq!(shown, wanted);
        assert_eq!(repeats.rest(), [(Level::Error, "4,812 times in all: boom".to_owned())]);
        assert_eq!(repeats.rest(), []);
    }

    #[test]
    fn messages_that_are_all_different_take_no_endless_memory() {
        let mut repeats = Repeats::default();
        assert!((0..5000).all(|number| repeats.take(Level::Info, &number.to_string()).is_some()));
        assert_eq!(repeats.messages.len(), MESSAGES_MAX);
    }

    #[test]
    fn levels_align_and_further_lines_hang() {
        let plain = Style::default();
        assert_eq!(line(Level::Warn, "slow\nvery", "", plain), "WARN  slow\n      very");
        assert_eq!(line(Level::Error, "broken\n", "console", plain), "ERROR broken  [console]");
        let colored = Style { color: true, unicode: true };
        assert_eq!(line(Level::Info, "a", "", colored), "\x1b[36mINFO\x1b[0m  a");
    }
}

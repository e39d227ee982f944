//! Requests that failed, by cause, with an example of each: what k6's summary does not tell. Nothing is written if none
//! did.

use model::summary::{RequestExample, Summary};

use crate::layout::{Page, one_line};
use crate::style::Paint;

/// Causes that are shown, the most frequent ones first.
const CAUSES_MAX: usize = 10;

/// Writes the section.
pub(super) fn write(page: &mut Page, summary: &Summary) {
    if summary.errors.is_empty() && summary.sent_again == 0 {
        return;
    }
    let title = page.style().paint(Paint::Bold, "ERRORS");
    page.line(&format!("    {title}"));
    let mut causes: Vec<_> = summary.errors.iter().collect();
    causes.sort_by_key(|(_, errors)| std::cmp::Reverse(errors.count));
    for (cause, errors) in causes.iter().take(CAUSES_MAX) {
        let text = format!("{} ({}), e.g. {}", one_line(cause), times(errors.count), example(&errors.example));
        page.hanging("    ", Paint::Red, &text);
    }
    if let Some(more) = causes.get(CAUSES_MAX..).filter(|more| !more.is_empty()) {
        let count = more.iter().map(|(_, errors)| errors.count).sum();
        page.hanging("    ", Paint::Red, &format!("{} more causes ({})", more.len(), times(count)));
    }
    match summary.sent_again {
        0 => {}
        1 => page.hanging("    ", Paint::Yellow, &again("1 request was")),
        count => page.hanging("    ", Paint::Yellow, &again(&format!("{count} requests were"))),
    }
    page.line("");
}

fn again(who: &str) -> String {
    format!("{who} sent again because the service had closed an idle connection")
}

fn times(count: u64) -> String {
    if count == 1 { "1 request".to_owned() } else { format!("{count} requests") }
}

fn example(example: &RequestExample) -> String {
    let request = format!("{} {}", example.method, one_line(&example.url));
    match (example.status, example.headers) {
        (0, _) => request,
        (status, 1) => format!("{request} (status {status}, 1 header)"),
        (status, headers) => format!("{request} (status {status}, {headers} headers)"),
    }
}

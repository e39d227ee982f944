//! Paragraphs and tables that never pass the right margin. Knows nothing of what is written in them.

use crate::style::{Paint, Style};

/// Columns of a line.
pub(crate) const WIDTH: usize = 100;
/// Columns narrower than this are not wrapped as long as anything else can give way.
const NARROW: usize = 16;

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// The text on one line: no line ends, tabs or terminal codes from data.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// The text without its end, if it is longer than `columns`.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    text.chars().take(columns).collect()
}

/// The words of a text on lines of at most `columns`; a longer word is cut. Always at least one line.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let text = one_line(text);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let room = columns.saturating_sub(width(&line) + 1);
        if !line.is_empty() && width(word) > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for letter in word.chars() {
            if width(&line) == columns {
                lines.push(std::mem::take(&mut line));
            }
            line.push(letter);
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// A text under construction.
pub(crate) struct Page {
    style: Style,
    text: String,
}

impl Page {
    /// An empty page.
    pub(crate) fn new(style: Style) -> Self {
        Self { style, text: String::new() }
    }

    /// What was written.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// What the reader can see.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// One line as it is.
    pub(crate) fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// An empty line and a heading.
    pub(crate) fn heading(&mut self, text: &str) {
        self.line("");
        let text = self.style.paint(Paint::Bold, text);
        self.line(&text);
    }

    /// A wrapped text, indented.
    pub(crate) fn paragraph(&mut self, indent: usize, paint: Paint, text: &str) {
        self.hanging(&" ".repeat(indent), paint, text);
    }

    /// A wrapped text behind `lead`, whose further lines begin below its first word.
    pub(crate) fn hanging(&mut self, lead: &str, paint: Paint, text: &str) {
        for (position, line) in wrap(text, WIDTH.saturating_sub(width(lead))).iter().enumerate() {
            let lead = if position == 0 { lead } else { &" ".repeat(width(lead)) };
            let line = self.style.paint(paint, line);
            self.line(&format!("{lead}{line}"));
        }
    }
}

/// On which side a column is filled up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// One field of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// A field that stands out.
    pub(crate) fn painted(paint: Paint, text: impl Into<String>) -> Self {
        Self { text: one_line(&text.into()), paint }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::painted(Paint::Plain, text)
    }
}

/// Rows of fields, aligned; the widest columns wrap if the line would become too long.
pub(crate) struct Table {
    indent: usize,
    columns: Vec<Align>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(indent: usize, columns: impl Into<Vec<Align>>) -> Self {
        Self { indent, columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row; it has as many fields as the table has columns.
    pub(crate) fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        let cells = cells.into();
        debug_assert_eq!(cells.len(), self.columns.len(), "a row has one field for each column");
        self.rows.push(cells);
    }

    /// Adds a row of headings.
    pub(crate) fn titles(&mut self, titles: &[&str]) {
        self.row(titles.iter().map(|title| Cell::painted(Paint::Dim, *title)).collect::<Vec<_>>());
    }

    /// Writes all rows.
    pub(crate) fn write(&self, page: &mut Page) {
        let (widths, gap) = self.fit();
        for row in &self.rows {
            let cells: Vec<Vec<String>> =
                row.iter().zip(&widths).map(|(cell, columns)| wrap(&cell.text, *columns)).collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0);
            for level in 0..height {
                let fields: Vec<&str> = cells.iter().map(|lines| lines.get(level).map_or("", String::as_str)).collect();
                let line = self.assemble(&fields, row, &widths, gap, page.style);
                page.line(&line);
            }
        }
    }

    fn assemble(&self, fields: &[&str], row: &[Cell], widths: &[usize], gap: usize, style: Style) -> String {
        let mut line = " ".repeat(self.indent);
        let filled = fields.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1);
        for (position, field) in fields.iter().take(filled).enumerate() {
            let padding = " ".repeat(widths[position] - width(field));
            let field = style.paint(row[position].paint, field);
            let between = if position + 1 < filled { " ".repeat(gap) } else { String::new() };
            match self.columns[position] {
                Align::Right => line += &format!("{padding}{field}{between}"),
                Align::Left if position + 1 < filled => line += &format!("{field}{padding}{between}"),
                Align::Left => line += &field,
            }
        }
        line
    }

    /// Widths of the columns and of the gap between them: natural if they fit; otherwise wide columns wrap, then
    /// the gap gives way, then whatever is widest.
    fn fit(&self) -> (Vec<usize>, usize) {
        let mut widths: Vec<usize> = (0..self.columns.len())
            .map(|column| self.rows.iter().map(|row| width(&row[column].text)).max().unwrap_or(0))
            .collect();
        let mut gap = 2;
        loop {
            let whole = self.indent + widths.iter().sum::<usize>() + gap * widths.len().saturating_sub(1);
            let Some(widest) = widths.iter_mut().max() else { return (widths, gap) };
            if whole <= WIDTH || *widest <= 1 {
                return (widths, gap);
            }
            if *widest <= NARROW && gap > 1 {
                gap = 1;
            } else {
                *widest -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(rows: &[[&str; 3]]) -> String {
        let mut page = Page::new(Style::default());
        let mut table = Table::new(2, [Align::Left, Align::Right, Align::Left]);
        for row in rows {
            table.row(row.map(Cell::from));
        }
        table.write(&mut page);
        page.finish()
    }

    #[test]
    fn words_wrap_and_long_words_are_cut() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a abcdefghij b", 4), ["a", "abcd", "efgh", "ij b"]);
        assert_eq!(wrap("  ", 4), [""]);
        assert_eq!(wrap("red\x1b[31m\nline", 40), ["red [31m line"]);
    }

    #[test]
    fn columns_align_and_lines_have_no_tail() {
        assert_eq!(table(&[["a", "1", "x"], ["bcd", "1,000", ""]]), "  a        1  x\n  bcd  1,000\n");
    }

    #[test]
    fn colours_do_not_count_as_columns() {
        let mut page = Page::new(Style { color: true, unicode: true });
        let mut table = Table::new(0, [Align::Right, Align::Left]);
        table.row([Cell::painted(Paint::Red, "1"), "x".into()]);
        table.row([Cell::from("22"), "y".into()]);
        table.write(&mut page);
        assert_eq!(page.finish(), " \x1b[31m1\x1b[0m  x\n22  y\n");
    }

    proptest! {
        #[test]
        fn no_line_passes_the_margin(cells in prop::collection::vec(("[a-z ]{0,150}", "[0-9,]{0,60}", ".{0,200}"), 1..6)) {
            let rows: Vec<[&str; 3]> = cells.iter().map(|(a, b, c)| [a.as_str(), b.as_str(), c.as_str()]).collect();
            for line in table(&rows).lines() {
                prop_assert!(width(line) <= WIDTH, "{line}");
            }
        }
    }
}

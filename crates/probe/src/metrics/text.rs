//! Prometheus text and OpenMetrics: samples out of lines. Tolerant: a line that cannot be read is left out, since the
//! figures wanted are rarely on it. Types, help texts, exemplars and timestamps are of no use here.

/// One line of a scrape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) value: f64,
}

/// Whether this looks like a scrape at all: some line is a sample or a comment that only scrapes have.
pub(crate) fn is_metrics(text: &str) -> bool {
    let is_comment = |line: &str| line.starts_with("# TYPE ") || line.starts_with("# HELP ");
    !text.trim_start().starts_with(['<', '{']) && (text.lines().any(is_comment) || !parse(text).is_empty())
}

/// The samples of a scrape.
pub(crate) fn parse(text: &str) -> Vec<Sample> {
    text.lines().filter_map(sample).collect()
}

fn sample(line: &str) -> Option<Sample> {
    let line = line.trim();
    let end = line.find(|character: char| !is_name(character)).filter(|end| *end > 0)?;
    let (name, rest) = line.split_at(end);
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let (labels, rest) = match rest.trim_start().strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), rest),
    };
    let value = rest.split_whitespace().next()?;
    // Rust reads `NaN`, `+Inf` and `-Inf` as they are written here.
    Some(Sample { name: name.to_owned(), labels, value: value.parse().ok()? })
}

/// Reads `name="value",…}` and returns what follows. A value may hold any character, `"`, `\` and line ends escaped.
fn labels(mut rest: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((labels, behind));
        }
        let (name, value) = rest.split_once('=')?;
        let (value, behind) = quoted(value.trim_start().strip_prefix('"')?)?;
        labels.push((name.trim().trim_matches('"').to_owned(), value));
        rest = behind;
    }
}

/// The text up to the closing quote, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                escaped => value.push(escaped),
            },
            _ => value.push(character),
        }
    }
    None
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | ':' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels = labels.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        assert_eq!(parse(line), [Sample { name: name.into(), labels, value }], "{line}");
    }

    #[test]
    fn samples_are_read() {
        check("up 1", "up", &[], 1.0);
        check("  go_x_total{a=\"b\"} 1.5e3 1700000000000", "go_x_total", &[("a", "b")], 1500.0);
        check("x{a=\"1\" , b=\"}\\\"\\\\\\n=\",} -2 # {trace=\"z\"} 9", "x", &[("a", "1"), ("b", "}\"\\\n=")], -2.0);
        check("jvm{area=\"größe\"} 4", "jvm", &[("area", "größe")], 4.0);
        check("x +Inf", "x", &[], f64::INFINITY);
    }

    #[test]
    fn damage_costs_only_its_own_line() {
        let text = "# HELP up x\n# TYPE up gauge\nup{a=\"b 1\n}{\nx\ny notanumber\n9z 3\n\nz 2\n# EOF\n";
        assert_eq!(parse(text).iter().map(|sample| sample.name.as_str()).collect::<Vec<_>>(), ["z"]);
    }

    #[test]
    fn pages_for_people_are_no_metrics() {
        assert!(is_metrics("# TYPE up gauge\n") && is_metrics("up 1\n"));
        assert!(!is_metrics("<html> up 1 </html>") && !is_metrics("{\"a\": 1}") && !is_metrics("not found\n"));
    }
}

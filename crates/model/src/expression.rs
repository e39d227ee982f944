//! Threshold expressions, in k6's syntax: `p(90)<500`, `rate<0.01`; and promises (SLOs), which put a metric in
//! front: `http_req_duration: p(90)<500`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::metric::MetricType;

/// What of a metric is compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    /// Sum of a Counter.
    Count,
    /// Counter: per second of the run. Rate: share of values that are not zero, 0 to 1.
    Rate,
    /// Last value of a Gauge.
    Value,
    /// Mean of a Trend.
    Avg,
    /// Smallest value of a Trend.
    Min,
    /// Largest value of a Trend.
    Max,
    /// Median of a Trend.
    Med,
    /// A percentile of a Trend, 0 to 100.
    P(f64),
}

impl Aggregation {
    /// Whether a metric of this type has this aggregation.
    pub fn fits(self, kind: MetricType) -> bool {
        match kind {
            MetricType::Counter => matches!(self, Self::Count | Self::Rate),
            MetricType::Gauge => matches!(self, Self::Value),
            MetricType::Rate => matches!(self, Self::Rate),
            MetricType::Trend => {
                matches!(self, Self::Avg | Self::Min | Self::Max | Self::Med | Self::P(_))
            }
        }
    }
}

impl fmt::Display for Aggregation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Count => "count",
            Self::Rate => "rate",
            Self::Value => "value",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
            Self::Med => "med",
            Self::P(percent) => return write!(f, "p({percent})"),
        };
        f.write_str(word)
    }
}

/// How the aggregate is compared with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparison {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `==` or `===`
    Equal,
    /// `!=`
    NotEqual,
}

impl Comparison {
    const SYMBOLS: [(&'static str, Self); 7] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("===", Self::Equal),
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<", Self::Below),
        (">", Self::Above),
    ];

    /// Whether `value` stands in this relation to `limit`.
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
            Self::Equal => value == limit,
            Self::NotEqual => value != limit,
        }
    }
}

/// A comparison of an aggregate with a number. Keeps the text as it was written, since k6 reports under that text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expression {
    /// The text as written, trimmed.
    pub text: String,
    /// What is compared.
    pub aggregation: Aggregation,
    /// How.
    pub comparison: Comparison,
    /// With what, in the metric's unit.
    pub limit: f64,
}

/// Why a text is not an expression or a promise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// No comparison sign.
    #[error("`{0}` has no comparison: write for example `p(90)<500` (one of < <= > >= == !=)")]
    NoComparison(String),
    /// Nothing known stands before the sign.
    #[error("`{0}` is no aggregation: use count, rate, value, avg, min, max, med or p(N) with N from 0 to 100")]
    Aggregation(String),
    /// No number stands behind the sign.
    #[error("`{0}` is no number: durations are in milliseconds, shares between 0 and 1")]
    Limit(String),
    /// A promise without a metric.
    #[error("`{0}` names no metric: write for example `http_req_duration: p(90)<500`")]
    NoMetric(String),
    /// Braces that do not close, or a tag without a colon.
    #[error("`{0}` is no metric selector: write for example `http_req_duration{{name:login}}`")]
    Selector(String),
}

impl FromStr for Expression {
    type Err = ExpressionError;

    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        let text = text.trim();
        let (position, sign, comparison) = text
            .char_indices()
            .find_map(|(at, _)| {
                let (sign, comparison) = Comparison::SYMBOLS.iter().find(|(sign, _)| text[at..].starts_with(sign))?;
                Some((at, *sign, *comparison))
            })
            .ok_or_else(|| ExpressionError::NoComparison(text.to_owned()))?;
        let left = text[..position].trim();
        let right = text[position + sign.len()..].trim();
        let limit: f64 = right.parse().map_err(|_| ExpressionError::Limit(right.to_owned()))?;
        if !limit.is_finite() {
            return Err(ExpressionError::Limit(right.to_owned()));
        }
        Ok(Self { text: text.to_owned(), aggregation: aggregation(left)?, comparison, limit })
    }
}

fn aggregation(text: &str) -> Result<Aggregation, ExpressionError> {
    let wrong = || ExpressionError::Aggregation(text.to_owned());
    Ok(match text {
        "count" => Aggregation::Count,
        "rate" => Aggregation::Rate,
        "value" => Aggregation::Value,
        "avg" => Aggregation::Avg,
        "min" => Aggregation::Min,
        "max" => Aggregation::Max,
        "med" => Aggregation::Med,
        _ => {
            let inner = text.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')')).ok_or_else(wrong)?;
            let percent: f64 = inner.trim().parse().map_err(|_| wrong())?;
            if !(0.0..=100.0).contains(&percent) {
                return Err(wrong());
            }
            Aggregation::P(percent)
        }
    })
}

/// A metric with the tags that a sample must carry to count: `http_req_duration{name:login,status:200}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Selector {
    /// The metric's name.
    pub metric: String,
    /// Tags that must all be equal; empty selects every sample.
    pub tags: Vec<(String, String)>,
}

impl Selector {
    /// Every sample of `metric`.
    pub fn all(metric: impl Into<String>) -> Self {
        Self { metric: metric.into(), tags: Vec::new() }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.metric)?;
        if !self.tags.is_empty() {
            let tags: Vec<String> = self.tags.iter().map(|(key, value)| format!("{key}:{value}")).collect();
            write!(f, "{{{}}}", tags.join(","))?;
        }
        Ok(())
    }
}

impl FromStr for Selector {
    type Err = ExpressionError;

    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        let wrong = || ExpressionError::Selector(text.to_owned());
        let text = text.trim();
        let Some((metric, rest)) = text.split_once('{') else {
            return if text.is_empty() || text.contains('}') { Err(wrong()) } else { Ok(Self::all(text)) };
        };
        let inner = rest.strip_suffix('}').ok_or_else(wrong)?;
        let clean = |part: &str| part.trim().trim_matches(['"', '\'']).to_owned();
        let tags = inner
            .split(',')
            .filter(|pair| !pair.trim().is_empty())
            .map(|pair| pair.split_once(':').map(|(key, value)| (clean(key), clean(value))).ok_or_else(wrong))
            .collect::<Result<Vec<_>, _>>()?;
        let is_empty = |(key, value): &(String, String)| key.is_empty() || value.is_empty();
        if metric.trim().is_empty() || tags.is_empty() || tags.iter().any(is_empty) {
            return Err(wrong());
        }
        Ok(Self { metric: metric.trim().to_owned(), tags })
    }
}

/// A promise to users (SLO): what a metric must satisfy for the service to count as carrying the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// Which samples.
    pub selector: Selector,
    /// What they must satisfy.
    pub expression: Expression,
}

impl Promise {
    /// How this promise counts single samples, or `None` if it cannot be judged sample by sample (a mean, a sum).
    pub fn exceedance(&self) -> Option<Exceedance> {
        use Comparison::{Above, AtLeast, AtMost, Below};
        let limit = self.expression.limit;
        match (self.expression.aggregation, self.expression.comparison) {
            (Aggregation::P(percent), Below | AtMost) => {
                Some(Exceedance { breaks: Breaks::Over(limit), allowed: 1.0 - percent / 100.0 })
            }
            (Aggregation::Med, Below | AtMost) => Some(Exceedance { breaks: Breaks::Over(limit), allowed: 0.5 }),
            (Aggregation::Max, Below | AtMost) => Some(Exceedance { breaks: Breaks::Over(limit), allowed: 0.0 }),
            (Aggregation::Rate, Below | AtMost) => Some(Exceedance { breaks: Breaks::NonZero, allowed: limit }),
            (Aggregation::Rate, Above | AtLeast) => Some(Exceedance { breaks: Breaks::Zero, allowed: 1.0 - limit }),
            _ => None,
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.selector, self.expression.text)
    }
}

impl FromStr for Promise {
    type Err = ExpressionError;

    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        // The colon that parts metric and expression stands behind the braces of the selector, if it has any.
        let behind = text.find('}').unwrap_or(0);
        let colon = text[behind..].find(':').ok_or_else(|| ExpressionError::NoMetric(text.trim().to_owned()))?;
        let (selector, expression) = (&text[..behind + colon], &text[behind + colon + 1..]);
        if selector.contains(['<', '>', '=']) {
            return Err(ExpressionError::NoMetric(text.trim().to_owned()));
        }
        Ok(Self { selector: selector.parse()?, expression: expression.parse()? })
    }
}

/// A promise as a test of single samples: at most the share `allowed` of them may break it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exceedance {
    /// When a sample breaks the promise. A failed request always breaks a promise on its latency.
    pub breaks: Breaks,
    /// Share of samples that may, 0 to 1.
    pub allowed: f64,
}

/// When a sample breaks a promise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Breaks {
    /// Its value is above this limit, or its request failed.
    Over(f64),
    /// Its value is not zero.
    NonZero,
    /// Its value is zero.
    Zero,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_parse() {
        let check = |text: &str| text.parse::<Expression>().map(|e| (e.aggregation, e.comparison, e.limit));
        assert_eq!(check("p(90)<500"), Ok((Aggregation::P(90.0), Comparison::Below, 500.0)));
        assert_eq!(check(" rate <= 0.01 "), Ok((Aggregation::Rate, Comparison::AtMost, 0.01)));
        assert_eq!(check("count===3"), Ok((Aggregation::Count, Comparison::Equal, 3.0)));
        assert_eq!(check("p(99.9)>=1e3"), Ok((Aggregation::P(99.9), Comparison::AtLeast, 1000.0)));
    }

    #[test]
    fn wrong_expressions_say_what_is_wrong() {
        let check = |text: &str| text.parse::<Expression>().unwrap_err().to_string();
        assert!(check("p(90)500").contains("has no comparison"));
        assert!(check("p(101)<5").contains("no aggregation"));
        assert!(check("rate<fast").contains("`fast` is no number"));
        assert!(check("rate<NaN").contains("no number"));
        assert!("p(90)<500".parse::<Promise>().unwrap_err().to_string().contains("names no metric"));
        assert!("m{name<5: p(1)<2".parse::<Promise>().is_err());
    }

    #[test]
    fn promises_become_tests_of_single_samples() {
        let check = |text: &str| text.parse::<Promise>().unwrap().exceedance();
        let share = check("http_req_duration: p(90)<500").unwrap();
        assert_eq!(share.breaks, Breaks::Over(500.0));
        assert!((share.allowed - 0.1).abs() < 1e-12);
        assert_eq!(check("http_req_failed: rate<0.01").unwrap().breaks, Breaks::NonZero);
        assert_eq!(check("checks{group:::login}: rate>0.9").unwrap().breaks, Breaks::Zero);
        assert_eq!(check("http_req_duration: avg<500"), None);
    }

    #[test]
    fn selectors_keep_colons_in_values() {
        let selector: Selector = "http_req_duration{group:::login, status:\"200\"}".parse().unwrap();
        assert_eq!(selector.tags, [("group".into(), "::login".into()), ("status".into(), "200".into())]);
        assert_eq!(selector.to_string(), "http_req_duration{group:::login,status:200}");
        for wrong in ["m{}", "m{a:}", "m{:a}", "m{a}", "m{a:b", "m a:b}", "{a:b}"] {
            assert!(wrong.parse::<Selector>().is_err(), "{wrong}");
        }
        let braces: Selector = "m{name:http://a/${x}/{b}}".parse().unwrap();
        assert_eq!(braces.tags, [("name".into(), "http://a/${x}/{b}".into())]);
        let promise: Promise = "http_req_duration{name:http://a/b}: p(95)<1".parse().unwrap();
        assert_eq!(promise.selector.tags[0].1, "http://a/b");
    }
}

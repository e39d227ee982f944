//! Statistics of a Trend by the name that k6 gives them, shared by the summary and its export.

use model::expression::{Aggregation, Expression};
use model::histogram::Trend;

/// The value of `avg`, `min`, `med`, `max`, `p(N)` or `count`; `None` if the name is none of them.
pub(crate) fn stat_of(trend: &Trend, name: &str) -> Option<f64> {
    if name == "count" {
        return Some(trend.count() as f64);
    }
    // The model knows these names as the left side of an expression.
    let expression: Expression = format!("{name}<0").parse().ok()?;
    Some(match expression.aggregation {
        Aggregation::Avg => trend.mean(),
        Aggregation::Min => trend.min(),
        Aggregation::Max => trend.max(),
        Aggregation::Med => trend.percentile(50.0),
        Aggregation::P(percent) => trend.percentile(percent),
        Aggregation::Count | Aggregation::Rate | Aggregation::Value => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_by_name() {
        let mut trend = Trend::default();
        [1.0, 2.0, 3.0, 10.0].into_iter().for_each(|value| trend.add(value));
        let check = |name: &str, expected: Option<f64>| assert_eq!(stat_of(&trend, name), expected, "{name}");
        check("avg", Some(4.0));
        check("min", Some(1.0));
        check("med", Some(2.5));
        check("max", Some(10.0));
        check("p(100)", Some(10.0));
        check("count", Some(4.0));
        check("rate", None);
        check("p(101)", None);
        check("nonsense", None);
    }
}

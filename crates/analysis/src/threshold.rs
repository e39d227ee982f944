//! Thresholds with k6's meaning: judged over the whole run, at its end or while it goes on.

use std::time::Duration;

use model::expression::Aggregation;
use model::plan::Threshold;
use model::summary::{Summary, ThresholdResult, ThresholdState, Total};

/// Judges every threshold that has an expression, in the order of the script, by the totals of the whole run.
///
/// Without a single sample a Counter counts 0 and is judged; a Rate is [`ThresholdState::NoData`]; a Trend or Gauge
/// reads 0 as in k6 and is shown as no data where 0 holds.
pub fn judge(summary: &Summary, thresholds: &[Threshold]) -> Vec<ThresholdResult> {
    let ruled = thresholds.iter().filter_map(|threshold| Some((threshold, threshold.expression.as_ref()?)));
    let judged = ruled.map(|(threshold, expression)| {
        let selector = threshold.selector.to_string();
        let total = summary.metrics.get(&selector).map(|metric| &metric.total);
        let holds = |value| expression.comparison.holds(value, expression.limit);
        let state = match total.filter(|total| !total.is_empty() || matches!(total, Total::Counter(_))) {
            Some(total) => match value(total, expression.aggregation, summary.duration_s) {
                Some(value) if holds(value) => ThresholdState::Passed(value),
                Some(value) => ThresholdState::Failed(value),
                None => ThresholdState::NoData,
            },
            None => match total {
                Some(Total::Rate { .. }) => ThresholdState::NoData,
                _ if holds(0.0) || expression.aggregation == Aggregation::Rate => ThresholdState::NoData,
                _ => ThresholdState::Failed(0.0),
            },
        };
        ThresholdResult { selector, expression: expression.text.clone(), state }
    });
    judged.collect()
}

/// The first threshold with `abortOnFail` that is broken by what came so far, as `metric: expression`. Metrics
/// without a sample are not judged while a run goes on, nor thresholds whose `delayAbortEval` is not over.
pub fn broken_early(summary: &Summary, thresholds: &[Threshold], elapsed: Duration) -> Option<String> {
    let strict = thresholds.iter().filter(|threshold| threshold.abort_on_fail && elapsed > threshold.delay_abort_eval);
    let mut broken = strict.filter_map(|threshold| {
        let expression = threshold.expression.as_ref()?;
        let selector = threshold.selector.to_string();
        let total = summary.metrics.get(&selector).map(|metric| &metric.total).filter(|total| !total.is_empty())?;
        let value = value(total, expression.aggregation, elapsed.as_secs_f64())?;
        (!expression.comparison.holds(value, expression.limit)).then(|| format!("{selector}: {}", expression.text))
    });
    broken.next()
}

/// The aggregate of a total; `None` if its kind has no such aggregate or nothing was counted.
fn value(total: &Total, aggregation: Aggregation, seconds: f64) -> Option<f64> {
    Some(match (total, aggregation) {
        (Total::Counter(sum), Aggregation::Count) => *sum,
        (Total::Counter(sum), Aggregation::Rate) => {
            if seconds > 0.0 {
                sum / seconds
            } else {
                0.0
            }
        }
        (Total::Gauge { value, .. }, Aggregation::Value) => *value,
        (Total::Rate { passes, total }, Aggregation::Rate) if *total > 0 => *passes as f64 / *total as f64,
        (Total::Trend(trend), Aggregation::Avg) => trend.mean(),
        (Total::Trend(trend), Aggregation::Min) => trend.min(),
        (Total::Trend(trend), Aggregation::Max) => trend.max(),
        (Total::Trend(trend), Aggregation::Med) => trend.percentile(50.0),
        (Total::Trend(trend), Aggregation::P(percent)) => trend.percentile(percent),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use model::expression::Selector;
    use model::metric::{Contains, MetricType};
    use model::summary::MetricTotal;

    use super::*;

    fn summary(metrics: &[(&str, MetricType, &[f64])]) -> Summary {
        let mut summary = Summary { duration_s: 10.0, ..Summary::default() };
        for (name, kind, values) in metrics {
            let mut total = Total::new(*kind);
            values.iter().for_each(|value| total.add(*value));
            let selector: Selector = name.parse().unwrap();
            let metric = MetricTotal { selector, kind: *kind, contains: Contains::Default, total };
            summary.metrics.insert((*name).to_owned(), metric);
        }
        summary
    }

    fn threshold(selector: &str, expression: &str) -> Threshold {
        Threshold {
            selector: selector.parse().unwrap(),
            expression: Some(expression.parse().unwrap()),
            abort_on_fail: true,
            delay_abort_eval: Duration::from_secs(5),
        }
    }

    #[test]
    fn every_kind_is_judged_by_its_own_aggregates() {
        use ThresholdState::{Failed, NoData, Passed};
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        let summary = summary(&[
            ("t", MetricType::Trend, &values),
            ("t{name:a}", MetricType::Trend, &[7.0]),
            ("c", MetricType::Counter, &[30.0, 20.0]),
            ("r", MetricType::Rate, &[1.0, 0.0, 0.0, 0.0]),
            ("g", MetricType::Gauge, &[3.0, 9.0, 4.0]),
            ("empty_t", MetricType::Trend, &[]),
            ("empty_c", MetricType::Counter, &[]),
            ("empty_r", MetricType::Rate, &[]),
        ]);
        let check = |selector: &str, expression: &str, expected: ThresholdState| {
            let result = judge(&summary, &[threshold(selector, expression)]).remove(0);
            assert_eq!(result.state, expected, "{selector} {expression}");
        };
        check("t", "avg<=50.5", Passed(50.5));
        check("t", "p(50)<50", Failed(50.5));
        check("t", "med==50.5", Passed(50.5));
        check("t", "min>=1", Passed(1.0));
        check("t", "max<100", Failed(100.0));
        check("t{name:a}", "max<8", Passed(7.0));
        check("c", "count==50", Passed(50.0));
        check("c", "rate>=5", Passed(5.0));
        check("r", "rate<0.25", Failed(0.25));
        check("g", "value==4", Passed(4.0));
        check("empty_c", "count<1", Passed(0.0));
        check("empty_c", "count>0", Failed(0.0));
        check("empty_r", "rate>0.9", NoData);
        check("empty_t", "p(90)<500", NoData);
        check("empty_t", "min>5", Failed(0.0));
        check("nowhere", "p(90)<500", NoData);
    }

    #[test]
    fn a_threshold_without_expression_only_shows_its_submetric() {
        let shown = Threshold { expression: None, ..threshold("t{name:a}", "avg<1") };
        assert!(judge(&summary(&[]), &[shown]).is_empty());
    }

    #[test]
    fn early_ends_need_the_flag_the_delay_and_a_sample() {
        let summary = summary(&[("r", MetricType::Rate, &[1.0]), ("c", MetricType::Counter, &[])]);
        let broken = threshold("r", "rate<0.5");
        let seconds = Duration::from_secs;
        assert_eq!(broken_early(&summary, std::slice::from_ref(&broken), seconds(5)), None);
        assert_eq!(broken_early(&summary, std::slice::from_ref(&broken), seconds(6)).as_deref(), Some("r: rate<0.5"));
        assert_eq!(broken_early(&summary, &[Threshold { abort_on_fail: false, ..broken }], seconds(6)), None);
        assert_eq!(broken_early(&summary, &[threshold("c", "count>0")], seconds(6)), None);
    }
}

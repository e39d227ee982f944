//! Tests of the meter: totals, submetrics, promises, caps.

use std::collections::BTreeMap;
use std::time::Duration;

use model::metric::{Contains, Metric, MetricType, builtin_metrics};
use model::plan::{Plan, Threshold};
use model::window::{ENDPOINTS_MAX, OTHER};

use super::*;
use crate::user::Timings;

fn plan() -> Plan {
    let mut metrics = builtin_metrics();
    metrics.push(Metric::new("mine", MetricType::Counter, Contains::Default));
    Plan {
        target: String::new(),
        metrics,
        thresholds: vec![Threshold {
            selector: "http_req_duration{status:200}".parse().unwrap(),
            expression: None,
            abort_on_fail: false,
            delay_abort_eval: Duration::ZERO,
        }],
        promises: vec![
            "http_req_duration: p(90)<500".parse().unwrap(),
            "http_req_failed: rate<0.01".parse().unwrap(),
            "http_req_duration{name:a}: max<5".parse().unwrap(),
        ],
        tags: BTreeMap::from([("run".to_owned(), "7".to_owned())]),
        ..Plan::default()
    }
}

fn finished(meter: &Meter, name: &str, waiting: f64, answered: bool) -> Finished {
    Finished {
        tags: meter.tags(TagSet::RUN, &[("name", name), ("status", if answered { "200" } else { "0" })]),
        endpoint: meter.endpoint(name),
        timings: Timings { waiting, ..Timings::default() },
        failed: Some(!answered),
        answered,
        status: if answered { 200 } else { 0 },
    }
}

#[test]
fn a_fast_failure_breaks_every_promise_on_latency() {
    let meter = Meter::new(Arc::new(plan()));
    meter.request_ended(&finished(&meter, "a", 1.0, true));
    meter.request_ended(&finished(&meter, "a", 1.0, false));
    meter.request_ended(&finished(&meter, "b", 600.0, true));
    let window = meter.take_window();
    let counts: Vec<_> = window.promises.iter().map(|count| (count.samples, count.broken)).collect();
    assert_eq!(counts, [(3, 2), (3, 1), (2, 1)]);
    assert_eq!((window.requests.finished, window.requests.failed), (3, 1));
    assert_eq!(window.endpoints["a"].finished, 2);
    assert_eq!(meter.take_window().promises, vec![PromiseCount::default(); 3]);
}

#[test]
fn submetrics_take_the_samples_whose_tags_match() {
    let meter = Meter::new(Arc::new(plan()));
    meter.request_ended(&finished(&meter, "a", 1.0, true));
    meter.request_ended(&finished(&meter, "a", 2.0, false));
    let summary = meter.summary();
    let count = |name: &str| match &summary.metrics[name].total {
        Total::Trend(trend) => trend.count(),
        other => panic!("{other:?}"),
    };
    assert_eq!((count("http_req_duration"), count("http_req_duration{status:200}")), (2, 1));
    assert!(!summary.metrics.contains_key("mine"));
}

#[test]
fn tags_are_interned_replaced_and_removed() {
    let meter = Meter::new(Arc::new(plan()));
    let set = meter.tags(TagSet::RUN, &[("a", "1"), ("b", "2")]);
    assert_eq!(meter.tags(TagSet::RUN, &[("b", "2"), ("a", "1")]), set);
    assert_eq!(meter.tags(meter.tags(set, &[("a", "3")]), &[("a", "1")]), set);
    assert_eq!(meter.tags(set, &[("a", ""), ("b", "")]), TagSet::RUN);
    assert_eq!(meter.tag(set, "run").as_deref(), Some("7"));
}

#[test]
fn endless_tag_values_fall_back_to_their_base() {
    let meter = Meter::new(Arc::new(plan()));
    let base = meter.tags(TagSet::RUN, &[("scenario", "s")]);
    for value in 0..TAG_SETS_MAX {
        meter.tags(base, &[("user", &value.to_string())]);
    }
    assert_eq!(meter.tags(base, &[("user", "one more")]), base);
    assert_ne!(meter.tags(base, &[("user", "17")]), base);
}

#[test]
fn endless_endpoints_count_as_other() {
    let meter = Meter::new(Arc::new(plan()));
    for number in 0..ENDPOINTS_MAX + 5 {
        let endpoint = meter.endpoint(&format!("/{number}"));
        meter.request_began(endpoint);
    }
    let window = meter.take_window();
    assert_eq!(window.endpoints.len(), ENDPOINTS_MAX + 1);
    assert_eq!(window.endpoints[OTHER].started, 5);
}

#[test]
fn checks_count_in_their_group_in_the_order_of_first_use() {
    let meter = Meter::new(Arc::new(plan()));
    let login = meter.tags(TagSet::RUN, &[("group", "::login")]);
    meter.check("z", true, login);
    meter.check("a", false, login);
    meter.check("z", false, login);
    meter.check("z", true, TagSet::RUN);
    let mut root = meter.summary().root;
    assert_eq!(root.checks[0].passes, 1);
    let checks = &root.at("::login").checks;
    assert_eq!(
        checks.iter().map(|check| (check.name.as_str(), check.passes, check.fails)).collect::<Vec<_>>(),
        [("z", 1, 1), ("a", 0, 1)]
    );
    let Total::Rate { passes, total } = meter.summary().metrics["checks"].total else { panic!() };
    assert_eq!((passes, total), (2, 4));
}

#[test]
fn endless_check_names_count_as_other_and_it_is_said() {
    let meter = Meter::new(Arc::new(plan()));
    (0..CHECKS_MAX + 5).for_each(|number| meter.check(&format!("check {number}"), true, TagSet::RUN));
    let summary = meter.summary();
    assert_eq!(summary.root.checks.len(), CHECKS_MAX + 1);
    assert_eq!(summary.root.checks.last().map(|check| (check.name.as_str(), check.passes)), Some((OTHER, 5)));
    assert!(summary.limits.iter().any(|limit| limit.contains("checks")), "{:?}", summary.limits);
}

#[test]
fn hidden_tags_are_on_no_sample() {
    let meter = Meter::new(Arc::new(Plan { hidden_tags: vec!["url".to_owned()], ..plan() }));
    let set = meter.tags(TagSet::RUN, &[("url", "http://x"), ("name", "x")]);
    assert_eq!((meter.tag(set, "url"), meter.tag(set, "name").as_deref()), (None, Some("x")));
}

#[test]
fn the_full_summary_has_a_block_for_each_scenario_and_group() {
    let meter = Meter::new(Arc::new(Plan { summary_mode: SummaryMode::Full, ..plan() }));
    let scenario = meter.tags(TagSet::RUN, &[("scenario", "s")]);
    let group = meter.tags(scenario, &[("group", "::g")]);
    meter.add(MetricId::HTTP_REQS, 1.0, scenario);
    meter.add(MetricId::HTTP_REQS, 1.0, group);
    meter.check("ok", true, group);
    let summary = meter.summary();
    let count = |group: &str| {
        let block = summary.blocks.iter().find(|block| (&*block.scenario, &*block.group) == ("s", group)).unwrap();
        (block.metrics["http_reqs"].total.clone(), block.checks.len())
    };
    assert_eq!(count(""), (Total::Counter(2.0), 1));
    assert_eq!(count("::g"), (Total::Counter(1.0), 1));
    assert!(Meter::new(Arc::new(plan())).summary().blocks.is_empty());
}

#[test]
fn exceptions_are_counted_by_text() {
    let meter = Meter::new(Arc::new(plan()));
    (0..30).for_each(|number| meter.exception(&format!("Error: {}", number / 2)));
    (0..30).for_each(|number| meter.exception(&format!("TypeError: {number}")));
    let summary = meter.summary();
    assert_eq!(summary.exceptions_count(), 60);
    assert_eq!(summary.exceptions["Error: 3"], 2);
    assert_eq!(summary.exceptions[OTHER], 25);
}

#[test]
fn a_sum_of_nothing_is_not_the_same_as_no_sample() {
    let meter = Meter::new(Arc::new(plan()));
    let names = |meter: &Meter| meter.summary().metrics.into_keys().collect::<Vec<_>>();
    // What has a threshold is there, and so is what it is a part of; other parts are not.
    assert_eq!(names(&meter), ["http_req_duration", "http_req_duration{status:200}"]);
    meter.add(meter.metric("mine").unwrap(), 0.0, TagSet::RUN);
    assert_eq!(names(&meter), ["http_req_duration", "http_req_duration{status:200}", "mine"]);
}

#[test]
fn groups_have_a_place_even_if_nothing_is_checked_in_them() {
    let meter = Meter::new(Arc::new(plan()));
    let group = |path: &str| meter.tags(TagSet::RUN, &[("group", path)]);
    for path in ["::z", "::z::inner", "::a"] {
        meter.add(MetricId::GROUP_DURATION, 1.0, group(path));
    }
    meter.add(MetricId::ITERATIONS, 1.0, group("::setup"));
    meter.check("fine", true, group("::a"));
    let root = meter.summary().root;
    let seen: Vec<_> = root.groups.iter().map(|group| (&*group.name, group.groups.len(), group.checks.len())).collect();
    assert_eq!(seen, [("z", 1, 0), ("a", 0, 1)]);
}

//! k6's end-of-test summary.

use std::time::Duration;

use model::metric::{Contains, MetricType, builtin_metrics};
use model::plan::{HttpSettings, Plan, SummaryMode};
use model::summary::{MetricTotal, RequestErrors, RequestExample, Summary, ThresholdResult, ThresholdState, Total};

use crate::{ASCII, COLOR, UNICODE, assert_readable, without_colors};

pub(crate) fn plan() -> Plan {
    Plan {
        target: "script.js".to_owned(),
        scenarios: Vec::new(),
        metrics: builtin_metrics(),
        thresholds: Vec::new(),
        promises: Vec::new(),
        tags: Default::default(),
        http: HttpSettings::default(),
        setup: None,
        teardown: None,
        min_iteration: Duration::ZERO,
        search: None,
        summary_trend_stats: ["avg", "min", "med", "max", "p(90)", "p(95)"].map(str::to_owned).into(),
        summary_time_unit: None,
        ..Plan::default()
    }
}

fn total(selector: &str, kind: MetricType, contains: Contains, values: &[f64]) -> (String, MetricTotal) {
    let mut total = Total::new(kind);
    values.iter().for_each(|value| total.add(*value));
    (selector.to_owned(), MetricTotal { selector: selector.parse().expect("a selector"), kind, contains, total })
}

fn threshold(selector: &str, expression: &str, state: ThresholdState) -> ThresholdResult {
    ThresholdResult { selector: selector.to_owned(), expression: expression.to_owned(), state }
}

/// A script with everything that a summary can show.
pub(crate) fn everything() -> Summary {
    use Contains::{Data, Default as Plain, Time};
    use MetricType::{Counter, Gauge, Rate, Trend};
    use ThresholdState::{Failed, NoData, Passed};
    let durations = [0.564, 1.2, 2.14, 3.1, 5.36];
    let mut summary = Summary {
        duration_s: 3.0,
        metrics: [
            total("checks", Rate, Plain, &[1.0, 1.0, 0.0]),
            total("http_req_duration", Trend, Time, &durations),
            total("http_req_duration{expected_response:true}", Trend, Time, &durations),
            total("http_req_duration{name:login,status:200}", Trend, Time, &[1.2, 2.14]),
            total("http_req_blocked", Trend, Time, &[0.1]),
            total("http_req_waiting", Trend, Time, &[1.0, 2.0]),
            total("http_req_failed", Rate, Plain, &[0.0, 0.0, 1.0, 0.0, 0.0]),
            total("http_reqs", Counter, Plain, &[1.0; 5]),
            total("iteration_duration", Trend, Time, &[503.99, 87_501.25]),
            total("iterations", Counter, Plain, &[2.0]),
            total("vus", Gauge, Plain, &[1.0, 2.0]),
            total("vus_max", Gauge, Plain, &[2.0]),
            total("data_received", Counter, Data, &[5436.0]),
            total("data_sent", Counter, Data, &[840.0]),
            total("orders", Counter, Plain, &[1_234_567.0]),
            total("orders{shop:b}", Counter, Plain, &[7.0]),
            total("orders_open", Gauge, Plain, &[0.0, 7.5]),
            total("cart_full", Rate, Plain, &[1.0, 0.0, 0.0]),
            total("basket", Trend, Plain, &[0.0, 2500.3075]),
            total("checkout_time", Trend, Time, &[0.29, 175_002.5]),
            total("never_seen", Trend, Plain, &[]),
        ]
        .into(),
        thresholds: vec![
            threshold("http_req_duration", "p(95)<500", Passed(4.432)),
            threshold("http_req_duration", "avg<0.001", Failed(2.339)),
            threshold("http_req_duration{name:login,status:200}", "p(90)<500", Passed(2.046)),
            threshold("http_req_waiting", "max<1", Failed(2.0)),
            threshold("http_req_failed", "rate<0.01", Failed(0.2)),
            threshold("http_reqs", "rate>1", Passed(1.666_666_7)),
            threshold("never_seen", "p(95)<1", NoData),
            threshold("checks", "rate>0.5", Passed(0.666_67)),
        ],
        ..Summary::default()
    };
    summary.root.at("::outer").count("status is 200", 3, 0);
    summary.root.at("::outer").count("is big", 0, 3);
    summary.root.at("::outer::inner").count("even", 1, 2);
    summary.root.count("always", 3, 0);
    summary
}

fn check(summary: &Summary, plan: &Plan, style: view::Style) -> String {
    let text = view::text::summary(summary, plan, style);
    assert_readable(&without_colors(&text));
    text
}

#[test]
fn everything_that_a_summary_can_show() {
    insta::assert_snapshot!(check(&everything(), &plan(), UNICODE));
}

#[test]
fn other_statistics_in_one_unit_and_ascii() {
    let plan = Plan {
        summary_trend_stats: ["avg", "p(99.9)", "count"].map(str::to_owned).into(),
        summary_time_unit: Some("us".to_owned()),
        ..plan()
    };
    let text = check(&everything(), &plan, ASCII);
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn colours_change_nothing_but_colours() {
    let colored = check(&everything(), &plan(), COLOR);
    assert!(colored.contains("\x1b[31m✗\x1b[0m 'avg<0.001'"), "{colored}");
    assert_eq!(without_colors(&colored), check(&everything(), &plan(), UNICODE));
}

#[test]
fn a_check_counts_once_whatever_its_group() {
    let mut summary = Summary { duration_s: 1.0, ..Summary::default() };
    summary.root.at("::a").count("same", 1, 0);
    summary.root.at("::b").count("same", 1, 1);
    let text = check(&summary, &plan(), UNICODE);
    assert_eq!(text.matches("same").count(), 1, "{text}");
    assert!(text.contains("↳  66% — ✓ 2 / ✗ 1"), "{text}");
    assert!(text.contains("checks_succeeded...................: 66.66% 2 out of 3"), "{text}");
}

#[test]
fn a_run_without_samples_has_a_summary() {
    assert_eq!(check(&Summary::default(), &plan(), UNICODE), "\n  █ TOTAL RESULTS\n\n");
}

#[test]
fn failed_requests_are_told_by_cause_with_an_example() {
    let errors = |count, status, headers| {
        let url = "http://shop.example/cart?token=****".to_owned();
        RequestErrors { count, example: RequestExample { method: "GET".to_owned(), url, status, headers } }
    };
    let mut summary = Summary { sent_again: 2, ..Summary::default() };
    summary.errors.insert("1000 EOF".to_owned(), errors(1, 0, 0));
    summary.errors.insert("status 503".to_owned(), errors(7, 503, 4));
    insta::assert_snapshot!(check(&summary, &plan(), UNICODE), @"

      █ TOTAL RESULTS

        ERRORS
        status 503 (7 requests), e.g. GET http://shop.example/cart?token=**** (status 503, 4 headers)
        1000 EOF (1 request), e.g. GET http://shop.example/cart?token=****
        2 requests were sent again because the service had closed an idle connection
    ");
    summary.errors = (0..12).map(|cause| (format!("1000 {cause}"), errors(1, 0, 0))).collect();
    let text = check(&summary, &plan(), ASCII);
    assert!(text.contains("2 more causes (2 requests)"), "{text}");
}

/// Two scenarios, groups in them, endpoints, exceptions, load that was not offered.
fn detailed() -> Summary {
    use Contains::{Default as Plain, Time};
    use MetricType::{Counter, Trend};
    let mut summary = everything();
    summary.metrics.extend([total("dropped_iterations", Counter, Plain, &[3.0])]);
    for (scenario, group, number) in
        [("one", "", 2.0), ("one", "::outer", 1.0), ("one", "::outer::inner", 1.0), ("two", "", 3.0)]
    {
        let block = summary.block(scenario, group);
        block
            .metrics
            .extend([total("http_reqs", Counter, Plain, &[number]), total("http_req_waiting", Trend, Time, &[number])]);
        block.count("ok", 2, 1);
    }
    summary.block("", "::setup::login").count("in", 1, 0);
    for (name, statuses) in [("GET /a", &[(200, 3), (500, 1)][..]), ("GET /b", &[(0, 1)]), ("other", &[(200, 1)])] {
        let requests = summary.endpoints.entry(name.to_owned()).or_default();
        for &(status, count) in statuses {
            requests.finished += count;
            requests.failed += if status == 200 { 0 } else { count };
            requests.count_status(status, count);
            requests.duration.record_ms(f64::from(status) / 10.0);
        }
    }
    summary.threw("Error: boom (script.js:10:3)", 12);
    summary.threw("TypeError: x is not a function (script.js:4:1)", 1);
    summary.limits.insert("more than 200 different request names: later ones count as `other`".to_owned());
    summary
}

#[test]
fn the_full_summary_has_every_metric_and_a_block_for_each_scenario_and_group() {
    let plan = Plan { summary_mode: SummaryMode::Full, ..plan() };
    insta::assert_snapshot!(check(&detailed(), &plan, UNICODE));
}

#[test]
fn the_compact_summary_has_endpoints_exceptions_and_what_was_not_offered() {
    let text = check(&detailed(), &plan(), UNICODE);
    let behind = text.split("    ENDPOINTS\n").nth(1).expect("endpoints");
    insta::assert_snapshot!(behind);
    assert!(!text.contains("SCENARIO"), "{text}");
}

#[test]
fn the_legacy_summary_is_one_list() {
    let plan = Plan { summary_mode: SummaryMode::Legacy, ..plan() };
    insta::assert_snapshot!(check(&everything(), &plan, UNICODE));
}

#[test]
fn what_handle_summary_gets_has_the_shape_of_k6() {
    let screen = view::json::Screen { no_color: true, ..Default::default() };
    let data: serde_json::Value =
        serde_json::from_str(&view::json::summary_data(&everything(), &plan(), screen)).expect("JSON");
    assert_eq!(
        data["metrics"]["http_req_failed"]["values"],
        serde_json::json!({ "rate": 0.2, "passes": 1, "fails": 4 })
    );
    assert_eq!(data["metrics"]["http_req_duration"]["contains"], "time");
    assert_eq!(data["metrics"]["http_req_duration"]["thresholds"]["avg<0.001"], serde_json::json!({ "ok": false }));
    assert_eq!(data["metrics"]["orders"].get("thresholds"), None);
    assert_eq!(data["root_group"]["groups"][0]["groups"][0]["checks"][0]["path"], "::outer::inner::even");
    assert_eq!(data["state"]["testRunDurationMs"], 3000);
    assert_eq!((&data["options"]["noColor"], &data["options"]["summaryTimeUnit"]), (&true.into(), &"".into()));
}

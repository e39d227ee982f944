//! The answer of `find`, and what limited a `run`.

use model::verdict::{CapacityState, Verdict};
use proptest::prelude::*;

use crate::sample::{bare_verdict, pool_diagnosis, pool_verdict};
use crate::{ASCII, COLOR, UNICODE, assert_readable, without_colors};

fn check(verdict: &Verdict, style: view::Style) -> String {
    let text = view::text::verdict(verdict, style);
    assert_readable(&without_colors(&text));
    text
}

/// The first line of a bare verdict, unwrapped.
fn headline(state: CapacityState, users: u64, users_high: Option<u64>, id: &str) -> String {
    let text = check(&bare_verdict(state, users, users_high, id), UNICODE);
    let end = text.find("http://").unwrap_or(text.len());
    text[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_small_pool() {
    insta::assert_snapshot!(check(&pool_verdict(), UNICODE));
}

#[test]
fn a_small_pool_in_ascii() {
    let text = check(&pool_verdict(), ASCII);
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn colours_change_nothing_but_colours() {
    let colored = check(&pool_verdict(), COLOR);
    assert!(colored.contains("\x1b[32m112 users"), "{colored}");
    assert_eq!(without_colors(&colored), check(&pool_verdict(), UNICODE));
}

#[test]
fn what_limited_a_run() {
    let text = view::text::limit(&pool_diagnosis(), UNICODE);
    assert_readable(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn each_way_to_end_has_its_own_sentence() {
    use CapacityState::{AtLeast, Crashed, Floor, Found, GeneratorLimited, Undecided};
    insta::assert_snapshot!(
        [
            headline(Found, 440, Some(452), "unknown"),
            headline(Found, 440, Some(440), "unknown"),
            headline(Found, 440, None, "unknown"),
            headline(AtLeast, 10_000, None, "pattern.none"),
            headline(Floor, 0, Some(1), "pattern.floor"),
            headline(GeneratorLimited, 3000, None, "gen.cpu"),
            headline(GeneratorLimited, 3000, None, "host.contention"),
            headline(Undecided, 380, Some(520), "unknown"),
            headline(Undecided, 380, None, "unknown"),
            headline(Crashed, 9, Some(10), "svc.oom"),
            headline(Crashed, 0, Some(1), "svc.oom"),
        ]
        .join("\n"),
        @r"
    440 users (440 to 452) under http_req_duration: p(90)<500 and http_req_failed: rate<0.01, at 28,807 requests/s
    440 users under http_req_duration: p(90)<500 and http_req_failed: rate<0.01, at 28,807 requests/s
    440 users (440 or more) under http_req_duration: p(90)<500 and http_req_failed: rate<0.01, at 28,807 requests/s
    at least 10,000 users under http_req_duration: p(90)<500 and http_req_failed: rate<0.01, at 28,807 requests/s: the search ended before anything broke
    1 user is too many: http_req_failed: rate<0.01 is broken without any competition
    at least 3,000 users under http_req_duration: p(90)<500 and http_req_failed: rate<0.01, at 28,807 requests/s: the load generator was the limit, not the service
    at least 3,000 users under http_req_duration: p(90)<500 and http_req_failed: rate<0.01, at 28,807 requests/s: this machine, which generator and service share, was the limit, not the service
    between 380 and 520 users under http_req_duration: p(90)<500 and http_req_failed: rate<0.01, undecided: the search ended first
    380 users or more under http_req_duration: p(90)<500 and http_req_failed: rate<0.01, undecided: the search ended before anything broke
    the service died under load; the most it carried alive: 9 users under http_req_duration: p(90)<500 and http_req_failed: rate<0.01, at 28,807 requests/s
    the service died before it carried any load
    "
    );
}

#[test]
fn empty_parts_are_left_out() {
    let text = check(&bare_verdict(CapacityState::AtLeast, 10_000, None, "pattern.none"), UNICODE);
    insta::assert_snapshot!(text, @r"
    at least 10,000 users under http_req_duration: p(90)<500 and http_req_failed: rate<0.01, at 28,807
    requests/s: the search ended before anything broke
    http://127.0.0.1:8080/uuid/17; answered in 2 min 42 s

    What stops it
      Nothing that was watched explains where the time goes.
      pattern.none: unknown, nothing that was watched explains it
    ");
}

#[test]
fn dropped_iterations_get_a_column_of_their_own() {
    let mut verdict = pool_verdict();
    assert!(!check(&verdict, UNICODE).contains("dropped"));
    verdict.steps[2].dropped = 1234;
    let text = check(&verdict, UNICODE);
    assert!(text.contains("dropped") && text.contains("1,234"), "{text}");
}

#[test]
fn the_json_is_the_contract() {
    let text = view::json::verdict(&pool_verdict());
    assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), pool_verdict());
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["schema"], "plimsoll.verdict/1");
    assert_eq!(json["capacity"]["state"], "found");
    assert_eq!(json["capacity"]["users_high"], 115);
    assert_eq!(json["bottleneck"]["certainty"], "strong");
    assert_eq!(json["levers"][0]["basis"], "predicted");
    assert_eq!(json["time_budget_ms"]["pool_wait"], 191.0);
    assert_eq!(json["steps"][6]["phase"], "return");
    assert_eq!(json["steps"][5]["generator"]["gate"], "red");
    assert!(text.starts_with("{\n  \"schema\"") && text.ends_with("}\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_figure_breaks_the_layout(bits in prop::collection::vec(any::<u64>(), 16), whole in any::<u64>(), word in "\\PC{0,140}") {
        let mut verdict = pool_verdict();
        let mut values = bits.iter().cycle().map(|bits| f64::from_bits(*bits));
        let mut value = || values.next().unwrap();
        verdict.duration_s = value();
        verdict.capacity.rate_per_s = value();
        verdict.capacity.users = whole;
        verdict.peak.rate_per_s = value();
        verdict.bottleneck.subject = word.clone();
        verdict.bottleneck.evidence.iter_mut().for_each(|fact| fact.value = value());
        verdict.bottleneck.evidence[0].says = word.clone();
        verdict.bottleneck.ruled_out[0].id = word.clone();
        verdict.next[0].rate_per_s = value();
        verdict.levers[0].rate_per_s_low = Some(value());
        verdict.levers[2].change = word;
        verdict.time_budget_ms.values_mut().for_each(|ms| *ms = value());
        for step in &mut verdict.steps {
            (step.users, step.requests, step.failed, step.dropped) = (whole, whole, whole, whole);
            step.rate_per_s = value();
            step.latency_ms.p50 = value();
            step.latency_ms.max = value();
        }
        for style in [UNICODE, ASCII] {
            let text = view::text::verdict(&verdict, style);
            for line in text.lines() {
                prop_assert!(line.chars().count() <= 100, "{line}");
                prop_assert!(!line.contains("NaN") || verdict.bottleneck.subject.contains("NaN"), "{line}");
            }
        }
    }
}

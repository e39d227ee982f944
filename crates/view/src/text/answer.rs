//! The first lines of a verdict: how many users the service carries. One honest sentence for each way in which the
//! search can end.

use model::verdict::{Capacity, CapacityState, Verdict};

use crate::layout::Page;
use crate::number::{count, number, things, time_ms};
use crate::style::Paint;

/// Writes the answer and, below it, what it rests on.
pub(super) fn write(page: &mut Page, verdict: &Verdict) {
    let paint = match verdict.capacity.state {
        CapacityState::Found | CapacityState::AtLeast => Paint::Green,
        CapacityState::GeneratorLimited | CapacityState::Undecided => Paint::Yellow,
        CapacityState::Floor | CapacityState::Crashed => Paint::Red,
    };
    page.paragraph(0, paint, &sentence(verdict));
    page.paragraph(0, Paint::Dim, &basis(verdict));
}

/// How many users, in one sentence.
pub(super) fn sentence(verdict: &Verdict) -> String {
    let capacity = &verdict.capacity;
    let promises = promises(verdict);
    let under = if promises.is_empty() { String::new() } else { format!(" under {promises}") };
    let users = things(capacity.users, "user");
    let rate = number(capacity.rate_per_s);
    match capacity.state {
        CapacityState::Found => format!("{users}{}{under}, at {rate} requests/s", range(capacity)),
        CapacityState::AtLeast => {
            format!("at least {users}{under}, at {rate} requests/s: the search ended before anything broke")
        }
        CapacityState::Floor => {
            let broken = capacity.broken_by.clone().unwrap_or(promises);
            let broken = if broken.is_empty() { "the promise".to_owned() } else { broken };
            format!("1 user is too many: {broken} is broken without any competition")
        }
        CapacityState::GeneratorLimited => {
            let limit = if verdict.bottleneck.id.starts_with("host.") {
                "this machine, which generator and service share,"
            } else {
                "the load generator"
            };
            format!("at least {users}{under}, at {rate} requests/s: {limit} was the limit, not the service")
        }
        CapacityState::Undecided => undecided(capacity, &under),
        CapacityState::Crashed if capacity.users == 0 => "the service died before it carried any load".to_owned(),
        CapacityState::Crashed => {
            format!("the service died under load; the most it carried alive: {users}{under}, at {rate} requests/s")
        }
    }
}

fn undecided(capacity: &Capacity, under: &str) -> String {
    let low = count(capacity.users_low);
    match capacity.users_high {
        Some(high) => {
            format!("between {low} and {}{under}, undecided: the search ended first", things(high, "user"))
        }
        None => format!("{low} users or more{under}, undecided: the search ended before anything broke"),
    }
}

fn range(capacity: &Capacity) -> String {
    match capacity.users_high {
        Some(high) if high == capacity.users_low => String::new(),
        Some(high) => format!(" ({} to {})", count(capacity.users_low), count(high)),
        None => format!(" ({} or more)", count(capacity.users_low)),
    }
}

fn promises(verdict: &Verdict) -> String {
    verdict.slo.join(" and ")
}

fn basis(verdict: &Verdict) -> String {
    let mut parts = vec![verdict.target.clone()];
    if verdict.duration_s > 0.0 {
        parts.push(format!("answered in {}", time_ms(verdict.duration_s * 1e3)));
    }
    if let (Some(broken), false) = (&verdict.capacity.broken_by, verdict.capacity.state == CapacityState::Floor) {
        parts.push(format!("beyond that {broken} breaks"));
    }
    if verdict.peak.rate_per_s > 0.0 {
        let users = things(verdict.peak.users, "user");
        parts.push(format!("peak {} requests/s at {users}", number(verdict.peak.rate_per_s)));
    }
    parts.join("; ")
}

//! Levers: what a change would bring, as a range, and what it would not. New throughput = the smallest of the stations'
//! bounds after the change; levers are bounds, not slopes.

use model::finding::{Basis, Lever};

use crate::case::Case;
use crate::phrase;
use crate::station::{Station, stations};
use crate::step::{self, LatencyLimit};

/// No prediction is said to be better than this.
const ERROR_MIN: f64 = 0.05;
/// A change by more than this factor is beyond what was seen.
const REACH: f64 = 2.0;

/// The stations around a bottleneck and what the service does now.
pub(crate) struct Outlook {
    /// All stations, tightest first.
    pub(crate) stations: Vec<Station>,
    /// Requests per second now: what the service was seen to carry, in this step or a better one.
    pub(crate) rate_now: f64,
    named: &'static str,
    error: f64,
    users: Option<UsersAt>,
}

/// Users under the promise for a rate: N* = X · (limit ÷ κ + Z), κ the promised percentile over the mean.
///
/// Source: R = N / X − Z of a saturated closed system. Only true while the response time is mostly waiting; so only
/// computed for steps at which it is at least twice that of light load.
#[derive(Clone, Copy, Debug)]
struct UsersAt {
    limit_s: f64,
    kappa: f64,
    think_s: f64,
}

/// A change of some stations: what becomes of their bounds.
pub(crate) struct Change<'a> {
    /// Lever id of the contract.
    pub(crate) id: &'a str,
    /// In words: `pool 5 -> 20`.
    pub(crate) change: String,
    /// By how much, as a factor; tells how far beyond the tested this is.
    pub(crate) factor: f64,
    /// Stations by id with their new bounds in requests per second.
    pub(crate) bounds: Vec<(&'static str, f64)>,
    /// Why, one sentence.
    pub(crate) says: String,
}

impl Outlook {
    pub(crate) fn new(case: &Case<'_>, named: &'static str) -> Self {
        let stations = stations(&case.here, case.light.as_ref());
        let here = case.here.step.rate_per_s;
        let rate_now = here.max(case.here.peak_per_s);
        let model = stations.iter().find(|station| station.id == named).map(|station| station.rate_per_s);
        let error = model.filter(|model| *model > 0.0 && here > 0.0).map_or(0.0, |model| (here / model).ln().abs());
        Self { stations, rate_now, named, error: error.clamp(ERROR_MIN, 0.5), users: users_at(case) }
    }

    /// The bound of a station.
    pub(crate) fn bound(&self, id: &str) -> Option<f64> {
        self.stations.iter().find(|station| station.id == id).map(|station| station.rate_per_s)
    }

    /// The tightest bound other than those of `except`, and whose it is.
    pub(crate) fn next_bound(&self, except: &[&str]) -> Option<&Station> {
        self.stations.iter().find(|station| !except.contains(&station.id) && station.rate_per_s > self.rate_now)
    }

    /// A lever that changes bounds.
    pub(crate) fn helps(&self, change: Change<'_>) -> Lever {
        let Change { id, change, factor, bounds, says } = change;
        let changed = |station: &Station| bounds.iter().find(|(id, _)| *id == station.id).map(|(_, bound)| *bound);
        let mut all: Vec<(&str, f64, f64)> =
            self.stations.iter().map(|s| (s.id, changed(s).unwrap_or(s.rate_per_s), s.busy)).collect();
        for (id, bound) in &bounds {
            if !all.iter().any(|(known, ..)| known == id) {
                all.push((id, *bound, 1.0));
            }
        }
        // A station that carries today's load already is not what stops it, however it was computed.
        let tightest = all
            .iter()
            .map(|(id, bound, busy)| (*id, bound.max(self.rate_now), *busy))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((stop, rate, busy)) = tightest else { return self.useless(id, change, says) };
        let helps = rate > self.rate_now * (1.0 + ERROR_MIN);
        let strained = busy < 0.3 && busy * rate / self.rate_now.max(1e-9) > 0.7;
        let basis = if factor > REACH || strained { Basis::Extrapolated } else { Basis::Predicted };
        let then = if stop == self.named || bounds.iter().any(|(id, _)| *id == stop) {
            String::new()
        } else {
            format!(" Then {stop} stops it at about {}.", phrase::rate(rate))
        };
        Lever {
            id: id.to_owned(),
            change,
            helps,
            rate_per_s: Some(rate),
            rate_per_s_low: helps.then(|| (rate * (1.0 - self.error)).max(self.rate_now)),
            rate_per_s_high: helps.then_some(rate * (1.0 + self.error)),
            users: helps.then(|| self.users(rate)).flatten(),
            basis,
            says: format!("{says}{then}"),
        }
    }

    /// A lever that does not help, and why.
    pub(crate) fn useless(&self, id: &str, change: impl Into<String>, says: impl Into<String>) -> Lever {
        Lever {
            id: id.to_owned(),
            change: change.into(),
            helps: false,
            rate_per_s: Some(self.rate_now),
            rate_per_s_low: None,
            rate_per_s_high: None,
            users: None,
            basis: Basis::Predicted,
            says: says.into(),
        }
    }

    /// Users under the promise at a saturated rate.
    pub(crate) fn users(&self, rate: f64) -> Option<u64> {
        let at = self.users?;
        Some((rate * (at.limit_s / at.kappa + at.think_s)) as u64)
    }
}

fn users_at(case: &Case<'_>) -> Option<UsersAt> {
    let plan = case.here.record.plan.as_ref()?;
    let limit: LatencyLimit = step::latency_limit(&plan.promises)?;
    let (step, light) = (&case.here.step, case.light.as_ref()?);
    if step.latency_ms.avg < 2.0 * light.step.latency_ms.avg {
        return None;
    }
    let kappa = (step.promised_latency_ms(limit) / step.latency_ms.avg).max(1.0);
    Some(UsersAt { limit_s: limit.limit_ms / 1e3, kappa, think_s: step.think_s? })
}

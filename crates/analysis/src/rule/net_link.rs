//! `net.link`: the link between users and service carries no more bytes.

use model::finding::Lever;
use model::signal;

use super::{Candidate, Judged, Kind, Rule, evidence};
use crate::budget::{LINK, is_link_queued};
use crate::case::Case;
use crate::lever::{Change, Outlook};
use crate::phrase;

pub(super) const RULE: Rule = Rule { id: "net.link", kind: Kind::Station, parts: &[LINK], judge, levers };

/// Share of time that connections must have had something unsent or unacknowledged.
const SENDING: f64 = 0.7;
/// Above this share of it the reader was too slow, not the link.
const READER_SLOW: f64 = 0.3;
/// Share of segments sent again that light load never shows.
const RETRANSMITTED: f64 = 0.001;
/// Round trip beyond the least, in milliseconds, that no delayed acknowledgement makes.
const BEYOND_DELAYED_ACK_MS: f64 = 40.0;

fn judge(case: &Case<'_>) -> Judged {
    let link = case.here.link;
    let (Some(busy), Some(rtt), Some(least)) = (link.busy, link.rtt_ms, link.rtt_min_ms) else {
        return Judged::NotSeen;
    };
    let median = case.here.step.latency_ms.p50;
    let queued = is_link_queued(&case.here);
    if busy < SENDING || !queued {
        return Judged::RuledOut(format!(
            "connections had something to send {} of the time, {} were queued, round trip {} (least {})",
            phrase::percent(busy),
            phrase::bytes(link.queued_bytes.unwrap_or(0.0)),
            phrase::ms(rtt),
            phrase::ms(least)
        ));
    }
    if link.reader_limited.is_some_and(|share| share > READER_SLOW) {
        return Judged::RuledOut(format!(
            "the readers were too slow {} of the sending time, not the link",
            phrase::percent(link.reader_limited.unwrap_or(0.0))
        ));
    }
    if rtt < 0.3 * median {
        return Judged::RuledOut(format!(
            "packets are under way for {} of the median {}",
            phrase::ms(rtt),
            phrase::ms(median)
        ));
    }
    let flat = flat_levels(case);
    let retransmitted = link.retransmitted.unwrap_or(0.0);
    let bytes = link.bytes_per_s.unwrap_or(0.0);
    let mut proof = vec![
        evidence(
            signal::SEND_BUSY_SHARE,
            busy,
            "sock_diag",
            "share of time that connections had unsent or unacknowledged data",
        ),
        evidence(
            signal::SEND_QUEUE,
            link.queued_bytes.unwrap_or(0.0),
            "sock_diag",
            "bytes wait in the service's sockets",
        ),
        evidence(signal::RTT_MS, rtt, "sock_diag", format!("round trip, {} without load", phrase::ms(least))),
    ];
    if bytes > 0.0 {
        proof.push(evidence(signal::LINK_BYTES_SENT, bytes, "sock_diag", "bytes per second, acknowledged by clients"));
    }
    if retransmitted > 0.0 {
        proof.push(evidence(
            signal::SEGMENTS_RETRANSMITTED,
            retransmitted,
            "netstat",
            format!("{} of the segments were sent again", phrase::percent(retransmitted)),
        ));
    }
    Judged::Candidate(Candidate {
        subject: "the link to the users".to_owned(),
        is_hard: retransmitted >= RETRANSMITTED || (flat.is_some() && rtt - least > BEYOND_DELAYED_ACK_MS),
        is_full: true,
        is_contradicted: case.here.is_machine_full(),
        evidence: proof,
        sentence: sentence(case, flat, rtt, least, bytes),
        words: format!("the link is full at {}/s", phrase::bytes(bytes)),
        ..Candidate::default()
    })
}

/// A lower load that moved as many bytes per second: users and their rate.
fn flat_levels(case: &Case<'_>) -> Option<(u64, f64)> {
    let bytes = case.here.link.bytes_per_s.filter(|bytes| *bytes > 0.0)?;
    let same = case.lower.iter().filter(|level| level.bytes_per_s.is_some_and(|before| before >= 0.95 * bytes));
    same.map(|level| (level.users, level.rate_per_s)).min_by_key(|(users, _)| *users)
}

fn sentence(case: &Case<'_>, flat: Option<(u64, f64)>, rtt: f64, least: f64, bytes: f64) -> String {
    let step = &case.here.step;
    let carried = if bytes > 0.0 {
        format!("The link carries {}/s and not more", phrase::bytes(bytes))
    } else {
        "The link is full".to_owned()
    };
    let levels = match flat {
        Some((users, rate)) => format!(
            "{carried}: {} got {}, {} get {}.",
            phrase::users(users),
            phrase::rate(rate),
            case.users(),
            phrase::rate(step.rate_per_s)
        ),
        None => format!("{carried}: that is {} at {}.", phrase::rate(step.rate_per_s), case.users()),
    };
    let idle = case
        .here
        .service
        .run
        .map_or_else(String::new, |run| format!(" The service used {} of a core.", phrase::cores(run)));
    format!(
        "{levels} Of the {} median, {} is packets waiting on the link ({} without load).{idle} A faster link or smaller \
         answers would move the line.",
        phrase::ms(step.latency_ms.p50),
        phrase::ms((rtt - least).min(step.latency_ms.p50)),
        phrase::ms(least),
    )
}

fn levers(case: &Case<'_>, outlook: &Outlook) -> Vec<Lever> {
    let rate = outlook.rate_now;
    let each = case.here.link.bytes_per_s.map_or_else(String::new, |bytes| {
        format!(" Each answer takes {} of it.", phrase::bytes(bytes / rate.max(1e-9)))
    });
    let mut levers = vec![
        outlook.helps(Change {
            id: "net.link",
            change: "link twice as fast, or the users nearer".into(),
            factor: 2.0,
            bounds: vec![("net.link", rate * 2.0)],
            says: format!("Throughput is bandwidth divided by the size of an answer.{each}"),
        }),
        outlook.helps(Change {
            id: "net.reply.size",
            change: "answers half as large".into(),
            factor: 2.0,
            bounds: vec![("net.link", rate * 2.0)],
            says: "Half the bytes, twice the answers; compressing costs the service CPU.".into(),
        }),
    ];
    if let (Some(run), Some(available)) = (case.here.service.run, case.here.cores_of(&case.here.service)) {
        levers.push(outlook.useless(
            "svc.cores",
            "more cores",
            format!("The service uses {} of {} cores.", phrase::cores(run), phrase::cores(available)),
        ));
    }
    if let Some(size) = case.here.pool_size() {
        let in_use = case.here.pool_in_use().map_or_else(String::new, |used| {
            format!(": {} of {} are in use", phrase::number(used), phrase::count(size))
        });
        levers.push(outlook.useless(
            "db.pool.size",
            format!("pool {} -> {}", phrase::count(size), phrase::count(size * 2.0)),
            format!("Answers wait to be sent, not for connections to the database{in_use}."),
        ));
    }
    levers
}

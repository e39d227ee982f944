//! `net.link`: the link between users and service carries no more bytes, in the direction of the answers, of the
//! requests, or in both.

use model::finding::{Evidence, Lever};
use model::signal;

use super::{Candidate, Judged, Kind, Rule, evidence};
use crate::budget::LINK;
use crate::case::Case;
use crate::lever::{Change, Outlook};
use crate::link::{Direction, End};
use crate::owner::may_delay_acknowledgements;
use crate::phrase;

pub(super) const RULE: Rule = Rule { id: "net.link", kind: Kind::Station, parts: &[LINK], judge, levers };

/// Share of the median response time that packets must be under way.
const UNDER_WAY: f64 = 0.3;

fn judge(case: &Case<'_>) -> Judged {
    let (scene, rate) = (&case.here, case.here.step.rate_per_s);
    let link = &scene.link;
    let seen: Vec<&End> = [&link.answers, &link.requests].into_iter().filter(|end| end.is_seen()).collect();
    let Some(widest) = seen.iter().max_by(|a, b| a.beyond_ms().unwrap_or(0.0).total_cmp(&b.beyond_ms().unwrap_or(0.0)))
    else {
        return Judged::NotSeen;
    };
    let Some(end) = link.queued_end(rate) else { return Judged::RuledOut(not_queued(widest)) };
    if end.is_reader_slow() {
        return Judged::RuledOut(format!(
            "the readers were too slow {} of the sending time, not the link",
            phrase::percent(end.reader_limited.unwrap_or(0.0))
        ));
    }
    let (wait, median) = (end.beyond_ms().unwrap_or(0.0), scene.step.latency_ms.p50);
    if wait < UNDER_WAY * median {
        return Judged::RuledOut(format!(
            "packets are under way for {} of the median {}",
            phrase::ms(end.rtt_ms.unwrap_or(0.0)),
            phrase::ms(median)
        ));
    }
    if let Some(lower) = case.growing_from() {
        return Judged::RuledOut(format!(
            "the throughput still grows: {} got {}, {} get {}",
            phrase::users(lower.users),
            phrase::rate(lower.rate_per_s),
            case.users(),
            phrase::rate(rate)
        ));
    }
    let (direction, flat) = (link.direction(rate), flat_levels(case));
    let bytes = carried(case, direction);
    Judged::Candidate(Candidate {
        subject: "the link to the users".to_owned(),
        is_hard: link.is_losing() || flat.is_some(),
        is_full: true,
        is_contradicted: may_delay_acknowledgements(scene),
        evidence: proof(case),
        sentence: sentence(case, direction, flat, end),
        words: match bytes {
            Some(bytes) => format!("the link is full of {} at {}/s", words(direction).many, phrase::bytes(bytes)),
            None => "the link is full".to_owned(),
        },
        ..Candidate::default()
    })
}

fn not_queued(end: &End) -> String {
    format!(
        "connections had something to send {} of the time, {} were queued, round trip {} (least {})",
        phrase::percent(end.busy.unwrap_or(0.0)),
        phrase::bytes(end.queued_bytes.unwrap_or(0.0)),
        phrase::ms(end.rtt_ms.unwrap_or(0.0)),
        phrase::ms(end.rtt_min_ms.unwrap_or(0.0))
    )
}

/// A lower load that moved as many bytes per second: users and their rate.
fn flat_levels(case: &Case<'_>) -> Option<(u64, f64)> {
    let bytes = case.here.link.bytes_per_s().filter(|bytes| *bytes > 0.0)?;
    let same = case.lower.iter().filter(|level| level.bytes_per_s.is_some_and(|before| before >= 0.95 * bytes));
    same.map(|level| (level.users, level.rate_per_s)).min_by_key(|(users, _)| *users)
}

/// Bytes per second in the full direction.
fn carried(case: &Case<'_>, direction: Direction) -> Option<f64> {
    let bytes = case.here.link.ends(direction).into_iter().filter_map(|end| end.bytes_per_s);
    bytes.filter(|bytes| *bytes > 0.0).reduce(f64::max)
}

/// A direction in words.
struct Words {
    way: &'static str,
    one: &'static str,
    many: &'static str,
    /// The lever that makes its messages smaller.
    lever: &'static str,
}

fn words(direction: Direction) -> Words {
    let (way, one, many, lever) = match direction {
        Direction::Requests => ("towards the service", "request", "requests", "net.request.size"),
        Direction::Answers => ("towards the users", "answer", "answers", "net.reply.size"),
        Direction::Both => ("each way", "message", "requests and answers", "net.reply.size"),
    };
    Words { way, one, many, lever }
}

fn proof(case: &Case<'_>) -> Vec<Evidence> {
    let link = &case.here.link;
    let mut proof = Vec::new();
    let mut add = |signal, value: Option<f64>, source: &str, says: String| {
        proof.extend(value.map(|value| evidence(signal, value, source, says)));
    };
    for (end, whose, to) in
        [(&link.answers, "the service's", "answers"), (&link.requests, "the generator's", "requests")]
    {
        let diag = "sock_diag";
        let busy = format!("share of time that {whose} connections had unsent or unacknowledged data");
        add(signal::SEND_BUSY_SHARE, end.busy, diag, busy);
        add(signal::SEND_QUEUE, end.queued_bytes, diag, format!("bytes wait in {whose} sockets or on the way"));
        let least = phrase::ms(end.rtt_min_ms.unwrap_or(0.0));
        add(signal::RTT_MS, end.rtt_ms, diag, format!("round trip from {whose} end, {least} without load"));
        let moved = end.bytes_per_s.filter(|bytes| *bytes > 0.0);
        add(signal::LINK_BYTES_SENT, moved, diag, format!("bytes per second of {to}, headers left out"));
        if let Some(share) = end.retransmitted.filter(|share| *share > 0.0) {
            let says = format!("{} of the segments from {whose} end were sent again", phrase::percent(share));
            add(signal::SEGMENTS_RETRANSMITTED, Some(share), "netstat", says);
        }
        let repeated = end.repeated_per_s.filter(|repeated| *repeated > 0.0);
        let says = format!("segments per second reached {whose} end twice: {to} or their acknowledgements were lost");
        add(signal::SEGMENTS_REPEATED, repeated, "netstat", says);
    }
    proof
}

fn sentence(case: &Case<'_>, direction: Direction, flat: Option<(u64, f64)>, end: &End) -> String {
    let (scene, step, words) = (&case.here, &case.here.step, words(direction));
    let with_headers = scene.link.ends(direction).into_iter().filter_map(|end| end.on_the_wire(step.rate_per_s));
    let carried =
        carried(case, direction).zip(with_headers.reduce(f64::max)).map_or_else(String::new, |(bytes, wire)| {
            let (bytes, wire) = (phrase::bytes(bytes), phrase::bytes(wire));
            format!(": {} it carries {bytes}/s of {} ({wire}/s with headers)", words.way, words.many)
        });
    let levels = match flat {
        Some((users, rate)) => format!(
            "The link is full{carried} and not more; {} got {}, {} get {}.",
            phrase::users(users),
            phrase::rate(rate),
            case.users(),
            phrase::rate(step.rate_per_s)
        ),
        None => format!("The link is full{carried}; that is {} at {}.", phrase::rate(step.rate_per_s), case.users()),
    };
    let again = match scene.link.retransmitted() {
        share if share >= 0.01 => format!("; {} of the packets are sent again", phrase::percent(share)),
        _ => String::new(),
    };
    let idle = scene
        .service
        .run
        .map_or_else(String::new, |run| format!(" The service used {} of a core.", phrase::cores(run)));
    format!(
        "{levels} Of the {} median, {} is packets waiting on the link ({} without load){again}.{idle} A faster link or \
         smaller {} would move the line.",
        phrase::ms(step.latency_ms.p50),
        phrase::ms(end.beyond_ms().unwrap_or(0.0).min(step.latency_ms.p50)),
        phrase::ms(end.rtt_min_ms.unwrap_or(0.0)),
        words.many,
    )
}

fn levers(case: &Case<'_>, outlook: &Outlook) -> Vec<Lever> {
    let (scene, rate) = (&case.here, case.here.step.rate_per_s);
    let direction = scene.link.direction(rate);
    let words = words(direction);
    let each = carried(case, direction).map_or_else(String::new, |bytes| {
        format!(" Each {} takes {} of it and its headers.", words.one, phrase::bytes(bytes / rate.max(1e-9)))
    });
    let mut levers = vec![outlook.helps(Change {
        id: "net.link",
        change: "link twice as fast, or the users nearer".into(),
        factor: 2.0,
        bounds: vec![("net.link", rate * 2.0)],
        says: format!("Throughput is bandwidth divided by the size of a message.{each}"),
    })];
    let half = scene.link.rate_with_half(direction, rate).unwrap_or(rate * 2.0);
    levers.push(outlook.helps(Change {
        id: words.lever,
        change: format!("{} half as large", words.many),
        factor: 2.0,
        bounds: vec![("net.link", half)],
        says: "Fewer bytes each, more of them; headers stay, and compressing costs CPU.".into(),
    }));
    if let (Some(run), Some(available)) = (scene.service.run, scene.cores_of(&scene.service)) {
        levers.push(outlook.useless(
            "svc.cores",
            "more cores",
            format!("The service uses {} of {} cores.", phrase::cores(run), phrase::cores(available)),
        ));
    }
    if let (Some(busy), Some(cores)) = (scene.host.busy, scene.host.cores) {
        levers.push(outlook.useless(
            "host.split",
            "generator on another machine",
            format!(
                "{} of {} cores are busy here; the link stays the same.",
                phrase::cores(busy),
                phrase::cores(cores)
            ),
        ));
    }
    if let Some(size) = scene.pool_size() {
        let in_use = scene.pool_in_use().map_or_else(String::new, |used| {
            format!(": {} of {} are in use", phrase::number(used), phrase::count(size))
        });
        levers.push(outlook.useless(
            "db.pool.size",
            format!("pool {} -> {}", phrase::count(size), phrase::count(size * 2.0)),
            format!("Packets wait on the link, not for connections to the database{in_use}."),
        ));
    }
    levers
}

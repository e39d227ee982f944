//! The link between generator and service: what the kernel at each end says about the way to the other, when that is a
//! queue in front of a full link, and in which direction. Must never take a packet whose acknowledgement waits for an
//! answer for one that waits for the link.

use model::record::RunRecord;
use model::series::Role;
use model::signal::{self, Signal};
use model::window::Window;

use crate::read::Reader;

/// Milliseconds beyond the least round trip that no delayed acknowledgement makes: the receiver's kernel may wait 40 ms
/// for an answer to send it with, a timer tick longer on slow clocks, and a little more on a machine that is busy.
pub(crate) const BEYOND_DELAYED_ACK_MS: f64 = 60.0;
/// Share of segments sent again that light load never shows.
pub(crate) const RETRANSMITTED: f64 = 0.001;
/// Share of time that connections must have had something unsent or unacknowledged.
pub(crate) const SENDING: f64 = 0.7;
/// Above this share of it the reader was too slow, not the link.
pub(crate) const READER_SLOW: f64 = 0.3;
/// What a full segment holds on Ethernet, and what it costs besides: headers of Ethernet, IP and TCP.
const SEGMENT_BYTES: f64 = 1448.0;
const HEADER_BYTES: f64 = 66.0;
/// Two directions whose bytes differ by less than this factor are full at the same time.
const ALIKE: f64 = 1.1;

/// What one end says about its connections to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct End {
    /// Share of time that they had something unsent or unacknowledged.
    pub(crate) busy: Option<f64>,
    pub(crate) queued_bytes: Option<f64>,
    pub(crate) rtt_ms: Option<f64>,
    /// The least of the whole record: connections that begin behind a queue never see the road without it.
    pub(crate) rtt_min_ms: Option<f64>,
    pub(crate) reader_limited: Option<f64>,
    /// Bytes that the other end acknowledged, headers left out.
    pub(crate) bytes_per_s: Option<f64>,
    /// Share of its segments that it sent again.
    pub(crate) retransmitted: Option<f64>,
    /// Segments that reached it a second time: the other end sent again what was not lost, so this end's were.
    pub(crate) repeated_per_s: Option<f64>,
}

/// Both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Link {
    /// The generator's end, which sends the requests.
    pub(crate) requests: End,
    /// The service's end, or that of a proxy in front of it, which sends the answers.
    pub(crate) answers: End,
}

/// Which way a full link is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Requests,
    Answers,
    Both,
}

impl Link {
    pub(crate) fn read(record: &RunRecord, reader: Reader<'_>, windows: &[&Window]) -> Self {
        let service = End::read(reader, |signal| reader.whoever(signal));
        let generator = reader.subject(Role::Generator).map(|subject| subject.id.as_str());
        // Packets to ourselves cross no link, whatever their round trip is made of.
        let generator = if is_loopback(record) { End::default() } else { End::read(reader, |_| generator) };
        let seconds: f64 = windows.iter().map(|window| window.interval.seconds()).sum();
        let counted = |bytes: fn(&Window) -> u64| {
            let bytes: u64 = windows.iter().map(|window| bytes(window)).sum();
            (bytes > 0 && seconds > 0.0).then(|| bytes as f64 / seconds)
        };
        Self {
            requests: End {
                bytes_per_s: generator.bytes_per_s.or_else(|| counted(|window| window.data_sent)),
                ..generator
            },
            answers: End {
                bytes_per_s: service.bytes_per_s.or_else(|| counted(|window| window.data_received)),
                ..service
            },
        }
    }

    /// Milliseconds that packets queue on the way, there and back, at this many requests per second; `None` if no end
    /// shows a queue that can only be the link's.
    pub(crate) fn wait_ms(&self, rate: f64) -> Option<f64> {
        self.queued_end(rate).and_then(End::beyond_ms)
    }

    /// The end that shows the queue best. A round trip leads through both directions, so both may.
    pub(crate) fn queued_end(&self, rate: f64) -> Option<&End> {
        let queued = [&self.answers, &self.requests].into_iter().filter(|end| end.is_queued(rate));
        queued.max_by(|a, b| a.beyond_ms().unwrap_or(0.0).total_cmp(&b.beyond_ms().unwrap_or(0.0)))
    }

    /// The larger share of segments sent again.
    pub(crate) fn retransmitted(&self) -> f64 {
        self.answers.retransmitted.unwrap_or(0.0).max(self.requests.retransmitted.unwrap_or(0.0))
    }

    /// Whether more segments were sent again than light load ever shows.
    pub(crate) fn is_losing(&self) -> bool {
        self.retransmitted() >= RETRANSMITTED
    }

    /// Bytes per second of both directions together.
    pub(crate) fn bytes_per_s(&self) -> Option<f64> {
        match (self.requests.bytes_per_s, self.answers.bytes_per_s) {
            (Some(requests), Some(answers)) => Some(requests + answers),
            (requests, answers) => requests.or(answers),
        }
    }

    /// Which way the link is full: the way in which segments were lost, else the way that carries more, as if the link
    /// were alike in both.
    ///
    /// What arrives twice was sent again for want of an acknowledgement, so the loss was on the way back. The round
    /// trips themselves are the same at both ends and tell nothing: each leads through both directions, since the
    /// acknowledgement of an answer rides on the next request and the other way round.
    pub(crate) fn direction(&self, rate: f64) -> Direction {
        let lost = |end: &End| end.repeated_per_s.unwrap_or(0.0) / rate.max(1e-9);
        let (answers, requests) = (lost(&self.answers), lost(&self.requests));
        if answers.max(requests) >= RETRANSMITTED && answers.max(requests) > 2.0 * answers.min(requests) {
            return if answers > requests { Direction::Answers } else { Direction::Requests };
        }
        match (self.answers.on_the_wire(rate), self.requests.on_the_wire(rate)) {
            (Some(answers), Some(requests)) if answers > ALIKE * requests => Direction::Answers,
            (Some(answers), Some(requests)) if requests > ALIKE * answers => Direction::Requests,
            (Some(_), Some(_)) => Direction::Both,
            (None, Some(_)) if self.requests.is_queued(rate) => Direction::Requests,
            _ => Direction::Answers,
        }
    }

    /// The ends whose direction this is.
    pub(crate) fn ends(&self, direction: Direction) -> Vec<&End> {
        match direction {
            Direction::Requests => vec![&self.requests],
            Direction::Answers => vec![&self.answers],
            Direction::Both => vec![&self.requests, &self.answers],
        }
    }

    /// Requests per second that the link carries once the messages of the full direction are half as large: until the
    /// other direction is full, as if the link were alike in both. `None` if the bytes were not seen.
    pub(crate) fn rate_with_half(&self, direction: Direction, rate: f64) -> Option<f64> {
        let carried = self.ends(direction).into_iter().filter_map(|end| end.on_the_wire(rate)).fold(0.0, f64::max);
        let half = |end: &End| Some(wire_bytes(end.bytes_per_s? / rate / 2.0));
        let whole = |end: &End| Some(wire_bytes(end.bytes_per_s? / rate));
        let each = match direction {
            Direction::Requests => [half(&self.requests), whole(&self.answers)],
            Direction::Answers => [whole(&self.requests), half(&self.answers)],
            Direction::Both => [half(&self.requests), half(&self.answers)],
        };
        let largest = each.into_iter().flatten().fold(0.0, f64::max);
        (carried > 0.0 && largest > 0.0).then(|| carried / largest)
    }
}

impl End {
    fn read<'a>(reader: Reader<'a>, whose: impl Fn(Signal) -> Option<&'a str>) -> Self {
        let gauge = |signal| reader.gauge(whose(signal)?, signal);
        let rate = |signal| reader.rate(whose(signal)?, signal);
        let sent = rate(signal::SEGMENTS_OUT).filter(|sent| *sent > 0.0);
        Self {
            busy: gauge(signal::SEND_BUSY_SHARE),
            queued_bytes: gauge(signal::SEND_QUEUE),
            rtt_ms: gauge(signal::RTT_MS),
            rtt_min_ms: whose(signal::RTT_MIN_MS).and_then(|id| reader.least_ever(id, signal::RTT_MIN_MS)),
            reader_limited: gauge(signal::RWND_LIMITED_SHARE),
            bytes_per_s: rate(signal::LINK_BYTES_SENT),
            retransmitted: sent.and_then(|sent| Some(rate(signal::SEGMENTS_RETRANSMITTED)? / sent)),
            repeated_per_s: rate(signal::SEGMENTS_REPEATED),
        }
    }

    /// Whether enough was seen to judge it.
    pub(crate) fn is_seen(&self) -> bool {
        self.busy.is_some() && self.beyond_ms().is_some()
    }

    /// The round trip beyond its least, in milliseconds.
    pub(crate) fn beyond_ms(&self) -> Option<f64> {
        Some((self.rtt_ms? - self.rtt_min_ms?).max(0.0))
    }

    /// Whether it is always sending, and its packets queue on the way.
    ///
    /// A request is acknowledged together with its answer if that comes within 40 ms, and by a timer after that: so the
    /// round trip of small messages is that of a slow service up to there, on an idle link too. Beyond that it is a
    /// queue. Messages of several segments are acknowledged at once, but how large a segment is depends on the way, so
    /// those must have been lost too.
    pub(crate) fn is_queued(&self, rate: f64) -> bool {
        let (Some(busy), Some(beyond), Some(least)) = (self.busy, self.beyond_ms(), self.rtt_min_ms) else {
            return false;
        };
        let several = self.bytes_per_s.is_some_and(|bytes| bytes / rate.max(1e-9) > 2.0 * SEGMENT_BYTES);
        let losing = self.retransmitted.is_some_and(|share| share >= RETRANSMITTED);
        let is_long = beyond > BEYOND_DELAYED_ACK_MS && beyond > 1.2 * least;
        let is_longer = several && losing && beyond > 2.0 && beyond > 4.0 * least;
        busy >= SENDING && self.queued_bytes.is_some_and(|bytes| bytes > SEGMENT_BYTES) && (is_long || is_longer)
    }

    /// Whether the other end read too slowly.
    pub(crate) fn is_reader_slow(&self) -> bool {
        self.reader_limited.is_some_and(|share| share > READER_SLOW)
    }

    /// Bytes per second that it sends, headers included.
    pub(crate) fn on_the_wire(&self, rate: f64) -> Option<f64> {
        let bytes = self.bytes_per_s.filter(|bytes| *bytes > 0.0 && rate > 0.0)?;
        Some(wire_bytes(bytes / rate) * rate)
    }
}

/// A message of so many bytes with the headers of its segments.
fn wire_bytes(message: f64) -> f64 {
    message + HEADER_BYTES * (message / SEGMENT_BYTES).ceil().max(1.0)
}

/// Whether the load goes to this machine itself by its loopback address.
fn is_loopback(record: &RunRecord) -> bool {
    let target = record.plan.as_ref().map_or("", |plan| plan.target.as_str());
    let Some((_, rest)) = target.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let without_port = host.rsplit_once(':').filter(|(_, port)| port.chars().all(|digit| digit.is_ascii_digit()));
    let name = without_port.map_or(host, |(name, _)| name).trim_matches(['[', ']']);
    name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests;

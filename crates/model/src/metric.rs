//! Metrics under k6's names, types and units.

use serde::{Deserialize, Serialize};

/// How the values of a metric are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricType {
    /// A sum.
    Counter,
    /// The last value, with the smallest and largest.
    Gauge,
    /// The share of values that are not zero.
    Rate,
    /// A distribution.
    Trend,
}

/// What the values of a metric are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Contains {
    /// Plain numbers.
    #[default]
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

/// A metric: its name, type and what its values are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// k6's name, or the script's own.
    pub name: String,
    /// How values are summed up.
    #[serde(rename = "type")]
    pub kind: MetricType,
    /// What the values are.
    pub contains: Contains,
}

impl Metric {
    /// A metric of a script.
    pub fn new(name: impl Into<String>, kind: MetricType, contains: Contains) -> Self {
        Self { name: name.into(), kind, contains }
    }
}

/// Index of a metric in the plan's list: [`BUILTIN`] first, the script's own behind, in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MetricId(pub u32);

macro_rules! builtin {
    ($($constant:ident = $index:literal, $name:literal, $kind:ident, $contains:ident;)*) => {
        /// The metrics that every run has, in the order of their ids.
        pub const BUILTIN: &[(&str, MetricType, Contains)] = &[$(($name, MetricType::$kind, Contains::$contains),)*];
        impl MetricId {
            $(#[doc = concat!("`", $name, "`")] pub const $constant: Self = Self($index);)*
        }
    };
}

builtin! {
    VUS = 0, "vus", Gauge, Default;
    VUS_MAX = 1, "vus_max", Gauge, Default;
    ITERATIONS = 2, "iterations", Counter, Default;
    ITERATION_DURATION = 3, "iteration_duration", Trend, Time;
    DROPPED_ITERATIONS = 4, "dropped_iterations", Counter, Default;
    CHECKS = 5, "checks", Rate, Default;
    GROUP_DURATION = 6, "group_duration", Trend, Time;
    DATA_SENT = 7, "data_sent", Counter, Data;
    DATA_RECEIVED = 8, "data_received", Counter, Data;
    HTTP_REQS = 9, "http_reqs", Counter, Default;
    HTTP_REQ_DURATION = 10, "http_req_duration", Trend, Time;
    HTTP_REQ_BLOCKED = 11, "http_req_blocked", Trend, Time;
    HTTP_REQ_CONNECTING = 12, "http_req_connecting", Trend, Time;
    HTTP_REQ_TLS_HANDSHAKING = 13, "http_req_tls_handshaking", Trend, Time;
    HTTP_REQ_SENDING = 14, "http_req_sending", Trend, Time;
    HTTP_REQ_WAITING = 15, "http_req_waiting", Trend, Time;
    HTTP_REQ_RECEIVING = 16, "http_req_receiving", Trend, Time;
    HTTP_REQ_FAILED = 17, "http_req_failed", Rate, Default;
    GRPC_REQ_DURATION = 18, "grpc_req_duration", Trend, Time;
    GRPC_STREAMS = 19, "grpc_streams", Counter, Default;
    GRPC_STREAMS_MSGS_RECEIVED = 20, "grpc_streams_msgs_received", Counter, Default;
    GRPC_STREAMS_MSGS_SENT = 21, "grpc_streams_msgs_sent", Counter, Default;
    ITERATION_RESPONSE_TIME = 22, "iteration_response_time", Trend, Time;
    WS_SESSIONS = 23, "ws_sessions", Counter, Default;
    WS_CONNECTING = 24, "ws_connecting", Trend, Time;
    WS_SESSION_DURATION = 25, "ws_session_duration", Trend, Time;
    WS_MSGS_SENT = 26, "ws_msgs_sent", Counter, Default;
    WS_MSGS_RECEIVED = 27, "ws_msgs_received", Counter, Default;
    WS_PING = 28, "ws_ping", Trend, Time;
}

/// The built-in metrics as the start of a plan's list.
pub fn builtin_metrics() -> Vec<Metric> {
    BUILTIN.iter().map(|&(name, kind, contains)| Metric::new(name, kind, contains)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_indices() {
        let metrics = builtin_metrics();
        assert_eq!(metrics[MetricId::HTTP_REQ_FAILED.0 as usize].name, "http_req_failed");
        assert_eq!(metrics[MetricId::CHECKS.0 as usize].kind, MetricType::Rate);
        assert_eq!(metrics[MetricId::WS_PING.0 as usize].name, "ws_ping");
    }
}

//! The messages of Prometheus remote write, as far as they are used: names and numbers are those of its protocol.

use prost::Message;

/// Everything that is written at once.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    pub(crate) timeseries: Vec<TimeSeries>,
}

/// Values of one set of labels.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    pub(crate) labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) samples: Vec<Value>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) histograms: Vec<Histogram>,
}

/// A name and a value.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Label {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

/// A value at a time.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Value {
    #[prost(double, tag = "1")]
    pub(crate) value: f64,
    /// Milliseconds since 1970.
    #[prost(int64, tag = "2")]
    pub(crate) timestamp: i64,
}

/// A native histogram.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Histogram {
    #[prost(uint64, tag = "1")]
    pub(crate) count_int: u64,
    #[prost(double, tag = "3")]
    pub(crate) sum: f64,
    #[prost(sint32, tag = "4")]
    pub(crate) schema: i32,
    #[prost(double, tag = "5")]
    pub(crate) zero_threshold: f64,
    #[prost(uint64, tag = "6")]
    pub(crate) zero_count_int: u64,
    #[prost(message, repeated, tag = "11")]
    pub(crate) positive_spans: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "12")]
    pub(crate) positive_deltas: Vec<i64>,
    /// Milliseconds since 1970.
    #[prost(int64, tag = "15")]
    pub(crate) timestamp: i64,
}

/// A run of buckets.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct BucketSpan {
    /// From the end of the one before; of the first, the index itself.
    #[prost(sint32, tag = "1")]
    pub(crate) offset: i32,
    #[prost(uint32, tag = "2")]
    pub(crate) length: u32,
}

//! The on-disk form of readings: moment → subject → signal → value. Names are written once a moment and kinds not at
//! all, since the list of signals knows them; so an hour of readings stays within a few megabytes. Values that are not
//! finite have no JSON and are left out.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Reading;
use crate::series::Point;
use crate::signal::{self, Kind};
use crate::unit::Moment;

type Values<'a> = BTreeMap<u64, BTreeMap<&'a str, BTreeMap<&'a str, f64>>>;
type OwnedValues = BTreeMap<u64, BTreeMap<String, BTreeMap<String, f64>>>;

pub(super) fn serialize<S: Serializer>(readings: &[Reading], serializer: S) -> Result<S::Ok, S::Error> {
    let mut values = Values::new();
    for reading in readings.iter().filter(|reading| reading.point.value.is_finite()) {
        let subjects = values.entry(reading.point.at.0).or_default();
        subjects.entry(&reading.subject).or_default().insert(&reading.signal, reading.point.value);
    }
    values.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Reading>, D::Error> {
    let mut readings = Vec::new();
    for (at, subjects) in OwnedValues::deserialize(deserializer)? {
        for (subject, signals) in subjects {
            for (signal, value) in signals {
                let kind = signal::by_name(&signal).map_or(Kind::Gauge, |known| known.kind);
                let point = Point { at: Moment(at), value };
                readings.push(Reading { subject: subject.clone(), signal, kind, point });
            }
        }
    }
    Ok(readings)
}

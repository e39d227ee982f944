//! The bench: one planted bottleneck per row, each nothing but flags of `laptop`. What is true about a row is written
//! here where a closed form gives it, so that a verdict can be judged. Must never measure anything itself.

use anyhow::{Context, bail};
use clap::Parser;
use serde::Serialize;

use crate::args::{BenchArgs, LaptopArgs};
use crate::stop::Ending;
use crate::{laptop, out};

/// One planted bottleneck and what is true about it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bench {
    /// What to type.
    pub name: &'static str,
    /// The catalogue's name of the bottleneck.
    pub id: &'static str,
    /// What to ask for.
    pub path: &'static str,
    /// One sentence.
    pub what: &'static str,
    /// Flags of `laptop` that make it.
    pub flags: &'static [&'static str],
    /// Users without think time that keep p90 below 500 ms, where a closed form gives it.
    pub users: Option<f64>,
    /// The throughput that cannot be passed, where a closed form gives it.
    pub rate_per_s: Option<f64>,
    /// Levers that move the line.
    pub levers_helping: &'static [&'static str],
    /// Levers that do not, although somebody will propose them.
    pub levers_not_helping: &'static [&'static str],
}

/// All rows.
pub const BENCHES: &[Bench] = &[
    Bench {
        name: "compute",
        id: "svc.cpu",
        path: "/age?birthdate=1990-06-15",
        what: "each request burns 2 ms of CPU; the service may use one core, with two threads",
        flags: &["--no-database", "--cores", "1", "--workers", "2", "--spin", "2ms"],
        // One core ÷ (2 ms + some 0.04 ms of HTTP). Two threads share one queue unfairly, so no users from that.
        users: None,
        rate_per_s: Some(490.0),
        levers_helping: &["svc.cores", "svc.cpu.cost"],
        levers_not_helping: &["svc.workers", "db.pool.size", "net.backlog"],
    },
    Bench {
        name: "pool",
        id: "db.pool",
        path: "/uuid/17",
        what: "5 connections, each kept about 20.6 ms per request; the database sleeps meanwhile",
        flags: &["--pool", "5", "--acquire-timeout", "30s", "--query-delay", "20ms"],
        // The rate is connections ÷ time of use; the queue is in order, so everybody's answer takes users ÷ rate.
        users: Some(121.0),
        rate_per_s: Some(243.0),
        levers_helping: &["db.pool.size", "db.query.time", "svc.cache"],
        levers_not_helping: &["svc.cores", "svc.workers", "db.cores", "net.backlog"],
    },
    Bench {
        name: "dbcpu",
        id: "db.cpu",
        path: "/uuid/17",
        what: "each query computes for about 7 ms in the database; the pool is wide enough for every core",
        flags: &["--pool", "16", "--acquire-timeout", "30s", "--query-cpu", "75000"],
        users: None,
        rate_per_s: None,
        levers_helping: &["db.cores", "db.query.cost", "svc.cache"],
        levers_not_helping: &["db.pool.size", "svc.workers", "net.backlog"],
    },
    Bench {
        name: "backlog",
        id: "net.accept",
        path: "/age?birthdate=1990-06-15",
        what: "one connection is accepted every 50 ms, 8 may wait, and each serves one request",
        flags: &["--no-database", "--backlog", "8", "--accept-delay", "50ms", "--close"],
        // Whoever is in the queue is answered within 9 × 50 ms, whatever the users; whoever is not waits for seconds to
        // connect, which is in no percentile of `http_req_duration`. So no closed form says where the promise ends.
        users: None,
        rate_per_s: Some(20.0),
        levers_helping: &["gen.keepalive", "svc.accept.rate"],
        levers_not_helping: &["net.backlog", "svc.cores", "svc.workers", "db.pool.size"],
    },
    Bench {
        name: "onecore",
        id: "svc.one-core",
        path: "/age?birthdate=1990-06-15",
        what: "each request burns 2 ms of CPU on the only thread; the other cores are idle",
        flags: &["--no-database", "--single-thread", "--spin", "2ms"],
        // One thread ÷ (2 ms + some 0.04 ms of HTTP), in order.
        users: Some(245.0),
        rate_per_s: Some(490.0),
        levers_helping: &["svc.workers", "svc.cpu.cost"],
        levers_not_helping: &["svc.cores", "db.pool.size", "net.backlog"],
    },
    Bench {
        name: "floor",
        id: "pattern.floor",
        path: "/age?birthdate=1990-06-15",
        what: "each request waits 700 ms and uses nothing: the promise is broken by the first user",
        flags: &["--no-database", "--floor", "700ms"],
        users: Some(0.0),
        rate_per_s: None,
        levers_helping: &["svc.hold.time"],
        levers_not_helping: &["svc.cores", "svc.workers", "svc.cpu.cost", "db.pool.size", "net.backlog"],
    },
];

/// `laptop`'s flags as a command line of their own.
#[derive(Debug, Parser)]
#[command(name = "plimsoll-lab bench NAME", args_override_self = true)]
struct LaptopFlags {
    #[command(flatten)]
    laptop: LaptopArgs,
}

/// Lists the rows, or serves one.
pub fn run(arguments: &BenchArgs) -> anyhow::Result<Ending> {
    let chosen = match &arguments.name {
        Some(name) => std::slice::from_ref(find(name)?),
        None => BENCHES,
    };
    if arguments.list {
        match arguments.json {
            true => out::json(&chosen)?,
            false => out::lines(&table(chosen)).context("could not write to standard output")?,
        }
        return Ok(Ending::Graceful);
    }
    let [bench] = chosen else { bail!("name one of the benches: {}", names()) };
    laptop::run(&laptop_arguments(bench, &arguments.flags)?)
}

fn laptop_arguments(bench: &Bench, on_top: &[String]) -> anyhow::Result<LaptopArgs> {
    let all = std::iter::once("bench").chain(bench.flags.iter().copied()).chain(on_top.iter().map(String::as_str));
    let flags = LaptopFlags::try_parse_from(all);
    flags.map(|flags| flags.laptop).map_err(|error| anyhow::anyhow!("{}", error.to_string().trim_end()))
}

fn find(name: &str) -> anyhow::Result<&'static Bench> {
    match BENCHES.iter().find(|bench| bench.name == name) {
        Some(bench) => Ok(bench),
        None => bail!("there is no bench '{name}'; there are {}", names()),
    }
}

fn names() -> String {
    BENCHES.iter().map(|bench| bench.name).collect::<Vec<_>>().join(", ")
}

fn table(benches: &[Bench]) -> String {
    let row = |bench: &Bench| format!("{:<9} {:<14} {:<27} {}", bench.name, bench.id, bench.path, bench.what);
    benches.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn every_row_is_a_valid_command_line() {
        for bench in BENCHES {
            laptop_arguments(bench, &[]).unwrap_or_else(|error| panic!("{}: {error}", bench.name));
        }
    }

    #[test]
    fn names_and_ids_are_unique_and_levers_do_not_contradict() {
        for (at, bench) in BENCHES.iter().enumerate() {
            assert!(BENCHES[..at].iter().all(|other| other.name != bench.name && other.id != bench.id));
            assert!(bench.levers_helping.iter().all(|lever| !bench.levers_not_helping.contains(lever)));
        }
    }

    #[test]
    fn a_lever_is_tried_by_overriding_a_flag() {
        let flags = ["--pool".to_owned(), "20".to_owned()];
        let arguments = laptop_arguments(find("pool").unwrap(), &flags).unwrap();
        assert_eq!((arguments.pool, arguments.query_delay), (20, Duration::from_millis(20)));
    }

    #[test]
    fn the_truth_follows_from_the_flags() {
        let pool = find("pool").unwrap();
        let arguments = laptop_arguments(pool, &[]).unwrap();
        let rate = f64::from(arguments.pool) / (arguments.query_delay.as_secs_f64() + 0.0006);
        assert!((rate - pool.rate_per_s.unwrap()).abs() < 1.0, "{rate}");
        assert!((rate * 0.5 - pool.users.unwrap()).abs() < 1.0);
        for name in ["compute", "onecore"] {
            let bench = find(name).unwrap();
            let rate = 1.0 / (laptop_arguments(bench, &[]).unwrap().spin.as_secs_f64() + 0.00004);
            assert!((rate - bench.rate_per_s.unwrap()).abs() < 1.0, "{name}: {rate}");
        }
        let backlog = find("backlog").unwrap();
        let arguments = laptop_arguments(backlog, &[]).unwrap();
        assert_eq!(backlog.rate_per_s, Some(1.0 / arguments.accept_delay.as_secs_f64()));
    }
}

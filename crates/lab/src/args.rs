//! The command line as it is typed. Must never act; each room takes its own arguments from here.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::duration;
use crate::rate::{LinkShape, parse_link};

/// Services with known bottlenecks, with everything that they need.
#[derive(Debug, Parser)]
#[command(name = "plimsoll-lab", version, about)]
pub struct Typed {
    /// What to start.
    #[command(subcommand)]
    pub command: Command,
}

/// The lab's rooms.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the laptop story: /age computes, /uuid/{key} asks PostgreSQL
    Laptop(LaptopArgs),
    /// Pass TCP connections on, later: the same delay in each direction
    Relay(RelayArgs),
    /// Serve one planted bottleneck, or list them
    Bench(BenchArgs),
    /// Serve gRPC: every shape of call and every kind of field, with reflection and health
    Grpc(GrpcArgs),
    /// Serve what a test of HTTP clients asks for, and record what it is asked
    Httpbin(HttpbinArgs),
    /// Clean up after the process whose pipe is our standard input
    #[command(hide = true)]
    Janitor,
}

/// Flags of `laptop`; the last one wins, so that a bench's flags can be overridden.
#[derive(Debug, Clone, Args)]
#[command(args_override_self = true)]
pub struct LaptopArgs {
    /// Where to listen; port 0 takes a free one. Behind a link only the port counts
    #[arg(long, value_name = "ADDR", default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))]
    pub listen: SocketAddr,
    /// Most database connections
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub pool: u32,
    /// Longest wait for a database connection
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration::parse)]
    pub acquire_timeout: Duration,
    /// Worker threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub workers: Option<u32>,
    /// Redis in front of /uuid
    #[arg(long, value_name = "redis://…", conflicts_with = "no_database")]
    pub cache: Option<String>,
    /// Use this server instead of a private cluster; the table plimsoll_lab_uuid is made there and stays
    #[arg(long, value_name = "URL", conflicts_with_all = ["no_database", "max_connections"])]
    pub postgres: Option<String>,
    /// Compute only; /uuid answers 503
    #[arg(long)]
    pub no_database: bool,
    /// max_connections of the private cluster (default: pool + 20)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(10..=200_000))]
    pub max_connections: Option<u32>,
    /// Length of the kernel's queue of connections not yet accepted
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(i32).range(1..=65_535))]
    pub backlog: i32,
    /// Pause of the accept loop after each connection
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration::parse)]
    pub accept_delay: Duration,
    /// Close each connection after one answer
    #[arg(long)]
    pub close: bool,
    /// Time that each /uuid query sleeps in the database
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration::parse)]
    pub query_delay: Duration,
    /// Square roots that each /uuid query computes in the database
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000_000))]
    pub query_cpu: u32,
    /// CPU time that each /age burns
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration::parse)]
    pub spin: Duration,
    /// One thread for everything
    #[arg(long, conflicts_with = "workers")]
    pub single_thread: bool,
    /// Keep the service, not its database, to the last N cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub cores: Option<u32>,
    /// Time that each /age waits without using anything
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration::parse)]
    pub floor: Duration,
    /// Put the service behind an emulated link: its rate in both directions, and its delay in each (root only)
    #[arg(long, value_name = "RATE[,DELAY]", value_parser = parse_link, conflicts_with_all = ["postgres", "cache"])]
    pub behind_link: Option<LinkShape>,
    /// We are the service at the far end of such a link: listen here
    #[arg(long, hide = true)]
    pub inside_link: Option<SocketAddr>,
    /// End when the process that started us ends
    #[arg(long)]
    pub with_parent: bool,
    /// Log what happens, not only what goes wrong
    #[arg(long, short)]
    pub verbose: bool,
}

/// Flags of `relay`.
#[derive(Debug, Clone, Args)]
pub struct RelayArgs {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))]
    pub listen: SocketAddr,
    /// Where to connect to
    #[arg(long, value_name = "ADDR")]
    pub to: SocketAddr,
    /// Delay in each direction
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub delay: Duration,
    /// End when the process that started us ends
    #[arg(long)]
    pub with_parent: bool,
}

/// Flags of `httpbin`.
#[derive(Debug, Clone, Args)]
pub struct HttpbinArgs {
    /// Where to listen; port 0 takes a free one. The TLS doors take free ones beside it
    #[arg(long, value_name = "ADDR", default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))]
    pub listen: SocketAddr,
    /// End when the process that started us ends
    #[arg(long)]
    pub with_parent: bool,
}

/// Arguments of `bench`.
#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    /// Which one; see --list
    #[arg(required_unless_present = "list")]
    pub name: Option<String>,
    /// Print what there is and what is true about it
    #[arg(long)]
    pub list: bool,
    /// Print the list as JSON
    #[arg(long, requires = "list")]
    pub json: bool,
    /// Flags of `laptop` that come on top, to try a lever: bench pool --pool 20
    #[arg(value_name = "FLAGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub flags: Vec<String>,
}

/// Flags of `grpc`.
#[derive(Debug, Clone, Args)]
pub struct GrpcArgs {
    /// Port to listen on, on the loopback address; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// End when the process that started us ends
    #[arg(long)]
    pub with_parent: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Typed::command().debug_assert();
    }

    #[test]
    fn a_bench_takes_its_own_flags_and_hands_on_the_rest() {
        let bench = |arguments: &[&str]| {
            let all = ["plimsoll-lab", "bench"].iter().chain(arguments);
            match Typed::try_parse_from(all).unwrap().command {
                Command::Bench(bench) => (bench.name, bench.list, bench.json, bench.flags.len()),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(bench(&["--list", "--json"]), (None, true, true, 0));
        assert_eq!(bench(&["pool", "--list", "--json"]), (Some("pool".into()), true, true, 0));
        assert_eq!(bench(&["pool", "--pool", "20", "--with-parent"]), (Some("pool".into()), false, false, 3));
        assert!(Typed::try_parse_from(["plimsoll-lab", "bench"]).is_err());
    }
}

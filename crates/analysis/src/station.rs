//! Stations: what a request needs, how much of it there is, and so how many requests per second it could carry at most
//! (X ≤ servers ÷ demand, the utilisation law). The smallest of these bounds is the bottleneck; the next one is what
//! stops the service after it.

use model::finding::Next;

use crate::owner::generator_cores;
use crate::scene::{Party, Scene};

/// Less CPU than this, in cores, is too little to compute a demand from.
const CORES_MIN: f64 = 0.005;

/// One station.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Station {
    /// The bottleneck it would be.
    pub(crate) id: &'static str,
    /// Whose it is.
    pub(crate) subject: String,
    /// Requests per second it could carry if nothing else stopped them.
    pub(crate) rate_per_s: f64,
    /// How full it is, 0 to 1.
    pub(crate) busy: f64,
}

/// All stations whose demand was measured, the tightest first.
///
/// Demands are taken from this step: exact for CPU (busy time ÷ requests), and for the pool from the light step if
/// there is one, since a full database inflates the time connections are held. Demands that change with load (caches,
/// garbage collection, lock spinning) make a bound wrong by as much as they change.
pub(crate) fn stations(scene: &Scene<'_>, light: Option<&Scene<'_>>) -> Vec<Station> {
    let Some(rate) = scene.rate() else { return Vec::new() };
    let mut stations = Vec::new();
    let mut add = |id, subject: &str, servers: Option<f64>, busy: Option<f64>| {
        if let (Some(servers), Some(busy)) = (servers, busy)
            && busy >= CORES_MIN
            && servers > 0.0
        {
            let (subject, rate_per_s) = (subject.to_owned(), servers / busy * rate);
            stations.push(Station { id, subject, rate_per_s, busy: (busy / servers).min(1.0) });
        }
    };
    let (service, database) = (&scene.service, &scene.database);
    add(service_id(scene), &service.name, scene.cores_of(service), service.run);
    if service.is_one_thread_full() || is_one_thread(service) {
        add("svc.one-core", &service.name, Some(1.0), service.busiest_run);
    }
    add("db.cpu", &database.name, scene.cores_of(database), database.run);
    add("gen.cpu", "plimsoll", generator_cores(scene), scene.generator.run);
    if let (Some(cores), true) = (scene.host.cores, service.is_seen() && scene.generator.is_seen()) {
        let ours = scene.ours();
        // A fair scheduler gives our parties at least half of the cores, however much others want.
        let left = (cores - scene.others()).max(0.5 * cores);
        add("host.contention", "this machine", Some(left.max(ours)), Some(ours));
    }
    let use_s = |scene: &Scene<'_>| Some(scene.pool_in_use()? / scene.rate()?);
    let (light_use, use_now) = (light.and_then(use_s).filter(|seconds| *seconds > 0.0), use_s(scene));
    // A use that is shorter under load than without is no queue's doing: the light step served other requests.
    let in_use = use_now.map(|now| light_use.map_or(now, |light| light.min(now)) * rate);
    add("db.pool", &pool_name(scene), scene.pool_size(), in_use);
    if scene.link_wait_ms().is_some() {
        let subject = "the link to the users".to_owned();
        stations.push(Station { id: "net.link", subject, rate_per_s: rate, busy: 1.0 });
    }
    stations.sort_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    stations
}

/// The CPU bottleneck the service would be: mostly its own code, or mostly the kernel on its behalf.
pub(crate) fn service_id(scene: &Scene<'_>) -> &'static str {
    if scene.service.kernel_share().is_some_and(|share| share > 0.6) { "svc.kernel" } else { "svc.cpu" }
}

/// What people call the way from service to database.
pub(crate) fn pool_name(scene: &Scene<'_>) -> String {
    let or = |name: &str, other: &str| if name.is_empty() { other.to_owned() } else { name.to_owned() };
    format!("{} -> {}", or(&scene.service.name, "the service"), or(&scene.database.name, "its database"))
}

/// Whether one thread does most of the work of a process that could use several cores. At light load one thread of many
/// does all the work too, so only said of a thread that runs for a notable part of the time.
fn is_one_thread(party: &Party) -> bool {
    match (party.busiest_run, party.run) {
        (Some(busiest), Some(run)) => busiest >= 0.4 && busiest >= 0.66 * run,
        _ => false,
    }
}

/// What the machine would carry with the generator elsewhere: all cores but those of others, for service and database.
pub(crate) fn without_generator(scene: &Scene<'_>) -> Option<Station> {
    let (rate, cores) = (scene.rate()?, scene.host.cores?);
    let service = scene.service.run?;
    let database = scene.database.run.unwrap_or(0.0);
    let demand = (service + database) / rate;
    let (id, subject) = if database > service {
        ("db.cpu", scene.database.name.clone())
    } else {
        (service_id(scene), scene.service.name.clone())
    };
    // The service may be confined to fewer cores than the machine has.
    let own = scene.cores_of(&scene.service).unwrap_or(cores) / (service / rate);
    let rate_per_s = ((cores - scene.others()).max(service + database) / demand).min(own);
    // A bound below what was seen already is none: the cores were shared with others then.
    (service > CORES_MIN && rate_per_s > scene.peak_per_s).then_some(Station {
        id,
        subject,
        rate_per_s,
        busy: (service + database) / cores,
    })
}

/// What would stop the service behind `named`, nearest first.
pub(crate) fn next(scene: &Scene<'_>, light: Option<&Scene<'_>>, named: &str) -> Vec<Next> {
    let behind = |station: &Station| station.id != named && station.rate_per_s > scene.peak_per_s;
    let mut list: Vec<Station> = stations(scene, light).into_iter().filter(behind).collect();
    if named == "host.contention"
        && let Some(station) = without_generator(scene)
    {
        // With the generator gone its own limit and the shares of today mean nothing.
        list.retain(|other| other.id != "gen.cpu" && other.id != station.id && other.rate_per_s > station.rate_per_s);
        list.insert(0, station);
    }
    let next =
        |station: Station| Next { id: station.id.into(), subject: station.subject, rate_per_s: station.rate_per_s };
    list.into_iter().take(3).map(next).collect()
}

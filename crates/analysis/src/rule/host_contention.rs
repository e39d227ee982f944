//! `host.contention`: generator, service, database and others fight for the same cores. See the table in `owner.rs`.

use model::finding::{Basis, Lever};
use model::signal;

use super::{Candidate, Judged, Kind, Rule, cores, machine};
use crate::budget::{ACCEPT, CLIENT, CONNECT, DATABASE, HELD, POOL_WAIT, RUN_QUEUE, SERVICE_CPU, SERVICE_QUEUE};
use crate::case::Case;
use crate::lever::{Change, Outlook};
use crate::owner::Owner;
use crate::phrase;
use crate::scene::Party;
use crate::station::without_generator;

pub(super) const RULE: Rule = Rule {
    id: "host.contention",
    kind: Kind::Station,
    // Who waits for a core makes everybody behind it wait, wherever that is counted.
    parts: &[RUN_QUEUE, SERVICE_QUEUE, SERVICE_CPU, CLIENT, POOL_WAIT, DATABASE, HELD],
    judge,
    levers,
};

fn judge(case: &Case<'_>) -> Judged {
    let scene = &case.here;
    let (Some(busy), Some(available)) = (scene.host.busy, scene.host.cores) else { return Judged::NotSeen };
    if case.owner != Owner::Several {
        let used = format!("{} of the machine's {} cores are busy", phrase::cores(busy), phrase::cores(available));
        let taken = |party: &Party| party.run.map(phrase::cores).unwrap_or_default();
        return Judged::RuledOut(match case.owner {
            Owner::Service if scene.is_machine_full() => {
                format!("{used}, and {} of them are the service's own", taken(&scene.service))
            }
            Owner::Database if scene.is_machine_full() => {
                format!("{used}, and {} of them are the database's", taken(&scene.database))
            }
            Owner::Generator if scene.is_machine_full() => format!("{used}, and only the generator never gets enough"),
            _ => used,
        });
    }
    let mut proof = vec![machine(busy, format!("of {} cores are busy", phrase::cores(available)))];
    let mut taken = Vec::new();
    for (party, name) in parties(case) {
        let Some(run) = party.run.filter(|run| *run >= 0.01) else { continue };
        taken.push(format!("{name} takes {}", phrase::cores(run)));
        let waits = party.stolen().map_or_else(
            || "how long it waits for a core was not seen".to_owned(),
            |stolen| format!("and waits for a core {} of its ready time", phrase::percent(stolen)),
        );
        proof.push(cores(
            signal::RUN,
            run,
            format!("{name} takes {} of the busy cores {waits}", phrase::percent(scene.share_of(party))),
        ));
    }
    if scene.others() >= 0.05 {
        taken.push(format!("other programs and the kernel {}", phrase::cores(scene.others())));
        proof.push(machine(scene.others(), "other programs and the kernel's work for packets"));
    }
    let (victim, stolen) = worst_starved(case);
    let elsewhere = without_generator(scene).map_or_else(String::new, |station| {
        format!(
            " With the generator on another machine the service would carry about {}, limited by {}.",
            phrase::rate(station.rate_per_s),
            station.id
        )
    });
    let sentence = format!(
        "At {} all {} cores of this machine are busy: {}. {victim} waits {} of its ready time for a core.{elsewhere}",
        case.users(),
        phrase::cores(available),
        phrase::list(&taken),
        phrase::percent(stolen),
    );
    Judged::Candidate(Candidate {
        subject: "this machine".to_owned(),
        is_full: true,
        // A service that does not get its core does not accept either.
        also_owns: if scene.service.wants_cores() { &[ACCEPT, CONNECT] } else { &[] },
        evidence: proof,
        sentence,
        words: format!("{} on {} cores", phrase::list(&taken), phrase::cores(available)),
        ..Candidate::default()
    })
}

fn parties<'c>(case: &'c Case<'_>) -> [(&'c Party, String); 3] {
    let scene = &case.here;
    let named = |party: &Party, other: &str| if party.name.is_empty() { other.to_owned() } else { party.name.clone() };
    [
        (&scene.generator, "the generator".to_owned()),
        (&scene.service, named(&scene.service, "the service")),
        (&scene.database, named(&scene.database, "the database")),
    ]
}

/// The service if it is starved, else whoever is starved most.
fn worst_starved(case: &Case<'_>) -> (String, f64) {
    let scene = &case.here;
    if scene.service.is_starved() {
        return ("The service".to_owned(), scene.service.stolen().unwrap_or(0.0));
    }
    let others = [(&scene.database, "The database"), (&scene.generator, "The generator")];
    let stolen = |party: &Party| party.stolen().unwrap_or(0.0);
    let worst = others.into_iter().max_by(|a, b| stolen(a.0).total_cmp(&stolen(b.0)));
    worst.map_or_else(|| (String::new(), 0.0), |(party, name)| (name.to_owned(), stolen(party)))
}

fn levers(case: &Case<'_>, outlook: &Outlook) -> Vec<Lever> {
    let scene = &case.here;
    let mut levers = Vec::new();
    if let Some(station) = without_generator(scene) {
        let (service, generator) = (case.per_request(scene.service.run), case.per_request(scene.generator.run));
        let demand = phrase::seconds(service.unwrap_or(0.0) + case.per_request(scene.database.run).unwrap_or(0.0));
        let rate = station.rate_per_s;
        levers.push(Lever {
            id: "host.split".to_owned(),
            change: "generator on another machine".to_owned(),
            helps: rate > 1.05 * outlook.rate_now,
            rate_per_s: Some(rate),
            // CPU per request falls by up to a third without the fight for caches and cores, and never did it rise.
            rate_per_s_low: Some(outlook.rate_now),
            rate_per_s_high: Some(rate * 1.3),
            users: outlook.users(rate),
            basis: if rate > 2.0 * outlook.rate_now { Basis::Extrapolated } else { Basis::Predicted },
            says: format!(
                "A request costs the service's side {demand} of CPU and the generator {}; without the latter the cores carry \
                 {}. Then {} stops it.",
                phrase::seconds(generator.unwrap_or(0.0)),
                phrase::rate(rate),
                station.id
            ),
        });
    }
    if let (Some(bound), Some(available)) = (outlook.bound("host.contention"), scene.host.cores) {
        let doubled = outlook.stations.iter().filter(|station| station.id != "db.pool" && station.id != "svc.one-core");
        levers.push(
            outlook.helps(Change {
                id: "svc.cores",
                change: format!("machine {} -> {} cores", phrase::cores(available), phrase::cores(available * 2.0)),
                factor: 2.0,
                bounds: doubled
                    .map(|station| (station.id, station.rate_per_s * 2.0))
                    .chain([("host.contention", bound * 2.0)])
                    .collect(),
                says: "All parties get twice the cores.".into(),
            }),
        );
    }
    if let (Some(size), Some(in_use)) = (scene.pool_size(), scene.pool_in_use()) {
        levers.push(outlook.useless(
            "db.pool.size",
            format!("pool {} -> {}", phrase::count(size), phrase::count(size * 2.0)),
            format!("{} of {} connections are in use, for longer than needed, since all wait for cores; more of them share the same cores.", phrase::number(in_use), phrase::count(size)),
        ));
    }
    levers
}

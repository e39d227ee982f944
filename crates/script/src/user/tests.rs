//! Many users in one engine under stress: whatever the order in which they go on, wherever they wait and whenever
//! garbage is collected, each must come to what it comes to alone.

use engine::meter::TagSet;
use engine::user::{Assignment, Failure, Response, Timings};
use model::plan::Plan;

use super::*;
use crate::native::Isolation;
use crate::{LoadSettings, load};

const STRESS: &str = include_str!("stress.js");

/// The nursery of a script, without its factory.
fn nursery(text: &str, isolation: Isolation) -> ScriptNursery {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stress.js");
    std::fs::write(&path, text).unwrap();
    let loaded = load(&path, LoadSettings { isolation, ..LoadSettings::default() }).map_err(|e| e.to_string()).unwrap();
    let world = loaded.world_of_tests();
    let plan = Plan { target: String::new(), ..Plan::default() };
    let (pool, meter) = (StackPool::new(world.stack_bytes), Meter::new(Arc::new(plan)));
    ScriptNursery { world, setup_data: SetupData::default(), summary: None, meter, pool, realm: None }
}

fn begin() -> Answer {
    let (scenario, exec) = ("s".to_owned(), "default".to_owned());
    Answer::Begin(Rc::new(Assignment { scenario, number: 0, exec, env: Vec::new(), tags: TagSet::RUN }), 0)
}

fn answer(ask: &Ask) -> Answer {
    let Ask::Http(request) = ask else { return Answer::Slept };
    let id = request.url.rsplit('/').next().unwrap();
    let error = request.url.contains("fail").then(|| Failure { code: 1212, text: "refused".into() });
    Answer::Response(Box::new(Response {
        status: if error.is_some() { 0 } else { 200 },
        url: String::new(),
        proto: "HTTP/1.1",
        remote: None,
        headers: Default::default(),
        body: Some(format!("{{\"id\":{id}}}").into()),
        cookies: Vec::new(),
        timings: Timings::default(),
        tls_version: None,
        tls_cipher_suite: None,
        error,
    }))
}

/// Random numbers by a shift register (Marsaglia's xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

/// Runs `iterations` of `users` users, going on with a random one each time, and gives what they logged, sorted.
fn run(
    nursery: &mut ScriptNursery,
    users: u32,
    iterations: usize,
    mut at_switch: impl FnMut(&ScriptNursery),
) -> Vec<String> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut going: Vec<_> = (1..=users).map(|vu| (nursery.user(vu).unwrap(), begin(), iterations)).collect();
    while !going.is_empty() {
        let chosen = random.below(going.len());
        let (user, next, left) = &mut going[chosen];
        let ask = user.resume(std::mem::replace(next, begin()));
        match &ask {
            Ask::Done(ending) => {
                assert_eq!(*ending, Ending::Completed, "{:?}", nursery.meter.take_log());
                *left -= 1;
                if *left == 0 {
                    going.swap_remove(chosen);
                }
            }
            _ => *next = answer(&ask),
        }
        at_switch(nursery);
    }
    let log = nursery.meter.take_log().into_iter().map(|line| line.text);
    let mut log: Vec<_> = log.filter(|text| !text.starts_with("request failed")).collect();
    log.sort();
    log
}

/// What each user comes to in an engine of its own, one after the other.
fn reference(users: u32, iterations: usize) -> Vec<String> {
    let mut nursery = nursery(STRESS, Isolation::Full);
    let mut all = Vec::new();
    for vu in 1..=users {
        let mut user = nursery.user(vu).unwrap();
        for _ in 0..iterations {
            let mut ask = user.resume(begin());
            while !matches!(ask, Ask::Done(_)) {
                ask = user.resume(answer(&ask));
            }
        }
    }
    all.extend(nursery.meter.take_log().into_iter().map(|line| line.text));
    all.retain(|text| !text.starts_with("request failed"));
    all.sort();
    assert_eq!(all.len(), users as usize * iterations);
    all
}

#[test]
fn users_that_share_an_engine_come_to_what_they_come_to_alone() {
    let mut nursery = nursery(STRESS, Isolation::Shared);
    let mut switches = 0u32;
    let log = run(&mut nursery, 100, 9, |_| switches += 1);
    assert_eq!(log, reference(100, 9));
    assert!(switches > 20_000, "{switches}");
}

#[test]
fn collecting_garbage_at_every_switch_changes_nothing() {
    let mut nursery = nursery(STRESS, Isolation::Shared);
    let log = run(&mut nursery, 20, 4, |nursery| nursery.realm.as_ref().unwrap().0.engine.collect());
    assert_eq!(log, reference(20, 4));
}

#[test]
fn engines_of_their_own_give_the_same() {
    let log = run(&mut nursery(STRESS, Isolation::Full), 6, 3, |_| {});
    assert_eq!(log, reference(6, 3));
}

#[test]
fn the_heap_is_back_where_it_was_when_users_are_gone() {
    let mut nursery = nursery(STRESS, Isolation::Shared);
    let mut objects = Vec::new();
    for round in 0..3 {
        run(&mut nursery, 20, 2, |_| {});
        // Users that are cancelled at all their waits, one wait later each.
        for waits in 0..24 {
            let mut user = nursery.user(100 + waits).unwrap();
            let mut ask = user.resume(begin());
            for _ in 0..waits {
                ask = user.resume(answer(&ask));
            }
            assert!(!matches!(ask, Ask::Done(_)));
            // Half of them go with their fiber suspended, as when a run is torn down.
            if waits % 2 == 0 {
                assert!(matches!(user.resume(Answer::Cancel), Ask::Done(Ending::Interrupted)), "{round} {waits}");
            }
        }
        nursery.meter.take_log();
        let engine = &nursery.realm.as_ref().unwrap().0.engine;
        engine.collect();
        objects.push(engine.usage());
    }
    assert_eq!(objects[1], objects[2], "bytes and objects after each round: {objects:?}");
}

#[test]
fn cancelling_runs_neither_catch_nor_finally_nor_jobs() {
    let text = "
        import { sleep } from 'k6';
        const waits = [() => [1].map(() => sleep(1)), () => [2, 1].sort(() => sleep(1)), () => new Proxy({}, { get: () => sleep(1) }).x,
            () => JSON.stringify({ toJSON() { sleep(1); } }), () => 'a'.replace(/a/, () => sleep(1)), () => [...(function* () { sleep(1); })()]];
        export default async function () {
            Promise.resolve().then(() => console.log('job'));
            try { try { waits[__VU % waits.length](); } finally { console.log('finally'); } } catch (e) { console.log('catch'); }
        }";
    let mut nursery = nursery(text, Isolation::Shared);
    for vu in 0..6 {
        let mut user = nursery.user(vu).unwrap();
        assert!(matches!(user.resume(begin()), Ask::Sleep(_)));
        assert!(matches!(user.resume(Answer::Cancel), Ask::Done(Ending::Interrupted)));
        assert!(nursery.meter.take_log().is_empty(), "user {vu}");
    }
}

#[test]
fn a_realm_takes_its_number_of_users() {
    let mut nursery = nursery("export default function () {}", Isolation::Shared);
    let users: Vec<_> = (0..crate::realm::USERS_PER_REALM).map(|vu| nursery.user(vu).unwrap()).collect();
    let first = nursery.realm.as_ref().unwrap().0.clone();
    nursery.user(1000).unwrap();
    assert!(!Rc::ptr_eq(&first, &nursery.realm.as_ref().unwrap().0));
    drop(users);
}

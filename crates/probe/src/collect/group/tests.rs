//! Groups from small made-up trees of `/proc`.

use std::fs;
use std::time::Duration;

use tempfile::TempDir;

use super::*;

/// A made-up `/proc`.
struct Tree(TempDir);

impl Tree {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A process: CPU ticks of its own and of children that ended, and its threads as (id, run, wait) in milliseconds.
    fn process(&self, pid: u32, parent: u32, name: &str, ticks: (u64, u64), threads: &[(u32, u64, u64)]) {
        let folder = self.0.path().join(pid.to_string());
        self.end(pid);
        for (tid, run_ms, wait_ms) in threads {
            let task = folder.join(format!("task/{tid}"));
            fs::create_dir_all(&task).unwrap();
            let schedule = format!("{} {} 5\n", run_ms * 1_000_000, wait_ms * 1_000_000);
            fs::write(task.join("schedstat"), &schedule).unwrap();
            if *tid == pid {
                fs::write(folder.join("schedstat"), &schedule).unwrap();
            }
        }
        let (own, children) = ticks;
        let count = threads.len();
        let stat =
            format!("{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {own} 0 {children} 0 20 0 {count} 0 777 0 0\n");
        fs::write(folder.join("stat"), stat).unwrap();
        fs::write(folder.join("statm"), "900 500 400 0 0 0 0\n").unwrap();
        fs::write(folder.join("status"), "Cpus_allowed_list:\t0-2\n").unwrap();
        fs::write(folder.join("limits"), "Max open files            1024                 4096                 files\n")
            .unwrap();
    }

    fn end(&self, pid: u32) {
        let _ = fs::remove_dir_all(self.0.path().join(pid.to_string()));
    }

    /// Looks at `group` at this second.
    fn look(&self, group: &mut Group, second: u64) -> Sheet {
        let mut files = Files::new(self.0.path().into(), "/nowhere".into());
        let mut table = Table::default();
        table.refresh(&mut files);
        group.regroup(&table, &HashSet::new());
        let mut sheet = Sheet::new(Moment::START + Duration::from_secs(second));
        group.collect(&mut files, 4, &mut sheet);
        sheet
    }
}

fn group(pid: u32) -> Group {
    let subject = Subject { id: "svc".into(), role: Role::Service, name: "app".into(), pid: Some(pid) };
    Group::new(subject, Source::Tree(vec![pid]))
}

fn check(sheet: &Sheet, signal: signal::Signal, expected: f64) {
    let value = sheet.value("svc", signal).unwrap();
    assert!((value - expected).abs() < 1e-9, "{} is {value}, not {expected}", signal.name);
}

#[test]
fn threads_and_children_that_end_stay_in_the_sums() {
    let tree = Tree::new();
    let mut group = group(10);
    tree.process(10, 1, "app", (100, 0), &[(10, 500, 50), (11, 500, 50)]);
    tree.process(20, 10, "worker", (30, 0), &[(20, 300, 10)]);
    let sheet = tree.look(&mut group, 1);
    check(&sheet, signal::RUN, 1.3);
    check(&sheet, signal::RUN_WAIT, 0.11);
    check(&sheet, signal::PROCESSES, 2.0);
    check(&sheet, signal::THREADS, 3.0);
    assert_eq!(sheet.value("svc", signal::THREAD_BUSIEST_DEMAND), None);

    // Thread 11 used another 200 ms and ended; the worker another 100 ms and was waited for.
    tree.process(10, 1, "app", (125, 40), &[(10, 550, 60)]);
    tree.end(20);
    let sheet = tree.look(&mut group, 2);
    check(&sheet, signal::RUN, 1.65);
    check(&sheet, signal::RUN_WAIT, 0.12);
    check(&sheet, signal::PROCESSES, 1.0);

    tree.end(10);
    let sheet = tree.look(&mut group, 3);
    check(&sheet, signal::RUN, 1.65);
    check(&sheet, signal::ALIVE, 0.0);
}

#[test]
fn demand_is_of_the_busiest_thread_in_the_last_second() {
    let tree = Tree::new();
    let mut group = group(10);
    tree.process(10, 1, "app", (0, 0), &[(10, 9_000, 9_000), (11, 100, 0), (12, 0, 0)]);
    tree.look(&mut group, 1);
    tree.process(10, 1, "app", (0, 0), &[(10, 9_005, 9_000), (11, 800, 250), (12, 100, 0)]);
    let sheet = tree.look(&mut group, 2);
    check(&sheet, signal::THREAD_BUSIEST_DEMAND, 0.95);
    check(&sheet, signal::THREAD_BUSIEST_RUN, 0.7);
    check(&sheet, signal::THREADS_RUNNING, 2.0);
    check(&sheet, signal::CORES_ALLOWED, 3.0);
    check(&sheet, signal::FDS_LIMIT, 1024.0);
}

#[test]
fn a_database_that_the_service_began_is_no_part_of_it() {
    let tree = Tree::new();
    let mut group = group(10);
    tree.process(10, 1, "app", (10, 0), &[(10, 100, 0)]);
    tree.process(20, 10, "postgres", (500, 0), &[(20, 5_000, 0)]);
    check(&tree.look(&mut group, 1), signal::RUN, 0.1);
}

#[test]
fn another_process_with_the_same_number_is_not_the_service() {
    let tree = Tree::new();
    let mut group = group(10);
    tree.process(10, 1, "app", (10, 0), &[(10, 100, 0)]);
    check(&tree.look(&mut group, 1), signal::ALIVE, 1.0);
    tree.process(10, 1, "app", (10, 0), &[(10, 100, 0)]);
    let path = tree.0.path().join("10/stat");
    let reborn = fs::read_to_string(&path).unwrap().replace("777", "888");
    fs::write(path, reborn).unwrap();
    check(&tree.look(&mut group, 2), signal::ALIVE, 0.0);
}

#[test]
fn a_process_that_cannot_be_read_is_not_called_dead() {
    let tree = Tree::new();
    let mut group = group(10);
    tree.process(10, 1, "app", (10, 0), &[(10, 100, 0)]);
    tree.look(&mut group, 1);
    let path = tree.0.path().join("10/stat");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(tree.look(&mut group, 2).value("svc", signal::ALIVE), None);
}

#[test]
fn of_too_many_threads_a_share_is_read_and_sums_stay_whole() {
    let tree = Tree::new();
    let mut group = group(1_000);
    let threads = |run_ms: u64| -> Vec<(u32, u64, u64)> { (1_000..1_540).map(|tid| (tid, run_ms, run_ms)).collect() };
    tree.process(1_000, 1, "app", (540, 0), &threads(10));
    tree.look(&mut group, 1);
    assert_eq!(group.sampled(), Some(540));
    tree.process(1_000, 1, "app", (1_080, 0), &threads(20));
    let sheet = tree.look(&mut group, 2);
    check(&sheet, signal::RUN, 10.8);
    // Of 540 threads every other is read, and its 10 ms are doubled.
    check(&sheet, signal::RUN_WAIT, 10.8);
}

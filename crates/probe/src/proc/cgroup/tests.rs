//! Control groups from small recorded trees.

use std::fs;

use super::*;

/// A tree of files below a temporary `/sys`.
fn check(membership: &str, tree: &[(&str, &str)], expected: Cgroup) {
    let sys = tempfile::tempdir().unwrap();
    for (name, content) in tree {
        let path = sys.path().join("fs/cgroup").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let mut files = Files::new("/nowhere".into(), sys.path().into());
    assert_eq!(Folders::find(membership.as_bytes(), sys.path()).read(&mut files), expected);
}

#[test]
fn version_2_takes_the_tightest_limit_on_the_path() {
    check(
        "0::/app.slice/api\n",
        &[
            ("app.slice/cpu.max", "50000 100000\n"),
            ("app.slice/cpu.stat", "usage_usec 9\nnr_periods 30\nnr_throttled 29\nthrottled_usec 1500000\n"),
            ("app.slice/memory.max", "1000000\n"),
            ("app.slice/memory.current", "700000\n"),
            ("app.slice/memory.stat", "anon 5\ninactive_file 200000\n"),
            ("app.slice/memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 0\n"),
            ("app.slice/api/cpu.max", "max 100000\n"),
            ("app.slice/api/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n"),
            ("app.slice/api/memory.max", "max\n"),
        ],
        Cgroup {
            quota_cores: Some(0.5),
            throttling: Some(Throttling { periods: 30, throttled: 29, throttled_s: 1.5 }),
            memory_bytes: Some(500_000),
            memory_limit_bytes: Some(1_000_000),
            oom_kills: Some(2),
        },
    );
}

#[test]
fn version_1_has_a_tree_per_controller() {
    check(
        "9:name=systemd:/\n4:memory:/box/1\n2:cpu,cpuacct:/box\n0::/\n",
        &[
            ("cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ("cpu,cpuacct/box/cpu.cfs_quota_us", "150000\n"),
            ("cpu,cpuacct/box/cpu.cfs_period_us", "100000\n"),
            ("cpu,cpuacct/box/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 2500000000\n"),
            ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/box/memory.limit_in_bytes", "536870912\n"),
            ("memory/box/memory.usage_in_bytes", "300\n"),
            ("memory/box/memory.stat", "cache 200\ninactive_file 1\ntotal_inactive_file 100\n"),
            ("memory/box/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"),
            ("memory/box/1/memory.limit_in_bytes", "9223372036854771712\n"),
        ],
        Cgroup {
            quota_cores: Some(1.5),
            throttling: Some(Throttling { periods: 10, throttled: 4, throttled_s: 2.5 }),
            memory_bytes: Some(200),
            memory_limit_bytes: Some(536_870_912),
            oom_kills: Some(1),
        },
    );
}

#[test]
fn without_limits_there_is_no_quota_and_the_own_group_tells_memory() {
    check(
        "0::/api\n",
        &[("cpu.stat", "nr_periods 3\n"), ("api/memory.current", "42\n"), ("api/memory.max", "max\n")],
        Cgroup { memory_bytes: Some(42), ..Cgroup::default() },
    );
}

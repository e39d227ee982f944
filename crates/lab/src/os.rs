//! What the lab asks of the kernel directly, and its only `unsafe` module: hooks that run between fork and exec,
//! a thread's own CPU clock, and ignoring signals. Must never hold anything that has a safe wrapper elsewhere.
#![expect(unsafe_code, reason = "the lab's one named module for calls without a safe wrapper")]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal};

/// The child gets `signal` when the thread that starts it ends, however that happens. The thread must therefore live
/// as long as the child is wanted: the lab starts such children from its main thread only.
pub(crate) fn die_with_me(command: &mut Command, signal: Signal) {
    let me = rustix::process::getpid();
    let hook = move || {
        // Set after the change of user, which would clear it again: std runs these hooks last.
        rustix::process::set_parent_process_death_signal(Some(signal))?;
        // If the parent died before the line above, nobody will send that signal any more.
        if parent() == Some(me) { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    };
    // SAFETY: the hook makes two system calls and allocates nothing, so it is sound between fork and exec.
    unsafe { command.pre_exec(hook) };
}

/// The child starts inside the given network namespace; everything else it shares with us.
pub(crate) fn enter_net_namespace(command: &mut Command, namespace: OwnedFd) {
    let hook = move || {
        let kind = Some(rustix::thread::LinkNameSpaceType::Network);
        rustix::thread::move_into_link_name_space(namespace.as_fd(), kind).map_err(io::Error::from)
    };
    // SAFETY: the hook makes one system call and allocates nothing, so it is sound between fork and exec.
    unsafe { command.pre_exec(hook) };
}

fn parent() -> Option<Pid> {
    rustix::process::getppid()
}

/// CPU time that the calling thread has used; unlike the wall clock it stands still while others have the core.
pub(crate) fn thread_cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, exclusive place for the one timespec that the call writes.
    let outcome = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(outcome, 0, "every Linux has a CPU clock per thread");
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Gives the main thread, and so the process, the program's own name: who starts itself again through `/proc/self/exe`
/// is called `exe` otherwise.
pub(crate) fn take_own_name() {
    // It is only a name; without it everything works.
    let _ = rustix::thread::set_name(c"plimsoll-lab");
}

/// Leaves SIGINT, SIGTERM and SIGHUP without effect on this process.
pub(crate) fn ignore_stop_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: SIG_IGN installs no handler, so no code of ours can run inside a signal.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Raises the limit of open files to what the kernel allows this process; thousands of users need thousands of them.
pub(crate) fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Failing here only means that fewer connections fit, which the service reports when it happens.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Restricts this thread, and all that it starts later, to the last `count` of the CPUs that it may use now.
/// The last ones, because a load generator's first threads tend to sit on the first.
pub(crate) fn keep_to_cores(count: usize) -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let allowed = sched_getaffinity(None)?;
    let mut wanted = CpuSet::new();
    (0..CpuSet::MAX_CPU).rev().filter(|cpu| allowed.is_set(*cpu)).take(count).for_each(|cpu| wanted.set(cpu));
    Ok(sched_setaffinity(None, &wanted)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_clock_moves_with_work_and_not_with_waiting() {
        let before = thread_cpu_time();
        while thread_cpu_time() - before < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        let worked = thread_cpu_time();
        std::thread::park_timeout(Duration::from_millis(50));
        assert!(thread_cpu_time() - worked < Duration::from_millis(25), "waiting must not count");
    }
}

//! Progress on a terminal, as lines, and not at all.

use super::*;

fn progress() -> Progress {
    Progress {
        phase: "probe".to_owned(),
        users: 440,
        rate_per_s: 971.2,
        p90_ms: Some(482.4),
        failed_share: 0.0002,
        suspect: Some("db.pool".to_owned()),
        elapsed: Duration::from_secs(72),
        left: Some(Duration::from_secs(108)),
        done_share: Some(0.4),
    }
}

fn terminal(width: usize) -> Live {
    Live::new(LiveKind::Terminal { width }, Style::default())
}

#[test]
fn a_terminal_is_redrawn_in_place() {
    let mut live = terminal(120);
    let first = live.render(&progress());
    assert_eq!(
        first,
        "probe  440 users  971 requests/s  p90 482 ms  0.02% failed  1:12, 1:48 left  ########............\n\
         limit so far: db.pool"
    );
    // Back over two lines, erase, draw again.
    assert_eq!(live.render(&progress()), format!("\r\x1b[1A\x1b[J{first}"));
    // Without a suspect there is one line, and from there no line to go up.
    let single = Progress { suspect: None, ..progress() };
    assert!(live.render(&single).starts_with("\r\x1b[1A\x1b[Jprobe"));
    assert_eq!(live.clear(), "\r\x1b[J");
    assert_eq!(live.clear(), "");
}

#[test]
fn lines_above_keep_the_display_below() {
    let mut live = terminal(120);
    let shown = live.render(&progress());
    assert_eq!(live.above("WARN  slow"), format!("\r\x1b[1A\x1b[JWARN  slow\n{shown}"));
    assert_eq!(live.clear(), "\r\x1b[1A\x1b[J");
    assert_eq!(live.above("done"), "done\n");
}

#[test]
fn no_line_reaches_the_last_column() {
    for width in [0, 1, 10, 40, 79, 80, 100] {
        for line in terminal(width).render(&progress()).lines() {
            assert!(line.chars().count() < width.max(1), "{width}: {line}");
        }
    }
}

#[test]
fn plain_lines_say_everything_in_one() {
    let mut live = Live::new(LiveKind::Lines, Style::default());
    let expected =
        "probe, 440 users, 971 requests/s, p90 482 ms, 0.02% failed, 1:12, 1:48 left, limit so far: db.pool\n";
    assert_eq!(live.render(&progress()), expected);
    assert_eq!(live.above("WARN  slow"), "WARN  slow\n");
    assert_eq!(live.clear(), "");
}

#[test]
fn unknown_figures_are_left_out() {
    let empty = Progress { failed_share: f64::NAN, done_share: Some(f64::NAN), ..Progress::default() };
    let text = terminal(200).render(&Progress { phase: "setup".to_owned(), ..empty });
    assert_eq!(text, "setup  0 users  0 requests/s  p90 -  - failed  0:00");
}

#[test]
fn colours_mark_phase_and_suspect() {
    let style = Style { color: true, unicode: true };
    let text = Live::new(LiveKind::Terminal { width: 120 }, style).render(&progress());
    assert!(text.starts_with("\x1b[1mprobe\x1b[0m  440 users"), "{text}");
    assert!(text.ends_with("████████░░░░░░░░░░░░\n\x1b[33mlimit so far: db.pool\x1b[0m"), "{text}");
}

#[test]
fn quiet_keeps_only_lines_that_stay() {
    let mut live = Live::new(LiveKind::Quiet, Style::default());
    assert_eq!(live.render(&progress()), "");
    assert_eq!(live.above("ERROR broken"), "ERROR broken\n");
}

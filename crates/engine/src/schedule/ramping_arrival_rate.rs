//! `ramping-arrival-rate`: the rate at which iterations begin follows straight lines.

use std::time::Duration;

use model::plan::Stage;

/// What sums of stages may lack of a whole iteration.
const ROUNDING: f64 = 1e-6;

/// One straight line.
#[derive(Clone, Copy, Debug)]
struct Line {
    begin_s: f64,
    length_s: f64,
    /// Iterations per second at its beginning and its end.
    from: f64,
    to: f64,
    /// Iterations planned before it.
    before: f64,
}

/// The stages, line by line.
pub(super) struct Ramp {
    lines: Vec<Line>,
}

impl Ramp {
    /// Stages in iterations per `time_unit`.
    pub(super) fn new(start_rate: u32, time_unit: Duration, stages: &[Stage]) -> Self {
        let per_second = |rate: u32| f64::from(rate) / time_unit.as_secs_f64();
        let (mut begin_s, mut from, mut before) = (0.0, per_second(start_rate), 0.0);
        let mut lines = Vec::new();
        for stage in stages {
            let (length_s, to) = (stage.duration.as_secs_f64(), per_second(stage.target));
            lines.push(Line { begin_s, length_s, from, to, before });
            (begin_s, from, before) = (begin_s + length_s, to, before + f64::midpoint(from, to) * length_s);
        }
        Self { lines }
    }

    /// When iteration `index` begins, counted from the beginning of the scenario; `None` behind its end.
    ///
    /// As in k6 that is when the area under the lines reaches `index` + 1: at a level rate the first one begins behind
    /// the first interval, where a constant rate begins at once. Within one line a t + (b − a) t² ÷ 2 T = k is solved for
    /// t, in the form that loses no digits where a and b are nearly the same.
    pub(super) fn start(&self, index: u64) -> Option<Duration> {
        let wanted = index as f64 + 1.0;
        let area = |line: &Line| line.before + f64::midpoint(line.from, line.to) * line.length_s;
        let line = self.lines.iter().find(|line| wanted <= area(line) + ROUNDING)?;
        let slope = (line.to - line.from) / line.length_s;
        let k = (wanted - line.before).max(0.0);
        let root = (line.from * line.from + 2.0 * slope * k).max(0.0).sqrt();
        let after = if k > 0.0 { 2.0 * k / (line.from + root) } else { 0.0 };
        Some(Duration::from_secs_f64(line.begin_s + after.min(line.length_s)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(start_rate: u32, stages: &[(u32, u32)]) -> Vec<f64> {
        let stage = |&(seconds, target): &(u32, u32)| Stage { duration: Duration::from_secs(seconds.into()), target };
        let ramp = Ramp::new(start_rate, Duration::from_secs(1), &stages.iter().map(stage).collect::<Vec<_>>());
        let rounded = |start: Duration| (start.as_secs_f64() * 1e3).round() / 1e3;
        (0..).map_while(|index| ramp.start(index)).map(rounded).collect()
    }

    #[test]
    fn a_level_line_is_a_constant_rate() {
        assert_eq!(starts(2, &[(2, 2)]), [0.5, 1.0, 1.5, 2.0]);
    }

    #[test]
    fn the_area_under_the_lines_is_the_number_of_iterations() {
        // Up to 4 in 2 s makes 4 iterations: the n-th at the root of n.
        assert_eq!(starts(0, &[(2, 4)]), [1.0, 1.414, 1.732, 2.0]);
        // Down again makes the mirror image.
        assert_eq!(starts(4, &[(2, 0)]), [0.268, 0.586, 1.0, 2.0]);
        let up_level_down = starts(0, &[(10, 20), (5, 20), (10, 0)]);
        assert_eq!(up_level_down.len(), 300);
        assert!(up_level_down.is_sorted() && (up_level_down[99], up_level_down[199]) == (10.0, 15.0));
    }

    #[test]
    fn stages_without_length_jump_and_silence_is_waited_for() {
        assert_eq!(starts(0, &[(3, 0), (0, 1), (2, 1)]), [4.0, 5.0]);
    }

    #[test]
    fn rates_may_be_of_any_time_unit() {
        let stages = [Stage { duration: Duration::from_secs(60), target: 3 }];
        let ramp = Ramp::new(3, Duration::from_secs(60), &stages);
        assert_eq!(ramp.start(1), Some(Duration::from_secs(40)));
        assert_eq!(ramp.start(3), None);
    }
}

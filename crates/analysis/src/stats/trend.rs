//! Whether a series drifts, by an estimate that a few wild points cannot move.

/// The Theil–Sen slope: the median of the slopes between all pairs of (x, y) points; `None` without two different x.
///
/// Source: Theil 1950, Sen 1968; up to 29 % of the points may be arbitrary. Units: y per x. Quadratic in the number of
/// points, so meant for series of at most a few hundred.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let pairs = points.iter().enumerate().flat_map(|(index, a)| points[index + 1..].iter().map(move |b| (a, b)));
    let slopes = pairs.filter(|(a, b)| a.0 != b.0).map(|(a, b)| (b.1 - a.1) / (b.0 - a.0)).collect();
    median(slopes)
}

/// The median; `None` of nothing.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// Standard error of the slope from the scatter of block means around the line, so that correlation inside a block
/// does not count as evidence; `None` with fewer than four points.
///
/// Source: least squares over block means. Not true where correlation reaches across blocks.
pub fn slope_error(points: &[(f64, f64)], slope: f64) -> Option<f64> {
    let count = points.len().min(5);
    if count < 4 {
        return None;
    }
    let edge = |index: usize| index * points.len() / count;
    let blocks: Vec<(f64, f64)> = (0..count)
        .map(|index| {
            let block = &points[edge(index)..edge(index + 1)];
            let size = block.len() as f64;
            (block.iter().map(|p| p.0).sum::<f64>() / size, block.iter().map(|p| p.1).sum::<f64>() / size)
        })
        .collect();
    let size = blocks.len() as f64;
    let (x, y) = (blocks.iter().map(|p| p.0).sum::<f64>() / size, blocks.iter().map(|p| p.1).sum::<f64>() / size);
    let rest: f64 = blocks.iter().map(|p| (p.1 - y - slope * (p.0 - x)).powi(2)).sum();
    let spread: f64 = blocks.iter().map(|p| (p.0 - x).powi(2)).sum();
    (spread > 0.0).then(|| (rest / (size - 2.0) / spread).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Random;

    #[test]
    fn wild_points_do_not_move_the_slope() {
        let mut points: Vec<_> = (0..30).map(|x| (f64::from(x), 2.0 * f64::from(x) + 1.0)).collect();
        points[4].1 = 1e6;
        points[20].1 = -1e6;
        assert!((slope(&points).unwrap() - 2.0).abs() < 1e-9);
        assert_eq!(slope(&[(1.0, 2.0)]), None);
    }

    #[test]
    fn noise_without_drift_stays_within_two_errors() {
        let (seed, runs) = (5, 300);
        let mut random = Random::new(seed);
        let mut inside = 0;
        for _ in 0..runs {
            let points: Vec<_> = (0..30).map(|x| (f64::from(x), random.normal())).collect();
            let slope = slope(&points).unwrap();
            inside += usize::from(slope.abs() < 2.0 * slope_error(&points, slope).unwrap());
        }
        let share = inside as f64 / f64::from(runs);
        assert!(share > 0.75, "seed {seed}: {share}");
        let line: Vec<_> = (0..30).map(|x| (f64::from(x), f64::from(x) + 0.1 * random.normal())).collect();
        assert!(slope_error(&line, 1.0).unwrap() < 0.05);
    }
}

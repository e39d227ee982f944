//! Bounds of a share from counts.

/// Two-sided 95 % of the normal distribution.
const Z: f64 = 1.96;

/// Wilson's 95 % interval for a share of which `hits` of `total` were seen; (0, 1) without data.
///
/// Source: Wilson 1927. Holds for independent draws; correlated ones need a wider interval, so callers take the wider
/// of this and a batch interval. With no hit the upper end is about 3.8 / `total`.
pub fn wilson(hits: u64, total: u64) -> (f64, f64) {
    if total == 0 {
        return (0.0, 1.0);
    }
    let (n, p) = (total as f64, hits as f64 / total as f64);
    let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let reach = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    ((middle - reach).max(0.0), (middle + reach).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_closed_forms() {
        let (low, high) = wilson(10, 100);
        assert!((low - 0.0552).abs() < 1e-3 && (high - 0.1744).abs() < 1e-3, "{low} {high}");
        let (low, high) = wilson(0, 300);
        assert!(low == 0.0 && (0.01..0.0135).contains(&high), "{high}");
        assert!(wilson(0, 380).1 < 0.0101);
        assert_eq!(wilson(0, 0), (0.0, 1.0));
        assert_eq!(wilson(5, 5).1, 1.0);
    }
}

//! Randomness that is the same in every run: a seeded generator and the few distributions that simulations need.

/// SplitMix64 (Steele, Lea, Flood 2014): enough for simulations, one word of state, never unseeded.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Log-normal with this mean and coefficient of variation; the mean itself if `cv` is 0.
    pub fn spread(&mut self, mean: f64, cv: f64) -> f64 {
        if cv <= 0.0 {
            return mean;
        }
        let variance = (1.0 + cv * cv).ln();
        mean * (self.normal() * variance.sqrt() - variance / 2.0).exp()
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.unit().ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_have_their_moments() {
        let mut random = Random::new(1);
        let values: Vec<f64> = (0..200_000).map(|_| random.spread(20.0, 0.7)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
        assert!((mean - 20.0).abs() < 0.2 && (deviation / mean - 0.7).abs() < 0.03, "{mean} {deviation}");
        let mean = (0..200_000).map(|_| random.exponential(3.0)).sum::<f64>() / 200_000.0;
        assert!((mean - 3.0).abs() < 0.05, "{mean}");
        assert_eq!(Random::new(9).unit(), Random::new(9).unit());
    }
}

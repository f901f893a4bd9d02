//! Maps of scores as pictures.

/// The scores that are shown darkest and brightest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f32,
    high: f32,
}

impl Scale {
    /// From the hundredth with the lowest to the hundredth with the highest of some scores.
    pub fn of(mut scores: Vec<f32>) -> Scale {
        scores.sort_unstable_by(f32::total_cmp);
        let at = |share: f64| scores[((scores.len() - 1) as f64 * share) as usize];
        Scale { low: at(0.01), high: at(0.99) }
    }

    /// Where a score lies, from 0 to 1.
    pub fn place(self, score: f32) -> f32 {
        let Scale { low, high } = self;
        if high > low { ((score - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// Scores as colours, on a scale of their own.
pub fn heat(scores: &[f32]) -> Vec<u8> {
    let scale = Scale::of(scores.to_vec());
    scores.iter().flat_map(|&s| ramp(scale.place(s))).collect()
}

/// From black through violet and orange to pale yellow, ever brighter.
pub fn ramp(share: f32) -> [u8; 3] {
    const STOPS: [[f32; 3]; 5] = [
        [2.0, 2.0, 10.0],
        [74.0, 18.0, 108.0],
        [176.0, 50.0, 90.0],
        [244.0, 136.0, 40.0],
        [252.0, 250.0, 170.0],
    ];
    let at = share * 4.0;
    let below = (at as usize).min(3);
    let weight = at - below as f32;
    std::array::from_fn(|i| (STOPS[below][i] + weight * (STOPS[below + 1][i] - STOPS[below][i])) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_scores_are_brighter() {
        let scores: Vec<f32> = (0..200).map(|i| i as f32).collect();
        let light: Vec<u32> =
            heat(&scores).chunks_exact(3).map(|c| c.iter().map(|&v| u32::from(v)).sum()).collect();
        assert!(light.is_sorted() && light[199] > 600 && light[0] < 20);
        assert!(heat(&[3.0; 4]).chunks_exact(3).all(|c| c == [2, 2, 10]));
    }
}

//! Maps of scores as pictures.

/// Scores as colours, from the hundredth with the lowest to the hundredth with the highest.
pub fn heat(scores: &[f32]) -> Vec<u8> {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
    let (low, high) = (at(0.01), at(0.99));
    let place = |s: f32| if high > low { ((s - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
    scores.iter().flat_map(|&s| ramp(place(s))).collect()
}

/// From black through violet and orange to pale yellow, ever brighter.
fn ramp(share: f32) -> [u8; 3] {
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

//! Long lines drawn with fewer points, without losing a peak.

/// More points than this are drawn as the lowest and highest of each stretch.
const POINTS: usize = 900;

/// The finite points of a line; of a long one, the lowest and the highest of each stretch, so that no peak is lost.
pub fn thin(values: &[f64]) -> Vec<(usize, f64)> {
    let finite: Vec<(usize, f64)> =
        values.iter().copied().enumerate().filter(|(_, v)| v.is_finite()).collect();
    if finite.len() <= POINTS {
        return finite;
    }
    let stretch = finite.len().div_ceil(POINTS / 2);
    finite.chunks(stretch).flat_map(extremes).collect()
}

fn extremes(stretch: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let by_value = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
    let mut ends: Vec<(usize, f64)> =
        stretch.iter().min_by(by_value).into_iter().chain(stretch.iter().max_by(by_value)).copied().collect();
    ends.sort_by_key(|end| end.0);
    ends.dedup();
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_peaks_and_drops_what_is_no_number() {
        let mut values = vec![0.0; 10_000];
        (values[4321], values[77]) = (9.0, f64::NAN);
        let thinned = thin(&values);
        assert!(thinned.len() <= POINTS + 2 && thinned.contains(&(4321, 9.0)));
        assert_eq!(thin(&[1.0, f64::NAN]), [(0, 1.0)]);
    }
}

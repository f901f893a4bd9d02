//! Numbers of 64 bits that become one in 32 bits.

/// How many numbers are looked at, at most.
const LOOKED_AT: usize = 1_000_000;

/// The number of 32 bits that most numbers become though they differ, if these are more than a thousandth of all.
pub(super) fn merged(wide: &[f64]) -> Option<f32> {
    let mut sorted: Vec<f64> = wide.iter().copied().step_by(wide.len() / LOOKED_AT + 1).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let alike = sorted.chunk_by(|&a, &b| a as f32 == b as f32);
    let differ = |group: &&[f64]| group.first() != group.last() && 1000 * group.len() > sorted.len();
    // A pair may always meet by chance.
    let groups = alike.filter(|group| group.len() > 2).filter(differ);
    groups.max_by_key(|group| group.len()).map(|group| group[0] as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saturated_sigmoid_is_found_and_digits_that_do_not_count_are_not() {
        let steps = |of: &dyn Fn(f64) -> f64| {
            merged(&(0..5000).map(|i| of(f64::from(i) / 5000.0)).collect::<Vec<_>>())
        };
        assert_eq!(steps(&|x| 1.0 / (1.0 + (-40.0 * x).exp())), Some(1.0));
        assert_eq!(steps(&|x| x / 3.0), None);
        assert_eq!(steps(&|x| 5e6 + x), Some(5_000_000.5));
        assert_eq!(steps(&|x| x.round()), None, "equal numbers stay equal");
        assert_eq!(merged(&[]), None);
    }
}

//! Gaps in time: stretches of a log without a reading that are far longer than the usual time between two.

use crate::episodes::Recorded;

/// So many usual steps without a reading are a gap.
const MANY: f64 = 10.0;
/// So many of the longer steps are one, where rows come in bursts.
const BURSTS: f64 = 3.0;
/// Two readings that differ by less than this share of their age are one, as ages are in single precision.
const SAME: f64 = 1e-6;

/// The longest time between two readings that is no gap, in seconds; infinite where there are hardly any readings.
pub(super) fn longest_step<'a>(parts: impl Iterator<Item = &'a Recorded>) -> f64 {
    let steps = |part: &Recorded| {
        let times = readings(part);
        times.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<f64>>()
    };
    let mut steps: Vec<f64> = parts.flat_map(steps).collect();
    if steps.is_empty() {
        return f64::INFINITY;
    }
    let mut quantile = |share: f64| {
        let at = (share * (steps.len() - 1) as f64) as usize;
        *steps.select_nth_unstable_by(at, f64::total_cmp).1
    };
    // Rows that come in bursts have next to no time between most of them.
    (MANY * quantile(0.5)).max(BURSTS * quantile(0.95))
}

/// The gaps of a recording, in seconds since its first observation.
pub(super) fn gaps(recorded: &Recorded, longest_step: f64) -> Vec<(f64, f64)> {
    let end = recorded.secs.last().copied().unwrap_or(0.0);
    let times: Vec<f64> = readings(recorded).into_iter().chain([end]).collect();
    let is_gap = |pair: &&[f64]| pair[1] - pair[0] > longest_step;
    times.windows(2).filter(is_gap).map(|pair| (pair[0].max(0.0), pair[1])).collect()
}

/// When something was read, as far as the ticks of the recording show it. What was read last before it began is negative.
fn readings(recorded: &Recorded) -> Vec<f64> {
    let width = recorded.ages_secs.len() / recorded.secs.len().max(1);
    let mut times: Vec<f64> = Vec::new();
    for (&secs, ages) in recorded.secs.iter().zip(recorded.ages_secs.chunks_exact(width.max(1))) {
        let age = f64::from(ages.iter().copied().fold(f32::INFINITY, f32::min));
        let time = secs - age;
        if time.is_finite()
            && times.last().is_none_or(|last| time - last > SAME * age.max(secs.abs()).max(SAME))
        {
            times.push(time);
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One channel that is read at some times, seen at each tick.
    fn recorded(read: &[f64], ticks: impl Iterator<Item = f64>) -> Recorded {
        let secs: Vec<f64> = ticks.collect();
        let age = |at: &f64| (at - read.iter().rfind(|read| *read <= at).unwrap()) as f32;
        let ages_secs = secs.iter().map(age).collect();
        let n = secs.len();
        Recorded {
            log: "log".into(),
            number: 1,
            is_alone: true,
            is_part: false,
            start_nanos: 0,
            secs,
            observations: vec![0.0; n],
            commands: Vec::new(),
            ages_secs,
            labels: None,
            kinds: vec![],
            success: None,
            task: None,
        }
    }

    fn found(recorded: &Recorded) -> Vec<(f64, f64)> {
        gaps(recorded, longest_step(std::iter::once(recorded)))
    }

    #[test]
    fn a_silence_is_a_gap_with_and_without_a_rate() {
        let read: Vec<f64> = (0..100).map(f64::from).filter(|at| !(40.0..60.0).contains(at)).collect();
        assert_eq!(found(&recorded(&read, read.iter().copied())), [(39.0, 60.0)]);
        assert_eq!(found(&recorded(&read, (0..198).map(|i| f64::from(i) * 0.5))), [(39.0, 60.0)]);
        let regular: Vec<f64> = (0..100).map(|i| f64::from(i) * 300.0).collect();
        assert_eq!(found(&recorded(&regular, (0..29_700).map(f64::from))), []);
    }

    #[test]
    fn what_ends_or_begins_in_silence_has_a_gap_and_bursts_have_none() {
        let read: Vec<f64> = std::iter::once(-50).chain(20..=50).map(f64::from).collect();
        assert_eq!(found(&recorded(&read, (0..100).map(f64::from))), [(0.0, 20.0), (50.0, 99.0)]);
        let bursts: Vec<f64> = (0..300).map(|i| f64::from(i / 10) + f64::from(i % 10) * 1e-3).collect();
        assert_eq!(found(&recorded(&bursts, bursts.iter().copied())), []);
    }
}

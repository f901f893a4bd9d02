//! How videos are cut into pieces that are learned side by side.

use offnominal_core::{Rng, Seed};

/// Steps of a video in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Which video.
    pub video: usize,
    /// Its first step.
    pub start: usize,
    /// How many steps.
    pub len: usize,
}

/// Cuts videos of these lengths into windows of at most so many steps, each step once; the first of each is as long as
/// `first` says.
fn cut(lengths: &[usize], longest: usize, mut first: impl FnMut() -> usize) -> Vec<Window> {
    let mut windows = Vec::new();
    for (video, &steps) in lengths.iter().enumerate() {
        let (mut start, mut len) = (0, first());
        while start < steps {
            len = len.min(steps - start);
            windows.push(Window { video, start, len });
            (start, len) = (start + len, longest);
        }
    }
    windows
}

/// The windows of an epoch in the order in which they are learned. Each epoch cuts at other places, so that every step
/// is seen after many different pasts.
pub fn epoch(lengths: &[usize], longest: usize, seed: Seed) -> Vec<Window> {
    let mut rng: Rng = seed.rng();
    let mut windows = cut(lengths, longest, || 1 + rng.below(longest));
    rng.shuffle(&mut windows);
    windows
}

/// At most so many steps of validation, spread evenly over the videos.
pub fn check(lengths: &[usize], longest: usize, steps: usize) -> Vec<Window> {
    let all = cut(lengths, longest, || longest);
    let total: usize = all.iter().map(|w| w.len).sum();
    let every = total.div_ceil(steps.max(1)).max(1);
    all.into_iter().step_by(every).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_seen_once_in_every_epoch() {
        let lengths = [7, 0, 1, 23];
        for number in 0..20_usize {
            let windows = epoch(&lengths, 5, Seed(3).child(number));
            let mut seen: Vec<_> =
                windows.iter().flat_map(|w| (w.start..w.start + w.len).map(|t| (w.video, t))).collect();
            seen.sort_unstable();
            let all: Vec<_> =
                lengths.iter().enumerate().flat_map(|(f, &n)| (0..n).map(move |t| (f, t))).collect();
            assert_eq!(seen, all);
            assert!(windows.iter().all(|w| (1..=5).contains(&w.len)));
        }
        assert_ne!(epoch(&lengths, 5, Seed(1)), epoch(&lengths, 5, Seed(2)));
    }

    #[test]
    fn validation_takes_a_part_of_every_video() {
        let windows = check(&[40, 40], 4, 20);
        assert_eq!(windows.iter().map(|w| w.len).sum::<usize>(), 20);
        assert!([0, 1].iter().all(|&video| windows.iter().any(|w| w.video == video)));
        assert_eq!(check(&[3], 4, 100), [Window { video: 0, start: 0, len: 3 }]);
    }
}

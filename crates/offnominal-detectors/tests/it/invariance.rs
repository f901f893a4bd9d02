//! What must not change a score: the order and the units of the channels, and the order of the episodes.

use offnominal_core::Rng;
use offnominal_core::Seed;
use offnominal_core::detector::{Nominal, Signals};
use offnominal_detectors::catalogue;
use offnominal_laws::nominal_episodes;
use proptest::prelude::*;

/// Episodes as owned numbers: three observation channels, one action.
type Episodes = Vec<(Vec<f32>, Vec<f32>)>;

fn episodes(seed: u64, n: usize) -> Episodes {
    let owned = |s: Signals<'_>| (s.observations().to_vec(), s.actions().to_vec());
    nominal_episodes(Seed(seed), n, 30).iter().map(|e| owned(e.signals())).collect()
}

/// The same episodes seen through other sensors.
fn rewired(episodes: &Episodes, order: [usize; 3], gain: [f32; 3], offset: [f32; 3]) -> Episodes {
    let row = |r: &[f32]| order.map(|c| gain[c] * r[c] + offset[c]);
    let rewire = |(o, a): &(Vec<f32>, Vec<f32>)| (o.chunks_exact(3).flat_map(row).collect(), a.clone());
    episodes.iter().map(rewire).collect()
}

fn scores(id: &str, train: &Episodes, probe: &Episodes) -> Vec<f64> {
    let views: Vec<_> = train.iter().map(|(o, a)| Signals::new(o, a, 3, 1)).collect();
    let recipe = catalogue().build(id, &serde_json::json!({})).unwrap();
    let mut monitor = recipe.fit(Nominal::new(&views, &[]), &mut Rng::new(1)).unwrap();
    let mut scores = Vec::new();
    monitor.score_episode(&Signals::new(&probe[0].0, &probe[0].1, 3, 1), &mut scores);
    scores
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn knn_knows_neither_order_nor_units_of_channels(
        seed in 0_u64..1000,
        order in prop::sample::select(vec![[0, 1, 2], [2, 0, 1], [1, 0, 2], [2, 1, 0]]),
        gain in prop::array::uniform3(0.01_f32..100.0),
        offset in prop::array::uniform3(-3.0_f32..3.0),
    ) {
        let (train, probe) = (episodes(seed, 5), episodes(seed + 5000, 1));
        let plain = scores("knn", &train, &probe);
        let wired = scores("knn", &rewired(&train, order, gain, offset), &rewired(&probe, order, gain, offset));
        // An offset of 3 on a channel of deviation 0.01 costs two digits of f32.
        prop_assert!(largest_difference(&plain, &wired) < 2e-3);
    }

    #[test]
    fn isolation_forest_does_not_know_units(
        seed in 0_u64..1000,
        power in prop::array::uniform3(-6_i32..7),
    ) {
        // Powers of two scale without rounding, after which a value on the border of a split could change sides.
        let gain = power.map(|p| 2.0_f32.powi(p));
        let (train, probe) = (episodes(seed, 5), episodes(seed + 5000, 1));
        let plain = scores("isolation-forest", &train, &probe);
        let same = [0, 1, 2];
        let scaled = scores(
            "isolation-forest",
            &rewired(&train, same, gain, [0.0; 3]),
            &rewired(&probe, same, gain, [0.0; 3]),
        );
        prop_assert!(largest_difference(&plain, &scaled) < 1e-9);
    }

    #[test]
    fn knn_does_not_know_the_order_of_episodes_and_more_data_brings_no_point_farther(seed in 0_u64..1000) {
        let (train, probe) = (episodes(seed, 5), episodes(seed + 5000, 1));
        let backwards: Episodes = train.iter().rev().cloned().collect();
        let plain = scores("knn", &train, &probe);
        prop_assert!(largest_difference(&plain, &scores("knn", &backwards, &probe)) < 1e-5);
        let own = scores("knn", &[train, probe.clone()].concat(), &probe);
        prop_assert!(own.iter().all(|&s| s == 0.0), "a point of the training data has distance zero");
    }
}

//! After warm-up no monitor of the catalogue allocates, nor does a diagnosis, and what they hold does not grow.

use crate::quick::quick;
use allocation_counter::measure;
use offnominal_core::prelude::*;
use offnominal_detectors::ALL;
use offnominal_detectors::diagnosis::{Diagnoser, Direction, Family, Fault, Hypothesis};
use offnominal_laws::{MockEnsemble, nominal_episodes};

#[test]
fn scoring_does_not_allocate() {
    let episodes = nominal_episodes(Seed(1), 8, 40);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    for entry in ALL {
        let recipe = (entry.build)(&quick(entry.id)).unwrap();
        let mut monitor = recipe
            .fit(Nominal::new(&views[1..], &[]).with_policy(&MockEnsemble::members(3)), &mut Rng::new(1))
            .unwrap();
        let (read, gap) = ([false; 3], [false, true, false]);
        let (mut obs, mut next_obs, mut shares) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        let mut steps = |times: usize| {
            for seen in (0..times).flat_map(|_| views[0].transitions()) {
                monitor.score(&seen);
                monitor.shares(&mut shares);
                monitor.evidence();
                obs.copy_from_slice(seen.obs);
                monitor.fill(&mut Gaps {
                    obs: &mut obs,
                    missing_before: &gap,
                    action: seen.action,
                    next_obs: &mut next_obs,
                    missing_after: &gap,
                });
                monitor.score_partial(&Partial { seen, missing_before: &gap, missing_after: &read });
                monitor.score_partial(&Partial { seen, missing_before: &read, missing_after: &gap });
            }
        };
        steps(1);
        // As many steps as a memory that grows needs to show.
        let found = measure(|| steps(50));
        assert_eq!((found.count_total, found.bytes_current), (0, 0), "{}", entry.id);
    }
}

#[test]
fn diagnosing_does_not_allocate() {
    let episodes = nominal_episodes(Seed(1), 8, 40);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    let mut diagnoser = Diagnoser::fit(&views[1..], &mut Rng::new(1), FitProgress::unseen()).unwrap();
    let hypothesis = |anomaly: &str, family| Hypothesis {
        anomaly: anomaly.into(),
        family,
        neutral: 0.0,
        direction: Direction::Up,
    };
    let hypotheses =
        vec![hypothesis("obs-noise", Family::Observation), hypothesis("dyn-mass", Family::Dynamics)];
    let fault = |i: usize| Fault { hypothesis: i % 2, magnitude: 1.0, signals: views[i % 8], alarm: 9 };
    let faults: Vec<Fault<'_>> = (0..16).map(fault).collect();
    diagnoser.teach(hypotheses, &faults, &mut Rng::new(2), FitProgress::unseen()).unwrap();
    let mut episode = || {
        diagnoser.reset();
        for seen in (0..5).flat_map(|_| views[0].transitions()) {
            diagnoser.observe(&seen);
        }
        diagnoser.diagnose(5).probabilities[0]
    };
    episode();
    let found = measure(|| assert!(episode().is_finite()));
    assert_eq!((found.count_total, found.bytes_current), (0, 0));
}

#[test]
fn the_counter_counts() {
    assert_eq!(measure(|| drop(std::hint::black_box(vec![0_u8; 100]))).count_total, 1);
}

#[test]
fn no_measure_of_disagreement_allocates() {
    let episodes = nominal_episodes(Seed(1), 3, 40);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    for measure_id in ["vote-entropy", "mutual-information", "best-sd", "relative-sd"] {
        let params = serde_json::json!({ "measure": measure_id });
        let detector = offnominal_detectors::catalogue().build("disagreement", &params).unwrap();
        let fitted = detector.fit(
            Nominal::new(&views[1..], &views[1..]).with_policy(&MockEnsemble::passes(3)),
            &mut Rng::new(2),
        );
        let mut monitor = fitted.unwrap();
        let mut again = || views[0].transitions().map(|step| monitor.score(&step)).sum::<f64>();
        let first = again();
        assert_eq!(measure(|| assert_eq!(again(), first)).count_total, 0, "{measure_id}");
    }
}

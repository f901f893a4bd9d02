//! A fit tells how far it is, and ends when it is told to.

use crate::quick::quick;
use offnominal_core::fit_progress::Stopped;
use offnominal_core::prelude::*;
use offnominal_detectors::ALL;
use offnominal_laws::{MockEnsemble, nominal_episodes};
use std::sync::Mutex;

/// Their fits only read or copy the episodes.
const QUICK: [&str; 5] = ["clock", "random", "knn", "knn-transition", "disagreement"];

/// Fits a detector until a share, and returns the shares it told.
fn told(entry: &Entry<dyn Detector>, until: f64) -> (Vec<f64>, Option<FitError>) {
    let episodes = nominal_episodes(Seed(1), 8, 30);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    let (policy, shares) = (MockEnsemble::members(3), Mutex::new(Vec::new()));
    let tell = |share| {
        shares.lock().unwrap().push(share);
        share < until
    };
    let nominal = Nominal::new(&views, &[]).with_policy(&policy).with_progress(FitProgress::new(&tell));
    let fitted = (entry.build)(&quick(entry.id)).unwrap().fit(nominal, &mut Rng::new(1));
    (shares.into_inner().unwrap(), fitted.err())
}

#[test]
fn a_fit_that_takes_long_tells_growing_shares() {
    for entry in ALL {
        let (shares, error) = told(entry, f64::INFINITY);
        assert_eq!((error, shares.is_empty()), (None, QUICK.contains(&entry.id)), "{}", entry.id);
        assert!(
            shares.is_sorted() && shares.iter().all(|s| (0.0..=1.0).contains(s)),
            "{}: {shares:?}",
            entry.id
        );
        assert!(shares.len() != 1, "{}: it is told only once", entry.id);
    }
}

#[test]
fn a_fit_that_is_told_to_stop_ends_there() {
    for entry in ALL.iter().filter(|entry| !QUICK.contains(&entry.id)) {
        let (shares, error) = told(entry, 0.4);
        assert_eq!(error, Some(FitError::Stopped(Stopped)), "{}", entry.id);
        assert!(shares.iter().filter(|share| **share >= 0.4).count() == 1, "{}: {shares:?}", entry.id);
    }
}

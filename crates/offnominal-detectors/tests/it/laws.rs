//! Every detector of the catalogue obeys the laws.

use crate::quick::quick;
use crate::spoiled::spoiled;
use offnominal_core::archive::Archive;
use offnominal_core::prelude::*;
use offnominal_detectors::ALL;
use offnominal_laws::{MockEnsemble, assert_lawful, detector, nominal_episodes};
use serde_json::json;

#[test]
fn every_detector_obeys_the_laws() {
    for entry in ALL {
        let recipe = (entry.build)(&quick(entry.id)).unwrap();
        assert_lawful(entry.id, &detector(recipe.as_ref(), entry.exempt));
    }
}

#[test]
fn both_scores_of_the_ensemble_obey_the_laws() {
    for score in ["analytic", "sampled-min"] {
        let mut params = quick("pe-dm");
        params["score"] = json!(score);
        let recipe = offnominal_detectors::catalogue().build("pe-dm", &params).unwrap();
        assert_lawful(score, &detector(recipe.as_ref(), &[]));
    }
}

#[test]
fn early_stopping_obeys_the_laws() {
    for id in ["mlp-dm", "pe-dm"] {
        let mut params = quick(id);
        params["training"] = json!({"epochs": 8, "patience": 2});
        let recipe = offnominal_detectors::catalogue().build(id, &params).unwrap();
        assert_lawful(id, &detector(recipe.as_ref(), &[]));
    }
}

#[test]
fn unknown_parameters_are_refused_by_name() {
    for entry in ALL {
        let message = (entry.build)(&json!({"no-such": 1})).err().unwrap().to_string();
        assert!(message.contains("no-such"), "{}: {message}", entry.id);
    }
}

/// What looks inside a policy says so when there is none, and when it tells nothing.
#[test]
fn a_policy_that_tells_nothing_is_refused_by_name() {
    let episodes = nominal_episodes(Seed(1), 4, 20);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    for id in
        ["disagreement", "feature-mahalanobis", "feature-knn", "cusum", "e-process", "running-mean", "fusion"]
    {
        let params = match id {
            "fusion" => json!({"inner": ["disagreement"]}),
            "cusum" | "e-process" | "running-mean" => json!({"inner": "disagreement"}),
            _ => json!({}),
        };
        let recipe = offnominal_detectors::catalogue().build(id, &params).unwrap();
        assert_eq!(
            recipe.fit(Nominal::new(&views, &[]), &mut Rng::new(1)).err(),
            Some(FitError::NoPolicy),
            "{id}"
        );
        let closed = |_: &[f32], action: &mut [f32]| action.fill(0.0);
        let error = recipe.fit(Nominal::new(&views, &[]).with_policy(&closed), &mut Rng::new(1)).err();
        assert_eq!(error, Some(FitError::Policy(SamplesError::Opaque)), "{id}");
        assert!(
            recipe
                .fit(Nominal::new(&views, &[]).with_policy(&MockEnsemble::members(3)), &mut Rng::new(1))
                .is_ok(),
            "{id}"
        );
    }
}

/// Everything in the catalogue can be kept; that it comes back with the same bits is a law.
#[test]
fn every_detector_can_be_kept() {
    let episodes = nominal_episodes(Seed(1), 8, 30);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    for entry in ALL {
        let recipe = (entry.build)(&quick(entry.id)).unwrap();
        let policy = MockEnsemble::members(3);
        let monitor = recipe.fit(Nominal::new(&views, &[]).with_policy(&policy), &mut Rng::new(1)).unwrap();
        let mut archive = Archive::default();
        assert_eq!(monitor.save(&mut archive.writer()), Ok(()), "{}", entry.id);
        let probe = views[0].transition(3);
        let load = |archive: &Archive| {
            let mut monitor = recipe.load(&archive.reader(3, 1), Some(&policy))?;
            monitor.score(&probe);
            Ok(())
        };
        assert_eq!(load(&archive), Ok(()), "{}", entry.id);
        damaged(entry.id, &archive, &load);
    }
}

/// A list that is missing, too short or of another type is named, and no number makes the reader stop the program.
fn damaged(id: &str, archive: &Archive, load: &dyn Fn(&Archive) -> Result<(), ArchiveError>) {
    for name in archive.lists.keys() {
        let mut without = archive.clone();
        without.lists.remove(name);
        assert_eq!(load(&without), Err(ArchiveError::Missing { place: name.clone() }), "{id}");
        for numbers in spoiled(&archive.lists[name]) {
            let mut other = archive.clone();
            other.lists.insert(name.clone(), numbers);
            if let Err(error) = load(&other) {
                assert!(!error.to_string().is_empty(), "{id}: {name}");
            }
        }
    }
}

//! Every detector of the catalogue obeys the laws.

use offnominal_core::conformance::{assert_lawful, detector};
use offnominal_detectors::ALL;
use serde_json::{Value, json};

/// Parameters that make fitting fast; the laws hold for any.
fn quick(id: &str) -> Value {
    match id {
        "isolation-forest" => json!({"trees": 30}),
        "mlp-dm" => json!({"hidden": [16, 8], "training": {"epochs": 5}}),
        "pe-dm" => json!({"hidden": [16, 8], "members": 2, "training": {"epochs": 5}}),
        "ensemble-dm" | "offnominal" | "residual-window" => {
            json!({"hidden": [16, 8], "training": {"epochs": 5}})
        }
        "cusum" | "e-process" => json!({"inner": inner("ensemble-dm")}),
        "fusion" => json!({"inner": ["knn-transition", inner("residual-window")]}),
        _ => json!({}),
    }
}

/// A detector inside another, made fast.
fn inner(id: &str) -> Value {
    let mut params = quick(id);
    params["id"] = json!(id);
    params
}

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

//! Every detector of the catalogue obeys the laws.

use offnominal_core::conformance::{assert_lawful, detector};
use offnominal_detectors::ALL;
use serde_json::{Value, json};

/// Parameters that make fitting fast; the laws hold for any.
fn quick(id: &str) -> Value {
    match id {
        "isolation-forest" => json!({"trees": 30}),
        _ => json!({}),
    }
}

#[test]
fn every_detector_obeys_the_laws() {
    for entry in ALL {
        let recipe = (entry.build)(&quick(entry.id)).unwrap();
        assert_lawful(entry.id, &detector(recipe.as_ref(), entry.exempt));
    }
}

#[test]
fn unknown_parameters_are_refused_by_name() {
    for entry in ALL {
        let message = (entry.build)(&json!({"no-such": 1})).err().unwrap().to_string();
        assert!(message.contains("no-such"), "{}: {message}", entry.id);
    }
}

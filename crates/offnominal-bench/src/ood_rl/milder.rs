//! Corruptions of images that are milder than those of the publication. They are ours: at the lowest of its severities a
//! policy that knows clean images only plays as badly as chance.

use offnominal_core::anomaly_spec::AnomalySpec;
use offnominal_worlds::ood_rl::{Variant, variants};
use serde_json::json;

/// Severities below the lowest one of the publication.
pub(super) const MILDER: [f64; 3] = [0.125, 0.25, 0.5];

/// The corruptions of the publication at these severities.
pub(super) fn milder() -> Vec<Variant> {
    let lowest = variants().into_iter().filter(|v| v.env == "pong" && severity(v) == Some(1.0));
    lowest.flat_map(|v| MILDER.map(|severity| at(&v, severity))).collect()
}

fn severity(variant: &Variant) -> Option<f64> {
    variant.anomaly_spec.params["magnitude"].as_f64()
}

fn at(variant: &Variant, severity: f64) -> Variant {
    let params = json!({ "magnitude": severity });
    Variant { anomaly_spec: AnomalySpec { params, ..variant.anomaly_spec.clone() }, ..variant.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_corruption_has_three_that_are_weaker_than_those_of_the_publication() {
        let (milder, published) = (milder(), variants());
        assert_eq!(milder.len(), 12);
        for v in &milder {
            let same = |p: &&Variant| p.anomaly_spec.anomaly == v.anomaly_spec.anomaly;
            assert!(v.null.is_none() && severity(v) > Some(0.0), "{v:?}");
            assert!(published.iter().filter(same).all(|p| severity(p) > severity(v)), "{v:?}");
        }
    }
}

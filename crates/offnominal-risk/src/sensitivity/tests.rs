//! Effects against closed forms.

use super::effect::{Effect, Failures};
use super::parts;
use crate::estimate::atlas::Atlas;
use crate::estimate::document::Document;
use crate::estimate::ending::Ending;
use crate::estimate::estimation::Estimation;
use crate::experimenter::Experimenter;
use crate::testing::{Toy, context, subject};
use offnominal_stats::Level;

/// The toy fails where a uniform number is below exp(−40 x) with x uniform, so p = 1/40. Of its failures 2/40 fail again
/// with another x, ½ with another uniform number, and all with another y.
#[test]
fn effects_of_the_toy_are_those_of_the_integrals() {
    let (toy, p) = (Toy::new(1.0), 1.0 / 40.0);
    let subject = subject(&toy);
    let by = Experimenter::new(&subject, 3).unwrap();
    let estimation = Estimation::plain(by);
    let blocks = estimation.run(None, 40_000, &Ending::NONE, &context(2)).unwrap();
    let verdict = estimation.judge(&blocks, Level::P95, &context(1)).unwrap();
    let atlas = Atlas::of(&verdict.failures, subject.env.spec());
    let document = Document::new(&estimation.spec, &verdict, atlas);
    let failures = Failures::new(by, &document, 4, Level::P95).unwrap();
    let bar = context(1).task(1, "effects");
    let found: Vec<Effect> = parts::of(&subject.env.spec().initial, false)
        .iter()
        .map(|part| failures.effect(part, &context(2), &bar).unwrap())
        .collect();
    let expected = [
        ("x", (1.0 - 0.05) / (1.0 - p), (0.5 - p) / (1.0 - p)),
        ("y", 0.0, 0.0),
        (parts::RANDOMNESS, (1.0 - 0.5) / (1.0 - p), (0.05 - p) / (1.0 - p)),
    ];
    for (effect, (name, total, first)) in found.iter().zip(expected) {
        assert_eq!(effect.part, name);
        assert!(effect.total.covers(total) && effect.first.covers(first), "{effect:?}");
        assert!(effect.total.high - effect.total.low < 0.2, "{effect:?}");
    }
    // Failures lie near zero, which is √3 standard deviations below the mean.
    let shift = found[0].shift.clone().unwrap();
    assert!((shift.value + 3.0_f64.sqrt() * 0.95).abs() < 0.05, "{shift}");
}

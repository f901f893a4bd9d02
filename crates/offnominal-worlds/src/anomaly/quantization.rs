//! A sensor with too few digits.
//!
//! o′ₜ = β ⌊oₜ / β⌋; β is the magnitude. β = 0 is the limit of ever finer steps and leaves the signal as it is.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 5.2.

use super::signal::*;

/// On observations.
pub const OBS: Listed = on_observation::<Quantization>(Words {
    id: "obs-quantization",
    summary: "sensors with too coarse a resolution",
    equation: "o′ₜ = β ⌊oₜ / β⌋",
    imitates: "a converter that lost bits, a coarse encoder, a saving radio link",
    shows: "too few different values, steps between plateaus: residuals that are never small",
});

recipe! {
    /// The recipe.
    pub struct Quantization {}
}

impl Operator for Quantization {
    const NAME: &'static str = "quantization";
    const DOMAIN: Domain = Domain::NonNegative;
    const REACH: &'static [Reach] = &[Reach::signal(0.05, 10.0)];
    const MAGNITUDE: &'static str = "β, width of a step, in the unit of the channel; 0 is no quantization";

    fn disturb(&mut self, _: At, value: f64, _: &mut Rng) -> f64 {
        if self.magnitude == 0.0 { value } else { self.magnitude * (value / self.magnitude).floor() }
    }
}

//! A bias that grows with time.
//!
//! x′ₜ = xₜ + β k, where k = 1, 2, … counts the anomalous steps since the anomaly became active; β is the magnitude.
//! After a pause of an intermittent anomaly the count begins again.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 5.2, which leaves open where the count begins. Deviates: it
//! begins at the onset, because an instrument that drifts does so from when it breaks; β may be negative.

use super::signal::*;

/// On observations.
pub const OBS: Listed = on_observation::<Drift>(Words {
    id: "obs-drift",
    summary: "sensors with a bias that grows from the onset",
    equation: "o′ₜ = oₜ + β k,  k = 1, 2, … steps since the onset",
    imitates: "a sensor that ages or warms: gyroscope bias, dead reckoning, fouling",
    shows: "an error too small to be seen in one step: residuals added up over time, distance from nominal states",
});

/// On actions.
pub const ACT: Listed = on_action::<Drift>(Words {
    id: "act-drift",
    summary: "actuators with a bias that grows from the onset",
    equation: "a′ₜ = aₜ + β k,  k = 1, 2, … steps since the onset",
    imitates: "an actuator that slips out of trim little by little",
    shows: "an error too small to be seen in one step: residuals added up over time",
});

recipe! {
    /// The recipe.
    pub struct Drift {}
}

impl Operator for Drift {
    const NAME: &'static str = "drift";
    const DOMAIN: Domain = Domain::Real;
    const REACH: &'static [Reach] = &[Reach::signal(0.005, 5.0), Reach::signal(-0.005, -5.0)];
    const MAGNITUDE: &'static str =
        "β, growth of the bias per step from the onset, in the unit of the channel";

    fn disturb(&mut self, at: At, value: f64, _: &mut Rng) -> f64 {
        value + self.magnitude * at.step
    }
}

//! Noise that differs from white noise in nothing but its memory.
//!
//! x′ₜ = xₜ + nₜ with nₜ = φ nₜ₋₁ + √(1 − φ²) εₜ, n₀ = ε₀ and εₜ ~ N(0, β²), each channel by itself. β is the magnitude,
//! φ the `correlation` (0.95 unless given). From the first step on, nₜ has the variance β² of `noise` with the same
//! magnitude, and the correlation φᵏ over k steps: a monitor that looks at one step at a time sees the same for every φ.
//! After a pause of an intermittent anomaly the process begins again.
//!
//! Reference: DEXTER (LinasNas/DEXTER), whose benchmarks ARNO train on white noise and test on autoregressive noise of
//! the same variance. Deviates: φ is the coefficient itself; there, 0.95 in the lag polynomial is the coefficient −0.95.

use super::signal::*;
use super::temporal_noise::correlation;

/// On observations.
pub const OBS: Listed = on_observation::<ArNoise>(Words {
    id: "obs-ar-noise",
    summary: "noise on sensors, as strong as white noise but correlated in time",
    equation: "o′ₜ = oₜ + nₜ,  nₜ = φ nₜ₋₁ + √(1 − φ²) εₜ,  εₜ ~ N(0, β²)",
    imitates: "a sensor whose noise gains a rhythm: a filter that broke, vibration, aliasing",
    shows: "autocorrelation of residuals; against white noise of the same strength, in nothing else",
});

/// On actions.
pub const ACT: Listed = on_action::<ArNoise>(Words {
    id: "act-ar-noise",
    summary: "noise on actions, as strong as white noise but correlated in time",
    equation: "a′ₜ = aₜ + nₜ,  nₜ = φ nₜ₋₁ + √(1 − φ²) εₜ,  εₜ ~ N(0, β²)",
    imitates: "an actuator with a resonance or a slow disturbance: a loose mount, sloshing load",
    shows: "autocorrelation of residuals; against white noise of the same strength, in nothing else",
});

recipe! {
    /// The recipe, and the state nₜ₋₁ of each channel.
    pub struct ArNoise {
        #[serde(default = "strong", deserialize_with = "correlation")]
        correlation: f64,
        #[serde(skip)]
        last: Vec<Option<f64>>,
    }
}

fn strong() -> f64 {
    0.95
}

impl Operator for ArNoise {
    const NAME: &'static str = "ar-noise";
    const DOMAIN: Domain = Domain::NonNegative;
    const REACH: &'static [Reach] = &[Reach::signal(0.1, 10.0)];
    const MAGNITUDE: &'static str = "β, standard deviation of the noise, in the unit of the channel; φ is `correlation`, −0.95 alternates";

    fn fit(&mut self, width: usize) {
        self.last = vec![None; width];
    }

    fn begin(&mut self) {
        self.last.fill(None);
    }

    fn disturb(&mut self, At { channel, .. }: At, value: f64, rng: &mut Rng) -> f64 {
        let fresh = self.magnitude * rng.normal();
        let phi = self.correlation;
        let noise = self.last[channel].map_or(fresh, |last| phi * last + (1.0 - phi * phi).sqrt() * fresh);
        self.last[channel] = Some(noise);
        value + noise
    }
}

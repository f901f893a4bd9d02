//! Values that get lost.
//!
//! In each step a value is lost with probability p, the magnitude; what stands in its place is the last value that
//! arrived (`fill = "hold"`, unless given) or zero (`fill = "zero"`). Channels are lost independently, or all of the
//! chosen ones at once with `together = true`, as in one message. Where nothing has arrived yet, the first value does.

use super::signal::*;

/// On observations.
pub const OBS: Listed = on_observation::<Dropout>(Words {
    id: "obs-dropout",
    summary: "sensors with readings that get lost",
    equation: "o′ₜ = oₜ with probability 1 − p, else the last reading that arrived",
    imitates: "a radio link that loses messages, a loose contact, a camera that drops frames",
    shows: "steps without change followed by steps that are too large: the residual of a dynamics model",
});

/// On actions.
pub const ACT: Listed = on_action::<Dropout>(Words {
    id: "act-dropout",
    summary: "actuators with actions that get lost",
    equation: "a′ₜ = aₜ with probability 1 − p, else the last action that arrived",
    imitates: "a congested bus, a remote control at the edge of its reach, a loose contact",
    shows: "answers that sometimes fit the action before: the residual of a dynamics model",
});

/// What stands in the place of a lost value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// The last value that arrived.
    #[default]
    Hold,
    /// Zero.
    Zero,
}

recipe! {
    /// The recipe, the value that last arrived on each channel, and whether the message of this step is lost.
    pub struct Dropout {
        #[serde(default)]
        fill: Fill,
        #[serde(default)]
        together: bool,
        #[serde(skip)]
        arrived: Vec<Option<f64>>,
        #[serde(skip)]
        is_lost: bool,
    }
}

impl Dropout {
    fn draw(&self, rng: &mut Rng) -> bool {
        rng.uniform() < self.magnitude
    }
}

impl Operator for Dropout {
    const NAME: &'static str = "dropout";
    const DOMAIN: Domain = Domain::Share;
    const REACH: &'static [Reach] = &[Reach::one(0.05, 1.0)];
    const MAGNITUDE: &'static str =
        "p, probability that a value is lost; `fill` is hold or zero, `together` loses all channels at once";
    const BY_DEGREES: bool = false;

    fn fit(&mut self, width: usize) {
        self.arrived = vec![None; width];
    }

    fn advance(&mut self, rng: &mut Rng) {
        if self.together {
            self.is_lost = self.draw(rng);
        }
    }

    fn disturb(&mut self, At { channel, .. }: At, value: f64, rng: &mut Rng) -> f64 {
        let is_lost = if self.together { self.is_lost } else { self.draw(rng) };
        let arrived = &mut self.arrived[channel];
        match self.fill {
            _ if !is_lost => *arrived.insert(value),
            Fill::Hold => *arrived.get_or_insert(value),
            Fill::Zero => 0.0,
        }
    }

    fn watch(&mut self, channel: usize, value: f64) {
        self.arrived[channel] = Some(value);
    }
}

//! What an anomaly is, apart from how it is built: its class, and what its magnitude means.

use serde::{Deserialize, Serialize};

/// Where an anomaly acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Sensors: the observation on its way to the policy.
    Observation,
    /// Actuators: the action on its way to the environment.
    Action,
    /// The environment itself.
    Dynamics,
    /// Who watches: images of the environment, which neither environment nor policy see.
    Camera,
}

/// Which numbers are magnitudes of an anomaly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// Any number up to [`Domain::LARGEST`] in size.
    Real,
    /// Numbers from zero to [`Domain::LARGEST`].
    NonNegative,
    /// Whole numbers from zero to [`Domain::LARGEST_WHOLE`].
    Whole,
    /// Numbers from zero to one.
    Share,
    /// Numbers from 0 to 5.
    Severity,
}

impl Domain {
    /// The largest number of steps that an anomaly may be asked to remember.
    pub const LARGEST_WHOLE: f64 = 10_000.0;

    /// The largest magnitude. Signals are 32-bit numbers, which end at 3.4e38: the rest is for what a magnitude is
    /// multiplied by.
    pub const LARGEST: f64 = 1e30;

    /// Whether a number is a magnitude.
    pub fn contains(self, magnitude: f64) -> bool {
        match self {
            Domain::Real => magnitude.abs() <= Self::LARGEST,
            Domain::NonNegative => (0.0..=Self::LARGEST).contains(&magnitude),
            Domain::Severity => (0.0..=5.0).contains(&magnitude),
            Domain::Whole => (0.0..=Self::LARGEST_WHOLE).contains(&magnitude) && magnitude.fract() == 0.0,
            Domain::Share => (0.0..=1.0).contains(&magnitude),
        }
    }

    /// The rule in words, as it completes "expected a magnitude …".
    pub fn rule(self) -> &'static str {
        match self {
            Domain::Real => "from -1e30 to 1e30 (beyond, 32-bit signals stop being finite)",
            Domain::NonNegative => "from 0 to 1e30 (beyond, 32-bit signals stop being finite)",
            Domain::Severity => "that is a severity from 0 to 5",
            Domain::Whole => "that is a whole number from 0 to 10000",
            Domain::Share => "from 0 to 1",
        }
    }
}

/// What an anomaly is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AnomalyKind {
    /// Where it acts.
    pub class: Class,
    /// Which numbers are its magnitudes. Of dynamics, the environment's specification knows the range.
    pub domain: Domain,
    /// The magnitude at which it does nothing. Of dynamics, the environment's specification knows it.
    pub neutral: f64,
    /// First step away from neutral and limit of a search, in each direction; the preferred direction first.
    pub reach: &'static [Reach],
    /// What it does to a value.
    pub equation: &'static str,
    /// What the magnitude means.
    pub magnitude: &'static str,
    /// What happens to real systems that this imitates.
    pub imitates: &'static str,
    /// What a monitor must look at to notice it.
    pub shows: &'static str,
}

/// How far a search for a magnitude goes in one direction from neutral.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reach {
    /// A small step away from neutral.
    pub step: f64,
    /// The largest step that makes sense.
    pub limit: f64,
    /// In which unit the two are given.
    pub unit: Unit,
}

/// The unit of a [`Reach`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Half the width of the widest bounded channel of the signal; three nominal deviations if no channel is bounded.
    Signal,
    /// A pure number or a number of steps.
    One,
}

impl AnomalyKind {
    /// Whether its magnitude is in the unit of each channel that it disturbs.
    pub fn is_in_units(&self) -> bool {
        self.reach.iter().any(|reach| reach.unit == Unit::Signal)
    }
}

impl Reach {
    /// A reach in units of the signal.
    pub const fn signal(step: f64, limit: f64) -> Reach {
        Reach { step, limit, unit: Unit::Signal }
    }

    /// A reach in pure numbers.
    pub const fn one(step: f64, limit: f64) -> Reach {
        Reach { step, limit, unit: Unit::One }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_hold_what_they_say() {
        let held =
            |d: Domain| [0.0, 1.5, -1.0, f64::NAN, f64::INFINITY, 2.0, 1e9, 1e308].map(|m| d.contains(m));
        assert_eq!(held(Domain::Real), [true, true, true, false, false, true, true, false]);
        assert_eq!(held(Domain::NonNegative), [true, true, false, false, false, true, true, false]);
        assert_eq!(held(Domain::Whole), [true, false, false, false, false, true, false, false]);
        assert_eq!(
            [-0.1, 0.0, 0.5, 1.0, 1.1].map(|m| Domain::Share.contains(m)),
            [false, true, true, true, false]
        );
    }
}

//! How parameters are drawn: around their nominal values, from a list, or from distributions that are stated.

use super::joint::{Joint, STEP};
use crate::Rng;
use crate::spec::{EnvSpec, ParameterError};
use serde::{Deserialize, Serialize};

/// A parameter that is drawn around its nominal value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// Its name.
    pub name: String,
    /// x₀.
    pub nominal: f64,
    /// The place of an earlier one whose draw it shares.
    pub twin: Option<usize>,
    /// Its own standard deviation in its unit, in place of one that is relative to x₀.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
}

/// Each x from N(x₀, (σ x₀)²), anew while x / x₀ is not above zero; or from N(x₀, s²) where it has a spread s of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Around {
    /// What is drawn.
    pub quantities: Vec<Quantity>,
    /// σ, a standard deviation.
    pub sigma: f64,
}

/// How parameters are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draws {
    /// Around their nominal values.
    Around(Around),
    /// One of these rows, all with the same chance.
    Listed {
        /// The parameters.
        names: Vec<String>,
        /// A value for each, in each row.
        rows: Vec<Vec<f64>>,
    },
    /// From distributions that go together; entries of the initial condition too.
    Joint(Joint),
}

/// Why parameters cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DrawsError {
    /// The environment cannot be copied.
    #[error("environment {0} cannot be copied; drawing its parameters for each episode needs copies")]
    NoCopies(String),
    /// A parameter does not exist, or a value in a list is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A spread that is none.
    #[error("σ: expected a number above 0 and up to 1, found {0}")]
    Sigma(f64),
    /// A parameter that a relative spread leaves as it is.
    #[error(
        "parameter {name} of {env} is nominally 0, which a relative spread does not change; give it one of its own: {name}=S"
    )]
    Zero {
        /// The environment.
        env: String,
        /// The parameter.
        name: String,
    },
    /// A spread of a parameter's own that is none.
    #[error("parameter {name}: expected a standard deviation above 0, found {spread}")]
    Spread {
        /// The parameter.
        name: String,
        /// What was found.
        spread: f64,
    },
    /// A number that is neither a parameter nor an entry of an initial condition.
    #[error("environment {env} has neither a parameter nor an initial condition {name:?}{}", crate::suggest::hint(.nearest))]
    Unknown {
        /// The environment.
        env: String,
        /// The name.
        name: String,
        /// The most similar name that exists.
        nearest: Option<String>,
    },
    /// There is nothing to draw.
    #[error("expected at least one {0}, found none")]
    Nothing(&'static str),
    /// Nothing that was drawn can be.
    #[error("none of {tries} draws of the parameters of {env} can be")]
    None {
        /// The environment.
        env: String,
        /// How many were tried.
        tries: usize,
    },
}

impl Around {
    /// Parameters of an environment by their names.
    ///
    /// # Errors
    /// If one does not exist.
    pub fn of(spec: &EnvSpec, names: &[String], sigma: f64) -> Result<Around, DrawsError> {
        let one = |name: &String| -> Result<Quantity, DrawsError> {
            let nominal = spec.parameter(name)?.nominal;
            Ok(Quantity { name: name.clone(), nominal, twin: None, spread: None })
        };
        Ok(Around { quantities: names.iter().map(one).collect::<Result<_, _>>()?, sigma })
    }

    /// x / x₀ of each, or where it has a spread of its own 1 + σ (x − x₀) / s.
    pub fn ratios(&self, rng: &mut Rng) -> Vec<f64> {
        let mut ratios: Vec<f64> = Vec::with_capacity(self.quantities.len());
        for quantity in &self.quantities {
            ratios.push(match quantity.twin {
                Some(twin) => ratios[twin],
                None if quantity.spread.is_some() => 1.0 + self.sigma * rng.normal(),
                None => above_zero(self.sigma, rng),
            });
        }
        ratios
    }

    /// The values that these ratios are.
    pub fn values(&self, ratios: &[f64]) -> Vec<f64> {
        self.quantities.iter().zip(ratios).map(|(q, r)| q.value(*r, self.sigma)).collect()
    }

    /// Those that share no draw.
    fn free(&self) -> impl Iterator<Item = &Quantity> {
        self.quantities.iter().filter(|q| q.twin.is_none())
    }

    /// The values of all, given those of the free ones.
    fn all(&self, free: &[f64]) -> Vec<f64> {
        let (mut free, mut ratios) = (free.iter(), Vec::with_capacity(self.quantities.len()));
        for q in &self.quantities {
            let own = |value: &f64| q.ratio(*value, self.sigma);
            ratios.push(q.twin.map_or_else(|| free.next().map_or(1.0, own), |twin| ratios[twin]));
        }
        self.values(&ratios)
    }

    /// The values at these multiples of their standard deviations.
    fn of_normals(&self, z: &[f64]) -> Vec<f64> {
        self.free().zip(z).map(|(q, z)| q.value(1.0 + self.sigma * z, self.sigma)).collect()
    }

    /// z ← √(1 − s²) z + s ξ of each z = (x / x₀ − 1) / σ, which leaves a normal distribution as it is and is as likely
    /// backwards; a step across zero is not made.
    fn vary(&self, values: &[f64], rng: &mut Rng) -> Vec<f64> {
        let step = |(q, value): (&Quantity, &f64)| {
            let z = (q.ratio(*value, self.sigma) - 1.0) / self.sigma;
            let next = (1.0 - STEP * STEP).sqrt() * z + STEP * rng.normal();
            q.value(1.0 + self.sigma * next, self.sigma)
        };
        let varied: Vec<f64> = self.free().zip(values).map(step).collect();
        let sound = self.free().zip(&varied).all(|(q, v)| q.admits(*v));
        if sound { varied } else { values.to_vec() }
    }
}

impl Quantity {
    fn value(&self, ratio: f64, sigma: f64) -> f64 {
        match self.spread {
            Some(spread) => self.nominal + spread * (ratio - 1.0) / sigma,
            None => self.nominal * ratio,
        }
    }

    fn ratio(&self, value: f64, sigma: f64) -> f64 {
        match self.spread {
            Some(spread) => 1.0 + sigma * (value - self.nominal) / spread,
            None => value / self.nominal,
        }
    }

    /// Whether a value can be drawn; one that is relative keeps its sign.
    fn admits(&self, value: f64) -> bool {
        self.spread.is_some() || value / self.nominal > 0.0
    }
}

/// 1 + σ z, drawn until it is above zero.
fn above_zero(sigma: f64, rng: &mut Rng) -> f64 {
    loop {
        let ratio = 1.0 + sigma * rng.normal();
        if ratio > 0.0 {
            return ratio;
        }
    }
}

impl Draws {
    /// How many numbers an episode begins with that are none of the environment's own: one for each parameter that shares
    /// no draw.
    pub fn n(&self) -> usize {
        self.free_names().count()
    }

    /// The parameters whose values these are.
    pub(super) fn free_names(&self) -> impl Iterator<Item = &str> {
        let own = move |i: usize| match self {
            Draws::Around(around) => around.quantities[i].twin.is_none(),
            Draws::Listed { .. } | Draws::Joint(_) => true,
        };
        self.names().enumerate().filter(move |(i, _)| own(*i)).map(|(_, name)| name)
    }

    /// All parameters that are set.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names: Vec<&str> = match self {
            Draws::Around(around) => around.quantities.iter().map(|q| q.name.as_str()).collect(),
            Draws::Listed { names, .. } => names.iter().map(String::as_str).collect(),
            Draws::Joint(joint) => joint.parameters().iter().map(|v| v.name.as_str()).collect(),
        };
        names.into_iter()
    }

    /// The entries of an initial condition that are drawn here, in place of the environment.
    pub(super) fn entries(&self) -> impl Iterator<Item = &str> {
        let entries = if let Draws::Joint(joint) = self { joint.entries() } else { &[] };
        entries.iter().map(|v| v.name.as_str())
    }

    /// The values of all parameters, given those of an episode.
    pub(super) fn all(&self, values: &[f64]) -> Vec<f64> {
        match self {
            Draws::Around(around) => around.all(values),
            Draws::Listed { .. } | Draws::Joint(_) => values.to_vec(),
        }
    }

    /// Values for an episode: those of parameters, and then those of entries.
    pub fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        match self {
            Draws::Around(around) => {
                let values = around.values(&around.ratios(rng));
                let pairs = around.quantities.iter().zip(values);
                pairs.filter(|(q, _)| q.twin.is_none()).map(|(_, value)| value).collect()
            }
            Draws::Listed { rows, .. } => rows[rng.below(rows.len())].clone(),
            Draws::Joint(joint) => joint.draw(rng),
        }
    }

    /// How many independent standard normal numbers values are made of; 0 where they have no density.
    pub(super) fn normals(&self) -> usize {
        match self {
            Draws::Around(around) => around.free().count(),
            Draws::Listed { .. } => 0,
            Draws::Joint(joint) => joint.variables.len(),
        }
    }

    /// The values that these standard normal numbers stand for; nothing if they are never drawn.
    pub(super) fn of_normals(&self, z: &[f64]) -> Option<Vec<f64>> {
        let values = match self {
            Draws::Around(around) => around.of_normals(z),
            Draws::Listed { .. } => return None,
            Draws::Joint(joint) => joint.of_normals(z),
        };
        self.admit(&values).then_some(values)
    }

    /// A neighbour of values, as likely to lead back.
    pub(super) fn vary(&self, values: &[f64], rng: &mut Rng) -> Vec<f64> {
        match self {
            Draws::Around(around) => around.vary(values, rng),
            Draws::Listed { .. } => self.draw(rng),
            Draws::Joint(joint) => joint.vary(values, rng),
        }
    }

    /// Whether values can be drawn; asked of those that a search made up.
    pub(super) fn admit(&self, values: &[f64]) -> bool {
        match self {
            Draws::Around(around) => around.free().zip(values).all(|(q, v)| q.admits(*v)),
            Draws::Listed { rows, .. } => rows.iter().any(|row| row == values),
            Draws::Joint(joint) => joint.admit(values),
        }
    }

    /// The nominal values of an episode.
    pub(super) fn nominal(&self, spec: &EnvSpec) -> Vec<f64> {
        self.free_names().map(|name| spec.parameter(name).map_or(0.0, |p| p.nominal)).collect()
    }

    /// In words.
    pub fn describe(&self) -> String {
        let names = self.names().collect::<Vec<_>>().join(", ");
        match self {
            Draws::Around(around) => {
                format!("For each episode {names} are drawn with a relative spread of {}.", around.sigma)
            }
            Draws::Listed { rows, .. } => format!("For each episode {names} are one of {} rows.", rows.len()),
            Draws::Joint(joint) => {
                let names: Vec<&str> = joint.variables.iter().map(|v| v.name.as_str()).collect();
                format!("For each episode {} are drawn from distributions of their own.", names.join(", "))
            }
        }
    }

    /// Refuses what can never be drawn in an environment.
    pub(super) fn check(&self, spec: &EnvSpec) -> Result<(), DrawsError> {
        if self.names().next().is_none() && self.entries().next().is_none() {
            return Err(DrawsError::Nothing("parameter"));
        }
        match self {
            Draws::Around(around) => check_around(around, spec),
            Draws::Listed { rows, .. } if rows.is_empty() => Err(DrawsError::Nothing("row")),
            Draws::Listed { names, rows } => {
                let mut pairs = rows.iter().flat_map(|row| names.iter().zip(row));
                pairs.try_for_each(|(name, &value)| Ok(spec.check(name, value)?))
            }
            Draws::Joint(joint) => {
                joint.parameters().iter().try_for_each(|v| spec.parameter(&v.name).map(drop))?;
                joint.entries().iter().try_for_each(|v| check_entry(&v.name, spec))
            }
        }
    }
}

fn check_entry(name: &str, spec: &EnvSpec) -> Result<(), DrawsError> {
    if spec.initial.iter().any(|entry| entry == name) {
        return Ok(());
    }
    let known =
        spec.parameters.iter().map(|p| p.name.as_str()).chain(spec.initial.iter().map(String::as_str));
    let nearest = crate::suggest::nearest(name, known);
    Err(DrawsError::Unknown { env: spec.id.clone(), name: name.into(), nearest })
}

fn check_around(around: &Around, spec: &EnvSpec) -> Result<(), DrawsError> {
    if !(around.sigma > 0.0 && around.sigma <= 1.0) {
        return Err(DrawsError::Sigma(around.sigma));
    }
    for quantity in &around.quantities {
        spec.parameter(&quantity.name)?;
        if let Some(spread) = quantity.spread.filter(|s| !(*s > 0.0 && s.is_finite())) {
            return Err(DrawsError::Spread { name: quantity.name.clone(), spread });
        }
        if quantity.nominal == 0.0 && quantity.spread.is_none() {
            return Err(DrawsError::Zero { env: spec.id.clone(), name: quantity.name.clone() });
        }
    }
    Ok(())
}

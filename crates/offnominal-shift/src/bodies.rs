//! Bodies drawn around the nominal one.
//!
//! Each quantity x is drawn from N(x₀, (σ x₀)²), anew while it is not above zero. A body that cannot be built, or
//! whose numbers lie outside the environment's ranges, is rejected, counted, and drawn anew. Limbs for which the
//! publication's table has one row share their draw.

use crate::plan::BodySetting;
use anyhow::{Context, Result, ensure};
use offnominal_core::prelude::*;
use offnominal_core::randomised::{Around, Quantity};
use offnominal_engine::{catalogues, scenario};
use offnominal_worlds::env::body::{self, Reading};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Tries in a row after which there are taken to be no such bodies.
const MOST_TRIES: usize = 10_000;

/// A body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// Its number among those of the same spread.
    pub number: usize,
    /// The spread from which it was drawn.
    pub sigma: f64,
    /// The parameters that differ from nominal.
    pub set: BTreeMap<String, f64>,
    /// Mean of |x − x₀| / x₀ over all quantities that were drawn.
    pub difference: f64,
}

/// Bodies of one spread, and how many could not be.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// The bodies.
    pub bodies: Vec<Body>,
    /// Draws that were rejected.
    pub rejected: usize,
}

/// Draws bodies of a spread; the same seed gives the same bodies.
///
/// # Errors
/// If the environment has no limbs, or hardly any body of that spread can be.
pub fn draw(setting: &BodySetting, sigma: f64, n: usize, seed: Seed) -> Result<Draw> {
    let drawn = Around { quantities: quantities(setting)?, sigma };
    let stream = seed.child("bodies").child(setting.env.as_str()).child((1e6 * sigma).round() as usize);
    let mut found = Draw { bodies: vec![], rejected: 0 };
    for number in 0..n {
        let mut rng = stream.child(number).rng();
        let body = (0..MOST_TRIES).find_map(|_| {
            let body = one(&drawn, number, &mut rng);
            let fits = catalogues::environments().build(&setting.env, &params(setting, &body));
            match fits {
                Err(BuildError::Parameters(_)) => {
                    found.rejected += 1;
                    None
                }
                Err(other) => Some(Err(other)),
                Ok(_) => Some(Ok(body)),
            }
        });
        let nothing = || format!("σ = {sigma}: none of {MOST_TRIES} bodies of {} can be built", setting.env);
        found.bodies.push(body.with_context(nothing)??);
    }
    Ok(found)
}

/// The parameters of an environment with a body.
pub fn params(setting: &BodySetting, body: &Body) -> Value {
    json!({ "set": body.set, "reading": setting.reading, "mass": setting.mass, "fall": setting.fall })
}

/// What a setting draws.
fn quantities(setting: &BodySetting) -> Result<Vec<Quantity>> {
    let limbs = scenario::limbs(&setting.env, setting.reading)?;
    let mut all = Vec::new();
    if setting.draws("limbs") {
        all.extend(limbs);
    }
    for factor in BodySetting::FACTORS.into_iter().filter(|f| setting.draws(f)) {
        all.push(Quantity { name: factor.into(), nominal: 1.0, twin: None, spread: None });
    }
    ensure!(!all.is_empty(), "randomise: expected at least one of {}", BodySetting::PARAMETERS.join(", "));
    Ok(all)
}

fn one(drawn: &Around, number: usize, rng: &mut Rng) -> Body {
    let ratios = drawn.ratios(rng);
    let off = ratios.iter().map(|r| (r - 1.0).abs()).sum::<f64>();
    let names = drawn.quantities.iter().map(|q| q.name.clone());
    let set = names.zip(drawn.values(&ratios)).collect();
    Body { number, sigma: drawn.sigma, set, difference: off / ratios.len() as f64 }
}

/// The bodies as CSV: spread, number, difference, and every quantity.
///
/// # Errors
/// Never in practice.
pub fn bodies_csv(draws: &[(f64, Draw)]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let bodies = || draws.iter().flat_map(|(_, d)| &d.bodies);
    let names: Vec<&str> = bodies().next().map_or(vec![], |b| b.set.keys().map(String::as_str).collect());
    writer.write_record(["sigma", "body", "difference"].iter().chain(&names))?;
    for b in bodies() {
        let head = [b.sigma.to_string(), b.number.to_string(), format!("{:.5}", b.difference)];
        writer.write_record(head.into_iter().chain(b.set.values().map(|v| format!("{v:.6}"))))?;
    }
    Ok(writer.into_inner()?)
}

impl Body {
    /// The nominal body.
    pub fn nominal() -> Body {
        Body { number: 0, sigma: 0.0, set: BTreeMap::new(), difference: 0.0 }
    }
}

/// The nominal numbers of a reading by name; for tables.
pub fn nominal(env: &str, reading: Reading) -> Result<BTreeMap<String, f64>> {
    Ok(body::quantities(env, reading)?.into_iter().map(|q| (q.name, q.nominal)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(env: &str) -> BodySetting {
        BodySetting::new(env)
    }

    #[test]
    fn draws_have_the_spread_that_was_asked_for() {
        let found = draw(&setting("hopper"), 0.1, 60, Seed(1)).unwrap();
        let nominal = nominal("hopper", Reading::True).unwrap();
        let ratios: Vec<f64> =
            found.bodies.iter().flat_map(|b| b.set.iter().map(|(k, v)| v / nominal[k] - 1.0)).collect();
        let sd = (ratios.iter().map(|r| r * r).sum::<f64>() / ratios.len() as f64).sqrt();
        assert_eq!(ratios.len(), 60 * 8);
        // The standard error of a deviation is σ / √(2 n).
        assert!((sd - 0.1).abs() < 4.0 * 0.1 / (2.0 * 480.0_f64).sqrt(), "{sd}");
        let mean = found.bodies.iter().map(|b| b.difference).sum::<f64>() / 60.0;
        assert!((mean - 0.1 * (2.0 / std::f64::consts::PI).sqrt()).abs() < 0.01, "{mean}");
        assert_eq!(found, draw(&setting("hopper"), 0.1, 60, Seed(1)).unwrap());
    }

    #[test]
    fn both_legs_of_the_walker_are_alike_and_the_ants_are_not() {
        let body = &draw(&setting("walker"), 0.2, 1, Seed(2)).unwrap().bodies[0].set;
        assert_eq!(body["thigh-length"], body["left-thigh-length"]);
        let ant = &draw(&setting("ant"), 0.2, 1, Seed(2)).unwrap().bodies[0].set;
        assert_ne!(ant["front-left-leg-length"], ant["front-right-leg-length"]);
    }

    #[test]
    fn bodies_of_the_tables_that_cannot_be_are_counted() {
        let literal = BodySetting { reading: Reading::PaperLiteral, ..setting("hopper") };
        let found = draw(&literal, 0.2, 40, Seed(3)).unwrap();
        assert!(found.rejected > 0, "about a sixth of the draws has no torso or no thigh");
        assert_eq!(
            (found.bodies.len(), draw(&setting("hopper"), 0.2, 20, Seed(3)).unwrap().rejected),
            (40, 0)
        );
    }

    #[test]
    fn what_is_asked_for_is_drawn() {
        let masses = BodySetting { drawn: vec!["mass".into()], ..setting("ant") };
        let body = &draw(&masses, 0.1, 1, Seed(4)).unwrap().bodies[0];
        assert_eq!(body.set.keys().collect::<Vec<_>>(), ["mass"]);
        assert!(draw(&BodySetting { env: "cartpole".into(), ..masses }, 0.1, 1, Seed(4)).is_err());
    }
}

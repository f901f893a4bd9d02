//! Scenarios: what is drawn of an environment for each episode, and which episodes fail, as commands describe it.

pub mod distribution;

use crate::judged::{Criterion, Judged};
use crate::{catalogues, noise};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use offnominal_core::prelude::*;
use offnominal_core::randomised::{Around, Draws, Quantity, Randomised};
use offnominal_files::read;
use offnominal_stats::stl::Formula;
use offnominal_work::cli;
use offnominal_worlds::env::body::{self, BODIES, Reading};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// The most formulas that are told apart.
const FORMULAS: usize = 16;

/// The word for all lengths and widths of a body.
pub const LIMBS: &str = "limbs";

/// What is drawn for each episode, and by what one fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// How parameters are drawn, if any are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<Draws>,
    /// By what an episode fails, where not only the environment says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<Criterion>,
}

impl Scenario {
    /// The environment in this scenario.
    ///
    /// # Errors
    /// If the parameters cannot be drawn in it, or the criterion does not fit it.
    pub fn apply(&self, mut env: Box<dyn Env>) -> Result<Box<dyn Env>> {
        if let Some(draws) = &self.draws {
            env = Box::new(Randomised::new(env, draws.clone())?);
        }
        if let Some(criterion) = &self.criterion {
            env = Box::new(Judged::new(env, criterion)?);
        }
        Ok(env)
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let draws = self.draws.as_ref().map(Draws::describe);
        let criterion = self.criterion.as_ref().map(Criterion::describe);
        f.write_str(&draws.into_iter().chain(criterion).collect::<Vec<_>>().join(" "))
    }
}

/// Parameters of an environment that are drawn for each episode, and by what one fails.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(next_help_heading = "What is drawn, and what fails")]
pub struct ScenarioRequest {
    /// Parameters to draw per episode: NAME, NAME=STD, or `limbs`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub randomise: Vec<String>,
    /// Their standard deviation, relative to nominal
    #[arg(long, value_name = "S", requires = "randomise", default_value_t = 0.1)]
    pub sigma: f64,
    /// Table with one row of parameters per episode
    #[arg(long, value_name = "FILE", conflicts_with = "randomise")]
    pub parameter_table: Option<PathBuf>,
    /// Distribution of parameters and initial conditions (docs/howto/risk.md)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["randomise", "parameter_table"])]
    pub distribution: Option<PathBuf>,
    /// An episode fails if and only if its return is below R
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub below: Option<f64>,
    /// Formula whose violation is a failure (docs/howto/stl.md); repeatable in `risk estimate`, `search`: most important first
    #[arg(long, value_name = "FORMULA", conflicts_with = "below")]
    pub stl: Vec<Formula>,
}

impl Default for ScenarioRequest {
    fn default() -> ScenarioRequest {
        cli::defaults()
    }
}

impl ScenarioRequest {
    /// The options of the command line that mean the same, each after a blank.
    pub fn words(&self) -> String {
        let mut words = String::new();
        if !self.randomise.is_empty() {
            words += &format!(" --randomise {} --sigma {}", self.randomise.join(","), self.sigma);
        }
        if let Some(path) = &self.parameter_table {
            words += &format!(" --parameter-table {}", path.display());
        }
        if let Some(path) = &self.distribution {
            words += &format!(" --distribution {}", path.display());
        }
        words += &self.below.map_or(String::new(), |r| format!(" --below {r}"));
        let quoted = |stl: &Formula| stl.to_string().replace('\'', r"'\''");
        words + &self.stl.iter().map(|stl| format!(" --stl '{}'", quoted(stl))).collect::<String>()
    }

    /// What is drawn in an environment and by what its episodes fail, if either is said.
    ///
    /// # Errors
    /// If a parameter does not exist, the table cannot be read, there are two criteria, or several formulas, which only
    /// [`ScenarioRequest::resolve_several`] tells apart.
    pub fn resolve(&self, spec: &EnvSpec) -> Result<Option<Scenario>> {
        let n = self.stl.len();
        ensure!(
            n <= 1,
            "stl: expected one formula, because only `risk estimate` and `risk search` tell several apart, found {n}: join \
             them with `and`"
        );
        self.resolve_several(spec)
    }

    /// The same for a command that tells several formulas apart.
    ///
    /// # Errors
    /// If a parameter does not exist, the table cannot be read, or there are two criteria.
    pub fn resolve_several(&self, spec: &EnvSpec) -> Result<Option<Scenario>> {
        let draws = self.draws(spec)?;
        let criterion = match (self.below, &self.stl[..]) {
            (below, []) => below.map(Criterion::ReturnBelow),
            (Some(_), _) => bail!("stl: expected no `below` with it, found both"),
            (None, stl) => {
                ensure!(
                    stl.len() <= FORMULAS,
                    "stl: expected at most {FORMULAS} formulas, found {}",
                    stl.len()
                );
                for (i, formula) in stl.iter().enumerate() {
                    ensure!(
                        !stl[..i].contains(formula),
                        "stl: expected each formula once, found {formula} twice"
                    );
                }
                Some(Criterion::Stl(stl.to_vec()))
            }
        };
        let scenario = Scenario { draws, criterion };
        Ok(Some(scenario).filter(|s| s.draws.is_some() || s.criterion.is_some()))
    }

    fn draws(&self, spec: &EnvSpec) -> Result<Option<Draws>> {
        Ok(match (&self.parameter_table, &self.distribution) {
            (Some(_), Some(_)) => bail!("distribution: expected no table of parameters with it, found both"),
            (_, Some(_)) if !self.randomise.is_empty() => {
                bail!("distribution: expected no --randomise with it, found both")
            }
            (Some(path), None) => Some(listed(spec, path)?),
            (None, Some(path)) => Some(distribution::read(spec, path)?),
            (None, None) if self.randomise.is_empty() => None,
            (None, None) => Some(around(spec, &self.randomise, self.sigma)?),
        })
    }

    /// The environment with what is drawn of it.
    ///
    /// # Errors
    /// If it does not exist, or a parameter does not.
    pub fn env(&self, id: &str) -> Result<Box<dyn Env>> {
        let env = catalogues::environment(id, None)?;
        match self.resolve(env.spec())? {
            Some(found) => found.apply(env),
            None => Ok(env),
        }
    }
}

/// Parameters of an environment around their nominal values; `limbs` stands for all lengths and widths of a body.
///
/// # Errors
/// If one does not exist.
pub fn around(spec: &EnvSpec, names: &[String], sigma: f64) -> Result<Draws> {
    let mut quantities: Vec<Quantity> = Vec::new();
    for name in names {
        if name == LIMBS {
            let limbs = limbs(noise::base(&spec.id), Reading::True)
                .with_context(|| format!("--randomise {LIMBS}: expected one of {}", BODIES.join(", ")))?;
            // Twins are counted from the first limb.
            let before = quantities.len();
            quantities.extend(limbs.into_iter().map(|q| Quantity { twin: q.twin.map(|t| t + before), ..q }));
        } else {
            quantities.extend(quantity(spec, name, sigma).with_context(|| format!("--randomise {name}"))?);
        }
    }
    Ok(Draws::Around(Around { quantities, sigma }))
}

/// A parameter by its name, or `name=S` with a standard deviation of its own in the parameter's unit.
fn quantity(spec: &EnvSpec, text: &str, sigma: f64) -> Result<Vec<Quantity>> {
    let (name, spread) = text.split_once('=').map_or((text, None), |(name, spread)| (name, Some(spread)));
    let number = |text: &str| text.parse().with_context(|| format!("expected a number, found {text:?}"));
    let spread: Option<f64> = spread.map(number).transpose()?;
    let found = Around::of(spec, &[name.to_string()], sigma)?.quantities;
    Ok(found.into_iter().map(|q| Quantity { spread, ..q }).collect())
}

/// The lengths and widths of a body as what is drawn.
///
/// # Errors
/// If the environment has no limbs.
pub fn limbs(env: &str, reading: Reading) -> Result<Vec<Quantity>, BuildError> {
    let one = |q: body::Quantity| Quantity { name: q.name, nominal: q.nominal, twin: q.twin, spread: None };
    Ok(body::quantities(env, reading)?.into_iter().map(one).collect())
}

/// Columns of a table of bodies that are no parameters.
const BESIDE: [&str; 3] = ["sigma", "body", "difference"];

/// The rows of a table, one column for each parameter, such as the `bodies.csv` of `shift`.
///
/// # Errors
/// If the file cannot be read, or a column is no parameter of the environment.
pub fn listed(spec: &EnvSpec, path: &Path) -> Result<Draws> {
    let named = || path.display().to_string();
    let mut reader = csv::Reader::from_reader(read::open(path)?);
    let head = reader.headers().with_context(named)?.clone();
    let columns: Vec<usize> = (0..head.len()).filter(|&i| !BESIDE.contains(&&head[i])).collect();
    let names: Vec<String> = columns.iter().map(|&i| head[i].to_string()).collect();
    names.iter().try_for_each(|name| spec.parameter(name).map(drop)).with_context(named)?;
    let number =
        |text: &str| text.parse::<f64>().with_context(|| format!("expected a number, found {text:?}"));
    let row = |(i, record): (usize, csv::Result<csv::StringRecord>)| -> Result<Vec<f64>> {
        let record = record?;
        let values: Result<Vec<f64>> = columns.iter().map(|&c| number(&record[c])).collect();
        values.with_context(|| format!("{}, line {}", path.display(), i + 2))
    };
    let rows: Result<Vec<Vec<f64>>> = reader.records().enumerate().map(row).collect();
    Ok(Draws::Listed { names, rows: rows? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogues;
    use serde_json::json;

    fn environment(id: &str) -> Box<dyn Env> {
        catalogues::environments().build(id, &json!({})).unwrap()
    }

    fn words(names: &[&str]) -> Vec<String> {
        names.iter().map(|&n| n.into()).collect()
    }

    #[test]
    fn bodies_and_any_other_parameter_are_drawn() {
        let (walker, cartpole) = (environment("walker"), environment("cartpole"));
        let Draws::Around(found) = around(walker.spec(), &words(&["mass", LIMBS]), 0.1).unwrap() else {
            panic!("expected a spread")
        };
        // The left thigh shares the draw of the right one.
        let place = |name: &str| found.quantities.iter().position(|q| q.name == name).unwrap();
        assert_eq!(found.quantities[place("left-thigh-length")].twin, Some(place("thigh-length")));
        let name = cartpole.spec().parameters[0].name.clone();
        let scenario = Scenario {
            draws: Some(around(cartpole.spec(), std::slice::from_ref(&name), 0.2).unwrap()),
            criterion: None,
        };
        let randomised = scenario.apply(environment("cartpole")).unwrap();
        assert_eq!(
            (randomised.spec().id.as_str(), randomised.spec().initial[0].as_str()),
            ("cartpole", name.as_str())
        );
        let again: Scenario = serde_json::from_value(serde_json::to_value(&scenario).unwrap()).unwrap();
        assert_eq!(again, scenario);
    }

    #[test]
    fn a_body_is_built_once_and_is_the_one_that_was_drawn() {
        let draws = around(environment("hopper").spec(), &words(&[LIMBS]), 0.2).unwrap();
        let randomised =
            Scenario { draws: Some(draws), criterion: None }.apply(environment("hopper")).unwrap();
        let (mut own, x) = (randomised.fork().unwrap(), randomised.draw(&mut Rng::new(5)));
        let set: serde_json::Map<String, serde_json::Value> =
            randomised.spec().initial.iter().zip(&x).take(8).map(|(n, v)| (n.clone(), json!(v))).collect();
        let mut built = catalogues::environments().build("hopper", &json!({ "set": set })).unwrap();
        own.start(&x, &mut Rng::new(1));
        built.start(&x[8..], &mut Rng::new(1));
        let walk = |env: &mut dyn Env| {
            let mut obs = vec![0.0; 15];
            for _ in 0..40 {
                env.step(&[0.5, -0.5, 0.2], &mut Rng::new(1));
            }
            env.observe(&mut obs);
            obs
        };
        assert_eq!(walk(own.as_mut()), walk(built.as_mut()));
    }

    #[test]
    fn a_parameter_that_is_nominally_zero_has_a_spread_of_its_own() {
        let nominal = |name: &str| Parameter::new(name, "", "1", 0.0, -5.0, 5.0);
        let mut spec = environment("cartpole").spec().clone();
        spec.parameters.push(nominal("wind"));
        let refused = |text: &str| {
            let error = quantity(&spec, text, 0.1).unwrap_err();
            format!("{error:#}")
        };
        assert!(refused("wind=x").contains("expected a number, found \"x\""));
        let Draws::Around(around) = around(&spec, &words(&["wind=2"]), 0.1).unwrap() else {
            panic!("expected a spread")
        };
        let mut rng = Rng::new(1);
        let drawn: Vec<f64> = (0..4000).map(|_| Draws::Around(around.clone()).draw(&mut rng)[0]).collect();
        let mean = drawn.iter().sum::<f64>() / 4000.0;
        let sd = (drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4000.0).sqrt();
        // Four standard errors.
        assert!(mean.abs() < 0.13 && (sd - 2.0).abs() < 0.09, "{mean} {sd}");
    }

    #[test]
    fn tables_are_read_and_bad_ones_named() {
        let (folder, hopper) = (tempfile::tempdir().unwrap(), environment("hopper"));
        let path = folder.path().join("bodies.csv");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            listed(hopper.spec(), &path).and_then(|draws| {
                Scenario { draws: Some(draws), criterion: None }.apply(environment("hopper"))
            })
        };
        let refusal = |text: &str| format!("{:#}", read(text).err().unwrap());
        let found = read("sigma,body,difference,foot-length\n0.1,0,0.1,0.4\n0.1,1,0.2,0.3\n").unwrap();
        assert_eq!(found.spec().initial[0], "foot-length");
        assert!(refusal("foot-lenght\n0.4\n").contains("did you mean \"foot-length\"?"));
        assert!(
            refusal("foot-length\nlong\n").contains("bodies.csv, line 2: expected a number, found \"long\"")
        );
        assert!(refusal("foot-length\n").contains("expected at least one row, found none"));
        assert!(refusal("foot-length\n-1\n").contains("found -1"));
    }
}

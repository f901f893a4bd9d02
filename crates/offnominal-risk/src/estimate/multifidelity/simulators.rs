//! The high-fidelity and the low-fidelity environment, with the same policy in both.

use super::pairs::Players;
use crate::estimate::Request;
use crate::estimate::by_name;
use crate::experimenter::Experimenter;
use anyhow::{Context as _, Result};
use offnominal_core::prelude::*;
use offnominal_core::spec::Channel;
use offnominal_engine::catalogues;
use offnominal_engine::context::Context;
use offnominal_engine::subject::Subject;
use std::collections::BTreeMap;

/// Both environments with the policy.
pub struct Simulators {
    /// The environment in which the failure probability is wanted.
    pub dear: Subject,
    /// The environment that helps.
    pub cheap: Subject,
}

impl Simulators {
    /// Those of a request. The policy is found for the high-fidelity environment, and plays in both.
    ///
    /// # Errors
    /// If one of them cannot be had, a parameter cannot be set, or they differ in their channels or initial conditions.
    pub fn open(request: &Request) -> Result<Simulators> {
        let mut dear = Subject::new(&request.env, &request.policy)?;
        let cheap = request.cheap.as_deref().context("cheap: expected an environment")?;
        let mut env = catalogues::environment(&request.env.stated_too(cheap)?, None)?;
        belong_together(dear.env.spec(), env.spec())?;
        set(dear.env.as_mut(), &by_name("parameter", &request.parameters)?).context("parameter")?;
        set(env.as_mut(), &by_name("cheap-parameter", &request.cheap_parameters)?)
            .context("cheap-parameter")?;
        let cheap = Subject::of(env, dear.policy.fork(), dear.name.clone());
        Ok(Simulators { dear, cheap })
    }

    /// Who plays pairs with a seed.
    ///
    /// # Errors
    /// If an environment cannot be copied.
    pub fn players(&self, context: &Context) -> Result<Players<'_>> {
        let by = |subject| Experimenter::new(subject, context.seed);
        Ok(Players {
            dear: by(&self.dear)?.allowing(context.allow_diverged),
            cheap: by(&self.cheap)?.allowing(context.allow_diverged),
        })
    }
}

/// Sets parameters for all episodes to come.
fn set(env: &mut dyn Env, values: &BTreeMap<String, f64>) -> Result<()> {
    let pairs: Vec<(&str, f64)> = values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    pairs.iter().try_for_each(|(name, value)| env.spec().check(name, *value).map(drop))?;
    Ok(env.set_parameters(&pairs)?)
}

/// Refuses environments between which episodes cannot be paired.
fn belong_together(dear: &EnvSpec, cheap: &EnvSpec) -> Result<()> {
    same("initial conditions", [dear, cheap], |spec| spec.initial.clone())?;
    same("observation channels", [dear, cheap], |spec| names(&spec.observation))?;
    same("action channels", [dear, cheap], |spec| names(&spec.action))
}

fn names(channels: &[Channel]) -> Vec<String> {
    channels.iter().map(|channel| channel.name.clone()).collect()
}

/// Refuses what differs, with both environments and the first names that do.
fn same(what: &str, specs: [&EnvSpec; 2], of: impl Fn(&EnvSpec) -> Vec<String>) -> Result<()> {
    let [dear, cheap] = specs.map(&of);
    if dear == cheap {
        return Ok(());
    }
    let first = (0..).find(|&i| dear.get(i) != cheap.get(i)).unwrap_or_default();
    let shown = |all: &[String]| {
        let name = all.get(first).map_or("none".into(), |name| format!("{name:?}"));
        format!("{} with {name} as number {}", all.len(), first + 1)
    };
    let [one, other] = specs.map(|spec| &spec.id);
    anyhow::bail!(
        "{what}: expected those of {one} and {other} to be the same, found {} and {}",
        shown(&dear),
        shown(&cheap)
    )
}

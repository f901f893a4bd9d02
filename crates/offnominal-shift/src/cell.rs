//! Cells: the internal models of an environment, then each policy on the nominal body and on the bodies of each spread.
//! Those that are finished are not run again.

use crate::bodies::{Body, Draw, draw};
use crate::plan::ShiftPlan;
use crate::play::{self, median};
use crate::predictors::{InternalModels, Predictors};
use crate::row::{self, Number, Row};
use anyhow::{Context as _, Result};
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_engine::policies::bodies::Agent;
use offnominal_files::store::{State, Store, address};
use offnominal_files::table;
use serde_json::json;
use std::path::Path;
use std::sync::OnceLock;

const ROWS: &str = "rows.csv";
const MODELS: [&str; 2] = ["with-actions.safetensors", "states.safetensors"];

/// What the cells of a run came to.
pub struct Finished {
    /// The rows of all policies, those on the nominal body first.
    pub rows: Vec<Row>,
    /// Cells that were run now.
    pub ran: usize,
}

/// The bodies of each spread of a plan.
///
/// # Errors
/// If the environment has no limbs, or hardly any body can be.
pub fn draws(plan: &ShiftPlan) -> Result<Vec<(f64, Draw)>> {
    let of = |&sigma: &f64| Ok((sigma, draw(&plan.setting, sigma, plan.bodies, plan.root())?));
    plan.sigmas.iter().map(of).collect()
}

/// Runs the cells that are not finished.
///
/// # Errors
/// If one fails or cannot be stored.
pub fn run_all(
    plan: &ShiftPlan,
    policies: &[Agent],
    draws: &[(f64, Draw)],
    store: &Store,
    context: &Context,
) -> Result<Finished> {
    let models = models(plan, policies, store, context)?;
    let mut found = Finished { rows: vec![], ran: 0 };
    for (i, policy) in policies.iter().enumerate() {
        let cells = PolicyCells { plan, policy, models: Some(&models), fitted: OnceLock::new(), context };
        let rows = cells.everywhere(store, draws, &mut found.ran);
        found
            .rows
            .extend(rows.with_context(|| format!("{} ({} of {})", policy.name, i + 1, policies.len()))?);
    }
    store.sweep();
    Ok(found)
}

/// The rows of policies that were trained on other bodies than the nominal one, on the bodies of a run; their
/// steps are not scored.
///
/// # Errors
/// As [`run_all`].
pub fn toplines(
    plan: &ShiftPlan,
    policies: &[Agent],
    draws: &[(f64, Draw)],
    store: &Store,
    context: &Context,
) -> Result<Vec<Row>> {
    let plan = &ShiftPlan { nominal_runs: 0, updates: 0, detectors: vec![], ..plan.clone() };
    let mut rows = Vec::new();
    for policy in policies {
        let cells = PolicyCells { plan, policy, models: None, fitted: OnceLock::new(), context };
        rows.extend(cells.everywhere(store, draws, &mut 0).with_context(|| policy.name.clone())?);
    }
    Ok(rows)
}

/// The internal models, learned now or before.
fn models(plan: &ShiftPlan, policies: &[Agent], store: &Store, context: &Context) -> Result<InternalModels> {
    let digests: Vec<&str> = policies.iter().map(|a| a.digest.as_str()).collect();
    let what = json!({ "what": "internal models", "engine": env!("CARGO_PKG_VERSION"), "env": plan.setting.env,
        "fall": plan.setting.fall, "steps": plan.steps, "runs": plan.nominal_runs, "updates": plan.updates,
        "seed": plan.seed, "agents": digests });
    let id = address(&serde_json::to_vec(&what)?);
    if store.state(&id) == State::Done {
        return InternalModels::read([store.read(&id, MODELS[0])?, store.read(&id, MODELS[1])?]);
    }
    let models = InternalModels::learn(plan, policies, &store.unfinished(&id), context)?;
    store.save(&id, &models.files())?;
    Ok(models)
}

/// One policy with the predictors of its return gap; detectors are fitted when they are first needed.
struct PolicyCells<'a> {
    plan: &'a ShiftPlan,
    policy: &'a Agent,
    /// None where only returns are wanted.
    models: Option<&'a InternalModels>,
    fitted: OnceLock<Predictors>,
    context: &'a Context,
}

impl PolicyCells<'_> {
    /// The rows on the nominal body, and then those of the bodies of each spread.
    fn everywhere(&self, store: &Store, draws: &[(f64, Draw)], ran: &mut usize) -> Result<Vec<Row>> {
        let mut rows = self.stored(store, 0.0, &[Body::nominal()], None, ran)?;
        let base = rows.first().map(|r| r.median);
        for (sigma, draw) in draws {
            let own = self.stored(store, *sigma, &draw.bodies, base, ran);
            rows.extend(own.with_context(|| format!("σ = {sigma}"))?);
        }
        Ok(rows)
    }

    /// The rows of the bodies of a spread, from before or now.
    fn stored(
        &self,
        store: &Store,
        sigma: f64,
        bodies: &[Body],
        base: Option<f64>,
        ran: &mut usize,
    ) -> Result<Vec<Row>> {
        let id = self.id(sigma, bodies)?;
        if store.state(&id) != State::Done {
            let bar = self.context.task(bodies.len(), &format!("{}, σ = {sigma}", self.policy.name));
            if self.fitted.get().is_none() {
                let fitted = Predictors::fit(self.plan, self.policy, self.models.cloned(), self.context)?;
                let _ = self.fitted.set(fitted);
            }
            let predictors = self.fitted.get().expect("they were fitted above");
            let rows = parallel::map(self.context.jobs, bodies.len(), &bar, |i| {
                self.row(predictors, &bodies[i], base)
            })?;
            store.save(&id, &[(ROWS, table::to_csv(&row::numbers(&rows))?)])?;
            *ran += 1;
        }
        row::rows(&table::from_csv::<Number>(&store.read(&id, ROWS)?, Path::new(&id))?)
    }

    /// Everything that the rows depend on, as a name.
    fn id(&self, sigma: f64, bodies: &[Body]) -> Result<String> {
        let plan = ShiftPlan { sigmas: vec![sigma], bodies: bodies.len(), ..self.plan.clone() };
        let files = self.models.map(InternalModels::files).unwrap_or_default();
        let models: Vec<String> = files.iter().map(|(_, bytes)| address(bytes)).collect();
        let what = json!({ "what": "policy on bodies", "engine": env!("CARGO_PKG_VERSION"), "plan": plan,
            "agent": self.policy.digest, "bodies": bodies, "models": models });
        Ok(address(&serde_json::to_vec(&what)?))
    }

    fn row(&self, predictors: &Predictors, body: &Body, base: Option<f64>) -> Result<Row> {
        let plan = self.plan;
        // All policies meet a body with the same initial conditions.
        let seed = plan.root().child("play").child((1e6 * body.sigma).round() as usize).child(body.number);
        let rollout = play::play(&plan.setting, body, &self.policy.actor, plan.steps, seed)?;
        let diverged = rollout.diverged();
        if diverged > 0 {
            let (name, sigma, number) = (&self.policy.name, body.sigma, body.number);
            let n = rollout.episodes.len();
            self.context
                .note(&format!("{name}, σ = {sigma}, body {number}: {diverged} of {n} episodes diverged"));
        }
        let returns = rollout.returns();
        let middle = median(&returns).context("a run has at least one episode")?;
        Ok(Row {
            env: plan.setting.env.clone(),
            policy: self.policy.name.clone(),
            algorithm: self.policy.kind.clone(),
            sigma: body.sigma,
            body: body.number,
            difference: body.difference,
            nominal_return: base.unwrap_or(middle),
            median: middle,
            mean: returns.iter().sum::<f64>() / returns.len() as f64,
            fall_rate: rollout.fall_rate(),
            episodes: returns.len(),
            scores: predictors.scores(&rollout),
        })
    }
}

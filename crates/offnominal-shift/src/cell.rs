//! Runs what is not finished: the internal models of the world, then each policy at home and on the bodies of each spread.

use crate::bodies::{Body, Draw, draw};
use crate::instruments::{Instruments, Models};
use crate::plan::Plan;
use crate::play::{self, median};
use crate::row::{self, Row};
use anyhow::{Context as _, Result};
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_engine::policies::bodies::Agent;
use offnominal_files::store::{State, Store, address};
use serde_json::json;
use std::path::Path;
use std::sync::OnceLock;

const ROWS: &str = "rows.csv";
const MODELS: [&str; 2] = ["with-actions.safetensors", "states.safetensors"];

/// What a run came to.
pub struct Progress {
    /// The rows of all policies, those at home first.
    pub rows: Vec<Row>,
    /// Cells that were run now.
    pub ran: usize,
}

/// The bodies of each spread of a plan.
///
/// # Errors
/// If the world has no limbs, or hardly any body can be.
pub fn draws(plan: &Plan) -> Result<Vec<(f64, Draw)>> {
    let of = |&sigma: &f64| Ok((sigma, draw(&plan.setting, sigma, plan.bodies, plan.root())?));
    plan.sigmas.iter().map(of).collect()
}

/// Runs the cells that are not finished.
///
/// # Errors
/// If one fails or cannot be kept.
pub fn run(
    plan: &Plan,
    agents: &[Agent],
    draws: &[(f64, Draw)],
    store: &Store,
    context: &Context,
) -> Result<Progress> {
    let models = models(plan, agents, store, context)?;
    let mut found = Progress { rows: vec![], ran: 0 };
    for (i, agent) in agents.iter().enumerate() {
        let lab = Lab { plan, agent, models: Some(&models), fitted: OnceLock::new(), context };
        let rows = lab.everywhere(store, draws, &mut found.ran);
        found.rows.extend(rows.with_context(|| format!("{} ({} of {})", agent.name, i + 1, agents.len()))?);
    }
    store.sweep()?;
    Ok(found)
}

/// The rows of policies that were trained on other bodies than the nominal one, on the bodies of a run; nothing looks at
/// what they do.
///
/// # Errors
/// As [`run`].
pub fn toplines(
    plan: &Plan,
    agents: &[Agent],
    draws: &[(f64, Draw)],
    store: &Store,
    context: &Context,
) -> Result<Vec<Row>> {
    let plan = &Plan { home_runs: 0, updates: 0, detectors: vec![], ..plan.clone() };
    let mut rows = Vec::new();
    for agent in agents {
        let lab = Lab { plan, agent, models: None, fitted: OnceLock::new(), context };
        rows.extend(lab.everywhere(store, draws, &mut 0).with_context(|| agent.name.clone())?);
    }
    Ok(rows)
}

/// The internal models, learned now or before.
fn models(plan: &Plan, agents: &[Agent], store: &Store, context: &Context) -> Result<Models> {
    let digests: Vec<&str> = agents.iter().map(|a| a.digest.as_str()).collect();
    let what = json!({ "what": "internal models", "engine": env!("CARGO_PKG_VERSION"), "env": plan.setting.env,
        "fall": plan.setting.fall, "steps": plan.steps, "runs": plan.home_runs, "updates": plan.updates,
        "seed": plan.seed, "agents": digests });
    let id = address(&serde_json::to_vec(&what)?);
    if store.state(&id) == State::Done {
        return Models::read([store.read(&id, MODELS[0])?, store.read(&id, MODELS[1])?]);
    }
    let models = Models::learn(plan, agents, &store.unfinished(&id), context)?;
    store.keep(&id, &models.files())?;
    Ok(models)
}

/// One policy with what looks at it; detectors are fitted when they are first needed.
struct Lab<'a> {
    plan: &'a Plan,
    agent: &'a Agent,
    /// None where only returns are wanted.
    models: Option<&'a Models>,
    fitted: OnceLock<Instruments>,
    context: &'a Context,
}

impl Lab<'_> {
    /// The rows at home, and then those of the bodies of each spread.
    fn everywhere(&self, store: &Store, draws: &[(f64, Draw)], ran: &mut usize) -> Result<Vec<Row>> {
        let mut rows = self.kept(store, 0.0, &[Body::nominal()], None, ran)?;
        let base = rows.first().map(|r| r.median);
        for (sigma, draw) in draws {
            let own = self.kept(store, *sigma, &draw.bodies, base, ran);
            rows.extend(own.with_context(|| format!("σ = {sigma}"))?);
        }
        Ok(rows)
    }

    /// The rows of the bodies of a spread, from before or now.
    fn kept(
        &self,
        store: &Store,
        sigma: f64,
        bodies: &[Body],
        base: Option<f64>,
        ran: &mut usize,
    ) -> Result<Vec<Row>> {
        let id = self.id(sigma, bodies)?;
        if store.state(&id) != State::Done {
            let bar = self.context.task(bodies.len(), &format!("{}, σ = {sigma}", self.agent.name));
            if self.fitted.get().is_none() {
                let fitted =
                    Instruments::fit(self.plan, self.agent, self.models.cloned(), self.context.jobs)?;
                let _ = self.fitted.set(fitted);
            }
            let instruments = self.fitted.get().expect("they were fitted above");
            let rows = parallel::map(self.context.jobs, bodies.len(), &bar, |i| {
                self.row(instruments, &bodies[i], base)
            })?;
            store.keep(&id, &[(ROWS, row::to_csv(&rows)?)])?;
            *ran += 1;
        }
        row::from_csv(&store.read(&id, ROWS)?, Path::new(&id))
    }

    /// Everything that the rows depend on, as a name.
    fn id(&self, sigma: f64, bodies: &[Body]) -> Result<String> {
        let plan = Plan { sigmas: vec![sigma], bodies: bodies.len(), ..self.plan.clone() };
        let files = self.models.map(Models::files).unwrap_or_default();
        let models: Vec<String> = files.iter().map(|(_, bytes)| address(bytes)).collect();
        let what = json!({ "what": "policy on bodies", "engine": env!("CARGO_PKG_VERSION"), "plan": plan,
            "agent": self.agent.digest, "bodies": bodies, "models": models });
        Ok(address(&serde_json::to_vec(&what)?))
    }

    fn row(&self, instruments: &Instruments, body: &Body, base: Option<f64>) -> Result<Row> {
        let plan = self.plan;
        // All policies meet a body with the same initial conditions.
        let seed = plan.root().child("play").child((1e6 * body.sigma).round() as usize).child(body.number);
        let played = play::play(&plan.setting, body, &self.agent.actor, plan.steps, seed)?;
        let returns = played.returns();
        let middle = median(&returns).context("a run has at least one episode")?;
        Ok(Row {
            env: plan.setting.env.clone(),
            agent: self.agent.name.clone(),
            kind: self.agent.kind.clone(),
            sigma: body.sigma,
            body: body.number,
            difference: body.difference,
            home: base.unwrap_or(middle),
            median: middle,
            mean: returns.iter().sum::<f64>() / returns.len() as f64,
            fell: played.fell(),
            episodes: returns.len(),
            scores: instruments.scores(&played),
        })
    }
}

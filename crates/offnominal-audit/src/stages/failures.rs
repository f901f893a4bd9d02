//! How often the policy fails, and from where. Failures are counted; where counting finds few and the environment tells
//! how far it is from failing, swarms and a search move towards failures that are too rare to be counted.

use crate::plan::Plan;
use crate::request::Request;
use anyhow::Result;
use offnominal_core::env::Env;
use offnominal_core::rng::Rng;
use offnominal_engine::context::Context;
use offnominal_engine::subject::Subject;
use offnominal_risk::estimate::document::Document;
use offnominal_risk::{estimate, replay, search, split};
use offnominal_work::cli;
use serde_json::json;
use std::path::PathBuf;

/// The folder of the stage in that of the audit.
pub const FOLDER: &str = "failures";

/// Below so many failures, counting says little.
const FEW: usize = 10;
/// Width and height of videos in pixels.
const VIDEO: usize = 256;

/// What is known of failures.
pub struct FailureFindings {
    /// What counting found.
    pub counted: Document,
    /// Whether the environment counts anything as a failure, as far as counting and random commands show.
    pub counts_failures: bool,
    /// What swarms found, if they were sent; or why they found nothing.
    pub swarms: Option<Result<split::Report>>,
    /// What the search found, if there was one; or why it found nothing.
    pub search: Option<Result<search::Report>>,
    /// A video of each kind of failure, in their order, where there is a camera.
    pub videos: Vec<Option<PathBuf>>,
}

/// Counts, and looks for what is rare.
///
/// # Errors
/// If an episode has no outcome, or a file cannot be written.
pub fn run(request: &Request, plan: &Plan, subject: &Subject, context: &Context) -> Result<FailureFindings> {
    let folder = request.out.join(FOLDER);
    let asked = json!({
        "env": request.env, "policy": request.policy, "episodes": plan.counts.failures, "out": folder,
    });
    let counting = cli::request(&asked)?;
    let counted = estimate::alone(&counting, context)?;
    let is_rare = counted.document.failures.len() < FEW && plan.effort().swarms > 0;
    let (swarms, search) = if is_rare && tells_margin(subject.env.as_ref()) {
        (Some(swarm(request, plan, context)), Some(look(request, plan, context)))
    } else {
        (None, None)
    };
    context.check()?;
    let videos = videos(request, &counted.document, context)?;
    Ok(FailureFindings {
        counts_failures: counted.counts_failures,
        counted: counted.document,
        swarms,
        search,
        videos,
    })
}

/// Whether the environment says how far it is from failing, and has neighbours of initial conditions.
fn tells_margin(env: &dyn Env) -> bool {
    let x = env.draw(&mut Rng::new(0));
    let search = env.failure_search();
    search.margin().is_some() && search.vary(&x, &mut Rng::new(0)).is_some()
}

fn swarm(request: &Request, plan: &Plan, context: &Context) -> Result<split::Report> {
    let asked = json!({
        "env": request.env, "policy": request.policy, "swarms": plan.effort().swarms,
        "out": request.out.join(FOLDER).join("swarms"),
    });
    split::run(&cli::request(&asked)?, context)
}

fn look(request: &Request, plan: &Plan, context: &Context) -> Result<search::Report> {
    let asked = json!({
        "env": request.env, "policies": [request.policy], "strategies": ["random", "cross-entropy"], "searches": 3,
        "budget": plan.effort().counts.failures, "out": request.out.join(FOLDER).join("search"),
    });
    search::run(&cli::request(&asked)?, context)
}

/// A video of the example of each kind.
fn videos(request: &Request, counted: &Document, context: &Context) -> Result<Vec<Option<PathBuf>>> {
    let video = |(k, kind): (usize, &estimate::atlas::FailureKind)| {
        let out = request.out.join(FOLDER).join(format!("kind-{k}"));
        let asked = replay::Request {
            run: request.out.join(FOLDER),
            failure: kind.example,
            policy: Some(request.policy.clone()),
            size: VIDEO,
            out: Some(out),
        };
        let gif = |files: Vec<PathBuf>| {
            files.into_iter().find(|file| file.extension().is_some_and(|end| end == "gif"))
        };
        replay::run(&asked, context).map(|found| gif(found.files))
    };
    counted.kinds.iter().enumerate().map(video).collect()
}

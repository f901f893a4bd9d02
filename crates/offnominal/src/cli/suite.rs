//! `bench --suite`: runs a benchmark that travels with the binary, environment by environment.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use offnominal_bench::cells as bench;
use offnominal_bench::results::Row;
use offnominal_bench::suite::{self, Environment, Request, State, Suite};
use serde_json::{Value, json};
use std::io::Write;

/// Prints the campaigns of a suite, each after the name of its file.
pub(super) fn print_campaigns(suite: &Suite) -> Result<Outcome> {
    let mut out = std::io::stdout().lock();
    for (name, text) in suite.files {
        writeln!(out, "# {name}\n{text}")?;
    }
    Ok(Outcome::Done)
}

/// Runs what is not finished of the environments asked for; then says what all environments that are there tell together.
///
/// # Errors
/// As [`suite::run`].
pub(super) fn run(request: &Request<'_>, common: &Common) -> Result<Outcome> {
    let states = suite::run(request, &common.context())?;
    if common.json {
        return print_json(request, &states);
    }
    summary(request)?;
    for (env, state) in &states {
        if let State::Missing(why) = state {
            println!("{env} is missing: no {why}");
        }
    }
    Ok(Outcome::Done)
}

fn print_json(request: &Request<'_>, states: &[(String, State)]) -> Result<Outcome> {
    let environment = |(env, state): &(String, State)| match state {
        State::Complete => {
            json!({ "env": env, "table": request.out.join(format!("{env}.parquet")), "missing": null })
        }
        State::Missing(why) => json!({ "env": env, "table": null, "missing": why }),
    };
    let environments: Vec<Value> = states.iter().map(environment).collect();
    println!("{:#}", json!({ "suite": request.suite.id, "environments": environments }));
    Ok(Outcome::Done)
}

/// One line per detector over all environments of the folder, whichever of them this call ran.
fn summary(request: &Request<'_>) -> Result<()> {
    let (mut rows, mut detectors, mut there) = (Vec::<Row>::new(), Vec::<String>::new(), Vec::new());
    let environments = request.suite.environments()?;
    for env in &environments {
        let Some(environment) = Environment::load(request.out, env)? else { continue };
        let own = environment.rows(request.out)?;
        let first = own.first().map(|row| row.policy.clone());
        rows.extend(own.into_iter().filter(|row| Some(&row.policy) == first.as_ref()).map(Row::from));
        detectors
            .extend(environment.detectors.into_iter().filter(|d| !detectors.contains(d)).collect::<Vec<_>>());
        there.push(env.as_str());
    }
    println!("{}", bench::summary(&rows, &detectors));
    println!("{} of {} environments: {}", there.len(), environments.len(), there.join(", "));
    println!("means over anomalies and strengths with 95 % intervals; alarms at the conformal threshold");
    println!("{}", request.out.display());
    Ok(())
}

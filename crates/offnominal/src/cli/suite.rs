//! `bench --suite`: runs a benchmark that travels with the binary, world by world.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use offnominal_bench::cells as bench;
use offnominal_bench::results::Row;
use offnominal_bench::suite::{self, Request, State, Suite, Table, World};
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

/// Runs what is not finished of the worlds asked for; then says what all worlds that are there tell together.
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
    let world = |(env, state): &(String, State)| match state {
        State::Complete => {
            json!({ "env": env, "table": request.out.join(format!("{env}.csv")), "missing": null })
        }
        State::Missing(why) => json!({ "env": env, "table": null, "missing": why }),
    };
    let worlds: Vec<Value> = states.iter().map(world).collect();
    println!("{:#}", json!({ "suite": request.suite.id, "worlds": worlds }));
    Ok(Outcome::Done)
}

/// One line per detector over all worlds of the folder, whichever of them this call ran.
fn summary(request: &Request<'_>) -> Result<()> {
    let (mut rows, mut detectors, mut there) = (Vec::<Row>::new(), Vec::<String>::new(), Vec::new());
    let worlds = request.suite.worlds()?;
    for env in &worlds {
        let Some(world) = World::load(request.out, env)? else { continue };
        let Table { lines } = world.table(request.out)?;
        let first = |line: &suite::Line| line.policy == lines[0].policy;
        rows.extend(Table { lines: lines.iter().filter(|l| first(l)).cloned().collect() }.rows());
        detectors.extend(world.detectors.into_iter().filter(|d| !detectors.contains(d)).collect::<Vec<_>>());
        there.push(env.as_str());
    }
    println!("{}", bench::summary(&rows, &detectors));
    println!("{} of {} worlds: {}", there.len(), worlds.len(), there.join(", "));
    println!("means over anomalies and strengths with 95 % intervals; alarms at the conformal threshold");
    println!("{}", request.out.display());
    Ok(())
}

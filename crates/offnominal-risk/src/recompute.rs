//! Whether a finished run can be trusted: parts of it, drawn at random, are played once more and compared with what its
//! journal holds, and its result is made again from the journal.
//!
//! Blind to: parts that were not drawn. If all of n parts agree, then with 95 % confidence at most 1 − 0.05^(1/n) of all
//! parts do not.

use crate::estimate::atlas::Atlas;
use crate::estimate::block::{Block, Failure, Method, checked};
use crate::estimate::document::Document;
use crate::estimate::estimation::{Estimation, JOURNAL};
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::replay::subject_of;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::Rng;
use offnominal_core::estimate::Estimate;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_engine::subject::Subject;
use offnominal_files::journal::Journal;
use offnominal_stats::Level;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the things are that a run was made of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inputs {
    /// The environment, where files in its id have moved.
    pub env: Option<String>,
    /// The policy, where it is not to be found under the name it had.
    pub policy: Option<String>,
    /// The predictor of a thinned run.
    pub predictor: Option<PathBuf>,
}

/// What was played once more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recomputed {
    /// What a part is.
    pub what: String,
    /// How many parts the run has.
    pub of: u64,
    /// How many were played, drawn with equal chances.
    pub n: u64,
    /// How many parts with a failure were played besides.
    pub failures: u64,
    /// What differs, in words; empty if nothing does.
    pub differences: Vec<String>,
}

/// Plays `n` draws of an estimate once more, and as many of its failures.
///
/// # Errors
/// If the folder holds no finished run, or environment, policy or predictor cannot be had or are others.
pub fn estimate(
    folder: &Path,
    inputs: &Inputs,
    n: usize,
    rng: &mut Rng,
    context: &Context,
) -> Result<Recomputed> {
    let mut document = Document::read(folder)?;
    let run = document.run.clone();
    let blocks = blocks(folder, &document)?;
    document.run.env = inputs.env.clone().unwrap_or(document.run.env);
    let subject = subject_of(&document, inputs.policy.as_deref())?;
    provenance::check_hosted(subject.env.spec(), run.simulator.as_deref())?;
    let by =
        Experimenter::new(&subject, run.seed)?.disturbed_by(run.anomaly_spec.as_ref()).allowing(u64::MAX);
    let guide = guide(&run.method, inputs, &subject)?;
    let estimation = Estimation::again(by, guide.as_ref(), run.clone());
    let mut differences = Vec::new();
    let level = document.answers().find_map(|answer| answer.risk.as_ref()).map_or(0.95, |risk| risk.level);
    let verdict = estimation.judge(&blocks, Level::try_from(level)?)?;
    differences.extend(follows(document.risk.risk.as_ref(), verdict.risk.as_ref().ok()));
    let atlas = Atlas::of(&verdict.failures, subject.env.spec());
    differences.extend(others(&document, &Document::new(&document.run, &verdict, atlas))?);
    let failures: BTreeMap<u64, &Failure> =
        blocks.iter().flat_map(|b| &b.failures).map(|f| (f.index, f)).collect();
    let known: Vec<u64> = failures.keys().copied().collect();
    let mut drawn: Vec<u64> = (0..n).map(|_| rng.below(document.draws as usize) as u64).collect();
    let more = n.min(known.len());
    drawn.extend((0..more).map(|_| known[rng.below(known.len())]));
    let again = estimation.draws(&blocks, &drawn, context)?;
    for (index, found) in drawn.iter().zip(&again) {
        if found.as_ref() != failures.get(index).copied() {
            differences
                .push(format!("draw {index}: {}", change(failures.get(index).copied(), found.as_ref())));
        }
    }
    let (of, n, failures) = (document.draws, n as u64, more as u64);
    Ok(Recomputed { what: "draws".into(), of, n, failures, differences })
}

fn blocks(folder: &Path, document: &Document) -> Result<Vec<Block>> {
    let path = folder.join(JOURNAL);
    ensure!(path.is_file(), "{}: expected the journal of the run, found none", path.display());
    let (_, blocks) = Journal::open::<_, Block>(&path, &document.run)?;
    let found = checked(&blocks)?;
    let draws = document.draws;
    ensure!(found == draws, "{}: expected {draws} draws, those of the result, found {found}", path.display());
    Ok(blocks)
}

fn guide(method: &Method, inputs: &Inputs, subject: &Subject) -> Result<Option<Guide>> {
    let Some(predictor) = method.predictor() else { return Ok(None) };
    let file = inputs.predictor.as_deref().context("expected the predictor of the run, found none")?;
    let guide = Guide::open(file, subject)?;
    let found = &guide.digest;
    ensure!(found == predictor, "predictor: expected digest {predictor}, that of the run, found {found}");
    Ok(Some(guide))
}

/// How a stated estimate differs from the one that follows from the journal.
fn follows(stated: Option<&Estimate>, found: Option<&Estimate>) -> Option<String> {
    let words = |e: Option<&Estimate>| {
        e.map_or("no estimate".into(), |e| format!("{:e} [{:e}, {:e}]", e.value, e.low, e.high))
    };
    (stated != found).then(|| {
        format!(
            "the result: expected {}, which follows from the journal, found {}",
            words(found),
            words(stated)
        )
    })
}

/// What else of a result does not follow from its journal; warnings of the predictor and what made it do not.
fn others(stated: &Document, found: &Document) -> Result<Vec<String>> {
    let (stated, found) = (serde_json::to_value(stated)?, serde_json::to_value(found)?);
    let names = found.as_object().into_iter().flat_map(|fields| fields.keys());
    let names = names.filter(|name| !["made", "warnings", "risk"].contains(&name.as_str()));
    let differs = names.filter(|name| stated[name.as_str()] != found[name.as_str()]);
    Ok(differs.map(|name| format!("the result: {name} does not follow from the journal")).collect())
}

fn change(stored: Option<&Failure>, found: Option<&Failure>) -> String {
    match (stored, found) {
        (Some(_), None) => "failed in the run and does not fail now".into(),
        (None, Some(found)) => format!("fails in step {} and did not in the run", found.steps),
        (Some(stored), Some(found)) if stored.steps != found.steps => {
            format!("expected a failure in step {}, found one in step {}", stored.steps, found.steps)
        }
        _ => "fails in the same step, but not from the same numbers".into(),
    }
}

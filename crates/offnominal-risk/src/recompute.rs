//! Whether a finished run can be trusted: parts of it, drawn at random, are played once more and compared with what its
//! journal holds, and its result is made again from the journal.
//!
//! | function      | what is drawn                                                               |
//! |---------------|-----------------------------------------------------------------------------|
//! | [`estimate`]  | draws of initial conditions, and as many failures of an [`estimate`](crate::estimate) run |
//! | [`fork`]      | blocks of roots of a [`fork`](crate::forks) run                             |
//!
//! Blind to: parts that were not drawn. If all of n parts agree, then with 95 % confidence at most 1 − 0.05^(1/n) of all
//! parts do not.

use crate::committor::Committor;
use crate::estimate::atlas::Atlas;
use crate::estimate::block::{Block, Failure, Method, checked};
use crate::estimate::document::Document;
use crate::estimate::estimation::{Estimation, JOURNAL};
use crate::experimenter::Experimenter;
use crate::forks::{self, Forest, ForkSpec, roots};
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
    /// The committor of a run with copies.
    pub committor: Option<PathBuf>,
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
    let verdict = estimation.judge(&blocks, Level::try_from(level)?, context)?;
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

/// Plays `n` blocks of roots once more.
///
/// # Errors
/// As [`estimate`].
pub fn fork(
    folder: &Path,
    inputs: &Inputs,
    n: usize,
    rng: &mut Rng,
    context: &Context,
) -> Result<Recomputed> {
    let (spec, known) = roots::read(folder)?;
    let subject = fork_subject(&spec, inputs)?;
    let by = Experimenter::new(&subject, spec.seed)?.allowing(u64::MAX);
    let guide = guide(&spec.method, inputs, &subject)?;
    let committor = spec.committor.as_ref().map(|digest| {
        let file = inputs.committor.as_deref().context("expected the committor of the run, found none")?;
        let committor = Committor::open(file, &subject)?;
        let found = forks::digest(&committor);
        ensure!(found == *digest, "committor: expected digest {digest}, that of the run, found {found}");
        Ok(committor)
    });
    let committor = committor.transpose()?;
    let stated: Stated = offnominal_files::read::json(&folder.join(forks::FILE))?;
    let forest = Forest::again(by, committor.as_ref(), guide.as_ref(), spec)?;
    let level = Level::try_from(stated.risk.level)?;
    let judged = forest.judge(&known, roots::BLOCK * known.len() as u64, level)?;
    let mut differences: Vec<String> = follows(Some(&stated.risk), Some(&judged)).into_iter().collect();
    let drawn: Vec<usize> = (0..n.min(known.len())).map(|_| rng.below(known.len())).collect();
    let again = context.map(drawn.len(), "blocks of roots", |i| forest.block(drawn[i] as u64))?;
    for (&i, found) in drawn.iter().zip(&again) {
        if *found != known[i] {
            differences.push(format!("block {i} of roots: expected {:?}, found {found:?}", known[i]));
        }
    }
    let (of, n) = (known.len() as u64, drawn.len() as u64);
    Ok(Recomputed { what: "blocks of roots".into(), of, n, failures: 0, differences })
}

/// What a result says of the risk.
#[derive(serde::Deserialize)]
struct Stated {
    risk: Estimate,
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

fn fork_subject(spec: &ForkSpec, inputs: &Inputs) -> Result<Subject> {
    let env = inputs.env.as_deref().unwrap_or(&spec.env);
    let policy = inputs.policy.as_deref().unwrap_or(&spec.policy.id);
    let subject = Subject::new(env, policy)?.under(spec.scenario.clone())?;
    let (expected, found) = (&spec.policy.digest, &subject.name.digest);
    ensure!(found == expected, "policy: expected digest {expected}, that of the run, found {found}");
    Ok(subject)
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

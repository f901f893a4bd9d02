//! Replicates out of one run that is cut into parts, and out of many runs.

use super::curve::{Curve, Point, sizes};
use super::gain::Replicate;
use super::{Asked, Replicated, Spread, draws, independent, known};
use crate::risk_thinned::{self, BLOCK, Block, Report};
use anyhow::{Context as _, Result, ensure};
use offnominal_core::estimate::Estimate;
use offnominal_risk::estimate::block::ExperimentSpec;
use offnominal_risk::estimate::document::Document;
use offnominal_stats::Level;
use std::collections::BTreeSet;

/// Steps of a plain episode, on average.
fn episode(truth: &Document) -> f64 {
    truth.steps as f64 / truth.experiments as f64
}

/// The replicates that a run of `risk-thinned` is cut into.
///
/// # Errors
/// If the folder holds no finished run, it is too short, it saw no failure, or the truth is of something else.
pub fn cut(asked: &Asked, truth: &Document) -> Result<Replicated> {
    let (report, blocks) = Report::read(&asked.runs[0])?;
    independent(&report.run, truth)?;
    let (n, found, p, bound) =
        (asked.replicates, blocks.len(), known(truth).p(), 1.0 / report.run.method.floor()?);
    let size = found / n;
    ensure!(size > 0, "expected at least {n} blocks of {BLOCK} draws, one for each replicate, found {found}");
    let experiments = blocks.iter().map(|b| b.experiments).sum::<u64>() as f64;
    let replicates = |size: usize, most: usize| -> Vec<Replicate> {
        blocks.chunks_exact(size).take(most).map(|part| replicate(part, episode(truth))).collect()
    };
    let curve = |&factor: &f64| {
        let point = |size: usize| {
            let each = experiments * size as f64 / found as f64;
            Point::of(&replicates(size, usize::MAX), each, p, factor)
        };
        Curve::through(sizes(found).into_iter().map(point).collect::<Result<_>>()?, p, factor)
    };
    let holds = |part| Ok(risk_thinned::risk(part, bound, Level::P95)?.covers(p));
    Ok(Replicated {
        method: draws(&report.run.method),
        draws_each: BLOCK * size as u64,
        experiments_each: experiments / (found / size) as f64,
        all: replicates(size, n),
        held: blocks.chunks_exact(size).take(n).map(holds).collect::<Result<_>>()?,
        spread: Spread::of(risk_thinned::terms(&blocks).collect())?,
        curves: asked.factor.iter().map(curve).collect::<Result<_>>()?,
        run: report.run,
    })
}

/// The estimate of some blocks and its cost.
fn replicate(part: &[Block], episode: f64) -> Replicate {
    let (sum, steps) = (risk_thinned::terms(part).sum::<f64>(), part.iter().map(|b| b.steps).sum::<u64>());
    Replicate { estimate: sum / (BLOCK * part.len() as u64) as f64, cost: steps as f64 / episode }
}

/// Runs of `risk estimate`, each of which is a replicate.
///
/// # Errors
/// If a folder holds no finished run, two are of one seed or of different things, the truth is of something else, a run has
/// no valid interval, or none has a failure.
pub fn many(asked: &Asked, truth: &Document) -> Result<Replicated> {
    let documents = asked.runs.iter().map(|f| Document::read(f)).collect::<Result<Vec<_>>>()?;
    let (run, p) = (alike(&documents, truth)?, known(truth).p());
    let risks = documents.iter().map(risk).collect::<Result<Vec<&Estimate>>>()?;
    let one = |(document, risk): (&Document, &&Estimate)| Replicate {
        estimate: risk.value,
        cost: document.steps as f64 / episode(truth),
    };
    let all: Vec<Replicate> = documents.iter().zip(&risks).map(one).collect();
    let mean = |of: fn(&Document) -> u64| {
        documents.iter().map(|d| of(d) as f64).sum::<f64>() / documents.len() as f64
    };
    let experiments_each = mean(|d| d.experiments);
    let terms = documents.iter().flat_map(|d| &d.failures).map(|f| f.share).collect();
    let curve =
        |&factor: &f64| Curve::through(vec![Point::of(&all, experiments_each, p, factor)?], p, factor);
    Ok(Replicated {
        method: draws(&run.method),
        draws_each: mean(|d| d.draws).round() as u64,
        experiments_each,
        held: risks.iter().map(|risk| risk.covers(p)).collect(),
        spread: Spread::of(terms)?,
        curves: asked.factor.iter().map(curve).collect::<Result<_>>()?,
        all,
        run,
    })
}

/// What all runs are of.
fn alike(documents: &[Document], truth: &Document) -> Result<ExperimentSpec> {
    let (first, mut seeds) = (&documents[0].run, BTreeSet::new());
    for Document { run, .. } in documents {
        let alike = ExperimentSpec { seed: first.seed, ..run.clone() };
        ensure!(alike == *first, "expected runs that are alike but for their seeds, found others");
        ensure!(seeds.insert(run.seed), "expected a seed that no other run has, found {} again", run.seed);
        independent(run, truth)?;
    }
    Ok(first.clone())
}

fn risk(document: &Document) -> Result<&Estimate> {
    document.risk.risk.as_ref().with_context(|| {
        format!("run of seed {}: expected an estimate with a valid interval, found none", document.run.seed)
    })
}

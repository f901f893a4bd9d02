//! Importance sampling of initial conditions that are made of standard normal numbers
//! ([`offnominal_stats::risk::importance`]).
//!
//! What was learned is not in the journal: it follows from the experiments there, whose numbers are drawn again.

use super::block::{Block, Known};
use crate::experimenter::Experimenter;
use anyhow::{Result, ensure};
use offnominal_core::prelude::*;
use offnominal_stats::risk::importance::{Learner, Proposal, Seen, chance, guided_part, is_guided};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Draws that say what part of the standard normal numbers stands for something.
const PILOT: u64 = 4000;
/// The least such part.
const LEAST_ADMITTED: f64 = 0.1;

/// What a run has learned so far, and from how many blocks.
#[derive(Default)]
pub(super) struct Learned {
    blocks: usize,
    learner: Learner,
}

/// Who draws for the experiments of a run.
#[derive(Clone, Copy)]
pub(super) struct Guided<'c> {
    pub by: Experimenter<'c>,
    /// Share of the experiments that are plain.
    pub plain_share: f64,
    /// The part of the standard normal numbers that stands for something.
    pub admitted: f64,
}

/// How the draws of one block are chosen.
pub(super) struct BlockRule<'c> {
    guided: Guided<'c>,
    proposal: Proposal,
    /// The part of the block that is guided.
    part: f64,
}

/// Whether an environment tells all that importance sampling needs, and what part of the standard normal numbers stands for
/// something.
///
/// # Errors
/// If no density is stated, there is no margin, or hardly any number stands for something.
pub(super) fn admitted(by: &Experimenter<'_>) -> Result<f64> {
    let (id, d) = (&by.subject.env.spec().id, by.normals());
    ensure!(
        d > 0,
        "environment {id}: the density of what is drawn is not stated (--distribution, --randomise; the rows of a table have \
         none), which importance sampling needs"
    );
    let key = by.key("pilot", 0);
    let (_, x) = by.draw_normals(key, &mut key.child("normals").rng())?;
    let has_margin = by.play(key, &x)?.margin.is_some();
    ensure!(
        has_margin,
        "environment {id} does not say how far it is from failing, which importance sampling needs"
    );
    let is_admitted = |i: &u64| {
        let key = by.key("pilot", *i);
        let mut rng = key.child("normals").rng();
        by.of_normals(key, &Proposal::PLAIN.draw(d, &mut rng)).is_some()
    };
    let found = (0..PILOT).filter(is_admitted).count() as f64 / PILOT as f64;
    ensure!(
        found >= LEAST_ADMITTED,
        "environment {id}: only {found} of the stated distribution can be: expected at least {LEAST_ADMITTED}, so that what is \
         cut off is known well"
    );
    Ok(found)
}

impl<'c> Guided<'c> {
    /// The rule for the block behind these, which has the given draws.
    ///
    /// # Errors
    /// If the stated distribution cannot be drawn from.
    pub fn rule(
        self,
        blocks: &[Block],
        block: Range<u64>,
        learned: &Mutex<Learned>,
    ) -> Result<BlockRule<'c>> {
        let proposal = self.after(blocks, learned, |learner| learner.proposal().clone())?;
        Ok(BlockRule { guided: self, proposal, part: guided_part(block, self.plain_share) })
    }

    /// The first block that is estimated from, if there is one.
    ///
    /// # Errors
    /// As [`Guided::rule`].
    pub fn ready_from(self, blocks: &[Block], learned: &Mutex<Learned>) -> Result<Option<usize>> {
        self.after(blocks, learned, Learner::ready_from)
    }

    /// What was learned from these blocks; those that were learned from before are not gone through again.
    fn after<T>(self, blocks: &[Block], learned: &Mutex<Learned>, read: impl Fn(&Learner) -> T) -> Result<T> {
        let mut learned = learned.lock().unwrap_or_else(PoisonError::into_inner);
        if learned.blocks > blocks.len() {
            *learned = Learned::default();
        }
        for (number, block) in blocks.iter().enumerate().skip(learned.blocks) {
            let all: Vec<Known> = block.experiments().collect();
            let proposal = learned.learner.proposal().clone();
            let seen = |known: &Known| self.seen(known, &proposal);
            let (guided, plain): (Vec<&Known>, Vec<&Known>) =
                all.iter().partition(|k| is_guided(k.index, self.plain_share));
            let [plain, guided] =
                [plain, guided].map(|of| of.into_iter().map(seen).collect::<Result<Vec<_>>>());
            let mut rng = Seed(self.by.run).child("refit").child(number as u64).rng();
            learned.learner.learn(plain?, guided?, &mut rng);
            learned.blocks = number + 1;
        }
        Ok(read(&learned.learner))
    }

    fn seen(&self, known: &Known, proposal: &Proposal) -> Result<Seen> {
        let margin = known.margin.unwrap_or(if known.failed { -1.0 } else { 1.0 });
        Ok(Seen { z: self.numbers(known.index, proposal)?, margin })
    }

    /// The standard normal numbers of an experiment.
    fn numbers(&self, index: u64, proposal: &Proposal) -> Result<Vec<f64>> {
        let key = self.by.key("experiment", index);
        let mut rng = key.child("normals").rng();
        if is_guided(index, self.plain_share) {
            return Ok(proposal.draw(self.by.normals(), &mut rng));
        }
        Ok(self.by.draw_normals(key, &mut rng)?.0)
    }
}

impl BlockRule<'_> {
    /// The initial condition of a draw, and its chance relative to that of a plain one; nothing if it stands for none.
    ///
    /// # Errors
    /// If the stated distribution cannot be drawn from.
    pub fn choose(&self, key: Seed, index: u64) -> Result<Option<(Vec<f64>, f64)>> {
        let Guided { by, admitted, .. } = self.guided;
        let z = self.guided.numbers(index, &self.proposal)?;
        let chance = chance(self.part, admitted * self.proposal.ratio(&z));
        ensure!(
            chance > 0.0 && chance.is_finite(),
            "the weight of the experiment at {z:?} overflows: expected a density that can be computed, found {chance} of φ"
        );
        Ok(by.of_normals(key, &z).map(|x| (x, chance)))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::ending::Ending;
    use crate::estimate::estimation::{Estimation, JOURNAL};
    use crate::split::{SubsetSpec, all};
    use crate::testing::context;
    use offnominal_core::randomised::{Draws, Joint, Marginal, Variable};
    use offnominal_engine::judged::Criterion;
    use offnominal_engine::scenario::Scenario;
    use offnominal_engine::subject::Subject;
    use offnominal_stats::Level;
    use offnominal_stats::risk::Subset;

    /// A cart-pole that nothing moves, with a normal state at first: it fails with the probability Φ(−3.719), 1e-4.
    fn textbook() -> Subject {
        let variable = |(name, sd): (&str, f64)| {
            let none = Marginal::Empirical(vec![0.0]);
            let marginal = if sd > 0.0 { Marginal::Normal { mean: 0.0, sd } } else { none };
            Variable { name: name.into(), marginal, low: None, high: None }
        };
        let parameters = [("gravity", 0.0), ("force", 0.0)];
        let entries = [("x", 0.01), ("x_velocity", 0.01), ("theta", 0.01), ("theta_velocity", 0.001)];
        let unit = |i: usize| (0..=i).map(|j| f64::from(u8::from(i == j))).collect();
        let variables = parameters.into_iter().chain(entries).map(variable).collect();
        let draws = Draws::Joint(Joint { variables, entries: 4, factor: (0..6).map(unit).collect() });
        let formula = "x/0.01 + x_velocity/0.01 + theta/0.01 + theta_velocity/0.001 < 7.438033";
        let criterion = Some(Criterion::Stl(vec![formula.parse().unwrap()]));
        let scenario = Scenario { draws: Some(draws), criterion };
        Subject::new("cartpole", "random").unwrap().under(Some(scenario)).unwrap()
    }

    #[test]
    fn the_textbook_problem_is_answered_and_a_killed_run_comes_out_the_same() {
        let (subject, folder) = (textbook(), tempfile::tempdir().unwrap());
        let estimation = Estimation::importance(Experimenter::new(&subject, 1).unwrap(), 0.9).unwrap();
        let (one, cut) = (folder.path().join("one"), folder.path().join("cut"));
        let run = |to: &std::path::Path, jobs| {
            estimation.run(Some(to), 4000, &Ending::NONE, &context(jobs)).unwrap()
        };
        let whole = run(&one, 1);
        let text = std::fs::read(one.join(JOURNAL)).unwrap();
        std::fs::create_dir(&cut).unwrap();
        std::fs::write(cut.join(JOURNAL), &text[..text.len() / 2]).unwrap();
        let told = |blocks: &[Block]| -> Vec<_> { blocks.iter().flat_map(Block::experiments).collect() };
        assert_eq!(told(&whole), told(&run(&cut, 3)));
        let verdict = estimation.judge(&whole, Level::P95).unwrap();
        let (risk, assumed) = (verdict.risk.unwrap(), verdict.others[0].1.as_ref().unwrap());
        assert!(risk.covers(1e-4) && risk.n == 3600 && risk.method == "clopper-pearson", "{risk:.6}");
        assert!(assumed.low > 0.6e-4 && assumed.high < 1.6e-4, "{assumed:.7}");
        let failures: Vec<_> = whole.iter().flat_map(|b| &b.failures).step_by(20).collect();
        let chosen: Vec<u64> = failures.iter().map(|f| f.index).collect();
        let again = estimation.draws(&whole, &chosen, &context(2)).unwrap();
        assert!(again.iter().zip(failures).all(|(found, f)| found.as_ref() == Some(f)));
    }

    #[test]
    fn swarms_answer_it_too() {
        let subject = textbook();
        let (env, policy) = ("cartpole".to_string(), subject.name.clone());
        let scenario = subject.scenario.clone();
        let (particles, moves, budget) = (400, 1, 20_000);
        let spec = SubsetSpec { env, simulator: None, policy, seed: 1, particles, moves, budget, scenario };
        let by = Experimenter::new(&subject, 1).unwrap();
        let found = Subset::pooled(&all(&by, &spec, 8, None, &context(2)).unwrap().0, Level::P95).unwrap();
        assert!(found.covers(1e-4) && found.low > 2e-5 && found.high < 5e-4, "{found:.6}");
    }

    #[test]
    fn what_is_not_stated_is_refused_by_name() {
        let refused = |subject: &Subject| {
            let by = Experimenter::new(subject, 1).unwrap();
            Estimation::importance(by, 0.9).err().unwrap().to_string()
        };
        let subject = Subject::new("driving", "random").unwrap();
        assert!(refused(&subject).contains("the density of what is drawn is not stated"));
        let unjudged = Scenario { criterion: None, ..textbook().scenario.unwrap() };
        let subject = Subject::new("cartpole", "random").unwrap().under(Some(unjudged)).unwrap();
        assert!(refused(&subject).contains("does not say how far it is from failing"));
    }
}

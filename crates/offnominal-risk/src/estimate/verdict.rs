//! From experiments to numbers: the estimate, what else can be said, and whether the weights can be trusted.

use super::block::{Block, Failure, Top};
use super::requirement::Requirements;
use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::importance::{self, is_guided};
use offnominal_stats::risk::{Claim, Diagnostics, HorvitzThompson, Refusal, Weighted, counting};

/// What experiments say of a risk.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The failure probability, or why there is none.
    pub risk: Result<Estimate, Refusal>,
    /// The same by other intervals, each with its name and what it assumes.
    pub others: Vec<(String, Result<Estimate, Refusal>)>,
    /// How often each requirement is broken, where several are told apart.
    pub requirements: Option<Requirements>,
    /// What the weights say of themselves; none where all are equal.
    pub diagnostics: Option<Diagnostics>,
    /// Draws behind it.
    pub draws: u64,
    /// Experiments.
    pub experiments: u64,
    /// Steps of all episodes.
    pub steps: u64,
    /// Time that the experiments took.
    pub secs: f64,
    /// What failed, with its share of the failure probability; the shares add up to it.
    pub failures: Vec<(Failure, f64)>,
}

impl Verdict {
    pub(super) fn plain(blocks: &[Block], level: Level) -> Result<Verdict> {
        let all = All::of(blocks);
        let (failures, n) = (all.failures.len(), all.draws as usize);
        let sequence = counting::sequence(failures, n, level);
        // The exact interval needs a number of episodes that was planned before the first.
        let was_planned = blocks.iter().all(|b| b.planned == all.draws);
        let planned = was_planned.then(|| counting::planned(failures, n, level));
        let anytime = ("valid whenever one stops".to_string(), sequence.clone());
        let (risk, others) = match planned {
            Some(planned) => (planned, vec![anytime]),
            None => (sequence, vec![]),
        };
        Ok(all.verdict(risk, others, None, |_| 1.0 / n as f64, n as u64))
    }

    pub(super) fn thinned(blocks: &[Block], floor: f64, level: Level) -> Result<Verdict> {
        let all = All::of(blocks);
        let mut found = HorvitzThompson::new(floor);
        blocks.iter().flat_map(|b| &b.tried).for_each(|&(chance, failed)| found.record(chance, failed));
        (0..all.draws - found.draws() as u64).for_each(|_| found.skip());
        let (risk, normal) = (found.estimate(level), found.normal(level));
        let diagnostics = Diagnostics::of(found.experiments_weighted(), found.draws()).ok();
        let (others, n) = (vec![(NORMAL.into(), normal)], all.draws as f64);
        let experiments = found.experiments() as u64;
        Ok(all.verdict(risk, others, diagnostics, |f| 1.0 / (f.chance * n), experiments))
    }

    /// Plain experiments are counted; all from a block on are weighted, under an assumption.
    pub(super) fn importance(
        blocks: &[Block],
        from: Option<usize>,
        plain_share: f64,
        level: Level,
    ) -> Result<Verdict> {
        let all = All::of(blocks);
        let plain = blocks.iter().flat_map(Block::experiments).filter(|e| !is_guided(e.index, plain_share));
        let (n, failures) = plain.fold((0, 0), |(n, k), e| (n + 1, k + usize::from(e.failed)));
        let was_planned = blocks.iter().all(|b| b.planned == all.draws);
        let interval = if was_planned { counting::planned } else { counting::sequence };
        let weighted = &blocks[from.unwrap_or(blocks.len())..];
        let first = weighted.first().map_or(u64::MAX, |b| b.first);
        let draws: u64 = weighted.iter().map(|b| b.n).sum();
        let one = |&(chance, failed): &(f64, bool)| Weighted { weight: 1.0 / chance, failed };
        let sample: Vec<Weighted> = weighted.iter().flat_map(|b| &b.tried).map(one).collect();
        let assumed = importance::estimate(&sample, draws as usize, (failures, n), level);
        let diagnostics = Diagnostics::of(&sample, draws as usize).ok();
        let experiments = blocks.iter().map(|b| b.tried.len() as u64).sum();
        let is_assumed = assumed.is_ok();
        let share = |f: &Failure| match (is_assumed, is_guided(f.index, plain_share)) {
            (true, _) if f.index >= first => 1.0 / (f.chance * draws as f64),
            (false, false) => 1.0 / n as f64,
            _ => 0.0,
        };
        let others = vec![(ASSUMED.into(), assumed)];
        Ok(all.verdict(interval(failures, n, level), others, diagnostics, share, experiments))
    }

    /// The same, with the failures of some draws told apart, and the sum under an assumption.
    pub(super) fn with_parts(mut self, blocks: &[Block], floor: f64, top: &Top, level: Level) -> Verdict {
        let mut claim = Claim::new(floor, top.from);
        let tried = blocks.iter().flat_map(|b| &b.tried);
        tried.clone().for_each(|&(chance, failed)| claim.record(chance, failed));
        claim.skip_many(self.draws as usize - tried.count());
        let Top { share, outside, of, .. } = *top;
        let percent = (100.0 * share).round();
        let assumed = format!(
            "all failures, if the share of them that lies elsewhere is no larger than in the history, where {outside} of {of} do"
        );
        self.others.extend([
            (format!("failures in the {percent} % with the highest predictions"), claim.high(level)),
            ("failures elsewhere".into(), claim.elsewhere(level)),
            (assumed, claim.assuming(outside, of, level)),
        ]);
        self
    }
}

const ASSUMED: &str = "if experiments reached every region of failures";
const NORMAL: &str = "normal approximation, only as good as the predictor";

/// All blocks together.
struct All {
    draws: u64,
    steps: u64,
    secs: f64,
    failures: Vec<Failure>,
}

impl All {
    fn of(blocks: &[Block]) -> All {
        All {
            draws: blocks.iter().map(|b| b.n).sum(),
            steps: blocks.iter().map(|b| b.steps).sum(),
            secs: blocks.iter().map(|b| b.secs).sum(),
            failures: blocks.iter().flat_map(|b| b.failures.iter().cloned()).collect(),
        }
    }

    fn verdict(
        self,
        risk: Result<Estimate, Refusal>,
        others: Vec<(String, Result<Estimate, Refusal>)>,
        diagnostics: Option<Diagnostics>,
        share: impl Fn(&Failure) -> f64,
        experiments: u64,
    ) -> Verdict {
        let shared = |f: Failure| {
            let share = share(&f);
            (f, share)
        };
        Verdict {
            risk,
            others,
            requirements: None,
            diagnostics,
            draws: self.draws,
            experiments,
            steps: self.steps,
            secs: self.secs,
            failures: self.failures.into_iter().map(shared).collect(),
        }
    }
}

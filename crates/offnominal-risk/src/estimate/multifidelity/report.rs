//! What was found, as JSON and as text.

use super::ending::Stop;
use super::pairs::{Pair, Played, Players, Spec};
use crate::estimate::Request;
use crate::estimate::answer::probability;
use anyhow::Result;
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_files::provenance::Provenance;
use offnominal_stats::Level;
use offnominal_stats::risk::counting;
use offnominal_stats::risk::multifidelity::{Multifidelity, needed};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// The share of high-fidelity episodes that is worth the trouble.
const WORTHWHILE: f64 = 0.25;

/// What pairs of a high-fidelity and a low-fidelity episode show.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Id of the high-fidelity environment.
    pub env: String,
    /// Id of the low-fidelity environment.
    pub cheap: String,
    /// The policy.
    pub policy: String,
    /// Parameters of the high-fidelity environment that differed from nominal.
    pub parameters: BTreeMap<String, f64>,
    /// Parameters of the low-fidelity environment that differed from nominal.
    pub cheap_parameters: BTreeMap<String, f64>,
    /// Fresh low-fidelity episodes per high-fidelity one.
    pub per_dear: u64,
    /// Full width of the interval that was narrow enough.
    pub width: Option<f64>,
    /// The largest acceptable failure probability.
    pub max_risk: Option<f64>,
    /// Why it ended.
    pub stop: Stop,
    /// Pairs that were played: as many high-fidelity episodes.
    pub pairs: u64,
    /// Pairs after which it would have ended anyway.
    pub most: u64,
    /// The failure probability in the high-fidelity environment; the interval holds at every number of pairs.
    pub risk: Estimate,
    /// What counting says with the same high-fidelity episodes alone.
    pub counting: Estimate,
    /// What the bets of `risk` say with the same high-fidelity episodes alone.
    pub alone: Estimate,
    /// Share of all low-fidelity episodes that fail: what the low-fidelity environment alone would have one believe.
    pub cheap_risk: Estimate,
    /// How much the low-fidelity environment would count in the next pair, from 0 to 1.
    pub coefficient: f64,
    /// What the low-fidelity episodes saved; none where the outcomes of one environment are all the same.
    pub saved: Option<Saved>,
    /// The correlation that saves a quarter of the high-fidelity episodes with so many fresh low-fidelity ones.
    pub correlation_for_a_quarter: f64,
    /// All high-fidelity episodes.
    pub dear_cost: Cost,
    /// All low-fidelity episodes, those of pairs and fresh ones.
    pub cheap_cost: Cost,
    /// What is doubtful.
    pub warnings: Vec<String>,
    /// What made it.
    pub made: Provenance,
}

/// What the low-fidelity episodes saved.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Saved {
    /// Pearson's correlation of the high-fidelity and the low-fidelity outcome of a pair.
    pub correlation: Estimate,
    /// Share of the high-fidelity episodes that counting needs in addition for the same variance.
    pub share: Estimate,
    /// Number of high-fidelity episodes with which counting has the same variance.
    pub counting_needs: u64,
    /// Cost of a low-fidelity episode, in high-fidelity ones, below which the low-fidelity episodes pay.
    pub pays_below: Estimate,
}

/// What the episodes in one environment cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Episodes.
    pub episodes: u64,
    /// Their steps.
    pub steps: u64,
    /// Those that failed.
    pub failures: u64,
    /// Those without an outcome, which count as failures.
    pub diverged: u64,
}

impl Report {
    /// What pairs say.
    ///
    /// # Errors
    /// If there are none.
    pub(super) fn new(
        request: &Request,
        players: &Players<'_>,
        pairs: &[Pair],
        found: &Multifidelity,
        stop: Stop,
        level: Level,
        context: &Context,
    ) -> Result<Report> {
        let (n, k, seed) = (pairs.len() as u64, request.per_dear, context.seed);
        let sum = |of: fn(&Pair) -> Played| pairs.iter().map(of).fold(Played::default(), Played::and);
        let dear_cost = Cost::of(n, sum(|pair| pair.dear));
        let cheap_cost = Cost::of(n * (k + 1), sum(|pair| pair.cheap.and(pair.fresh)));
        let saved = found.saved(level, Seed(seed).child("multifidelity").child("saved")).ok();
        let saved = saved.map(|saved| Saved::of(saved.correlation, saved.share, n, k));
        let [dear, cheap] = [players.dear, players.cheap].map(|by| by.subject.env.spec());
        let config = serde_json::to_vec(&Spec::of(request, players, seed))?;
        let command = context.command.as_str();
        Ok(Report {
            env: dear.id.clone(),
            cheap: cheap.id.clone(),
            policy: players.dear.subject.name.label(),
            parameters: request.parameters.iter().cloned().collect(),
            cheap_parameters: request.cheap_parameters.iter().cloned().collect(),
            per_dear: k,
            width: request.width,
            max_risk: request.max_risk,
            stop,
            pairs: n,
            most: request.episodes.div_ceil(request.block) * request.block,
            risk: found.estimate(level)?,
            counting: dear_cost.counted(level)?,
            alone: found.alone(level)?,
            cheap_risk: cheap_cost.counted(level)?,
            coefficient: found.coefficient(),
            correlation_for_a_quarter: needed(WORTHWHILE, k as usize),
            warnings: warnings(saved.as_ref(), [dear_cost, cheap_cost], k),
            saved,
            dear_cost,
            cheap_cost,
            made: provenance::made(command, seed, &config, &[dear, cheap], &[&players.dear.subject.name]),
        })
    }

    /// Why the policy is not acceptable, if it is not: the whole interval must be at most `most`.
    pub fn unacceptable(&self, most: f64) -> Option<String> {
        // What is no number is not at most anything.
        let met = self.risk.high <= most;
        (!met).then(|| format!("risk: expected at most {most}, found up to {}", probability(self.risk.high)))
    }
}

impl Saved {
    fn of(correlation: Estimate, share: Estimate, pairs: u64, per_dear: u64) -> Saved {
        // With s saved, (1 − s)(1 + (K + 1) c) high-fidelity episodes are paid for one.
        let pays = |s: f64| (s / ((1.0 - s) * (per_dear + 1) as f64)).max(0.0);
        let pays_below = Estimate {
            value: pays(share.value),
            low: pays(share.low),
            high: pays(share.high),
            ..share.clone()
        };
        let counting_needs = (pairs as f64 / (1.0 - share.value)).round() as u64;
        Saved { correlation, share, counting_needs, pays_below }
    }
}

impl Cost {
    fn of(episodes: u64, played: Played) -> Cost {
        let Played { failures, steps, diverged } = played;
        Cost { episodes, steps, failures, diverged }
    }

    fn counted(&self, level: Level) -> Result<Estimate> {
        Ok(counting::sequence(self.failures as usize, self.episodes as usize, level)?)
    }
}

/// What is doubtful.
fn warnings(saved: Option<&Saved>, [dear, cheap]: [Cost; 2], per_dear: u64) -> Vec<String> {
    let needed = needed(WORTHWHILE, per_dear as usize);
    let Some(Saved { correlation, share, .. }) = saved else {
        let constant = if dear.failures == 0 || dear.failures == dear.episodes {
            ("high-fidelity", dear)
        } else {
            ("low-fidelity", cheap)
        };
        let (which, Cost { failures, episodes, .. }) = constant;
        return vec![format!(
            "nothing can be said of what the low-fidelity episodes save: {failures} of {episodes} {which} episodes failed"
        )];
    };
    let mut all = Vec::new();
    if correlation.value < needed {
        all.push(format!(
            "the correlation of {:.2} is too small to save a quarter of the high-fidelity episodes: that takes \
             {needed:.2} with {} per high-fidelity one",
            correlation.value,
            fresh(per_dear)
        ));
    }
    if share.low <= 0.0 {
        all.push("these pairs do not show that the low-fidelity episodes save anything".into());
    }
    all
}

impl Display for Report {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Report { env, cheap, policy, pairs, most, per_dear, .. } = self;
        let of = |values: &BTreeMap<String, f64>| -> String {
            values.iter().map(|(name, value)| format!(" {name}={value}")).collect()
        };
        writeln!(
            out,
            "{policy}\n  high fidelity  {env}{}\n  low fidelity   {cheap}{}",
            of(&self.parameters),
            of(&self.cheap_parameters)
        )?;
        let (why, level) = (self.stop.words(), 100.0 * self.risk.level);
        let early = if pairs < most { format!(", stopped before {most}") } else { String::new() };
        writeln!(out, "{pairs} pairs, each with {}{early}: {why}", fresh(*per_dear))?;
        writeln!(
            out,
            "  failure probability             {}, {level} % at any number of pairs",
            between(&self.risk)
        )?;
        writeln!(out, "  same bets, high fidelity alone  {}", between(&self.alone))?;
        writeln!(out, "  counting, high fidelity alone   {}", between(&self.counting))?;
        writeln!(out, "  all low-fidelity episodes       {}", between(&self.cheap_risk))?;
        self.saved.as_ref().map_or(Ok(()), |saved| write!(out, "{saved}"))?;
        writeln!(out, "  coefficient of the next pair    {}", self.coefficient)?;
        writeln!(out, "  cost, high fidelity             {}", self.dear_cost)?;
        writeln!(out, "  cost, low fidelity              {}", self.cheap_cost)?;
        self.warnings.iter().try_for_each(|warning| writeln!(out, "warning: {warning}"))
    }
}

fn fresh(per_dear: u64) -> String {
    if per_dear == 1 {
        "1 fresh low-fidelity episode".into()
    } else {
        format!("{per_dear} fresh low-fidelity episodes")
    }
}

fn between(e: &Estimate) -> String {
    format!("{} [{}, {}]", probability(e.value), probability(e.low), probability(e.high))
}

impl Stop {
    fn words(self) -> &'static str {
        match self {
            Stop::Narrow => "the interval is narrow enough",
            Stop::Below => "the failure probability is below the largest acceptable one",
            Stop::Above => "the failure probability is above the largest acceptable one",
            Stop::Episodes => "all pairs were played",
        }
    }
}

impl Display for Saved {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "  correlation of outcomes         {:.2}", self.correlation)?;
        let n = self.counting_needs;
        writeln!(
            out,
            "  high-fidelity episodes saved    {:.2}; counting needs {n} for this variance",
            self.share
        )?;
        writeln!(out, "  pays if low fidelity costs      less than {:.3} of high fidelity", self.pays_below)
    }
}

impl Display for Cost {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Cost { episodes, steps, failures, diverged } = self;
        write!(out, "{episodes} episodes, {failures} failures, {steps} steps")?;
        if *diverged > 0 {
            write!(out, "; {diverged} diverged and count as failures")?;
        }
        Ok(())
    }
}

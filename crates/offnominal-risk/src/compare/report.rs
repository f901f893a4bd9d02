//! What a comparison found, as JSON and as text.

use super::Request;
use super::pair::{Pair, Players};
use super::quantity::{Condition, Judged, Quantity};
use super::recorded::document::undecided;
use super::recorded::judge::POWER;
use super::verdict::{Requirement, Verdict};
use anyhow::Result;
use offnominal_core::prelude::*;
use offnominal_files::provenance::Provenance;
use offnominal_stats::Level;
use offnominal_stats::paired::needed::Plan;
use offnominal_stats::paired::{Mean, saving};
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use strum::VariantArray;

/// How a comparison ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// What made it.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub made: Provenance,
    /// Id of the environment.
    pub env: String,
    /// What was drawn for each episode, and by what one failed, where something was said of it; in words.
    pub scenario: Option<String>,
    /// The policy that is in use.
    pub old: String,
    /// The policy that is to take its place.
    pub new: String,
    /// What went wrong in the anomalous episodes, if there were any.
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub anomaly: Option<AnomalySpec>,
    /// What decided.
    pub metric: Quantity,
    /// In which episodes.
    pub condition: Condition,
    /// How much worse the new policy may be.
    pub margin: Option<f64>,
    /// What had to be shown.
    pub require: Option<Requirement>,
    /// What was shown.
    pub verdict: Verdict,
    /// In what else the new policy is worse, by an exact interval: with any of it, nothing that is required is met.
    pub also_worse: Vec<Loss>,
    /// Pairs that would decide with probability 0.8 if the difference is real; none where it is decided, zero, or of no bound.
    pub needed: Option<u64>,
    /// Pairs that were played.
    pub pairs: u64,
    /// Pairs after which it would have ended, decided or not.
    pub most: u64,
    /// Episodes that were played; in pairs with a drawn onset also those that nothing is said of.
    pub episodes: u64,
    /// Those of them that have no outcome.
    pub diverged: u64,
    /// All that was compared, what decided among it. Each interval holds at its level for itself.
    pub comparisons: Vec<Comparison>,
    /// What is doubtful.
    pub warnings: Vec<String>,
}

/// A quantity in which the new policy is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Loss {
    /// Of what.
    pub quantity: Quantity,
    /// In which episodes.
    pub condition: Condition,
}

/// One quantity of both policies.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// What is compared.
    pub quantity: Quantity,
    /// In which episodes.
    pub condition: Condition,
    /// That of the old policy.
    pub old: Estimate,
    /// That of the new policy.
    pub new: Estimate,
    /// The new one minus the old one.
    pub difference: Estimate,
    /// Pearson's correlation of both within pairs; none where one of them is always the same.
    pub correlation: Option<Estimate>,
    /// Pairs, as a share of the independent episodes of each policy whose interval would be as wide.
    pub ratio: Option<Estimate>,
    /// The number of those episodes, estimated.
    pub unpaired: Option<u64>,
}

impl Report {
    /// What pairs say.
    ///
    /// # Errors
    /// If the metric has no values, or a return lies outside of the range that was stated.
    pub(super) fn new(
        request: &Request,
        players: &Players<'_>,
        judged: &Judged,
        pairs: &[Pair],
        verdict: Verdict,
        level: Level,
    ) -> Result<Report> {
        let [old, new] = players.subjects;
        let seed = players.seed.child("saving");
        let mut comparisons = Vec::new();
        for &condition in Condition::VARIANTS {
            for &quantity in Quantity::VARIANTS {
                let one = Judged { quantity, condition, ..judged.clone() };
                if one.is_defined(pairs) {
                    comparisons.extend(Comparison::of(&one, pairs, level, seed)?);
                }
            }
        }
        let each = if players.anomaly.is_some() && players.twin { 4 } else { 2 };
        Ok(Report {
            env: request.place(),
            scenario: old.scenario.as_ref().map(ToString::to_string),
            old: old.name.label(),
            new: new.name.label(),
            anomaly: players.anomaly.cloned(),
            metric: judged.quantity,
            condition: judged.condition,
            margin: request.margin,
            require: request.require,
            verdict,
            needed: (verdict == Verdict::Undecided).then(|| needed(judged, pairs, level, seed)).flatten(),
            also_worse: also_worse(judged, request.margin, &comparisons),
            pairs: pairs.len() as u64,
            most: request.most().div_ceil(request.pairs_of_block()) * request.pairs_of_block(),
            episodes: each * pairs.len() as u64,
            diverged: pairs.iter().flat_map(Pair::episodes).filter(|played| played.diverged).count() as u64,
            warnings: warnings(players, judged, &comparisons, pairs),
            comparisons,
            made: Provenance::default(),
        })
    }

    /// Why the new policy is not acceptable, if it is not.
    pub fn unacceptable(&self) -> Option<String> {
        let (new, old, metric) = (&self.new, &self.old, <&str>::from(self.metric));
        if self.verdict == Verdict::Worse {
            return Some(format!("{new} is worse than {old} by {metric}"));
        }
        let require = self.require?;
        if require.is_met(self.verdict) {
            let losses = self.losses()?;
            return Some(format!("{new} is worse than {old} by {losses}, whatever it is by {metric}"));
        }
        let (found, pairs) = (<&str>::from(self.verdict), self.pairs);
        Some(format!(
            "expected {new} to be {} by {metric}, found {found} after {pairs} pairs",
            <&str>::from(require)
        ))
    }

    /// What was shown, in a sentence.
    pub fn decision(&self) -> String {
        let (metric, condition) = (<&str>::from(self.metric), <&str>::from(self.condition));
        let losses = self.losses().map_or(String::new(), |losses| format!("; it is worse by {losses}"));
        let judged = self.judged().filter(|_| self.verdict == Verdict::Undecided);
        if let Some(Comparison { difference, .. }) = judged {
            let said = undecided(self.pairs, self.needed, difference);
            return format!("{said}, by {metric} ({condition}){losses}");
        }
        let margin = self.margin.map_or(String::new(), |margin| format!(", margin {margin}"));
        format!("NEW is {} by {metric} ({condition}{margin}){losses}", self.verdict.words())
    }

    /// What else the new policy loses, in words.
    fn losses(&self) -> Option<String> {
        let words =
            |loss: &Loss| format!("{} ({})", <&str>::from(loss.quantity), <&str>::from(loss.condition));
        let all: Vec<String> = self.also_worse.iter().map(words).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// The comparison that decided.
    pub fn judged(&self) -> Option<&Comparison> {
        self.comparisons.iter().find(|c| c.quantity == self.metric && c.condition == self.condition)
    }
}

impl Judged {
    /// Whether pairs have it: it is not known of an environment what it defines before it is played.
    fn is_defined(&self, pairs: &[Pair]) -> bool {
        let wins = self.quantity == Quantity::Wins && self.condition == Condition::Cost;
        !wins && pairs.iter().all(|pair| self.values(pair).is_ok()) && pairs.iter().any(|pair| self.has(pair))
    }

    fn has(&self, pair: &Pair) -> bool {
        self.values(pair).ok().flatten().is_some()
    }
}

impl Comparison {
    /// Whether the interval of the difference needs no assumption.
    fn is_exact(&self) -> bool {
        self.difference.method == "betting-sequence"
    }

    /// The largest gain of the new policy that the interval holds.
    fn best_gain(&self) -> f64 {
        let Estimate { low, high, .. } = self.difference;
        if self.quantity.sign() > 0.0 { high } else { -low }
    }

    /// What pairs say of one quantity; nothing if no pair has it.
    fn of(judged: &Judged, pairs: &[Pair], level: Level, seed: Seed) -> Result<Option<Comparison>> {
        let values: Vec<Option<[f64; 2]>> =
            pairs.iter().map(|pair| judged.values(pair)).collect::<Result<_>>()?;
        let (old, new): (Vec<f64>, Vec<f64>) =
            values.into_iter().flatten().map(|[old, new]| (old, new)).unzip();
        if old.is_empty() {
            return Ok(None);
        }
        let mut difference = judged.mean_of_gains();
        old.iter().zip(&new).for_each(|(old, new)| difference.push(new - old));
        // Who wins is the comparison itself, so that there is nothing to correlate.
        let saved =
            (judged.quantity != Quantity::Wins).then(|| saving(&old, &new, level, seed).ok()).flatten();
        let unpaired =
            saved.as_ref().filter(|s| s.ratio.value > 0.0).map(|s| old.len() as f64 / s.ratio.value);
        Ok(Some(Comparison {
            quantity: judged.quantity,
            condition: judged.condition,
            old: judged.mean(&old, level)?,
            new: judged.mean(&new, level)?,
            difference: difference.estimate(level)?,
            unpaired: unpaired.map(|n| n.round() as u64),
            ratio: saved.as_ref().map(|s| s.ratio.clone()),
            correlation: saved.map(|s| s.correlation),
        }))
    }
}

/// Pairs that would decide by what decides.
fn needed(judged: &Judged, pairs: &[Pair], level: Level, seed: Seed) -> Option<u64> {
    let mut gains = judged.mean_of_gains();
    pairs.iter().filter_map(|pair| judged.gain(pair, 0).ok()?).for_each(|gain| gains.push(gain));
    match gains {
        Mean::Bounded(terms) => Plan::of(&terms, level, POWER).pairs(seed),
        _ => None,
    }
}

/// In what the new policy is worse beside what decides. A margin also holds for what is measured by the same number.
fn also_worse(judged: &Judged, margin: Option<f64>, comparisons: &[Comparison]) -> Vec<Loss> {
    let is_lost = |c: &&Comparison| {
        let decides = c.quantity == judged.quantity && c.condition == judged.condition;
        let within = c.condition == judged.condition && c.quantity.shares_margin_with(judged.quantity);
        let allowed = match (margin.filter(|_| within), c.quantity) {
            (Some(_), Quantity::Wins) => return false,
            (margin, _) => margin.unwrap_or(0.0),
        };
        !decides && c.is_exact() && c.best_gain() < -allowed
    };
    let loss = |c: &Comparison| Loss { quantity: c.quantity, condition: c.condition };
    comparisons.iter().filter(is_lost).map(loss).collect()
}

/// What is doubtful.
fn warnings(
    players: &Players<'_>,
    judged: &Judged,
    comparisons: &[Comparison],
    pairs: &[Pair],
) -> Vec<String> {
    let [old, new] = players.subjects;
    let mut all = Vec::new();
    if old.name == new.name || (old.name.digest == new.name.digest && !old.name.digest.is_empty()) {
        all.push(format!(
            "{} and {} are the same policy: every difference is exactly zero, unless policy or environment do not repeat \
             themselves",
            old.name.id, new.name.id
        ));
    }
    let fails = pairs.iter().flat_map(Pair::episodes).any(|played| played.failed);
    if judged.quantity == Quantity::Failure && !fails {
        all.push(format!("no episode failed: environment {} may count nothing as failure", judged.env));
    }
    let decides = |c: &&Comparison| c.quantity == judged.quantity && c.condition == judged.condition;
    match comparisons.iter().find(decides).map(|c| c.difference.method.as_str()) {
        Some("asymptotic-sequence") => all.push(
            "the interval of the return is right in the limit of many pairs, not exact: --return-range makes it exact, and \
             --metric wins needs no range"
                .into(),
        ),
        Some("no interval") => all.push("the return has no interval: too few pairs, or all differences are equal".into()),
        _ => {}
    }
    all
}

impl Display for Report {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Report { env, old, new, pairs, most, .. } = self;
        writeln!(out, "OLD {old}\nNEW {new}")?;
        let level = 100.0 * self.judged().map_or(0.95, |c| c.difference.level);
        let early = if pairs < most {
            format!("{pairs} pairs, stopped before {most}")
        } else {
            format!("{pairs} pairs")
        };
        writeln!(out, "in {env}, {early}, {level} % intervals that hold at every number of pairs")?;
        self.made.conditions().try_for_each(|(_, said)| writeln!(out, "  {said}"))?;
        self.scenario.iter().try_for_each(|scenario| writeln!(out, "  {scenario}"))?;
        if self.diverged > 0 {
            writeln!(
                out,
                "  {} episodes diverged: they count as failures and have no return",
                self.diverged
            )?;
        }
        self.comparisons.iter().try_for_each(|comparison| write!(out, "{comparison}"))?;
        self.warnings.iter().try_for_each(|warning| writeln!(out, "warning: {warning}"))?;
        writeln!(out, "{}", self.decision())
    }
}

impl Verdict {
    fn words(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::NoWorse => "no worse than the margin",
            Verdict::Worse => "worse",
            Verdict::Undecided => "not decided",
        }
    }
}

impl Display for Comparison {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (quantity, condition) = (<&str>::from(self.quantity), <&str>::from(self.condition));
        writeln!(out, "  {quantity}, {condition} ({})", self.difference.method)?;
        writeln!(
            out,
            "    OLD        {}\n    NEW        {}\n    NEW − OLD  {}",
            self.old, self.new, self.difference
        )?;
        let (Some(correlation), Some(ratio)) = (&self.correlation, &self.ratio) else { return Ok(()) };
        write!(
            out,
            "    correlation within pairs {correlation:.2}; pairs per independent episode {ratio:.2}"
        )?;
        self.unpaired.map_or(Ok(()), |n| write!(out, ", so about {n} of each policy would be as narrow"))?;
        writeln!(out)
    }
}

//! `risk select`: the policy that fails least among several.

use crate::cli::Common;
use crate::cli::risk::Outcome;
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_engine::subject::Cast;
use offnominal_files::dataset::PolicyName;
use offnominal_files::write;
use offnominal_risk::block::Method;
use offnominal_risk::page::probability;
use offnominal_risk::select::choice::Truth;
use offnominal_risk::select::heats::Spec;
use offnominal_risk::select::{Finish, Rules, episodes, race};
use offnominal_risk::{Estimation, Guide, Lab, past};
use offnominal_stats::Level;
use offnominal_stats::risk::selection::Standing;
use offnominal_stats::risk::{PLAIN_SHARE, Proposal};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `risk select`.
#[derive(Debug, Args)]
pub struct Select {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    /// A policy, as for `risk estimate`, or a folder of them such as `train --checkpoints` fills; may be repeated
    #[arg(long, required = true)]
    policy: Vec<String>,
    /// The predictor that `risk learn` wrote; without one all draws are tried
    #[arg(long, value_name = "FILE")]
    predictor: Option<PathBuf>,
    /// Experiments of each policy after which the race ends
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..))]
    budget: u64,
    /// Experiments of each policy per round, about
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    round: u64,
    /// How much the predictor is trusted [default: as learned]
    #[arg(long, value_name = "A")]
    exponent: Option<f64>,
    /// Experiments per draw, with a predictor, above 0, at most 1
    #[arg(long, value_name = "R", default_value_t = 0.05)]
    rate: f64,
    /// Probability with which the best policy is never thrown out, between 0 and 1
    #[arg(long, default_value_t = 0.95)]
    level: f64,
    /// Also write the episodes as a history, from which `risk learn` makes a predictor
    #[arg(long, conflicts_with = "predictor")]
    history: bool,
    /// The select.json of a longer race: also say how often the policy with the lowest estimate fails, round by round
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
}

impl Select {
    /// Runs the race, writes and prints where everyone ended.
    ///
    /// # Errors
    /// If a policy or the predictor cannot be had, or a setting is out of its range.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let casts = self.casts()?;
        let guides = self.guides(&casts)?;
        let spec = self.spec(&casts, &guides, common)?;
        let truth = self.truth.as_deref().map(|path| Truth::open(path, &self.env, &spec.policies));
        let (truth, level) = (truth.transpose()?, Level::try_from(self.level)?);
        let rules = Rules { spec, guides: &guides, budget: self.budget, level };
        let folder = common.out_or("risk-select");
        let finish = race(&casts, &rules, &folder, &common.context())?;
        if self.history {
            let history = episodes::history(&casts, &rules.spec, &folder)?;
            write::atomically(&folder.join("history.safetensors"), &history.to_bytes())?;
        }
        let value = self.as_json(&rules.spec.policies, &finish, truth.as_ref());
        write::atomically(&folder.join("select.json"), format!("{value:#}\n").as_bytes())?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{value:#}")?;
        } else {
            print(&mut out, &rules.spec.policies, &finish, truth.as_ref())?;
        }
        Ok(Outcome::Done)
    }

    /// All policies, those of folders in alphabetical order.
    fn casts(&self) -> Result<Vec<Cast>> {
        let names = crate::cli::risk::policies(&self.policy)?;
        ensure!(names.len() > 1, "expected at least 2 policies, found {}", names.len());
        let casts = names.iter().map(|name| Cast::new(&self.env, name)).collect::<Result<Vec<_>>>()?;
        if self.history {
            // Said before the race rather than after it.
            casts.iter().try_for_each(|cast| past::step_of(cast).map(drop))?;
        }
        Ok(casts)
    }

    fn spec(&self, casts: &[Cast], guides: &[Guide], common: &Common) -> Result<Spec> {
        let rate = if guides.is_empty() { 1.0 } else { self.rate };
        Ok(Spec {
            env: self.env.clone(),
            policies: casts.iter().map(|cast| cast.name.clone()).collect(),
            seed: common.seed,
            methods: self.methods(guides, casts, common)?,
            round: (self.round as f64 / rate).ceil() as u64,
        })
    }

    /// The predictor, opened for each policy.
    fn guides(&self, casts: &[Cast]) -> Result<Vec<Guide>> {
        let Some(path) = &self.predictor else { return Ok(vec![]) };
        casts.iter().map(|cast| Guide::open(path, cast)).collect()
    }

    fn methods(&self, guides: &[Guide], casts: &[Cast], common: &Common) -> Result<Vec<Method>> {
        if guides.is_empty() {
            return Ok(vec![Method::Plain; casts.len()]);
        }
        guides.iter().zip(casts).map(|(guide, cast)| self.thinned(guide, cast, common)).collect()
    }

    fn thinned(&self, guide: &Guide, cast: &Cast, common: &Common) -> Result<Method> {
        let exponent = self.exponent.unwrap_or(guide.exponent());
        ensure!(exponent > 0.0, "--exponent: expected a number above 0, found {exponent}");
        let proposal = Proposal { plain_share: PLAIN_SHARE, exponent };
        let lab = Lab::new(cast, common.seed)?;
        Ok(Estimation::thinned(lab, common.seed, guide, proposal, Some(self.rate), common.jobs)?.spec.method)
    }

    fn as_json(&self, names: &[PolicyName], finish: &Finish, truth: Option<&Truth>) -> Value {
        let policies = names.iter().zip(&finish.contenders).map(|(name, contender)| {
            json!({
                "policy": name.id,
                "risk": contender.risk,
                "experiments": contender.experiments,
                "failures": contender.failures,
                "may_be_best": contender.is_in,
            })
        });
        let choices = finish.choices.iter().map(|choice| {
            let lowest: Vec<&String> = choice.policies.iter().map(|&i| &names[i].id).collect();
            json!({ "experiments": choice.experiments, "lowest": lowest, "truth": truth.map(|t| t.risk(choice)) })
        });
        let best = match &finish.standing {
            Standing::Resolved { best } => Some(&names[*best].id),
            Standing::Unresolved { .. } => None,
        };
        json!({ "env": self.env, "method": if self.predictor.is_some() { "thinned" } else { "plain" },
            "best": best, "policies": policies.collect::<Vec<_>>(), "choices": choices.collect::<Vec<_>>() })
    }
}

fn print(out: &mut impl Write, names: &[PolicyName], finish: &Finish, truth: Option<&Truth>) -> Result<()> {
    for (name, contender) in names.iter().zip(&finish.contenders) {
        let mark = if contender.is_in { "may be best" } else { "" };
        let risk = contender.risk.as_ref().map_or("–".into(), |e| {
            format!("{} [{}, {}]", probability(e.value), probability(e.low), probability(e.high))
        });
        writeln!(out, "  {:<44} {risk:<32} {:>7} experiments  {mark}", name.id, contender.experiments)?;
    }
    match &finish.standing {
        Standing::Resolved { best } => writeln!(out, "fails least: {}", names[*best].id)?,
        Standing::Unresolved { left } => {
            writeln!(out, "unresolved: {} of {} policies may be the best", left.len(), names.len())?;
        }
    }
    if let (Some(truth), Some(choice)) = (truth, finish.choices.last()) {
        let (risk, ties) = (probability(truth.risk(choice)), choice.policies.len());
        writeln!(out, "lowest estimate: one of {ties}, whose failure probability is {risk} in truth")?;
    }
    Ok(())
}

//! The plan that fits a budget: the deepest one that counts what the requirements need. What is left of the time narrows
//! the intervals that requirements read, or those of the test episodes, which are the widest.

use super::{Basis, Plan, duration};
use crate::counts::{Count, Counts};
use crate::depth::{Depth, dear};
use crate::depth_choice::DepthChoice;
use crate::needs::Need;
use crate::request::Request;
use crate::requirement::Requirement;
use anyhow::{Result, bail};
use offnominal_engine::strengths::LEVELS;
use strum::VariantArray;

/// Counts grow by at most this factor, which halves intervals: after that a deeper audit tells more.
const MOST: f64 = 4.0;
/// Steps between the counts as they are and the largest.
const STEPS: u32 = 30;

/// A plan with what a larger budget could show.
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// Budgets within which more could be shown, in sentences.
    pub more: Vec<String>,
}

impl Planned {
    /// The plan of a request: that of the depth it asks for, or the deepest that fits its budget.
    ///
    /// # Errors
    /// If not even the least depth fits, or a fault does not exist in the environment.
    pub fn new(request: &Request, required: &[Requirement], basis: &Basis<'_>) -> Result<Planned> {
        let need = |one: &Requirement| one.need(basis.probe, request.alpha).ok().flatten();
        let mut needs: Vec<Need> = required.iter().filter_map(need).collect();
        if let Some(choice) = &request.depth {
            let mut plan = Plan::at(choice.depth, 0, request, basis)?.with(required);
            plan.raise(&needs);
            choice.counts.iter().for_each(|&(count, n)| *plan.counts.of_mut(count) = n);
            return Ok(Planned { plan: plan.counting(plan.counts, basis.jobs)?, more: vec![] });
        }
        let mut dropped: Vec<Need> = vec![];
        loop {
            if let Some(plan) = deepest(request, required, &needs, basis)? {
                let plan = plan.grown(required, request.budget.0, basis.jobs)?;
                let more = dropped.iter().map(|need| enough(need, request, basis)).collect::<Result<_>>()?;
                return Ok(Planned { plan, more });
            }
            let dearest = (0..needs.len()).max_by_key(|&i| needs[i].episodes);
            match dearest {
                Some(i) => dropped.push(needs.remove(i)),
                None => bail!(too_little(request, basis)?),
            }
        }
    }
}

/// The deepest plan within the budget that counts what is needed: at each depth first with all detectors, then without the
/// dearest.
fn deepest(
    request: &Request,
    required: &[Requirement],
    needs: &[Need],
    basis: &Basis<'_>,
) -> Result<Option<Plan>> {
    for &depth in Depth::VARIANTS.iter().rev() {
        for without in 0..=dear().count() {
            let mut plan = Plan::at(depth, without, request, basis)?.with(required);
            plan.raise(needs);
            let plan = plan.counting(plan.counts, basis.jobs)?;
            if plan.secs() <= request.budget.0 {
                return Ok(Some(plan));
            }
        }
    }
    Ok(None)
}

/// The plan of the least effort.
fn least(request: &Request, basis: &Basis<'_>) -> Result<Plan> {
    Plan::at(Depth::VARIANTS[0], dear().count(), request, basis)
}

fn too_little(request: &Request, basis: &Basis<'_>) -> Result<String> {
    let secs = least(request, basis)?.secs();
    Ok(format!(
        "budget: the smallest audit of {} takes about {}, found {}; give --budget {}, or --depth glance",
        basis.spec.id,
        duration(secs),
        duration(request.budget.0),
        minutes(secs)
    ))
}

/// A budget that allows what a requirement needs.
fn enough(need: &Need, request: &Request, basis: &Basis<'_>) -> Result<String> {
    let mut plan = least(request, basis)?;
    *plan.counts.of_mut(need.count) = need.episodes;
    let secs = plan.counting(plan.counts, basis.jobs)?.secs();
    Ok(format!("--budget {} could show {}", minutes(secs), need.requirement))
}

/// A budget of so many seconds, as it is typed.
fn minutes(secs: f64) -> String {
    format!("{}m", (1.1 * secs / 60.0).ceil())
}

impl Plan {
    /// Requirements that it cannot show, however good policy and monitor are, in sentences.
    pub fn lacking(&self, required: &[Requirement]) -> Vec<String> {
        let is_tried = |level: &String| self.strengths.contains(level);
        let lacks = |one: &Requirement| match one.need(&self.probe, self.alpha) {
            _ if !one.strength.iter().all(is_tried) => Some(format!(
                "{one} cannot be shown: the plan in this folder tries {}; another --out makes another plan",
                self.strengths.join(", ")
            )),
            Err(why) => Some(why),
            Ok(Some(need)) if self.counts.of(need.count) < need.episodes => Some(format!(
                "{one} cannot be shown: it needs {} {}, planned are {}",
                need.episodes,
                need.what(),
                self.counts.of(need.count)
            )),
            Ok(_) => None,
        };
        required.iter().filter_map(lacks).collect()
    }

    /// The depth as the command that makes the same audit states it: with every count that a requirement reads, which would
    /// raise it again.
    pub fn recorded(&self, required: &[Requirement]) -> DepthChoice {
        DepthChoice::stating(self.depth, &self.counts, |count| {
            required.iter().any(|one| one.count() == count)
        })
    }

    /// The same with the strengths that requirements name.
    fn with(mut self, required: &[Requirement]) -> Plan {
        let is_named = |level: &str| required.iter().any(|one| one.strength.as_deref() == Some(level));
        let is_tried = |level: &str| self.strengths.iter().any(|own| own == level);
        let levels =
            LEVELS.iter().map(|(level, _)| *level).filter(|level| is_tried(level) || is_named(level));
        self.strengths = levels.map(String::from).collect();
        self
    }

    /// Counts at least what is needed.
    fn raise(&mut self, needs: &[Need]) {
        for need in needs {
            let count = self.counts.of_mut(need.count);
            *count = (*count).max(need.episodes);
        }
    }

    /// The same with larger counts, as far as the budget allows: of what requirements read, or of test episodes.
    fn grown(&self, required: &[Requirement], budget: f64, jobs: usize) -> Result<Plan> {
        let mut read: Vec<Count> = required.iter().map(Requirement::count).collect();
        if read.is_empty() {
            read.push(Count::Test);
        }
        let times = |factor: f64| {
            let mut counts: Counts = self.counts;
            for count in [Count::Evaluation, Count::Test, Count::Failures] {
                if read.contains(&count) {
                    *counts.of_mut(count) = (factor * self.counts.of(count) as f64) as usize;
                }
            }
            self.counting(counts, jobs)
        };
        for step in (1..=STEPS).rev() {
            let plan = times(1.0 + f64::from(step) / f64::from(STEPS) * (MOST - 1.0))?;
            if plan.secs() <= budget {
                return Ok(plan);
            }
        }
        Ok(self.clone())
    }
}

//! Outcomes that others recorded, in place of episodes that are played: files of trials, or counts.
//!
//! | file               | content                                                          |
//! |--------------------|------------------------------------------------------------------|
//! | [`trials`]         | what a trial is, and what is refused                             |
//! | [`read`]           | which format a file has; tables                                  |
//! | [`lerobot`]        | `eval_info.json`                                                 |
//! | [`inspect_robots`] | logs of inspect-robots                                           |
//! | [`matching`]       | which trials are compared with which                             |
//! | [`judge`]          | what they show, with one error for all comparisons of a kind     |
//! | [`document`]       | what was found, as JSON and as text                              |

pub mod document;
pub mod inspect_robots;
pub mod judge;
pub mod lerobot;
pub mod matching;
pub mod read;
#[cfg(test)]
mod tests;
pub mod trials;

use super::quantity::Condition;
use super::verdict::{Gate, Requirement, Verdict};
use crate::request::within;
use anyhow::{Result, ensure};
use document::{Recorded, Row, Source};
use judge::{Data, Draft, Judge, counted};
use matching::{By, Units, arm, distinct, matched};
use offnominal_core::Seed;
use offnominal_engine::context::Context;
use offnominal_files::provenance::Provenance;
use offnominal_stats::Level;
use std::collections::BTreeSet;
use trials::{BENIGN, Outcomes, Recording};

/// Trials of counts whose numbers differ: the ways to match them grow with the square.
const UNEVEN: u64 = 2000;

/// What is asked of recorded outcomes.
#[derive(Debug, Clone, PartialEq)]
pub struct Question<'a> {
    /// Files and counts, the first of which is OLD.
    pub named: Vec<&'a str>,
    /// How much worse a new policy may be.
    pub margin: Option<f64>,
    /// What must be shown.
    pub require: Option<Requirement>,
    /// Trials of each policy that were planned.
    pub most: Option<u64>,
    /// The confidence level.
    pub level: Level,
}

/// Reads outcomes and judges them.
///
/// # Errors
/// If a file cannot be read or says something else, nothing can be matched, or a setting is out of its range.
pub fn run(question: &Question<'_>, context: &Context) -> Result<Recorded> {
    let recordings = read::all(&question.named)?;
    let (conditions, benign) = conditions(&recordings)?;
    let bound = if benign.is_some() { 2.0 } else { 1.0 };
    if let Some(margin) = question.margin {
        let holds = margin > 0.0 && margin < bound;
        ensure!(holds, "margin: expected a number above 0 and below {bound}, found {margin}");
    }
    question.most.map(|n| within("episodes", n, 2..=offnominal_core::limits::EPISODES as u64)).transpose()?;
    let mut remarks = remarks_of(&recordings, question);
    let (decides, details) = drafts(&recordings, &conditions, benign, &mut remarks)?;
    let binary = recordings.iter().flat_map(Recording::trials).all(|t| t.outcome == 0.0 || t.outcome == 1.0);
    let gate = Gate { margin: question.margin, require: question.require, level: question.level };
    let seed = Seed(context.seed).child("needed");
    // A plan is for trials with one success rate.
    let most = question.most.filter(|_| details.is_empty());
    let judge = Judge { gate, most, binary, seed: &seed };
    let (decides, details) = (judge.family(decides)?, judge.family(details)?);
    remarks.extend(about_rows(&decides, &details, question));
    let sources: Vec<Source> = recordings.iter().map(Source::of).collect();
    let config = serde_json::to_vec(&(&sources, question.margin, question.most, question.level.get()))?;
    Ok(Recorded {
        made: Provenance::new(&context.command, context.seed, &config),
        policies: sources,
        metric: if binary { "success" } else { "score" }.into(),
        margin: question.margin,
        require: question.require,
        level: question.level.get(),
        verdict: together(&decides),
        decides,
        details,
        remarks,
        page: None,
    })
}

impl Source {
    fn of(recording: &Recording) -> Source {
        Source {
            policy: recording.policy.clone(),
            from: recording.from.clone(),
            format: recording.format.into(),
            trials: recording.count(),
        }
    }
}

/// The conditions of all policies, and the benign one among them.
fn conditions(all: &[Recording]) -> Result<(Vec<String>, Option<String>)> {
    let named = all.iter().flat_map(Recording::trials).filter_map(|trial| trial.condition.clone());
    let found = distinct(named);
    let benign: Vec<&String> = found.iter().filter(|name| BENIGN.contains(&name.as_str())).collect();
    let few = || found.join(", ");
    match benign[..] {
        [] if found.is_empty() => Ok((vec![], None)),
        [] => anyhow::bail!("condition: expected a benign arm ({}), found {}", BENIGN.join(", "), few()),
        [one] => {
            let benign = one.clone();
            let perturbed: Vec<String> = found.iter().filter(|name| **name != benign).cloned().collect();
            Ok((perturbed, Some(benign)))
        }
        _ => anyhow::bail!("condition: expected one benign arm, found {}", few()),
    }
}

/// What is compared: what decides, and the details.
fn drafts(
    all: &[Recording],
    perturbed: &[String],
    benign: Option<String>,
    remarks: &mut Vec<String>,
) -> Result<(Vec<Draft>, Vec<Draft>)> {
    let (mut decides, mut details) = (Vec::new(), Vec::new());
    let old = &all[0];
    for new in &all[1..] {
        if [old, new].iter().any(|one| matches!(one.outcomes, Outcomes::Counts(..))) {
            decides.push(of_counts(old, new, remarks)?);
            continue;
        }
        let tasks = shared_tasks(old, new, remarks)?;
        let benign = benign.as_deref();
        let pair = Pair { old, new, tasks: &tasks };
        let plain = pair.drafts(Condition::Nominal, None, |of, task| vec![arm(of, task, benign)], remarks)?;
        if perturbed.is_empty() {
            let mut plain = plain.into_iter();
            decides.extend(plain.next());
            details.extend(plain);
            continue;
        }
        details.extend(plain.into_iter().take(1));
        for name in perturbed {
            let one = |of, task: &str| vec![arm(of, task, Some(name))];
            let both = |of, task: &str| vec![arm(of, task, benign), arm(of, task, Some(name))];
            let cost = pair.drafts(Condition::Cost, Some(name), both, remarks)?;
            decides.extend(cost.into_iter().take(1));
            details
                .extend(pair.drafts(Condition::Anomalous, Some(name), one, &mut vec![])?.into_iter().take(1));
        }
    }
    Ok((decides, details))
}

fn of_counts(old: &Recording, new: &Recording, remarks: &mut Vec<String>) -> Result<Draft> {
    for one in [old, new].into_iter().filter(|one| tasks_of(one).len() > 1) {
        remarks.push(format!(
            "{}: all its tasks are counted together, as the other policy has counts",
            one.policy
        ));
    }
    let (before, after) = (counted(old)?, counted(new)?);
    let fits = before.1 == after.1 || before.1.max(after.1) <= UNEVEN;
    ensure!(
        fits,
        "{} and {}: expected counts of equally many trials, or of {UNEVEN} at most, found {} and {}",
        old.policy,
        new.policy,
        before.1,
        after.1
    );
    let data = Data::Counts(before, after);
    let policy = new.policy.clone();
    Ok(Draft { policy, condition: Condition::Nominal, perturbation: None, task: None, data })
}

fn tasks_of(one: &Recording) -> Vec<String> {
    distinct(one.trials().iter().map(|trial| trial.task.clone()))
}

/// The tasks that both policies have; the others are left out.
fn shared_tasks(old: &Recording, new: &Recording, remarks: &mut Vec<String>) -> Result<Vec<String>> {
    let (mine, other) = (tasks_of(old), tasks_of(new));
    let (shared, only): (Vec<String>, Vec<String>) =
        mine.iter().cloned().partition(|task| other.contains(task));
    let lonely: Vec<String> =
        only.into_iter().chain(other.into_iter().filter(|task| !mine.contains(task))).collect();
    ensure!(!shared.is_empty(), "{}: expected a task of {}, found none of them", new.policy, old.policy);
    if !lonely.is_empty() {
        remarks.push(format!("tasks of one policy only are left out: {}", lonely.join(", ")));
    }
    Ok(shared)
}

/// Two policies in the tasks that both have.
struct Pair<'a> {
    old: &'a Recording,
    new: &'a Recording,
    tasks: &'a [String],
}

impl<'a> Pair<'a> {
    /// All tasks together, and then each if there are several.
    fn drafts(
        &self,
        condition: Condition,
        perturbation: Option<&String>,
        arms: impl Fn(&'a Recording, &str) -> Vec<matching::Arm<'a>>,
        remarks: &mut Vec<String>,
    ) -> Result<Vec<Draft>> {
        let units = |task: &String| matched(&[arms(self.old, task), arms(self.new, task)].concat());
        let units: Vec<Units> = self.tasks.iter().map(units).collect();
        let all = Units::together(&units);
        let of = || perturbation.map_or(String::new(), |name| format!(" under {name}"));
        ensure!(
            !all.outcomes.is_empty(),
            "{}: expected trials of both policies{}, found none",
            self.new.policy,
            of()
        );
        remarks.extend(self.remark(&all, perturbation));
        let draft = |task: Option<&String>, units: Units| Draft {
            policy: self.new.policy.clone(),
            condition,
            perturbation: perturbation.cloned(),
            task: task.cloned(),
            data: Data::Pairs(units),
        };
        let several = self.tasks.len() > 1;
        let each = self.tasks.iter().zip(units).filter(|(_, units)| several && !units.outcomes.is_empty());
        let each: Vec<Draft> = each.map(|(task, units)| draft(Some(task), units)).collect();
        Ok([draft(None, all)].into_iter().chain(each).collect())
    }

    fn remark(&self, all: &Units, perturbation: Option<&String>) -> Vec<String> {
        let name = perturbation.map_or(self.new.policy.clone(), |p| format!("{}, {p}", self.new.policy));
        let mut said = Vec::new();
        if all.by == By::Order {
            let both = [self.old, self.new].iter().all(|one| one.trials().iter().all(|t| t.seed.is_some()));
            let why = if both { "the seeds differ" } else { "not all trials have a seed" };
            said.push(format!("{name}: {why}, so trials of a task are matched in the order recorded"));
        }
        if all.left_out > 0 {
            said.push(format!("{name}: {} trials without a partner are left out", all.left_out));
        }
        said
    }
}

/// What was assumed or left out while reading.
fn remarks_of(all: &[Recording], question: &Question<'_>) -> Vec<String> {
    let read = all.iter().flat_map(|one| one.remarks.iter().map(|remark| format!("{}: {remark}", one.from)));
    let mut said: Vec<String> = distinct(read);
    if question.named.len() == 1 {
        said.push(format!("OLD is {}, the first policy in {}", all[0].policy, all[0].from));
    }
    said
}

/// What has to be known to read the rows.
fn about_rows(decides: &[Row], details: &[Row], question: &Question<'_>) -> Vec<String> {
    let mut said = Vec::new();
    if decides.iter().any(|row| row.matched == By::Counts) {
        said.push(
            "counts have no order: their interval holds for numbers of trials that were fixed beforehand, not for somebody \
             who looked and then stopped"
                .into(),
        );
    }
    if decides.iter().chain(details).any(|row| row.task.is_some()) {
        said.push(
            "all tasks together: each pair counts once, so a task with more pairs counts more; this holds for numbers of \
             pairs that were fixed beforehand, and where tasks take turns"
                .into(),
        );
    }
    if question.most.is_some() && decides.iter().all(|row| row.planned.is_none()) {
        said.push(
            "the planned number of trials changes nothing: it decides one comparison of independent successes in one \
             task, without a margin, of 200 trials at most"
                .into(),
        );
    }
    said.extend(changed_signs(decides, details));
    said
}

/// Perturbations whose difference has another sign once the benign arm is subtracted.
fn changed_signs(decides: &[Row], details: &[Row]) -> Option<String> {
    let costs: Vec<&Row> = decides.iter().filter(|row| row.condition == Condition::Cost).collect();
    let raw = |cost: &Row| {
        let same = |row: &&Row| row.policy == cost.policy && row.perturbation == cost.perturbation;
        details
            .iter()
            .filter(|row| row.condition == Condition::Anomalous)
            .find(same)
            .map(|row| row.difference.value)
    };
    let changes = |cost: &&&Row| raw(cost).is_some_and(|raw| raw * cost.difference.value < 0.0);
    let names: BTreeSet<&str> =
        costs.iter().filter(changes).filter_map(|row| row.perturbation.as_deref()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} of {} perturbations: the difference changes its sign when the benign arm is subtracted ({})",
            names.len(),
            costs.len(),
            names.join(", ")
        )
    })
}

/// Worse if anything is, better or no worse if everything is.
fn together(rows: &[Row]) -> Verdict {
    let all = |is: fn(Verdict) -> bool| rows.iter().all(|row| is(row.verdict));
    if rows.iter().any(|row| row.verdict == Verdict::Worse) {
        Verdict::Worse
    } else if all(|verdict| verdict == Verdict::Better) {
        Verdict::Better
    } else if all(|verdict| Requirement::NoWorse.is_met(verdict)) {
        Verdict::NoWorse
    } else {
        Verdict::Undecided
    }
}

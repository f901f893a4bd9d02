//! How recordings differ from those of a reference, channel by channel. Whole recordings are compared, never steps, which depend
//! on one another.

mod channel;
mod found;
mod picture;

pub use channel::ChannelDrift;
pub use found::Compared;
pub(super) use found::LEGEND;
pub(super) use picture::picture;

use crate::chosen::Truth;
use crate::inspect::column::Kind;
use crate::inspect::guess::{self, Proposal};
use crate::inspect::survey::{LogReport, TopicReport};
use crate::mapping::{Episodes, Labels, Mapping};
use crate::recordings::{self, Recordings};
use crate::source::{Source, shared};
use anyhow::{Context as _, Result, bail};
use channel::{Side, middle};
use offnominal_core::Seed;
use offnominal_monitor::SAME_STEP;
use offnominal_stats::drift::{differences, smallest_p};
use offnominal_stats::{Bootstrap, Level};
use offnominal_work::context::Context;
use offnominal_work::parallel;
use std::collections::{BTreeMap, BTreeSet};

/// Differences that chance makes no oftener than this are said to be some, all channels taken together.
pub(super) const ALPHA: f64 = 0.05;
/// Draws of a band.
const REPLICATES: usize = 500;
/// Recordings of one side that are longer than those of the other by more than this factor are said.
const LONGER: f64 = 1.5;

/// Compares logs with a reference: first those of the reference, then the others, each with what was found in it.
///
/// # Errors
/// If a log is on both sides, there is no channel that all logs have, or one cannot be read.
pub fn compare<S: Source, R: Source>(
    (reference, of_reference): (&[R], Vec<LogReport>),
    (logs, of_logs): (&[S], &[LogReport]),
    context: &Context,
) -> Result<Compared> {
    if let Some(both) = shared(reference, logs) {
        bail!("log {}: expected it on one side, found it in the reference too", both.display());
    }
    let n_reference = of_reference.len();
    let all: Vec<LogReport> = of_reference.into_iter().chain(of_logs.iter().cloned()).collect();
    let proposal = guess::propose(&all);
    proposal.check().context("no channel can be compared")?;
    let mapping = whole(&proposal.mapping);
    let reference = recordings::read(reference, &mapping, Truth::IfThere, context).context("reference")?;
    let recordings = recordings::read(logs, &mapping, Truth::IfThere, context)?;
    let mut found = of([&reference, &recordings], &mapping, context)?;
    found.remarks.extend(other_rates(&proposal, all.split_at(n_reference)));
    found.not_compared = not_compared(&proposal, all.split_at(n_reference));
    Ok(found)
}

/// The channels of a mapping, commands too, in whole recordings: windows of one log depend on one another.
fn whole(proposed: &Mapping) -> Mapping {
    let mut mapping = proposed.clone();
    mapping.observation.append(&mut mapping.command);
    (mapping.label, mapping.outcome, mapping.task) = (Labels::default(), None, None);
    if matches!(mapping.episodes, Episodes::Window { .. }) {
        mapping.episodes = Episodes::File;
    }
    mapping
}

/// Compares recordings of a reference with others.
fn of(both: [&Recordings; 2], mapping: &Mapping, context: &Context) -> Result<Compared> {
    let sides = both.map(|side| Side::of(&side.all, mapping));
    let n = mapping.observation.len();
    let plan = Bootstrap::new(REPLICATES, Level::P95, Seed(context.seed));
    let task = context.task(n, "channels");
    let one = |i: usize| Ok(ChannelDrift::of(&mapping.observation[i], i, &sides, &plan));
    let (mut channels, features): (Vec<ChannelDrift>, Vec<Vec<Vec<f64>>>) =
        parallel::map(context.jobs, n, &task, one)?.into_iter().unzip();
    let sizes = [0, 1].map(|side| both[side].all.len());
    let no_test = no_test(sizes);
    if no_test.is_none() {
        let rows: Vec<Vec<f64>> = (0..sizes[0] + sizes[1])
            .map(|i| features.iter().flat_map(|of| of[i].clone()).collect())
            .collect();
        let mut tested = differences(&rows, sizes[0], plan.seed).into_iter();
        channels.iter_mut().zip(&features).for_each(|(channel, of)| {
            let own: Vec<_> = tested.by_ref().take(of[0].len()).collect();
            channel.judge(&own);
        });
    }
    channels.sort_by(|a, b| b.distance.value.total_cmp(&a.distance.value));
    let mut remarks: Vec<String> = no_test.into_iter().collect();
    remarks.extend(assumed(both));
    remarks.extend(other_lengths(&sides));
    remarks.extend(channels.iter().filter_map(ChannelDrift::remark));
    both.iter().for_each(|side| remarks.extend(side.remarks.iter().cloned()));
    Ok(Compared { recordings: sizes, channels, not_compared: Vec::new(), remarks })
}

/// Why there is no test, if there are too few recordings.
fn no_test(sizes: [usize; 2]) -> Option<String> {
    let least = smallest_p(sizes[0], sizes[1]);
    let [reference, others] = sizes;
    const MORE: &str =
        "4 recordings on each side are enough, or 19 on one side for a single one on the other";
    match sizes {
        [1, 1] => Some(format!(
            "no test can be made: there is one recording on each side, and its steps depend on one another. {MORE}"
        )),
        _ if least > ALPHA => Some(format!(
            "no test can be made: {others} against {reference} recordings can be divided in so few ways that chance alone gives \
             p = {least:.3} or more. {MORE}"
        )),
        _ => None,
    }
}

/// What is taken for granted of recordings of which several are in one log.
fn assumed(both: [&Recordings; 2]) -> Option<String> {
    let logs = |side: &Recordings| side.all.iter().map(|one| one.log.clone()).collect::<BTreeSet<_>>().len();
    let is_cut = both.iter().any(|side| logs(side) < side.all.len());
    is_cut.then(|| {
        "recordings of one log are taken to be as independent as those of two: what sets one log apart is found too".into()
    })
}

/// Of recordings that last longer on one side: they reach more of what a machine does.
fn other_lengths(sides: &[Side; 2]) -> Option<String> {
    let [reference, others] = [0, 1].map(|i| sides[i].typical_secs());
    (reference.max(others) > LONGER * reference.min(others)).then(|| {
        format!(
            "recordings last {reference:.3} s in the reference and {others:.3} s here (median): longer ones spread more, so part of \
             a difference may be that of their length"
        )
    })
}

/// Of topics with channels whose rows come at another rate on one side.
fn other_rates(proposal: &Proposal, (reference, logs): (&[LogReport], &[LogReport])) -> Vec<String> {
    let [reference, others] = [reference, logs].map(|side| steps(side, proposal));
    let differs = |before: f64, now: f64| (now / before - 1.0).abs() > SAME_STEP;
    let says = |(topic, before): (&&str, &f64)| {
        let now = *others.get(topic).filter(|now| differs(*before, **now))?;
        let of = if topic.is_empty() { "rows come".into() } else { format!("{topic}: rows come") };
        let [before, now] = [*before, now].map(recordings::rate);
        Some(format!(
            "{of} at {before} in the reference and at {now} here: values are compared, not how fast they change"
        ))
    };
    reference.iter().filter_map(says).collect()
}

/// The usual step of each topic with a channel in seconds, in the middle of all logs.
fn steps<'l>(logs: &'l [LogReport], proposal: &Proposal) -> BTreeMap<&'l str, f64> {
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for topic in logs.iter().flat_map(|log| &log.topics) {
        let is_channel = |name: &String| ["observation", "command"].contains(&proposal.role_of(name));
        let has_channel = topic.columns.iter().any(|column| is_channel(&topic.full_name(column)));
        let step = topic.rate().map(|rate| 1.0 / rate).or_else(|| Some(topic.of_clock(proposal)?.0));
        all.entry(&topic.name).or_default().extend(step.filter(|_| has_channel));
    }
    all.retain(|_, steps| !steps.is_empty());
    all.into_iter().map(|(topic, steps)| (topic, middle(steps))).collect()
}

/// Columns that are no channel of both sides, each with the reason.
fn not_compared(
    proposal: &Proposal,
    (reference, logs): (&[LogReport], &[LogReport]),
) -> Vec<(String, String)> {
    let [reference, others] = [reference, logs].map(names);
    let reason = |name: &String| {
        let why = || proposal.why.get(name).cloned().unwrap_or_default();
        match (reference.contains(name), others.contains(name)) {
            (true, false) => Some("in the reference only".into()),
            (false, true) => Some("not in the reference".into()),
            _ if ["observation", "command", "time"].contains(&proposal.role_of(name)) => None,
            _ => Some(why()),
        }
    };
    reference.union(&others).filter_map(|name| Some((name.clone(), reason(name)?))).collect()
}

/// The columns that have a value in any of some logs.
fn names(logs: &[LogReport]) -> BTreeSet<String> {
    let topics = logs.iter().flat_map(|log| &log.topics);
    let named = |topic: &TopicReport| -> Vec<String> {
        let filled = topic.columns.iter().filter(|column| column.kind != Kind::Empty);
        filled.map(|column| topic.full_name(column)).collect()
    };
    topics.flat_map(named).collect()
}

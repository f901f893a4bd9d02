//! What happened before an alarm as two files: Arrow with a row per tick, and MCAP.

use super::tick::{self, Tick};
use super::topics::Topics;
use anyhow::Result;
use offnominal_files::columns::{self, Column};
use offnominal_files::mcap::Writer;
use offnominal_monitor::{About, ChannelName, Verdict};
use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

/// The columns beside the channels.
const OWN: [&str; 13] = [
    "time_nanos",
    "episode",
    "step",
    "score",
    "statistic",
    "threshold",
    "state",
    "missing",
    "stale",
    "confidence",
    "lost",
    "event",
    "sensor_event",
];

/// The ticks as an MCAP file.
///
/// # Errors
/// If it cannot be made, which nothing but memory prevents.
pub fn mcap(ticks: &[Arc<Tick>], about: &About) -> Result<Vec<u8>> {
    let mut file = Writer::new(Cursor::new(Vec::new()))?;
    let topics = Topics::add(&mut file, about)?;
    ticks.iter().try_for_each(|tick| topics.write(&mut file, tick))?;
    Ok(file.finish()?.into_inner())
}

/// The ticks as an Arrow file: a log, which `score` reads with a mapping. What is missing is null.
///
/// # Errors
/// If it cannot be made.
pub fn arrow(ticks: &[Arc<Tick>], about: &About) -> Result<Vec<u8>> {
    let counts =
        |of: fn(&Verdict) -> u64| Column::Counts(ticks.iter().map(|tick| verdict(tick).map(of)).collect());
    let doubles =
        |of: fn(&Verdict) -> f64| Column::Doubles(ticks.iter().map(|tick| verdict(tick).map(of)).collect());
    let words = |of: fn(&Verdict) -> Option<&'static str>| {
        Column::Words(ticks.iter().map(|tick| verdict(tick).and_then(of)).collect())
    };
    let own = [
        Column::Integers(ticks.iter().map(|tick| Some(tick.time_nanos)).collect()),
        Column::Counts(ticks.iter().map(|tick| Some(tick.episode)).collect()),
        counts(|v| v.step),
        doubles(|v| v.score),
        doubles(|v| v.statistic),
        doubles(|v| v.threshold),
        words(|v| Some(tick::state(v.state))),
        counts(|v| v.missing.into()),
        counts(|v| v.stale.into()),
        doubles(|v| v.confidence),
        counts(|v| v.lost.into()),
        words(|v| v.event.map(tick::event)),
        words(|v| v.sensor_event.map(tick::sensor_event)),
    ];
    let mut all: Vec<(String, Column)> = OWN.iter().map(|name| name.to_string()).zip(own).collect();
    let channels = [(&about.observation, "observation"), (&about.action, "action")];
    for (i, (of, kind)) in channels.into_iter().enumerate() {
        let others = &channels[1 - i].0;
        for (j, channel) in of.iter().enumerate() {
            let number = |tick: &Arc<Tick>| {
                let numbers = if i == 0 { Some(&tick.observation) } else { tick.action.as_ref() };
                numbers.map(|numbers| numbers[j]).filter(|x| x.is_finite())
            };
            all.push((
                name(&channel.name, kind, others),
                Column::Doubles(ticks.iter().map(number).collect()),
            ));
        }
    }
    let note = ("offnominal".to_string(), format!("{} {}", about.detector.id, about.environment.id));
    columns::arrow(all, HashMap::from([note]))
}

fn verdict(tick: &Arc<Tick>) -> Option<&Verdict> {
    tick.said.as_ref().map(|said| &said.verdict)
}

/// The name of a channel, with its kind before it if another column has the same name.
fn name(channel: &str, kind: &str, others: &[ChannelName]) -> String {
    let is_taken = OWN.contains(&channel) || others.iter().any(|other| other.name == channel);
    if is_taken { format!("{kind}/{channel}") } else { channel.into() }
}

//! What a pointer to a stream points at: messages by topic, and the ticks that are made of them.

use crate::fault::{Done, Fault, Status};
use crate::guard::Poison;
use crate::handle::{Handle, text};
use crate::queue::{Head, Queue};
use crate::types::{Tick, Verdict};
use anyhow::{Context, Result, bail, ensure};
use offnominal_monitor::About;
use offnominal_topics::cdr;
use offnominal_topics::chosen::Chosen;
use offnominal_topics::live::Live;
use offnominal_topics::mapping::{Labels, Mapping};
use offnominal_topics::nested::Nested;
use offnominal_topics::record::{Sink, Topic};
use offnominal_topics::ros_schema::Types;
use std::ffi::CString;
use std::mem::MaybeUninit;

/// Messages of ROS 2 as they come, and the ticks of a monitor's clock that are made of them.
pub struct Stream {
    chosen: Chosen<Live<Queue>>,
    topics: Vec<Messages>,
    columns: Vec<CString>,
    rate_hz: f64,
    widths: [usize; 2],
    row: Vec<f64>,
    episode: Episode,
    is_poisoned: bool,
}

/// The messages of a topic.
struct Messages {
    name: CString,
    decoder: Option<Decoder>,
}

struct Decoder {
    kind: String,
    types: Types,
    into: Nested,
}

/// Where the present episode stands.
#[derive(Default)]
struct Episode {
    start_nanos: i64,
    /// Episodes that have had a step, and whether this one has.
    n_begun: u64,
    has_steps: bool,
}

impl Stream {
    /// The stream of a monitor, by a mapping or by that of its file.
    pub(crate) fn open(about: &About, given: Option<&str>) -> Result<Stream, Fault> {
        let mapping = mapping(about, given).map_err(Fault::Mapping)?;
        Stream::new(&mapping).map_err(Fault::Mapping)
    }

    fn new(mapping: &Mapping) -> Result<Stream> {
        let columns: Vec<&str> = mapping.columns();
        let names = topics(&columns)?;
        let mut chosen = Chosen::new(mapping, Live::new(mapping, Queue::default()));
        for (number, name) in names.iter().enumerate() {
            chosen.topic(number, &Topic { name: (*name).into(), kind: String::new(), is_timed: true })?;
        }
        ensure!(
            mapping.clock.rate_hz.is_some() || names.len() == 1,
            "clock.rate_hz: expected a rate, as the channels are in {} topics, found none",
            names.len()
        );
        Ok(Stream {
            chosen,
            topics: names.iter().map(|name| Messages { name: text(name), decoder: None }).collect(),
            columns: columns.iter().map(|column| text(column)).collect(),
            rate_hz: mapping.clock.rate_hz.unwrap_or(0.0),
            widths: [mapping.observation.len(), mapping.command.len()],
            row: Vec::new(),
            episode: Episode::default(),
            is_poisoned: false,
        })
    }

    pub(crate) fn n_topics(&self) -> usize {
        self.topics.len()
    }

    pub(crate) fn topic(&self, number: usize) -> Option<&CString> {
        self.topics.get(number).map(|topic| &topic.name)
    }

    pub(crate) fn n_columns(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn column(&self, number: usize) -> Option<&CString> {
        self.columns.get(number)
    }

    pub(crate) fn rate_hz(&self) -> f64 {
        self.rate_hz
    }

    /// Seconds since the last value of a column; infinite if there was none.
    pub(crate) fn age_secs(&self, column: usize, time: i64) -> f64 {
        self.chosen.rows.age(column, time).map_or(f64::INFINITY, |nanos| nanos as f64 * 1e-9)
    }

    pub(crate) fn define(&mut self, topic: usize, kind: &str, definition: &str) -> Done {
        let read = |messages: &mut Messages| -> Result<()> {
            let types = Types::parse(kind, definition).with_context(|| format!("definition of {kind}"))?;
            ensure!(messages.decoder.is_none(), "expected one definition, found two");
            messages.decoder = Some(Decoder { kind: kind.into(), types, into: Nested::new(topic) });
            Ok(())
        };
        self.with(topic, |messages, _| read(messages))
    }

    pub(crate) fn message(&mut self, topic: usize, time: i64, bytes: &[u8]) -> Done {
        self.with(topic, |messages, sink| {
            let Some(Decoder { kind, types, into }) = &mut messages.decoder else {
                bail!("expected its definition before its messages, found none");
            };
            placed(time)?;
            cdr::read(types, kind, bytes, Some(time), into, sink).with_context(|| format!("time {time} ns"))
        })
    }

    /// Does something with the messages of a topic, whose name is in its error.
    fn with(
        &mut self,
        topic: usize,
        work: impl FnOnce(&mut Messages, &mut Chosen<Live<Queue>>) -> Result<()>,
    ) -> Done {
        let n = self.topics.len();
        let done = match self.topics.get_mut(topic) {
            Some(messages) => {
                let done = work(messages, &mut self.chosen);
                done.with_context(|| format!("topic {}", messages.name.to_string_lossy()))
            }
            None => Err(anyhow::anyhow!("topic: expected one of {n}, found number {topic}")),
        };
        done.map(|()| Status::Ok).map_err(Fault::Message)
    }

    pub(crate) fn advance(&mut self, time: i64) -> Done {
        let advanced = placed(time).and_then(|()| self.chosen.rows.advance(time));
        advanced.map(|()| Status::Ok).map_err(Fault::Message)
    }

    /// What waits to be judged is forgotten: it belongs to the episode that has ended.
    pub(crate) fn end_episode(&mut self) -> Done {
        self.chosen.rows.end_episode();
        self.chosen.rows.to.clear();
        Ok(Status::Ok)
    }

    /// Feeds the monitor up to the next verdict.
    pub(crate) fn next(
        &mut self,
        monitor: &mut Handle,
        tick: &mut MaybeUninit<Tick>,
        verdict: &mut MaybeUninit<Verdict>,
    ) -> Done {
        let [n_obs, n_action] = self.widths;
        while let Some(head) = self.chosen.rows.to.pop(n_obs + n_action, &mut self.row) {
            if head.is_first {
                monitor.begin(head.task.as_deref());
                (self.episode.start_nanos, self.episode.has_steps) = (head.time_nanos, false);
            }
            let (obs, action) = self.row.split_at(n_obs);
            if let Some(mut found) = monitor.judge(obs, action)? {
                let told = self.episode.told(&head);
                found.beyond_promise |= monitor.about().is_other_pace(told.secs, found.step + 1);
                tick.write(told);
                verdict.write(found.into());
                return Ok(Status::Ok);
            }
        }
        Ok(Status::NoVerdict)
    }
}

impl Episode {
    /// A step of it is over.
    fn told(&mut self, head: &Head) -> Tick {
        self.n_begun += u64::from(!std::mem::replace(&mut self.has_steps, true));
        let Head { time_nanos, dropped, .. } = *head;
        let secs = (time_nanos - self.start_nanos) as f64 * 1e-9;
        Tick { time_nanos, secs, episode: self.n_begun - 1, dropped }
    }
}

impl Poison for Stream {
    fn is_poisoned(&mut self) -> &mut bool {
        &mut self.is_poisoned
    }
}

/// Insists on a time that can be added to others.
fn placed(time: i64) -> Result<()> {
    const MOST: u64 = i64::MAX as u64 / 2;
    ensure!(time.unsigned_abs() <= MOST, "expected a time within 146 years of 1970, found {time} ns");
    Ok(())
}

/// The mapping of a stream: what only judges a recording is left out, as nobody is told of it, and the task where the monitor has
/// no groups.
fn mapping(about: &About, given: Option<&str>) -> Result<Mapping> {
    let text = given.or(about.mapping.as_deref()).with_context(|| {
        format!("expected one, as the monitor was fitted on {}, found none", about.environment.id)
    })?;
    let mapping = Mapping::parse(text)?.of_monitor(&about.references())?;
    let task = mapping.task.clone().filter(|_| about.groups.is_some());
    Ok(Mapping { label: Labels::default(), outcome: None, task, ..mapping })
}

/// The topics of columns, in the order in which they appear.
fn topics<'c>(columns: &[&'c str]) -> Result<Vec<&'c str>> {
    let mut found = Vec::new();
    for column in columns {
        let topic = column.split_once(':').map(|(topic, _)| topic).filter(|topic| !topic.is_empty());
        let topic = topic.with_context(|| {
            format!("expected columns such as \"/imu:angular_velocity.x\", found {column:?}")
        })?;
        if !found.contains(&topic) {
            found.push(topic);
        }
    }
    Ok(found)
}

/// The header promises that a stream may be moved to another thread.
const _: fn() = || {
    fn moves<T: Send>() {}
    moves::<Stream>();
};

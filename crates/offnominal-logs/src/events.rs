//! Labels from a file beside the logs: intervals in which something was wrong, as people keep them.
//!
//! | form            | content                                                                             |
//! |-----------------|-------------------------------------------------------------------------------------|
//! | CSV             | columns `start` and `end`, and if there are, `label` (the kind) and `log` (its file) |
//! | JSON of NAB     | the file of each log, and a list of pairs of start and end                          |
//!
//! A moment is a date, or a number of seconds on the clock of the log. A step has the label of the observation in which it
//! ends, both ends of an interval included.

use crate::episodes::{Labelled, Recorded};
use crate::recordings::Recordings;
use anyhow::{Context, Result, bail, ensure};
use offnominal_files::read;
use offnominal_topics::clock::nanos;
use offnominal_topics::dates;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The kind of an event that nobody has named.
const EVENT: &str = "event";

/// What a file says of logs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Events {
    intervals: Vec<Interval>,
    /// The logs that it speaks of; all, if it names none.
    logs: Vec<String>,
    /// Columns of a table that say nothing here.
    unread: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
struct Interval {
    log: Option<String>,
    /// First and last moment in nanoseconds of the clock of the log.
    span: (i64, i64),
    kind: String,
}

impl Events {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or is in neither form; names row, expected and found.
    pub fn open(path: &Path) -> Result<Events> {
        let text = read::text(path)?;
        let found = if text.trim_start().starts_with('{') { of_json(&text) } else { of_csv(&text) };
        let found = found.with_context(|| format!("events {}", path.display()))?;
        ensure!(
            !found.intervals.is_empty() || !found.logs.is_empty(),
            "events {}: expected at least one interval, found none",
            path.display()
        );
        Ok(found)
    }

    /// Labels recordings. A log that the file does not speak of stays without labels.
    ///
    /// # Errors
    /// If a recording has labels already, the file names a log that is not there, or no interval holds a step.
    pub fn label(&self, recordings: &mut Recordings) -> Result<()> {
        for recorded in &recordings.all {
            ensure!(
                recorded.labels.is_none(),
                "events: expected logs without labels, found the label of the mapping in {}; take it out of the mapping",
                recorded.name()
            );
        }
        let names = self.names(recordings)?;
        let strangers: Vec<&str> = self
            .logs
            .iter()
            .map(String::as_str)
            .filter(|log| !names.values().any(|name| name == log))
            .collect();
        ensure!(
            self.logs.is_empty() || strangers.len() < self.logs.len(),
            "events: expected one of the logs, found none of them in the file, which names {}",
            few(&strangers)
        );
        if !strangers.is_empty() {
            recordings.remarks.push(format!("events of logs that are not there: {}", few(&strangers)));
        }
        if !self.unread.is_empty() {
            recordings
                .remarks
                .push(format!("columns of events that are not read: {}", self.unread.join(", ")));
        }
        self.mark(recordings, &names)
    }

    /// The name of each log in the file, where it has one.
    fn names(&self, recordings: &Recordings) -> Result<BTreeMap<PathBuf, String>> {
        let mut logs: Vec<PathBuf> = recordings.all.iter().map(|one| one.log.clone()).collect();
        logs.sort();
        logs.dedup();
        let mut names = BTreeMap::new();
        for log in &logs {
            let name = meant(log, &logs, &self.logs)?;
            names.extend(name.map(|name| (log.clone(), name.to_string())));
        }
        Ok(names)
    }

    fn mark(&self, recordings: &mut Recordings, names: &BTreeMap<PathBuf, String>) -> Result<()> {
        let mut used = vec![false; self.intervals.len()];
        let kinds: BTreeMap<&str, ()> = self.intervals.iter().map(|one| (one.kind.as_str(), ())).collect();
        for recorded in &mut recordings.all {
            let own = names.get(&recorded.log);
            if !self.logs.is_empty() && own.is_none() {
                continue;
            }
            let mut labelled: Vec<Labelled> =
                kinds.keys().map(|kind| Labelled::nothing(kind, recorded)).collect();
            if labelled.is_empty() {
                labelled.push(Labelled::nothing(EVENT, recorded));
            }
            for (interval, used) in self.intervals.iter().zip(&mut used) {
                let of_log = interval.log.is_none() || interval.log.as_ref() == own;
                let kind = labelled.iter_mut().find(|one| one.kind == interval.kind);
                if let Some(kind) = kind.filter(|_| of_log) {
                    *used |= interval.mark(recorded, &mut kind.steps);
                }
            }
            recorded.label(labelled);
        }
        self.check(&used, recordings)
    }

    /// Says which intervals hold no step.
    fn check(&self, used: &[bool], recordings: &mut Recordings) -> Result<()> {
        let idle = used.iter().filter(|used| !**used).count();
        let Some(first) = recordings.all.first() else { return Ok(()) };
        ensure!(
            used.is_empty() || idle < used.len(),
            "events: expected intervals within the logs, found none of {} that holds a step: {} begins at {:.3} s of its clock",
            used.len(),
            first.name(),
            first.start_nanos as f64 / 1e9
        );
        if idle > 0 {
            recordings.remarks.push(format!("{idle} of {} events hold no step of any log", used.len()));
        }
        Ok(())
    }
}

impl Labelled {
    /// No step of a recording.
    fn nothing(kind: &str, recorded: &Recorded) -> Labelled {
        Labelled { kind: kind.into(), steps: vec![false; recorded.secs.len().saturating_sub(1)] }
    }
}

impl Interval {
    /// Marks the steps that it holds, and whether there are any.
    fn mark(&self, recorded: &Recorded, steps: &mut [bool]) -> bool {
        let ends = recorded.secs[1..].iter().map(|&secs| recorded.start_nanos + nanos(secs));
        let mut any = false;
        for (step, end) in steps.iter_mut().zip(ends) {
            let is_inside = (self.span.0..=self.span.1).contains(&end);
            *step |= is_inside;
            any |= is_inside;
        }
        any
    }
}

/// Whether one path ends with the other.
fn is_end(log: &Path, name: &str) -> bool {
    log.ends_with(name) || Path::new(name).ends_with(log)
}

/// The name by which a file means a log: one path ends with the other; else the names of the files are the same, and the
/// name means no other log.
///
/// # Errors
/// If several names, or a name of several logs, could be meant.
fn meant<'n>(log: &Path, logs: &[PathBuf], names: &'n [String]) -> Result<Option<&'n str>> {
    let by_path = |name: &&String| is_end(log, name);
    let by_file = |name: &&String| {
        Path::new(name).file_name() == log.file_name() && !logs.iter().any(|other| is_end(other, name))
    };
    let mut found: Vec<&String> = names.iter().filter(by_path).collect();
    if found.is_empty() {
        found = names.iter().filter(by_file).collect();
    }
    let Some(name) = found.first() else { return Ok(None) };
    ensure!(
        found.len() == 1,
        "events: expected one name for the log {}, found {name} and {}",
        log.display(),
        found[1]
    );
    let is_path = is_end(log, name);
    let is_it = |other: &&PathBuf| match is_path {
        true => is_end(other, name),
        false => other.file_name() == log.file_name(),
    };
    let alike = logs.iter().filter(is_it).count();
    ensure!(alike == 1, "events: expected more of the path of {name}, as {alike} of the logs are called so");
    Ok(Some(name))
}

/// The first of some names, and how many there are more.
fn few(names: &[&str]) -> String {
    const MOST: usize = 3;
    let more = names.len().saturating_sub(MOST);
    let first = names[..names.len() - more].join(", ");
    if more == 0 { first } else { format!("{first} and {more} more") }
}

/// A date, or seconds.
fn moment(text: &str) -> Result<i64> {
    if let Ok(secs) = text.parse::<f64>() {
        ensure!(secs.is_finite(), "expected a finite time, found {text:?}");
        return Ok(nanos(secs));
    }
    let date = dates::clear(text, 0).filter(|(form, _)| dates::forms()[*form].format.is_some());
    let Some((_, nanos)) = date else {
        bail!(
            "expected a date such as 2014-04-10 07:15:00, or seconds on the clock of the log, found {text:?}"
        )
    };
    Ok(nanos)
}

fn span(start: &str, end: &str) -> Result<(i64, i64)> {
    let span = (moment(start)?, moment(end)?);
    ensure!(span.0 <= span.1, "expected a start before the end, found {start} and {end}");
    Ok(span)
}

fn of_csv(text: &str) -> Result<Events> {
    let mut rows = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = rows.headers()?.clone();
    let place = |name: &str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
    let found = || header.iter().collect::<Vec<_>>().join(", ");
    let needed = |name| place(name).with_context(|| format!("expected a column `{name}`, found {}", found()));
    let (start, end) = (needed("start")?, needed("end")?);
    let (kind, log) = (place("label"), place("log"));
    let is_read =
        |name: &&str| ["start", "end", "label", "log"].iter().any(|own| own.eq_ignore_ascii_case(name));
    let unread = header.iter().filter(|name| !is_read(name)).map(String::from).collect();
    let mut events = Events { unread, ..Events::default() };
    for (i, row) in rows.records().enumerate() {
        let row = row?;
        let of = |place: Option<usize>| place.and_then(|at| row.get(at)).filter(|text| !text.is_empty());
        let text = |at: usize| row.get(at).unwrap_or_default();
        let span = span(text(start), text(end)).with_context(|| format!("row {}", i + 2))?;
        let log = of(log).map(String::from);
        events.logs.extend(log.clone().filter(|log| !events.logs.contains(log)));
        events.intervals.push(Interval { log, span, kind: of(kind).unwrap_or(EVENT).into() });
    }
    let all_named = events.intervals.iter().all(|one| one.log.is_some());
    ensure!(all_named || events.logs.is_empty(), "log: expected the file of a log in each row, or in none");
    Ok(events)
}

fn of_json(text: &str) -> Result<Events> {
    let logs: BTreeMap<String, Vec<(String, String)>> = serde_json::from_str(text)
        .context("expected the file of each log with a list of pairs of start and end, as NAB has them")?;
    let mut events = Events { logs: logs.keys().cloned().collect(), ..Events::default() };
    for (log, pairs) in logs {
        for (start, end) in pairs {
            let span = span(&start, &end).with_context(|| log.clone())?;
            events.intervals.push(Interval { log: Some(log.clone()), span, kind: EVENT.into() });
        }
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One observation a second, from a moment on.
    fn recordings(logs: &[&str], start_secs: i64) -> Recordings {
        let one = |log: &&str| Recorded {
            log: (*log).into(),
            number: 1,
            is_alone: true,
            is_part: false,
            start_nanos: start_secs * 1_000_000_000,
            secs: (0..11).map(f64::from).collect(),
            observations: vec![0.0; 11],
            commands: vec![],
            ages_secs: vec![0.0; 11],
            labels: None,
            kinds: vec![],
            success: None,
            task: None,
        };
        Recordings { all: logs.iter().map(one).collect(), ..Recordings::default() }
    }

    /// The steps of each recording that are labelled.
    fn labelled(text: &str, logs: &[&str], start_secs: i64) -> Result<Vec<Option<Vec<usize>>>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("events");
        std::fs::write(&path, text)?;
        let mut all = recordings(logs, start_secs);
        Events::open(&path)?.label(&mut all)?;
        let steps = |labels: &Vec<bool>| (0..labels.len()).filter(|&i| labels[i]).collect();
        Ok(all.all.iter().map(|one| one.labels.as_ref().map(steps)).collect())
    }

    #[test]
    fn seconds_and_dates_label_the_steps_that_end_within() {
        let of = |text, start| labelled(text, &["a.csv"], start).unwrap();
        assert_eq!(of("start,end\n3,5\n9,9\n", 0), [Some(vec![2, 3, 4, 8])]);
        // 2014-04-10 00:00:00.
        let dates = "Start,End,label\n2014-04-10 00:00:02,2014-04-10T00:00:03,leak\n";
        assert_eq!(of(dates, 1_397_088_000), [Some(vec![1, 2])]);
        let nab = r#"{"real/a.csv": [["2014-04-10 00:00:02.000000", "2014-04-10 00:00:03.000000"]]}"#;
        assert_eq!(of(nab, 1_397_088_000), [Some(vec![1, 2])]);
    }

    #[test]
    fn a_log_that_is_not_named_stays_without_labels() {
        let text = "log,start,end\nx/a.csv,3,4\n";
        let found = labelled(text, &["logs/a.csv", "b.csv"], 0).unwrap();
        assert_eq!(found, [Some(vec![2, 3]), None]);
        let nominal = r#"{"a.csv": [["3", "4"]], "b.csv": []}"#;
        assert_eq!(labelled(nominal, &["a.csv", "b.csv"], 0).unwrap(), [Some(vec![2, 3]), Some(vec![])]);
    }

    #[test]
    fn logs_of_one_name_are_told_apart_by_their_folders() {
        let text = "log,start,end,note\na/x.csv,3,4,pump\n";
        let logs = ["logs/a/x.csv", "logs/b/x.csv"];
        assert_eq!(labelled(text, &logs, 0).unwrap(), [Some(vec![2, 3]), None]);
        for name in ["x.csv", "c/x.csv"] {
            let error = labelled(&format!("log,start,end\n{name},3,4\n"), &logs, 0).unwrap_err().to_string();
            assert!(error.contains(&format!("more of the path of {name}, as 2 of the logs")), "{error}");
        }
        let mut all = recordings(&["x.csv"], 0);
        of_csv(text).unwrap().label(&mut all).unwrap();
        assert_eq!(all.remarks, ["columns of events that are not read: note"]);
    }

    #[test]
    fn kinds_are_told_apart_and_overlap() {
        let mut all = recordings(&["a.csv"], 0);
        of_csv("start,end,label\n3,5,leak\n5,6,noise\n").unwrap().label(&mut all).unwrap();
        let kinds: Vec<(&str, usize)> = all.all[0]
            .kinds
            .iter()
            .map(|one| (one.kind.as_str(), one.steps.iter().filter(|on| **on).count()))
            .collect();
        assert_eq!(kinds, [("leak", 3), ("noise", 2)]);
        assert_eq!(all.all[0].labels.as_ref().unwrap().iter().filter(|on| **on).count(), 4);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |text| format!("{:#}", labelled(text, &["a.csv"], 0).unwrap_err());
        assert!(refused("begin,end\n1,2\n").contains("expected a column `start`, found begin, end"));
        assert!(refused("start,end\n1,2\n5,4\n").contains("row 3: expected a start before the end"));
        assert!(refused("start,end\nsoon,4\n").contains("expected a date such as"));
        assert!(refused("start,end\n").contains("expected at least one interval"));
        assert!(refused("start,end\n100,200\n").contains("found none of 1 that holds a step"));
        assert!(
            refused(r#"{"z.csv": [["1", "2"]]}"#)
                .contains("found none of them in the file, which names z.csv")
        );
        assert!(refused(r#"{"a.csv": 3}"#).contains("as NAB has them"));
        let mut labelled = recordings(&["a.csv"], 0);
        labelled.all[0].labels = Some(vec![false; 10]);
        let twice = of_csv("start,end\n1,2\n").unwrap().label(&mut labelled).unwrap_err().to_string();
        assert!(twice.contains("take it out of the mapping"), "{twice}");
    }

    #[test]
    fn events_outside_of_every_log_are_said() {
        let mut all = recordings(&["a.csv"], 0);
        of_csv("start,end\n3,5\n100,200\n").unwrap().label(&mut all).unwrap();
        assert_eq!(all.remarks, ["1 of 2 events hold no step of any log"]);
    }
}

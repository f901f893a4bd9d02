//! Folders of good and of bad recordings, and everything that is said of a log as a file beside it.

use crate::alarms::{Rig, tanks};
use offnominal_engine::context::Context;
use offnominal_logs::record::{Column, Sink, Topic, Value};
use offnominal_logs::{formats, score};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The mapping of the tanks without their label.
const MAP: &str = "version = 1\nobservation = [{ column = \"level\" }, { column = \"flow\" }]\ncommand = [{ column = \"valve\" }]\n\
                   [clock]\ncolumn = \"time\"\nrate_hz = 10.0\n";

struct Folders {
    rig: Rig,
    map: PathBuf,
}

impl Folders {
    /// A monitor, ten good recordings, and ten bad ones of which two are as the good ones.
    fn new() -> Folders {
        let rig = Rig::new(40);
        rig.fit(rig.nominal.clone(), 0.05).unwrap();
        let map = rig.path("plain.toml");
        std::fs::write(&map, MAP).unwrap();
        for (folder, first) in [("good", 100), ("bad", 200)] {
            std::fs::create_dir(rig.path(folder)).unwrap();
            for i in 0..10 {
                let leaks_from = if folder == "bad" && i >= 2 { 40 } else { 999 };
                let log = rig.path(folder).join(format!("run{i}.csv"));
                std::fs::write(log, tanks(first + i, leaks_from)).unwrap();
            }
        }
        Folders { rig, map }
    }

    fn score(&self, logs: &[&str], bad: &[&str], map: &str) -> anyhow::Result<score::ScoredLogs> {
        std::fs::write(&self.map, map).unwrap();
        let paths = |names: &[&str]| names.iter().map(|name| self.rig.path(name)).collect::<Vec<_>>();
        let request = score::Request {
            monitor: self.rig.path("tanks.monitor"),
            logs: paths(logs),
            map: Some(self.map.clone()),
            events: None,
            bad: paths(bad),
            report: None,
            alarms: None,
            mcap: None,
        };
        score::run(&request, &Context::silent(1, 2))
    }

    fn refused(&self, logs: &[&str], bad: &[&str], map: &str) -> String {
        format!("{:#}", self.score(logs, bad, map).unwrap_err())
    }
}

#[test]
fn bad_recordings_are_found_or_not_and_no_delay_is_claimed() {
    let folders = Folders::new();
    let found = folders.score(&["good"], &["bad"], MAP).unwrap();
    let (truth, text) = (&found.truth, found.to_string());
    let (detected, false_alarms) = (truth.detected.as_ref().unwrap(), truth.false_alarms.as_ref().unwrap());
    // One of the two that are as the good ones may raise a false alarm too.
    assert!((0.8..=0.9).contains(&detected.value) && false_alarms.value <= 0.2, "{text}");
    assert_eq!((detected.n, false_alarms.n), (10, 10));
    let whole = truth.whole.as_ref().unwrap();
    // Eight of ten stand above all good ones, and two are of their law.
    let auroc = whole.auroc.as_ref().unwrap();
    assert!((0.8..=1.0).contains(&auroc.value) && auroc.low > 0.5, "{text}");
    assert_eq!(whole.auroc_of_length.as_ref().unwrap().value, 0.5);
    assert!(truth.median_delay_secs.is_none() && !text.contains("delay 0"), "{text}");
    assert!(found.recordings.iter().all(|one| one.labelled_secs.is_none()));
    assert!(text.contains("nothing says when a fault began") && text.contains("bad recordings"), "{text}");
    assert!(!text.contains("outside of events"), "{text}");
    // A bad log that is cut into windows is found once.
    let windows = format!("{MAP}[episodes]\nby = \"window\"\nsecs = 4.0\n");
    let cut = folders.score(&["good"], &["bad"], &windows).unwrap();
    assert_eq!(cut.truth.detected.as_ref().unwrap().n, 10, "{cut}");
    assert!(cut.to_string().contains("of 10 bad logs"), "{cut}");
    assert!(cut.recordings.len() >= 40 && cut.recordings.iter().all(|one| one.labelled_secs.is_none()));
}

#[test]
fn what_contradicts_is_named() {
    let folders = Folders::new();
    std::fs::create_dir(folders.rig.path("none")).unwrap();
    std::fs::write(folders.rig.path("short.csv"), "time,level,flow,valve\n0,1,1,1\n").unwrap();
    let empty = folders.refused(&["good"], &["none"], MAP);
    assert!(empty.contains("none: expected logs, found no file"), "{empty}");
    let short = folders.refused(&["good"], &["bad", "short.csv"], MAP);
    assert!(short.contains("bad: expected a recording with at least one step, found none in"), "{short}");
    let both = folders.refused(&["good"], &["bad", "good/run3.csv"], MAP);
    assert!(
        both.contains("run3.csv: expected it among the good or the bad logs, found it among both"),
        "{both}"
    );
    let labelled = folders.refused(&["good"], &["bad"], &format!("label = \"leak\"\n{MAP}"));
    assert!(labelled.contains("expected logs without labels and outcomes"), "{labelled}");
}

/// The numbers of a log by topic and column.
#[derive(Default)]
struct Columns {
    topics: Vec<(String, Vec<String>)>,
    values: BTreeMap<String, Vec<f64>>,
    times: BTreeMap<String, Vec<i64>>,
    words: BTreeMap<String, Vec<String>>,
}

impl Sink for Columns {
    fn topic(&mut self, _: usize, topic: &Topic) -> anyhow::Result<bool> {
        self.topics.push((topic.name.clone(), vec![]));
        Ok(true)
    }

    fn column(&mut self, topic: usize, _: usize, column: &Column) -> anyhow::Result<()> {
        self.topics[topic].1.push(column.name.clone());
        Ok(())
    }

    fn row(&mut self, topic: usize, time: Option<i64>, row: &[Value<'_>]) -> anyhow::Result<()> {
        let (name, columns) = &self.topics[topic];
        self.times.entry(name.clone()).or_default().extend(time);
        for (column, value) in columns.iter().zip(row) {
            let name = format!("{name}:{column}");
            match value {
                Value::Text(text) => self.words.entry(name).or_default().push((*text).to_string()),
                other => self.values.entry(name).or_default().extend(other.number()),
            }
        }
        Ok(())
    }

    fn left_out(&mut self, _: Option<usize>, what: &str) {
        panic!("{what}");
    }

    fn assumed(&mut self, _: Option<usize>, _: &str) {}
}

#[test]
fn scores_thresholds_and_alarms_stand_in_an_mcap_file_at_the_times_of_the_log() {
    let folders = Folders::new();
    let mcap = folders.rig.path("leak.mcap");
    let request = |logs: &[&str]| score::Request {
        monitor: folders.rig.path("tanks.monitor"),
        logs: logs.iter().map(|log| folders.rig.path(log)).collect(),
        map: None,
        events: None,
        bad: vec![],
        report: None,
        alarms: None,
        mcap: Some(mcap.clone()),
    };
    let context = Context::silent(1, 2);
    let found = score::run(&request(&["bad/run5.csv"]), &context).unwrap();
    let one = &found.recordings[0];
    let mut read = Columns::default();
    formats::read(&mcap, &mut read).unwrap();
    let scores: Vec<f64> = one.verdicts.iter().map(|verdict| verdict.score).collect();
    assert_eq!(read.values["/verdict:score"], scores);
    assert_eq!(read.values["/verdict:threshold"], vec![one.threshold; one.steps]);
    assert_eq!(read.times["/observation"].len(), one.steps + 1);
    let raised = read.words["/verdict:event"].iter().filter(|word| *word == "raised").count();
    assert!(raised == one.alarms.len() && raised > 0, "{raised}");
    let step = one.alarms[0].step as usize;
    assert_eq!(read.times["/verdict"][step], one.alarms[0].time_nanos);
    // A file that is there stays, and recordings at the same time have no clock in common.
    let there = format!("{:#}", score::run(&request(&["bad/run5.csv"]), &context).unwrap_err());
    assert!(there.contains("cannot begin the new file"), "{there}");
    let two = format!("{:#}", score::run(&request(&["bad/run5.csv", "bad/run6.csv"]), &context).unwrap_err());
    assert!(two.contains("mcap: expected recordings one after another"), "{two}");
}

//! Thresholds of tasks: from logs that name them to alarms that keep within each.

use offnominal_engine::context::Context;
use offnominal_engine::monitor_file;
use offnominal_engine::progress::{Progress, Silent};
use offnominal_live::{Live, Settings};
use offnominal_logs::mapping::Mapping;
use offnominal_logs::{fit, score, watch};
use offnominal_work::cli;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

const MAPPING: &str = "version = 1\ntask = \"task\"\nobservation = [{ column = \"level\" }]\ncommand = [{ column = \"valve\" }]\n\
                       [clock]\ncolumn = \"time\"\nrate_hz = 10.0\n";

/// A tank that is filled; where it is stirred too, its level is ten times as restless.
fn run(task: &str, number: u32) -> String {
    let mut text = String::from("time,level,valve,task\n");
    let (mut level, mut bits) = (0.5, u64::from(number) * 2_654_435_761 + 1);
    let restless = if task == "stir" { 0.1 } else { 0.01 };
    for step in 0..60_u32 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (bits >> 40) as f64 / f64::from(1 << 24) - 0.5;
        let valve = 0.5 + 0.4 * (f64::from(step) / 9.0).sin();
        level += 0.1 * (valve - level) + restless * noise;
        writeln!(text, "{},{level},{valve},{task}", f64::from(step) / 10.0).unwrap();
    }
    text
}

struct Rig(tempfile::TempDir);

impl Rig {
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn monitor(&self) -> PathBuf {
        self.0.path().join("tank.monitor")
    }

    /// Thirty runs of each of two tasks and three of another, fitted.
    fn fit(&self, map: &str, by_task: bool) -> anyhow::Result<fit::FittedOnLogs> {
        let task = |i: u32| if i % 21 == 20 { "drain" } else { ["fill", "stir"][i as usize % 2] };
        let logs = (0..63).map(|i| self.write(&format!("run{i:02}.csv"), &run(task(i), i))).collect();
        let request = serde_json::json!({
            "logs": ["-"], "detector": "knn-transition", "alpha": 0.1,
            "by_task": by_task, "diagnosis": false, "file": self.monitor(), "map": self.write("map.toml", map),
        });
        let request = fit::Request { logs, ..cli::request(&request)? };
        fit::run(&request, &Context::silent(1, 2))
    }

    /// What a stream with a text is told, line by line.
    fn watch(&self, group: Option<&str>, text: &str) -> anyhow::Result<Vec<serde_json::Value>> {
        self.watch_by(MAPPING, group, text)
    }

    fn watch_by(&self, map: &str, group: Option<&str>, text: &str) -> anyhow::Result<Vec<serde_json::Value>> {
        let notes: Arc<dyn Progress> = Arc::new(Silent);
        let monitor = monitor_file::open(&self.monitor())?;
        let mut beside = Live::open(Settings::default(), &self.monitor(), monitor.about(), &notes)?;
        let (from, mut told) = (std::io::Cursor::new(text.to_string()), Vec::new());
        let mapping = Mapping::parse(map)?;
        watch::watch(monitor, group.map(String::from), (&mapping, false), from, &mut told, &mut beside)?;
        Ok(String::from_utf8(told)?.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    fn score(&self, logs: Vec<PathBuf>) -> score::ScoredLogs {
        let (map, report, alarms) = (None, Some(self.0.path().join("report.html")), None);
        let request = score::Request {
            monitor: self.monitor(),
            logs,
            map,
            events: None,
            bad: vec![],
            report,
            alarms,
            mcap: None,
        };
        score::run(&request, &Context::silent(1, 2)).unwrap()
    }
}

#[test]
fn each_task_has_its_own_threshold_and_an_unknown_one_is_named() {
    let rig = Rig(tempfile::tempdir().unwrap());
    let fitted = rig.fit(MAPPING, true).unwrap();
    let groups = fitted.fitted.monitor.groups.clone().unwrap();
    let own: Vec<(&str, f64)> = groups.own.iter().map(|g| (g.name.as_str(), g.threshold.value)).collect();
    let [("fill", fill), ("stir", stir)] = own[..] else { panic!("{groups:?}") };
    assert!(stir > 3.0 * fill, "{fill} {stir}");
    let said = fitted.to_string();
    assert!(
        said.contains("group fill: above") && said.contains("the promise holds within the group"),
        "{said}"
    );
    assert!(said.contains("group drain: too few episodes (2) for a threshold of its own"), "{said}");
    let logs =
        ["fill", "stir", "drain", "wash"].map(|task| rig.write(&format!("{task}.csv"), &run(task, 100)));
    let found = rig.score(logs.to_vec());
    let of_all = fitted.fitted.monitor.threshold.value;
    let thresholds: Vec<f64> = found.recordings.iter().map(|r| r.threshold).collect();
    assert_eq!(thresholds, [fill, stir, of_all, of_all]);
    let unknown: Vec<bool> = found.recordings.iter().map(|r| r.has_unknown_task).collect();
    assert_eq!(unknown, [false, false, false, true]);
    let says = "task wash: none of the monitor's groups";
    let page = std::fs::read_to_string(rig.0.path().join("report.html")).unwrap();
    assert!(
        found.to_string().contains(says) && page.contains("task wash: none of the monitor&#x27;s groups"),
        "{found}"
    );
}

#[test]
fn a_stream_may_be_of_one_task() {
    let rig = Rig(tempfile::tempdir().unwrap());
    rig.fit(MAPPING, true).unwrap();
    let watched = |group: &str| {
        rig.watch(Some(group), &run("stir", 107))
            .map(|told| told.iter().filter(|line| line["event"] == "raised").count())
    };
    assert_eq!((watched("stir").unwrap(), watched("fill").unwrap()), (0, 1));
    let error = watched("stri").unwrap_err().to_string();
    assert_eq!(error, "group: expected one of fill, stir, drain, found \"stri\"; did you mean \"stir\"?");
}

#[test]
fn a_stream_has_the_thresholds_of_the_log_for_each_task() {
    let rig = Rig(tempfile::tempdir().unwrap());
    rig.fit(MAPPING, true).unwrap();
    for task in ["fill", "stir", "drain", "wash", ""] {
        let text = run(task, 100);
        let scored = rig.score(vec![rig.write("log.csv", &text)]).recordings.remove(0);
        let told = rig.watch(None, &text).unwrap();
        let both = told.iter().zip(&scored.verdicts).all(|(line, verdict)| {
            line["threshold"] == verdict.threshold && line["state"] == serde_json::json!(verdict.state)
        });
        assert!(both && told.len() == scored.verdicts.len(), "{task}");
        let is_beyond = told.iter().any(|line| line["beyond_promise"] == true);
        assert_eq!(is_beyond, task == "wash", "{task}");
    }
}

#[test]
fn a_stream_with_other_steps_or_more_of_them_says_that_the_promise_does_not_hold() {
    let rig = Rig(tempfile::tempdir().unwrap());
    rig.fit(MAPPING, true).unwrap();
    let first = |map: &str, text: &str| {
        let told = rig.watch_by(map, None, text).unwrap();
        told.iter().position(|line| line["beyond_promise"] == true)
    };
    let text = run("fill", 100);
    assert_eq!(first(MAPPING, &text), None);
    assert_eq!(first(&MAPPING.replace("10.0", "5.0"), &text), Some(9));
    let mut long = text.clone();
    text.lines().skip(1).enumerate().for_each(|(i, line)| {
        let rest = line.split_once(',').unwrap().1;
        writeln!(long, "{},{rest}", 6.0 + i as f64 / 10.0).unwrap();
    });
    assert_eq!(first(MAPPING, &long), Some(59));
}

#[test]
fn tasks_that_nobody_names_are_refused() {
    let rig = Rig(tempfile::tempdir().unwrap());
    let without = MAPPING.replace("task = \"task\"\n", "ignored = [\"task\"]\n");
    let error = rig.fit(&without, true).unwrap_err().to_string();
    assert_eq!(error, "by_task: expected a mapping that names the column `task`, found none");
    assert!(rig.fit(&without, false).unwrap().fitted.monitor.groups.is_none());
}

#[test]
fn a_recording_without_an_outcome_is_left_out_where_others_have_one() {
    let rig = Rig(tempfile::tempdir().unwrap());
    // The column of the task holds the outcome: a word, or nothing.
    let map = MAPPING.replace("task = \"task\"", "outcome = { column = \"task\", success = \"done\" }");
    let outcome = |i: u32| if i < 2 { "" } else { "done" };
    let logs: Vec<PathBuf> =
        (0..42).map(|i| rig.write(&format!("run{i:02}.csv"), &run(outcome(i), i))).collect();
    let fitted = |logs: &[PathBuf]| {
        let request = serde_json::json!({
            "logs": logs, "detector": "knn-transition", "diagnosis": false, "file": rig.monitor(),
            "map": rig.write("map.toml", &map),
        });
        fit::run(&cli::request(&request).unwrap(), &Context::silent(1, 2)).unwrap().fitted.left_out
    };
    let left_out = fitted(&logs);
    assert!(left_out.len() == 2 && left_out[0].contains("its outcome is missing"), "{left_out:?}");
    assert!(fitted(&logs[2..]).is_empty());
}

//! From logs to an alarm: the same scores from every format, what a fit refuses, and what a page shows.

use offnominal_engine::context::Context;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::monitor_file;
use offnominal_engine::progress::{Progress, Silent};
use offnominal_live::{Live, Settings};
use offnominal_logs::mapping::Mapping;
use offnominal_logs::{fit, score, watch};
use offnominal_work::fitting::Fitting;
use offnominal_work::rule_choice::Threshold;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

/// A recording of two tanks as CSV; from a step on, the second one leaks.
pub(crate) fn tanks(number: u32, leaks_from: usize) -> String {
    tanks_of(number, 120, leaks_from)
}

fn tanks_of(number: u32, steps: usize, leaks_from: usize) -> String {
    let mut text = String::from("time,level,flow,valve,leak\n");
    let (mut levels, mut bits) = ([0.5, 0.3], u64::from(number) * 2_654_435_761 + 1);
    for step in 0..steps {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (bits >> 40) as f64 / f64::from(1 << 24) - 0.5;
        let valve = 0.5 + 0.4 * (step as f64 / 9.0).sin();
        let is_leaking = step >= leaks_from;
        let leak = if is_leaking { 0.15 } else { 0.0 };
        levels[0] += 0.1 * (valve - levels[0]);
        levels[1] += 0.1 * (levels[0] - levels[1]) - leak * levels[1] + 0.002 * noise;
        writeln!(
            text,
            "{},{},{},{valve},{}",
            f64::from(step as u32) / 10.0,
            levels[1],
            levels[0],
            u8::from(is_leaking)
        )
        .unwrap();
    }
    text
}

const MAPPING: &str = "version = 1\nlabel = \"leak\"\nobservation = [{ column = \"level\", unit = \"m\" }, { column = \"flow\" }]\n\
                       command = [{ column = \"valve\" }]\n[clock]\ncolumn = \"time\"\nrate_hz = 10.0\n";

pub(crate) struct Rig {
    folder: tempfile::TempDir,
    pub nominal: Vec<PathBuf>,
    map: PathBuf,
}

impl Rig {
    pub fn new(n: u32) -> Rig {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: String, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let nominal = (0..n).map(|i| write(format!("run{i:02}.csv"), &tanks(i, 999))).collect();
        let map = write("map.toml".into(), MAPPING);
        Rig { nominal, map, folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn fit(&self, logs: Vec<PathBuf>, alpha: f64) -> anyhow::Result<fit::FittedOnLogs> {
        self.fit_with(logs, "knn-transition", alpha)
    }

    pub fn fit_with(
        &self,
        logs: Vec<PathBuf>,
        detector: &str,
        alpha: f64,
    ) -> anyhow::Result<fit::FittedOnLogs> {
        let mut request = self.request(logs, alpha);
        request.fitting.detector = DetectorChoice::named(detector);
        fit::run(&request, &Context::silent(1, 2))
    }

    pub fn request(&self, logs: Vec<PathBuf>, alpha: f64) -> fit::Request {
        let threshold = Threshold { alpha, ..Threshold::default() };
        let detector = DetectorChoice::named("knn-transition");
        let fitting = Fitting { detector, threshold, ..Fitting::default() };
        fit::Request {
            logs,
            map: Some(self.map.clone()),
            events: None,
            until: None,
            by_task: false,
            fitting,
            file: self.path("tanks.monitor"),
        }
    }

    pub fn score(&self, logs: Vec<PathBuf>, map: Option<PathBuf>) -> anyhow::Result<score::ScoredLogs> {
        let [report, alarms] = ["report.html", "alarms.csv"].map(|name| Some(self.path(name)));
        let request = score::Request {
            monitor: self.path("tanks.monitor"),
            logs,
            map,
            events: None,
            bad: vec![],
            report,
            alarms,
            mcap: None,
        };
        score::run(&request, &Context::silent(1, 2))
    }
}

#[test]
fn a_leak_raises_an_alarm_that_names_its_channel() {
    let rig = Rig::new(40);
    let fitted = rig.fit(rig.nominal.clone(), 0.05).unwrap();
    assert_eq!((fitted.recordings, fitted.fitted.left_out.len()), (40, 0));
    assert_eq!(fitted.fitted.warnings, Vec::<String>::new());
    let leak = rig.path("leak.csv");
    std::fs::write(&leak, tanks(77, 60)).unwrap();
    let fresh = rig.path("fresh.csv");
    std::fs::write(&fresh, tanks(99, 999)).unwrap();
    let found = rig.score(vec![leak, fresh], None).unwrap();
    let [leaking, nominal] = &found.recordings[..] else { panic!("two recordings") };
    let alarm = &leaking.alarms[0];
    assert!(nominal.alarms.is_empty(), "{:?}", nominal.alarms);
    assert_eq!(leaking.labelled_secs, Some(6.0));
    assert!((6.0..7.0).contains(&alarm.secs) && alarm.channels[0].name == "level", "{alarm:?}");
    let truth = &found.truth;
    assert_eq!(
        (truth.detected.as_ref().unwrap().value, truth.false_alarms.as_ref().unwrap().value),
        (1.0, 0.0)
    );
    let ranked: Vec<String> = found.ranked.iter().map(ToString::to_string).collect();
    let begins = |text: &str| ranked.iter().any(|line| line.starts_with(text));
    assert!(
        begins("AUROC at the same step, labelled against not labelled: knn-transition 1.000"),
        "{ranked:?}"
    );
    assert!(begins("AUROC at the same step, labelled against not labelled: clock 0.500"), "{ranked:?}");
    let page = std::fs::read_to_string(rig.path("report.html")).unwrap();
    assert!(
        page.contains("href=\"#alarm-1-1\"")
            && page.contains("id=\"alarm-1-1\"")
            && page.contains("level (m)")
    );
    let table = std::fs::read_to_string(rig.path("alarms.csv")).unwrap();
    assert_eq!(table.lines().count(), 2, "{table}");
}

#[test]
fn without_commands_no_place_of_a_fault_is_claimed_and_a_part_has_one_number_everywhere() {
    let rig = Rig::new(30);
    let mapping = MAPPING.replace("command = [{ column = \"valve\" }]\n", "")
        + "[episodes]\nby = \"window\"\nsecs = 3.0\n";
    std::fs::write(&rig.map, mapping).unwrap();
    rig.fit(rig.nominal.clone(), 0.05).unwrap();
    let leak = rig.path("leak.csv");
    std::fs::write(&leak, tanks(77, 60)).unwrap();
    let found = rig.score(vec![leak], None).unwrap();
    let part = found.recordings.iter().find(|part| !part.alarms.is_empty()).unwrap();
    // Whether the sensor or the tank is wrong, nothing tells; the channel is that of the largest prediction error.
    let alarm = &part.alarms[0];
    assert_eq!(alarm.family.map(|(family, _)| family.id()), Some("unknown"));
    assert_eq!(alarm.channels[0].name, "level", "{alarm:?}");
    let page = std::fs::read_to_string(rig.path("report.html")).unwrap();
    assert!(page.contains("unknown, as no command is mapped"));
    let table = std::fs::read_to_string(rig.path("alarms.csv")).unwrap();
    let name = format!("leak.csv, part {}", part.number);
    assert!(part.number >= 2 && part.name.ends_with(&name) && page.contains(&name), "{}", part.name);
    assert!(table.lines().nth(1).unwrap().contains(&format!("leak.csv,{},", part.number)), "{table}");
    assert!(found.to_string().contains(&name), "{found}");
}

#[test]
fn a_single_stream_is_enough_for_a_promised_time_between_false_alarms() {
    let rig = Rig::new(0);
    let write = |name: &str, text: &str| {
        std::fs::write(rig.path(name), text).unwrap();
        rig.path(name)
    };
    // One stream, of which the monitor sees the first days, and later ones with a leak.
    let text = tanks_of(1, 9000, 7500);
    let lines: Vec<&str> = text.lines().collect();
    let log = write("days.csv", &lines[..6001].join("\n"));
    let request = |length: Option<&str>| {
        let mut request = rig.request(vec![log.clone()], 0.05);
        let (rule, run_length) = ("run-length".into(), length.map(|length| length.parse().unwrap()));
        request.fitting.threshold = Threshold { rule, run_length, ..Threshold::default() };
        request
    };
    let refused = fit::run(&request(None), &Context::silent(1, 2)).unwrap_err().to_string();
    assert!(refused.starts_with("run_length: expected a number of steps or a time"), "{refused}");
    let fitted = fit::run(&request(Some("1h")), &Context::silent(1, 2)).unwrap();
    let promised = fitted.fitted.monitor.threshold.run_length.unwrap();
    assert!(promised.steps == 36_000.0 && promised.n_blocks >= 20, "{promised:?}");
    assert!(fitted.to_string().contains("false alarms at least 36000 steps apart on average"), "{fitted}");
    let leak = write("leak.csv", &[&lines[..1], &lines[6001..]].concat().join("\n"));
    let found = rig.score(vec![leak], None).unwrap();
    let alarm = &found.recordings[0].alarms[0];
    assert!((150.0..200.0).contains(&alarm.secs), "{alarm:?}");
}

#[test]
fn false_alarms_per_time_are_promised_of_recordings_and_of_a_stream_and_said_in_both_units() {
    let rig = Rig::new(40);
    let fit = |logs: &[PathBuf], rule: &str, rate: &str| {
        let mut request = rig.request(logs.to_vec(), 0.05);
        let false_alarms = Some(rate.parse().unwrap());
        request.fitting.threshold = Threshold { rule: rule.into(), false_alarms, ..Threshold::default() };
        fit::run(&request, &Context::silent(1, 2))
    };
    // Twenty recordings of 11.9 s for calibration: 0.0661 hours, in which 31 alarms an hour are two, one of them
    // that of the recording to come.
    let found = fit(&rig.nominal, "conformal", "744/day").unwrap();
    let set = &found.fitted.monitor.threshold;
    assert_eq!((set.promised_per_hour, set.alpha), (Some(31.0), Some(2.0 / 21.0)));
    let [share, rate] = [set.false_alarms.as_ref().unwrap(), set.per_hour.as_ref().unwrap()];
    assert!((rate.value - share.value / (11.9 / 3600.0)).abs() < 1e-6 && rate.value <= 31.0, "{rate}");
    let text = found.to_string();
    let says = [
        "false alarms: at most 31 an hour",
        "about 9.52 % (95 % interval 1.",
        "expected alarms an hour 28.8 [",
    ];
    assert!(says.iter().all(|says| text.contains(says)), "{text}");
    let said = |error: anyhow::Error| format!("{error:#}");
    let rare = said(fit(&rig.nominal, "conformal", "1/day").unwrap_err());
    assert!(
        rare.contains("expected at least 24 h of nominal calibration episodes, found 0.06611 h"),
        "{rare}"
    );
    let alone = said(fit(&rig.nominal[..1], "conformal", "1/day").unwrap_err());
    assert!(alone.contains("the rule run-length takes a single one"), "{alone}");
    let log = rig.path("days.csv");
    std::fs::write(&log, tanks_of(1, 6000, 6000)).unwrap();
    let stream = fit(std::slice::from_ref(&log), "run-length", "24/day").unwrap();
    let set = &stream.fitted.monitor.threshold;
    assert_eq!((set.run_length.unwrap().steps, set.promised_per_hour), (36_000.0, Some(1.0)));
    let rate = set.per_hour.as_ref().unwrap();
    assert!(rate.value <= 1.0 && rate.low < rate.value && rate.high > rate.value, "{rate}");
    assert!(stream.to_string().contains("\nexpected alarms an hour "), "{stream}");
    // Without a clock, or with clocks of several rates, nobody knows what an hour is in steps.
    let text = std::fs::read_to_string(&rig.map).unwrap();
    let clockless = text.replace("column = \"time\"\n", "").replace("rate_hz = 10.0\n", "");
    assert_ne!(text, clockless);
    std::fs::write(&rig.map, clockless).unwrap();
    for (rule, logs) in [("conformal", &rig.nominal), ("run-length", &vec![log])] {
        let refused = said(fit(logs, rule, "31/hour").unwrap_err());
        assert!(refused.contains("expected to know how many seconds a step takes"), "{rule}: {refused}");
    }
    std::fs::write(&rig.map, text.replace("rate_hz = 10.0\n", "")).unwrap();
    let slow = rig.path("slow.csv");
    let sparse: Vec<String> =
        tanks(50, 999).lines().enumerate().filter(|(i, _)| i % 2 == 0).map(|(_, l)| l.into()).collect();
    std::fs::write(&slow, sparse.join("\n")).unwrap();
    let mixed = [&rig.nominal[..], &[slow]].concat();
    let refused = said(fit(&mixed, "conformal", "31/hour").unwrap_err());
    assert!(
        refused.contains("steps of 0.1000 s in")
            && refused.contains("of 0.2000 s in")
            && refused.contains("slow.csv")
    );
    let by_share = rig.fit(mixed, 0.1).unwrap();
    assert_eq!(by_share.fitted.monitor.threshold.per_hour, None);
}

#[test]
fn values_that_are_not_recorded_are_missing_and_raise_no_alarm() {
    let rig = Rig::new(40);
    std::fs::write(&rig.map, MAPPING.replace("rate_hz = 10.0", "rate_hz = 10.0\nmax_age_secs = 0.05"))
        .unwrap();
    rig.fit_with(rig.nominal.clone(), "ensemble-dm", 0.05).unwrap();
    // Every third value of the level is not there, and none at all after 6 s.
    let text = tanks(99, 999);
    let gaps: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let mut cells: Vec<&str> = line.split(',').collect();
            if i > 1 && (i % 3 == 0 || i > 60) {
                cells[1] = "";
            }
            cells.join(",")
        })
        .collect();
    let log = rig.path("gaps.csv");
    std::fs::write(&log, gaps.join("\n")).unwrap();
    let found = rig.score(vec![log], None).unwrap();
    let recording = &found.recordings[0];
    assert!(recording.alarms.is_empty(), "{:?}", recording.alarms);
    assert!(recording.verdicts.iter().any(|v| v.missing == 1 && v.confidence < 1.0));
    let lost: Vec<u64> =
        recording.verdicts.iter().filter(|v| v.sensor_event.is_some()).map(|v| v.step).collect();
    assert_eq!(lost, [68], "the eleventh observation in a row without a level");
}

#[test]
fn what_was_labelled_or_copied_is_told() {
    let mut rig = Rig::new(30);
    let leak = rig.path("leak.csv");
    std::fs::write(&leak, tanks(77, 60)).unwrap();
    rig.nominal.push(leak);
    let fitted = rig.fit(rig.nominal.clone(), 0.1).unwrap();
    assert!(
        fitted.fitted.left_out[0].ends_with("leak.csv: its label says so"),
        "{:?}",
        fitted.fitted.left_out
    );
    let copy = rig.path("copy.csv");
    std::fs::copy(&rig.nominal[0], &copy).unwrap();
    rig.nominal.push(copy);
    let fitted = rig.fit(rig.nominal.clone(), 0.1).unwrap();
    assert!(
        fitted.fitted.warnings[0].starts_with("1 of 16 calibration recordings mostly repeat training rows"),
        "{:?}",
        fitted.fitted.warnings
    );
}

#[test]
fn recordings_that_drift_are_told() {
    let rig = Rig::new(40);
    for path in &rig.nominal[20..] {
        let text = std::fs::read_to_string(path).unwrap().replace(",0.3", ",0.6");
        std::fs::write(path, text).unwrap();
    }
    let fitted = rig.fit(rig.nominal.clone(), 0.05).unwrap();
    assert!(
        fitted.fitted.warnings.iter().any(|w| w.contains("differ from those that were learned from")),
        "{:?}",
        fitted.fitted.warnings
    );
}

#[test]
fn what_cannot_be_fitted_is_named_and_nothing_is_written() {
    let rig = Rig::new(10);
    let refused = |alpha: f64, edit: &dyn Fn(&Path)| {
        let log = rig.path("odd.csv");
        std::fs::write(&log, tanks(5, 999)).unwrap();
        edit(&log);
        let error = rig.fit([rig.nominal.clone(), vec![log]].concat(), alpha).expect_err("it is refused");
        assert!(!rig.path("tanks.monitor").exists());
        format!("{error:#}")
    };
    let replace = |from: &'static str, to: &'static str| {
        move |log: &Path| {
            let text = std::fs::read_to_string(log).unwrap();
            assert!(text.contains(from));
            std::fs::write(log, text.replacen(from, to, 1)).unwrap();
        }
    };
    let few = refused(0.01, &|_| {});
    assert!(
        few.contains("expected at least 100 nominal recordings (99 for calibration, 1 to learn from), found 11: 89 more are needed"),
        "{few}"
    );
    let lacks = refused(0.2, &replace("level", "height"));
    assert!(lacks.contains("odd.csv: expected the column \"level\" of the mapping, found none"), "{lacks}");
    let never =
        refused(0.2, &|log| std::fs::write(log, "time,level,flow,valve,leak\n0,1,,1,0\n1,2,,1,0\n").unwrap());
    assert!(
        never.contains("odd.csv: column \"flow\": expected values") && never.contains("none in 2 rows"),
        "{never}"
    );
    let back = refused(0.2, &replace("\n0.5,", "\n0.1,"));
    assert!(
        back.contains("expected times that do not fall, found 1 of 120 that do, first in row 5"),
        "{back}"
    );
    let words = "time,level,flow,valve,leak\n0,broken,1,1,0\n1,broken,2,1,0\n2,1,2,1,0\n";
    let text = refused(0.2, &|log| std::fs::write(log, words).unwrap());
    assert!(
        text.contains("odd.csv: column \"level\": expected numbers, as it is a channel of the mapping, found 2 words in 3 rows"),
        "{text}"
    );
}

#[test]
fn channels_that_never_change_are_told_and_refused_if_there_are_no_others() {
    let rig = Rig::new(12);
    let still = |all: bool| {
        for log in &rig.nominal {
            let row = |i: u32| format!("{i},{},1,1,0\n", if all { 1.0 } else { f64::from(i).sin() });
            std::fs::write(
                log,
                format!("time,level,flow,valve,leak\n{}", (0..50).map(row).collect::<String>()),
            )
            .unwrap();
        }
        rig.fit(rig.nominal.clone(), 0.2)
    };
    let error = format!("{:#}", still(true).unwrap_err());
    assert!(
        error.contains("expected channels that change") && error.ends_with("constant ones: level, flow"),
        "{error}"
    );
    let warnings = still(false).unwrap().fitted.warnings;
    assert!(warnings.iter().any(|w| w.starts_with("flow: never changes")), "{warnings:?}");
}

#[test]
fn the_same_recording_has_the_same_scores_in_every_format() {
    let rig = Rig::new(0);
    let mapping = |column: &dyn Fn(&str) -> String, clock: &str| {
        let channel = |name: &str| format!("{{ column = {:?}, name = {name:?} }}", column(name));
        let text = format!(
            "version = 1\nobservation = [{}, {}]\ncommand = [{}]\n[clock]\n{clock}\nrate_hz = 50.0\n[episodes]\nby = \"window\"\nsecs = 0.1\n",
            channel("x"),
            channel("y"),
            channel("command")
        );
        let path = rig.path(&format!("{}.toml", clock.len()));
        std::fs::write(&path, text).unwrap();
        path
    };
    let table = mapping(&str::to_string, "column = \"time\"");
    let messages = mapping(&|name| format!("/row:{name}"), "");
    let rig = Rig { map: table, ..rig };
    let log = |name: &str| Path::new(SHARED).join(name);
    rig.fit(vec![log("same.csv")], 0.3).unwrap();
    let scores = |name: &str, map: Option<PathBuf>| -> Vec<u64> {
        let found = rig.score(vec![log(name)], map).unwrap_or_else(|e| panic!("{e:#}"));
        found.recordings.iter().flat_map(|r| r.verdicts.iter().map(|v| v.score.to_bits())).collect()
    };
    let expected = scores("same.csv", None);
    assert!(expected.len() > 30);
    for name in
        ["same.tsv", "same.csv.gz", "same.jsonl", "same.parquet", "same.arrow", "same.arrows", "same.h5"]
    {
        assert_eq!(scores(name, None), expected, "{name}");
    }
    assert_eq!(scores("json.mcap", Some(messages)), expected, "json.mcap");
}

/// Standard output of a command, kept.
#[derive(Clone, Default)]
struct Kept(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_stream_has_the_scores_of_the_log() {
    let rig = Rig::new(12);
    let monitor = rig.fit(rig.nominal.clone(), 0.2).unwrap().fitted.file;
    let leak = rig.path("leak.csv");
    std::fs::write(&leak, tanks(77, 60)).unwrap();
    let scored = rig.score(vec![leak.clone()], None).unwrap();
    let out = Kept::default();
    let from = std::io::BufReader::new(std::fs::File::open(&leak).unwrap());
    let mapping = Mapping::parse(MAPPING).unwrap();
    let mut beside = Default::default();
    watch::watch(
        monitor_file::open(&monitor).unwrap(),
        None,
        (&mapping, false),
        from,
        out.clone(),
        &mut beside,
    )
    .unwrap();
    let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let scores: Vec<f64> = lines.iter().map(|line| line["score"].as_f64().unwrap()).collect();
    let expected: Vec<f64> = scored.recordings[0].verdicts.iter().map(|verdict| verdict.score).collect();
    assert_eq!(scores, expected);
    let raised: Vec<f64> = lines
        .iter()
        .filter(|line| line["event"] == "raised")
        .map(|line| line["secs"].as_f64().unwrap())
        .collect();
    let expected: Vec<f64> = scored.recordings[0].alarms.iter().map(|alarm| alarm.secs).collect();
    assert_eq!(raised, expected);
    assert!(!raised.is_empty(), "the leak is found");
}

#[test]
fn what_is_kept_of_a_stream_is_a_log_with_the_same_scores() {
    let rig = Rig::new(12);
    let file = rig.fit(rig.nominal.clone(), 0.2).unwrap().fitted.file;
    let leak = rig.path("leak.csv");
    std::fs::write(&leak, tanks(77, 60)).unwrap();
    let expected: Vec<f64> = rig.score(vec![leak.clone()], None).unwrap().recordings[0]
        .verdicts
        .iter()
        .map(|verdict| verdict.score)
        .collect();
    let (monitor, out) = (monitor_file::open(&file).unwrap(), rig.path("alarms"));
    let mcap = rig.path("all.mcap");
    let record = Some((std::time::Duration::from_secs(3), out.clone()));
    let settings = Settings { serve: None, record, mcap: Some(mcap.clone()) };
    let notes: std::sync::Arc<dyn Progress> = std::sync::Arc::new(Silent);
    let mut beside = Live::open(settings, &file, monitor.about(), &notes).unwrap();
    let from = std::io::BufReader::new(std::fs::File::open(&leak).unwrap());
    let told = Kept::default();
    watch::watch(monitor, None, (&Mapping::parse(MAPPING).unwrap(), false), from, told.clone(), &mut beside)
        .unwrap();
    beside.finish().unwrap();
    let scores = |map: &str, log: &Path| -> Vec<f64> {
        let path = rig.path("other.toml");
        std::fs::write(&path, map).unwrap();
        let scored = rig.score(vec![log.into()], Some(path)).unwrap();
        scored.recordings[0].verdicts.iter().map(|verdict| verdict.score).collect()
    };
    let messages = "version = 1\nobservation = [{ column = \"/observation:level\", name = \"level\" }, { column = \"/observation:flow\", name = \"flow\" }]\n\
                    command = [{ column = \"/action:valve\", name = \"valve\" }]\n[clock]\nrate_hz = 10.0\n";
    assert_eq!(scores(messages, &mcap), expected, "everything, as messages");
    let text = String::from_utf8(told.0.lock().unwrap().clone()).unwrap();
    let raised: Vec<u64> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|line| line["event"] == "raised")
        .map(|line| line["step"].as_u64().unwrap())
        .collect();
    assert!(!raised.is_empty(), "the leak is found");
    let table = MAPPING
        .replace("label = \"leak\"\n", "")
        .replace("column = \"time\"\nrate_hz = 10.0", "column = \"time_nanos\"\nunit = \"ns\"");
    for step in raised {
        // Three seconds before the alarm are thirty steps, and the detector looks at one step at a time.
        let before = &expected[(step as usize).saturating_sub(29)..=step as usize];
        let log = out.join(format!("alarm-0-{step}.arrow"));
        assert_eq!(scores(&table, &log), before, "step {step}, as a table");
        assert_eq!(scores(messages, &log.with_extension("mcap")), before, "step {step}, as messages");
    }
}

#[test]
fn an_event_that_goes_over_the_windows_of_a_log_is_one_event() {
    let rig = Rig::new(40);
    rig.fit_with(rig.nominal.clone(), "mewma", 0.05).unwrap();
    // Within a window of ten seconds, over the end of one, and over two ends.
    let events = [120..150, 280..330, 550..780];
    let text = tanks_of(77, 900, 999);
    let mut long = String::new();
    for (i, line) in text.lines().enumerate() {
        let [time, level, flow, valve, _] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let is_on = i > 0 && events.iter().any(|event| event.contains(&(i - 1)));
        let level = if is_on { "9.0" } else { level };
        let label = if i == 0 { "leak" } else { ["0", "1"][usize::from(is_on)] };
        writeln!(long, "{time},{level},{flow},{valve},{label}").unwrap();
    }
    std::fs::write(rig.path("long.csv"), long).unwrap();
    for cut in ["by = \"file\"", "by = \"window\"\nsecs = 10.0", "by = \"window\"\nsecs = 25.0"] {
        let windows = format!("{MAPPING}[episodes]\n{cut}\n");
        std::fs::write(rig.path("windows.toml"), windows).unwrap();
        let found = rig.score(vec![rig.path("long.csv")], Some(rig.path("windows.toml"))).unwrap().truth;
        let detected = found.detected.unwrap();
        assert_eq!((detected.n, detected.value), (3, 1.0), "{cut}");
        assert!(found.median_delay_secs.unwrap() < 0.3, "{:?}", found.median_delay_secs);
    }
}

//! Recordings against those of a reference: what differs is found, what is alike is not, and what cannot be said is refused.

use offnominal_core::Seed;
use offnominal_engine::context::Context;
use offnominal_logs::inspect::against::Compared;
use offnominal_logs::inspect::{self, Inspected};
use std::fmt::Write;
use std::path::PathBuf;

/// A recording of channels that forget slowly, `[first; second; third]`; the second is moved by `shift`.
fn recording(seed: Seed, shift: f64, hz: f64) -> String {
    let (mut rng, mut x) = (seed.rng(), [0.0; 3]);
    let mut text = String::from("time,first,second,third\n");
    for step in 0..120 {
        x = x.map(|x| 0.8 * x + 0.6 * rng.normal());
        writeln!(text, "{},{},{},{}", f64::from(step) / hz, x[0], x[1] + shift, x[2]).unwrap();
    }
    text
}

struct Rig(tempfile::TempDir);

impl Rig {
    fn new() -> Rig {
        Rig(tempfile::tempdir().unwrap())
    }

    /// Writes so many recordings.
    fn write(&self, name: &str, n: usize, text: impl Fn(usize) -> String) -> Vec<PathBuf> {
        let one = |i: usize| {
            let path = self.0.path().join(format!("{name}{i:02}.csv"));
            std::fs::write(&path, text(i)).unwrap();
            path
        };
        (0..n).map(one).collect()
    }

    fn inspected(&self, logs: &[PathBuf], against: &[PathBuf]) -> anyhow::Result<Inspected> {
        let (logs, against, report) =
            (logs.to_vec(), against.to_vec(), Some(self.0.path().join("page.html")));
        inspect::run(&inspect::Request { logs, map: None, report, against }, &Context::silent(1, 2))
    }

    fn compared(&self, logs: &[PathBuf], against: &[PathBuf]) -> Compared {
        self.inspected(logs, against).unwrap().against.unwrap()
    }

    fn page(&self) -> String {
        std::fs::read_to_string(self.0.path().join("page.html")).unwrap()
    }
}

fn said(found: &Compared, text: &str) -> bool {
    found.remarks.iter().any(|remark| remark.contains(text))
}

#[test]
fn a_shift_of_one_channel_is_found_at_the_corrected_level_and_stands_in_text_json_and_page() {
    let rig = Rig::new();
    let reference = rig.write("old", 8, |i| recording(Seed(1).child(i), 0.0, 10.0));
    let logs = rig.write("new", 6, |i| recording(Seed(2).child(i), 1.0, 10.0));
    let found = rig.inspected(&logs, &reference).unwrap();
    let against = found.against.as_ref().unwrap();
    let [second, others @ ..] = &against.channels[..] else { panic!("no channel") };
    // 14 recordings divide in 3003 ways, more than are tried. Deviations of 1, moved by 1: the distance is 2 Φ(1/2) − 1.
    assert_eq!((second.name.as_str(), second.p), ("second", Some(0.001)));
    assert!(second.distance.covers(0.383) && second.distance.low > 0.2, "{}", second.distance);
    let change = second.mean_change.as_ref().unwrap();
    assert!(change.covers(1.0) && change.low > 0.5, "{change}");
    assert!(others.iter().all(|one| one.p > Some(0.05) && one.distance.low == 0.0), "{others:?}");
    let (text, json) = (found.to_string(), serde_json::to_value(&found).unwrap());
    let decision = "6 recordings against 8 of the reference: 1 of 3 channels differ (p ≤ 0.05, for all channels together)";
    assert!(text.contains(decision) && rig.page().contains(decision), "{text}");
    assert_eq!(json["against"]["channels"][0]["p"], 0.001);
    let alone = rig.inspected(&logs, &[]).unwrap();
    assert!(
        !rig.page().contains("reference") && serde_json::to_value(&alone).unwrap().get("against").is_none()
    );
}

#[test]
fn recordings_of_the_same_law_seldom_differ() {
    let rig = Rig::new();
    let all: Vec<PathBuf> = rig.write("run", 200, |i| recording(Seed(5).child(i), 0.0, 10.0));
    let seems = |set: &&[PathBuf]| {
        let found = rig.compared(&set[..4], &set[4..]);
        found.channels.iter().any(|one| one.p <= Some(0.05))
    };
    // Of 25 sets at most 1.25 are expected.
    let n = all.chunks(8).filter(seems).count();
    assert!(n <= 4, "{n}");
}

#[test]
fn one_recording_on_each_side_has_no_test_and_no_interval() {
    let rig = Rig::new();
    let logs = rig.write("run", 7, |i| recording(Seed(3).child(i), if i == 0 { 9.0 } else { 0.0 }, 10.0));
    let found = rig.compared(&logs[..1], &logs[1..2]);
    assert!(said(&found, "no test can be made: there is one recording on each side"), "{:?}", found.remarks);
    let second = &found.channels[0];
    assert_eq!(
        (second.name.as_str(), second.p, second.distance.method.as_str()),
        ("second", None, "no interval")
    );
    assert!(found.to_string().contains("3 channels, without a test") && found.to_string().contains("– "));
    let few = rig.compared(&logs[..3], &logs[3..6]);
    assert!(
        said(&few, "chance alone gives p = 0.100 or more. 4 recordings on each side"),
        "{:?}",
        few.remarks
    );
    let same = rig.inspected(&logs[..2], &logs[1..]).unwrap_err().to_string();
    assert!(same.contains("run01.csv: expected it on one side, found it in the reference too"), "{same}");
}

/// The text with another column, which holds `value` in each row that `is_there`.
fn with(text: &str, name: &str, value: f64, is_there: impl Fn(usize) -> bool) -> String {
    let row = |(i, line): (usize, &str)| match i {
        0 => format!("{line},{name}\n"),
        i if is_there(i) => format!("{line},{}\n", value + 1e-3 * (i * i % 17) as f64),
        _ => format!("{line},\n"),
    };
    text.lines().enumerate().map(row).collect()
}

#[test]
fn constant_lost_and_absent_channels_and_other_rates_are_said() {
    let rig = Rig::new();
    let still = |text: String, valve: f64| -> String {
        let row = |(i, line): (usize, &str)| {
            if i == 0 { format!("{line},valve\n") } else { format!("{line},{valve}\n") }
        };
        text.lines().enumerate().map(row).collect()
    };
    let plain = |seed: u64, i: usize, hz: f64| recording(Seed(seed).child(i), 0.0, hz);
    let reference = rig.write("old", 5, |i| {
        let text = with(&plain(7, i, 10.0), "pump", 4.0, |_| true);
        with(&still(text, 0.0), "before", 1.0, |_| true)
    });
    let logs = rig.write("new", 5, |i| {
        // The pump is read in the first quarter only, and its last value is no measurement later.
        let text = with(&plain(8, i, 20.0), "pump", 4.0, |row| row < 30);
        with(&still(text, 2.5), "later", 1.0, |_| true)
    });
    let found = rig.compared(&logs, &reference);
    let of = |name: &str| found.channels.iter().find(|one| one.name == name).unwrap();
    let pump = of("pump");
    assert!(pump.read[0] > 0.99 && (0.2..0.3).contains(&pump.read[1]), "{:?}", pump.read);
    assert_eq!((pump.most_in, pump.p), (Some("values read"), Some(2.0 / 252.0)));
    assert!(pump.distance.value < 0.2, "{}", pump.distance);
    let valve = of("valve");
    assert_eq!((valve.distance.value, &valve.mean_change, valve.p), (1.0, &None, Some(2.0 / 252.0)));
    assert!(said(&found, "valve: always 0 in the reference, and 2.5 here"), "{:?}", found.remarks);
    assert!(said(&found, "rows come at 10 Hz in the reference and at 20 Hz here"), "{:?}", found.remarks);
    assert!(said(&found, "recordings last 11.900 s in the reference and"), "{:?}", found.remarks);
    let left = |name: &str, why: &str| found.not_compared.contains(&(name.into(), why.into()));
    assert!(left("before", "in the reference only") && left("later", "not in the reference"), "{found}");
}

#[test]
fn windows_of_one_log_are_no_recordings() {
    let rig = Rig::new();
    let long = |seed: u64| {
        let parts: Vec<String> = (0_u64..60).map(|i| recording(Seed(seed).child(i), 0.0, 10.0)).collect();
        let rows = parts.iter().flat_map(|part| part.lines().skip(1));
        let numbered = rows
            .enumerate()
            .map(|(i, row)| format!("{},{}\n", i as f64 / 10.0, row.split_once(',').unwrap().1));
        std::iter::once("time,first,second,third\n".to_string()).chain(numbered).collect::<String>()
    };
    let all = rig.write("long", 2, |i| long(20 + i as u64));
    assert!(rig.inspected(&all[..1], &[]).unwrap().mapping.contains("by = \"window\""));
    assert_eq!(rig.compared(&all[..1], &all[1..]).recordings, [1, 1]);
}

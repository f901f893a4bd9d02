//! A constant that is added to a channel changes no alarm, as long as double precision holds what happens in it.

use offnominal_core::Seed;
use offnominal_engine::context::Context;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_live::Live;
use offnominal_logs::chosen::Truth;
use offnominal_logs::mapping::Mapping;
use offnominal_logs::recordings;
use offnominal_logs::source::Log;
use offnominal_logs::{fit, score, watch};
use offnominal_monitor::{Monitor, decode};
use offnominal_work::cli;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

const MAPPING: &str = "version = 1\nobservation = [{ column = \"speed\" }, { column = \"lat\" }]\n\
                       command = [{ column = \"heading\" }]\n[clock]\ncolumn = \"time\"\n";
/// Steps of a recording; from the middle on, a faulty one jumps.
const STEPS: usize = 80;
/// Numbers are multiples of so much, so that double precision adds the constants without rounding.
const GRAIN: f64 = 1.0 / (1 << 20) as f64;

/// Recordings in which `lat` and `heading` wander around a constant, by so many grains.
fn logs(n: usize, seed: u64, constant: f64, grains: f64, jump: f64) -> Vec<Log> {
    let one = |i: usize| {
        let (mut rng, mut x) = (Seed(seed).child(i).rng(), [0.0; 3]);
        let mut text = String::from("time,speed,lat,heading\n");
        for t in 0..STEPS {
            x = x.map(|x| 0.9 * x + 0.4359 * rng.normal());
            let far = |x: f64| constant + (x * grains).round() * GRAIN;
            let lat = far(x[1] + if t >= STEPS / 2 { jump } else { 0.0 });
            writeln!(text, "{},{},{lat},{}", t as f64 / 10.0, x[0], far(x[2])).unwrap();
        }
        Log::Bytes(format!("{seed}-{i}.csv").into(), text.into_bytes().into())
    };
    (0..n).map(one).collect()
}

fn fitted(detector: &str, logs: &[Log], context: &Context) -> (Monitor, fit::FittedOnLogs) {
    let plain = serde_json::json!({ "logs": ["-"], "alpha": 0.1, "diagnosis": false, "file": "-" });
    let mut request: fit::Request = cli::request(&plain).unwrap();
    request.fitting.detector = DetectorChoice::named(detector);
    let mapping = Mapping::parse(MAPPING).unwrap();
    let read = recordings::read(logs, &mapping, Truth::Needed, context).unwrap();
    let (found, file) = fit::of(&read, &mapping, &request, context).unwrap();
    let (about, archive) = decode(&file).unwrap();
    (Monitor::new(about, &archive, &offnominal_detectors::catalogue(), None).unwrap(), found)
}

/// The steps at which alarms are raised in each recording.
type Alarms = Vec<Vec<u64>>;

fn scored(monitor: &mut Monitor, logs: &[Log], context: &Context) -> (Alarms, Vec<String>) {
    let mapping = recordings::mapping_in(monitor.about(), None).unwrap();
    let read = recordings::read(logs, &mapping, Truth::IfThere, context).unwrap();
    let found = score::of(monitor, read, &mapping, context).unwrap();
    let mut all: Vec<_> = found.recordings.iter().map(|one| (one.name.clone(), steps(&one.alarms))).collect();
    all.sort();
    (all.into_iter().map(|(_, steps)| steps).collect(), found.remarks)
}

fn steps(alarms: &[score::AlarmSpan]) -> Vec<u64> {
    alarms.iter().map(|alarm| alarm.step).collect()
}

/// What a monitor says of the same log as a stream.
fn watched(monitor: &Monitor, log: &Log) -> Vec<u64> {
    let Log::Bytes(_, bytes) = log else { panic!("logs are bytes") };
    let (about, archive) = monitor.contents().unwrap();
    let mapping = recordings::mapping_in(&about, None).unwrap();
    let monitor = Monitor::new(about, &archive, &offnominal_detectors::catalogue(), None).unwrap();
    let out = Kept::default();
    let from = std::io::Cursor::new(bytes.to_vec());
    watch::watch(monitor, None, (&mapping, false), from, out.clone(), &mut Live::default()).unwrap();
    let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.filter(|line| line["event"] == "raised").map(|line| line["step"].as_u64().unwrap()).collect()
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Alarms in nominal and in faulty recordings, which a stream must have too.
fn alarms(detector: &str, constant: f64, grains: f64, context: &Context) -> [Alarms; 2] {
    let place = format!("{detector}, {constant}");
    let (mut monitor, found) = fitted(detector, &logs(24, 1, constant, grains, 0.0), context);
    assert!(
        !found.fitted.warnings.iter().any(|warning| warning.contains("never changes")),
        "{place}: {:?}",
        found.fitted.warnings
    );
    [0.0, 30.0].map(|jump| {
        let logs = logs(6, 2, constant, grains, jump);
        let (alarms, remarks) = scored(&mut monitor, &logs, context);
        assert!(!remarks.iter().any(|remark| remark.contains("single precision")), "{place}: {remarks:?}");
        let streams: Alarms = logs.iter().map(|log| watched(&monitor, log)).collect();
        assert_eq!(alarms, streams, "{place}");
        alarms
    })
}

#[test]
fn a_constant_changes_no_alarm() {
    let is_slow = std::env::var_os("RUN_SLOW_TESTS").is_some();
    let all = ["mewma", "knn", "isolation-forest", "residual-window", "residual-views", "dpca"];
    let context = Context::silent(1, 2);
    for detector in &all[..if is_slow { all.len() } else { 2 }] {
        for grains in if is_slow { &[10.0, 1000.0][..] } else { &[10.0] } {
            let plain = alarms(detector, 0.0, *grains, &context);
            let is_found = |steps: &&Vec<u64>| steps.iter().any(|step| (39..45).contains(step));
            let found = plain[1].iter().filter(is_found).count();
            // A forest of single rows knows less of a jump; what it says must not change either.
            let least = if *detector == "isolation-forest" { 1 } else { 6 };
            assert!(
                found >= least,
                "{detector}: a jump of 30 deviations is found within five steps: {plain:?}"
            );
            for constant in [-0.5, 47.5, 5_400_000.0, 1e9] {
                assert_eq!(
                    alarms(detector, constant, *grains, &context),
                    plain,
                    "{detector}, {constant}, {grains}"
                );
            }
        }
    }
}

#[test]
fn a_reference_is_that_of_the_monitor_and_what_is_beyond_single_precision_is_named() {
    let context = Context::silent(1, 2);
    let (monitor, found) = fitted("mewma", &logs(24, 1, 1e9, 1000.0, 0.0), &context);
    let about = monitor.about();
    assert_eq!((about.observation[0].reference, about.observation[1].reference), (0.0, 1e9));
    assert!(
        found.remarks.iter().any(|remark| remark.contains("lat: 1000000000 is its reference")),
        "{:?}",
        found.remarks
    );
    let usual = about.usual_of(1).unwrap();
    assert!(usual[0] < 1e9 && 1e9 < usual[1] && usual[1] - usual[0] < 1.0, "{usual:?}");
    let other = MAPPING.replace("\"lat\"", "\"lat\", reference = 5.0");
    let why = recordings::mapping_in(about, Some(&other)).unwrap_err().to_string();
    assert_eq!(why, "lat: expected the reference of the monitor, 1000000000; found 5");
    let mapping = recordings::mapping_in(about, Some(MAPPING)).unwrap();
    let log = [Log::Bytes(
        "far.csv".into(),
        b"time,speed,lat,heading\n0,1,1e9,1e9\n1,1,1e39,1e9\n".to_vec().into(),
    )];
    let why = recordings::read(&log, &mapping, Truth::IfThere, &context).unwrap_err();
    let why = format!("{why:#}");
    for part in ["far.csv", "row 1", "\"lat\"", "1e39", "of 1000000000"] {
        assert!(why.contains(part), "{part}: {why}");
    }
}

#[test]
fn a_reference_that_somebody_has_given_is_kept() {
    let context = Context::silent(1, 2);
    let given = MAPPING.replace("\"lat\"", "\"lat\", reference = 0.0");
    let plain = serde_json::json!({ "logs": ["-"], "alpha": 0.1, "diagnosis": false, "file": "-" });
    let mut request: fit::Request = cli::request(&plain).unwrap();
    request.fitting.detector = DetectorChoice::named("mewma");
    let mapping = Mapping::parse(&given).unwrap();
    let read = recordings::read(&logs(24, 1, 47.5, 10.0, 0.0), &mapping, Truth::Needed, &context).unwrap();
    assert!(read.remarks[0].contains("lat: single precision rounds"), "{:?}", read.remarks);
    let (_, file) = fit::of(&read, &mapping, &request, &context).unwrap();
    assert_eq!(decode(&file).unwrap().0.observation[1].reference, 0.0);
}

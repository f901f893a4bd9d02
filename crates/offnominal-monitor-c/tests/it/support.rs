//! A monitor's file, rows to watch, what the Rust monitor says of them, and where cargo put the library.

use offnominal_core::alarm::{Event, Settings, State};
use offnominal_core::detector::{Nominal, Signals};
use offnominal_core::fit_progress::FitProgress;
use offnominal_core::{Rng, Seed};
use offnominal_detectors::diagnosis::{Diagnoser, Direction, Family, Fault, Hypothesis};
use offnominal_laws::nominal_episodes;
use offnominal_monitor::{
    About, Calibrated, ChannelName, DetectorRecipe, FORMAT, Groups, Identity, Monitor, Verdict, decode,
    encode,
};
use offnominal_stats::{Level, Promise, Rule};
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Numbers of an observation of [`FILE`]; it has one action.
pub const OBS: usize = 3;

/// A k-nearest-neighbour monitor of a small linear system, with a diagnosis, as the bytes of its file.
pub static FILE: LazyLock<Vec<u8>> =
    LazyLock::new(|| file(DetectorRecipe { id: "knn".into(), params: json!({"k": 2}) }, false));

/// One whose detector tells the parts of its score, and whose diagnosis names faults.
pub static NAMING: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let params = json!({"members": 2, "hidden": [8], "training": {"epochs": 5}});
    file(DetectorRecipe { id: "ensemble-dm".into(), params }, true)
});

/// A file of a detector, perhaps with a diagnosis that names faults.
fn file(recipe: DetectorRecipe, names_faults: bool) -> Vec<u8> {
    let episodes = nominal_episodes(Seed(1), 40, 30);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    let detector = offnominal_detectors::catalogue().build(&recipe.id, &recipe.params).unwrap();
    let mut fitted = detector.fit(Nominal::new(&views[..10], &[]), &mut Rng::new(1)).unwrap();
    let scores = fitted.score_episodes(&views[10..]);
    let rule = Rule::Conformal(Promise::on_average(0.1));
    let threshold = rule.threshold(&scores, Level::P95).unwrap();
    let mut diagnoser = Diagnoser::fit(&views[..3], &mut Rng::new(2), FitProgress::unseen()).unwrap();
    if names_faults {
        teach(&mut diagnoser);
    }
    // Sixteen episodes of one task, fourteen of another.
    let tasks: Vec<&str> = (0..30).map(|i| if i < 16 { "lift" } else { "push" }).collect();
    let groups = rule.group_thresholds(&scores, &tasks, Level::P95).unwrap();
    let archive = Monitor::archive(fitted.as_ref(), &threshold, Some(&groups), Some(&diagnoser));
    let calibrated = Calibrated::new(rule, &threshold, 30);
    let about = about(recipe, calibrated, &["x", "y", "z"], &["push"]);
    let (groups, hypotheses) = (Some(Groups::new(rule, &groups)), diagnoser.hypotheses().to_vec());
    encode(&About { groups, hypotheses, ..about }, &archive.unwrap())
}

/// Teaches offsets of the second channel and of the command, of either direction.
fn teach(diagnoser: &mut Diagnoser) {
    let hypothesis = |(anomaly, family, direction): (&str, Family, Direction)| Hypothesis {
        anomaly: anomaly.into(),
        family,
        neutral: 0.0,
        direction,
    };
    let hypotheses = [
        ("obs-offset", Family::Observation, Direction::Up),
        ("obs-offset", Family::Observation, Direction::Down),
        ("act-offset", Family::Action, Direction::Up),
    ]
    .map(hypothesis);
    let examples: Vec<_> = nominal_episodes(Seed(3), 60, 40)
        .iter()
        .enumerate()
        .map(|(i, e)| disturbed(&e.signals(), i))
        .collect();
    let mut faults = Vec::new();
    for (i, (obs, actions)) in examples.iter().enumerate() {
        let signals = Signals::new(obs, actions, OBS, 1);
        faults.push(Fault { hypothesis: i % 3, magnitude: size(i), signals, alarm: 21 });
    }
    diagnoser.teach(hypotheses.to_vec(), &faults, &mut Rng::new(5), FitProgress::unseen()).unwrap();
}

/// An example of hypothesis `i % 3` from step 20 on.
fn disturbed(signals: &Signals<'_>, i: usize) -> (Vec<f32>, Vec<f32>) {
    let (mut obs, mut actions) = (signals.observations().to_vec(), signals.actions().to_vec());
    let off = size(i) as f32;
    match i % 3 {
        2 => actions[20..].iter_mut().for_each(|x| *x -= off),
        _ => obs[21 * OBS + 1..].iter_mut().step_by(OBS).for_each(|x| *x += off),
    }
    (obs, actions)
}

/// The magnitude of an example; those of the second hypothesis are below zero.
fn size(i: usize) -> f64 {
    let size = 0.5 + 0.03 * i as f64;
    if i % 3 == 1 { -size } else { size }
}

/// The header of a file with a diagnosis.
pub fn about(detector: DetectorRecipe, threshold: Calibrated, obs: &[&str], action: &[&str]) -> About {
    let identity = |id: &str| Identity { id: id.into(), digest: "00".into() };
    let channels = |names: &[&str]| {
        names
            .iter()
            .map(|name| ChannelName { name: (*name).into(), unit: "m".into(), ..ChannelName::default() })
            .collect()
    };
    About {
        format: FORMAT,
        engine: env!("CARGO_PKG_VERSION").into(),
        detector,
        environment: identity("linear"),
        policy: identity("random"),
        observation: channels(obs),
        action: channels(action),
        dt_secs: 0.1,
        train_episodes: 10,
        seed: 1,
        diagnoses: true,
        hypotheses: vec![],
        threshold,
        alarm: Settings::default(),
        missing: offnominal_core::partial::Missing::Held,
        lost_after: 10,
        usual: vec![],
        groups: None,
        mapping: None,
    }
}

/// The monitor of a file.
pub fn opened(bytes: &[u8]) -> Monitor {
    let (about, archive) = decode(bytes).unwrap();
    Monitor::new(about, &archive, &offnominal_detectors::catalogue(), None).unwrap()
}

/// Episodes as rows: whole ones, one that ends without a last observation, and a sensor that fails in every other.
pub fn rows() -> String {
    let mut text = String::new();
    for (i, episode) in nominal_episodes(Seed(7), 6, 60).iter().enumerate() {
        let signals = episode.signals();
        for (t, seen) in signals.transitions().enumerate() {
            let off = if i % 2 == 1 && t > 30 { 1.5 } else { 0.0 };
            let [x, y, z] = seen.obs.try_into().unwrap();
            writeln!(text, "{x} {} {z} {}", y + off, seen.action[0]).unwrap();
        }
        let last = &signals.observations()[signals.len() * OBS..];
        let end = if i == 4 { String::new() } else { format!("{} {} {}", last[0], last[1], last[2]) };
        writeln!(text, "{end}").unwrap();
    }
    text
}

/// What the Rust monitor says of rows, in the form of the examples.
pub fn said(bytes: &[u8], rows: &str) -> Vec<String> {
    let (mut monitor, mut lines) = (opened(bytes), Vec::new());
    for row in rows.lines() {
        let numbers: Vec<f64> = row.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let verdict = match numbers.len() {
            0 => None,
            OBS => monitor.last(&numbers).unwrap(),
            _ => monitor.step(&numbers[..OBS], &numbers[OBS..]).unwrap(),
        };
        tell(&mut monitor, verdict, &mut lines);
        if numbers.len() <= OBS {
            monitor.reset();
        }
    }
    lines
}

fn tell(monitor: &mut Monitor, verdict: Option<Verdict>, lines: &mut Vec<String>) {
    let Some(v) = verdict else { return };
    let state = match v.state {
        State::Disarmed => "disarmed",
        State::Armed => "armed",
        State::Raised => "raised",
    };
    let event = match v.event {
        None => "-",
        Some(Event::Raised) => "raised",
        Some(Event::Cleared) => "cleared",
    };
    let numbers = format!("{} {:?} {:?} {:?}", v.step, v.score, v.statistic, v.threshold);
    lines.push(format!("{numbers} {state} {event} {} {:?} {}", v.missing, v.confidence, v.lost));
    let mut shares = [0.0; OBS];
    if v.event == Some(Event::Raised) && monitor.write_shares(&mut shares) {
        let named = ["x", "y", "z"].iter().zip(shares).filter(|(_, share)| *share != 0.0);
        lines.extend(named.map(|(name, share)| format!("share {name} {share:?}")));
    }
    let found = monitor.is_diagnosis_due().then(|| monitor.diagnose().unwrap());
    for (name, off) in found.iter().flat_map(|found| found.channels()) {
        let found = found.unwrap();
        lines.push(format!(
            "diagnosis {} {} {name} {:?} {:?}",
            found.family().id(),
            found.onset(),
            off.size,
            off.bias
        ));
    }
    for fault in found.iter().flat_map(|found| found.candidates()) {
        let direction = if fault.direction == Direction::Up { "up" } else { "down" };
        lines.push(format!(
            "candidate {} {direction} {:?} {:?}",
            fault.anomaly, fault.magnitude, fault.probability
        ));
    }
}

/// A line with its numbers as bits, so that it does not matter how they are written.
pub fn bits(line: &str) -> Vec<String> {
    let word = |word: &str| match word.parse::<f64>() {
        Ok(number) => format!("{:x}", number.to_bits()),
        Err(_) => word.to_string(),
    };
    line.split_whitespace().map(word).collect()
}

/// A library of this crate, which cargo makes beside the program of its tests: shared, or else static.
///
/// The folder of the program is where it was made for this run; `cargo build` links it one above, for users.
pub fn library(is_shared: bool) -> PathBuf {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let name = if is_shared {
        format!("{DLL_PREFIX}offnominal_monitor_c{DLL_SUFFIX}")
    } else {
        "liboffnominal_monitor_c.a".to_string()
    };
    let program = std::env::current_exe().unwrap();
    let folders = program.ancestors().skip(1).take(2);
    let found = folders.map(|folder| folder.join(&name)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("there is no {name} beside {}", program.display()))
}

//! The file of a monitor: the same bits of scores, refusals that name the place, bytes that nobody wrote.

use offnominal_core::alarm::{Event, Settings, State};
use offnominal_core::archive::Archive;
use offnominal_core::detector::Nominal;
use offnominal_core::fit_progress::FitProgress;
use offnominal_core::partial::Missing;
use offnominal_core::transition::Transition;
use offnominal_core::{Rng, Seed};
use offnominal_detectors::diagnosis::Diagnoser;
use offnominal_laws::nominal_episodes;
use offnominal_monitor::{
    About, Calibrated, ChannelName, ConfirmError, DetectorRecipe, FORMAT, FileError, Groups, Identity,
    Monitor, Recalibration, SensorEvent, StepError, decode, encode, is_monitor,
};
use offnominal_stats::{Level, Promise, Rule};
use proptest::prelude::*;
use serde_json::json;
use std::sync::LazyLock;

fn channels(names: &[&str]) -> Vec<ChannelName> {
    names
        .iter()
        .map(|name| ChannelName { name: (*name).into(), unit: "1".into(), ..ChannelName::default() })
        .collect()
}

/// A k-nearest-neighbour monitor of a small linear system, as the bytes of its file.
fn file(rule: Rule) -> Vec<u8> {
    let episodes = nominal_episodes(Seed(1), 40, 30);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    let params = json!({"k": 2});
    let detector = offnominal_detectors::catalogue().build("knn", &params).unwrap();
    let mut fitted = detector.fit(Nominal::new(&views[..10], &[]), &mut Rng::new(1)).unwrap();
    let mut all = Vec::new();
    for view in &views[10..] {
        let mut scores = Vec::new();
        fitted.score_episode(view, &mut scores);
        all.push(scores);
    }
    let threshold = rule.threshold(&all, Level::P95).unwrap();
    let identity = |id: &str| Identity { id: id.into(), digest: "00".into() };
    let about = About {
        format: FORMAT,
        engine: env!("CARGO_PKG_VERSION").into(),
        detector: DetectorRecipe { id: "knn".into(), params },
        environment: identity("linear"),
        policy: identity("random"),
        observation: channels(&["x", "y", "z"]),
        action: channels(&["push"]),
        dt_secs: 0.1,
        train_episodes: 10,
        seed: 1,
        diagnoses: true,
        hypotheses: vec![],
        threshold: Calibrated::new(rule, &threshold, 30),
        alarm: Settings::default(),
        missing: Missing::Held,
        lost_after: 10,
        usual: vec![],
        groups: None,
        mapping: None,
    };
    let archive = Monitor::archive(fitted.as_ref(), &threshold, None, Some(&DIAGNOSER));
    encode(&about, &archive.unwrap())
}

static DIAGNOSER: LazyLock<Diagnoser> = LazyLock::new(|| {
    let episodes = nominal_episodes(Seed(1), 10, 30);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    Diagnoser::fit(&views, &mut Rng::new(2), FitProgress::unseen()).unwrap()
});

static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| file(Rule::Conformal(Promise::on_average(0.1))));

fn opened(bytes: &[u8]) -> Result<Monitor, FileError> {
    let (about, archive) = decode(bytes)?;
    Monitor::new(about, &archive, &offnominal_detectors::catalogue(), None)
}

#[test]
fn every_statistic_streams_as_it_was_calibrated() {
    let fresh = nominal_episodes(Seed(2), 1, 30).remove(0);
    for rule in Rule::all(Promise::on_average(0.1)) {
        let mut monitor = opened(&file(rule)).unwrap();
        for seen in fresh.signals().transitions() {
            let verdict = monitor.transition(&seen).unwrap();
            assert_eq!(
                verdict.state == State::Raised,
                verdict.statistic > verdict.threshold,
                "{}",
                rule.id()
            );
        }
        monitor.last(seen_last(&fresh.signals())).unwrap();
        let mut far = |t: u8| monitor.step(&[90.0 + f32::from(t); 3], &[0.0]).unwrap();
        let events: Vec<_> = (0..60).filter_map(|t| far(t)?.event).collect();
        assert_eq!(events, [Event::Raised], "{}", rule.id());
    }
}

fn seen_last<'a>(signals: &offnominal_core::detector::Signals<'a>) -> &'a [f32] {
    &signals.observations()[signals.len() * 3..]
}

#[test]
fn groups_have_the_thresholds_that_their_episodes_set() {
    let (alike, rule) = (nominal_episodes(Seed(3), 1, 30).remove(0), Rule::Cusum(Promise::on_average(0.1)));
    let (about, archive) = decode(&BYTES).unwrap();
    // Small and large scores: fourteen episodes of one task, twenty of another, and two and one of two more.
    let scores: Vec<Vec<f64>> = (0..37)
        .map(|i| (0..30).map(|t| f64::from(i / 14 + 1) * f64::from(i * t).sin().abs()).collect())
        .collect();
    let task = |i| {
        ["lift", "push", "turn", "drop"][usize::from(i >= 14) + usize::from(i >= 34) + usize::from(i == 36)]
    };
    let tasks: Vec<&str> = (0..37).map(task).collect();
    let groups = rule.group_thresholds(&scores, &tasks, Level::P95).unwrap();
    let all = rule.threshold(&scores, Level::P95).unwrap();
    let detector = offnominal_detectors::catalogue().build("knn", &about.detector.params).unwrap();
    let scorer = detector.load(&archive.reader(3, 1).part("detector"), None).unwrap();
    let archive = Monitor::archive(scorer.as_ref(), &all, Some(&groups), None).unwrap();
    let about = About {
        groups: Some(Groups::new(rule, &groups)),
        threshold: Calibrated::new(rule, &all, 37),
        diagnoses: false,
        hypotheses: vec![],
        ..about
    };
    let mut monitor = opened(&encode(&about, &archive)).unwrap();
    let mut statistics = |group: Option<&str>| {
        monitor.begin(group).unwrap();
        let verdicts: Vec<_> =
            alike.signals().transitions().map(|t| monitor.transition(&t).unwrap()).collect();
        (verdicts.iter().map(|v| v.statistic).collect::<Vec<_>>(), verdicts[0].threshold)
    };
    let mut own = scorer;
    let mut raw = Vec::new();
    own.score_episode(&alike.signals(), &mut raw);
    for (name, _, threshold) in &groups.own {
        assert_eq!(statistics(Some(name)), (threshold.statistic.of(&raw), threshold.value), "{name}");
    }
    let of_all = (all.statistic.of(&raw), all.value);
    assert_eq!(statistics(None), of_all);
    assert!(groups.pool.is_none() && groups.own.len() == 2);
    assert_eq!(statistics(Some("turn")), of_all, "too few, also with those of the other small one");
    let (again, found) = monitor.contents().unwrap();
    let lists = |of: &Archive| {
        of.lists.range("groups".to_string()..).map(|(k, v)| (k.clone(), v.clone())).collect::<Vec<_>>()
    };
    assert!(again == about && lists(&found) == lists(&archive));
    let unknown = monitor.begin(Some("lfit")).unwrap_err().to_string();
    assert_eq!(
        unknown,
        "group: expected one of lift, push, drop, turn, found \"lfit\"; did you mean \"lift\"?"
    );
    let none = opened(&BYTES).unwrap().begin(Some("lift")).unwrap_err().to_string();
    assert_eq!(none, "group: expected none, as the monitor was fitted without groups, found \"lift\"");
}

#[test]
fn a_threshold_follows_the_episodes_that_are_confirmed_as_far_as_the_tolerance_goes() {
    let mut monitor = opened(&BYTES).unwrap();
    let how = Recalibration { memory: 12, tolerance: 2.0 };
    assert_eq!(monitor.confirm(&how), Err(ConfirmError::NoEpisode));
    let fitted = monitor.threshold();
    let play = |monitor: &mut Monitor, seed: u64, off: f32| {
        monitor.reset();
        let episode = nominal_episodes(Seed(seed), 1, 30).remove(0);
        let shifted = |obs: &[f32]| [obs[0] + off, obs[1], obs[2]];
        let step = |t: Transition<'_>| monitor.step(&shifted(t.obs), t.action).unwrap().map(|v| v.statistic);
        episode.signals().transitions().filter_map(step).fold(0.0, f64::max)
    };
    let mut largest = Vec::new();
    for seed in 0..12 {
        largest.push(play(&mut monitor, 100 + seed, 0.3));
        monitor.confirm(&how).unwrap();
        assert_eq!(monitor.confirm(&how), Err(ConfirmError::NoEpisode), "an episode is confirmed once");
    }
    largest.sort_unstable_by(f64::total_cmp);
    let drift = monitor.about().threshold.drift.unwrap();
    let most = fitted + 2.0 * (fitted - drift.median);
    assert_eq!((drift.confirmed, drift.fitted, drift.is_limited), (12, fitted, false));
    assert!(
        monitor.threshold() == largest[11] && fitted < largest[11] && largest[11] < most,
        "rank 12 of 12"
    );
    let (about, archive) = monitor.contents().unwrap();
    let mut again = opened(&encode(&about, &archive)).unwrap();
    assert_eq!(again.threshold(), monitor.threshold());
    play(&mut again, 200, 90.0);
    assert!(again.confirm(&how).unwrap().is_limited && again.threshold() == most);
    let bad = Recalibration { memory: 12, tolerance: -1.0 };
    play(&mut again, 201, 0.0);
    assert_eq!(again.confirm(&bad).unwrap_err().to_string(), "tolerance: expected a number from 0, found -1");
    assert!(again.threshold() == most && again.confirm(&how).is_ok(), "what failed has changed nothing");
    let mut largest_of_all = opened(&file(Rule::Max)).unwrap();
    play(&mut largest_of_all, 202, 0.0);
    let no_promise = largest_of_all.confirm(&how).unwrap_err().to_string();
    assert!(no_promise.ends_with("(conformal, band, cusum or martingale), found max"), "{no_promise}");
}

#[test]
fn ticks_and_transitions_have_the_same_verdicts() {
    let fresh = nominal_episodes(Seed(3), 1, 20).remove(0);
    let (mut ticks, mut whole) = (opened(&BYTES).unwrap(), opened(&BYTES).unwrap());
    let mut verdicts = Vec::new();
    for seen in fresh.signals().transitions() {
        verdicts.extend(ticks.step(seen.obs, seen.action).unwrap());
    }
    verdicts.extend(ticks.last(seen_last(&fresh.signals())).unwrap());
    let want: Vec<_> = fresh.signals().transitions().map(|t| whole.transition(&t).unwrap()).collect();
    assert_eq!(verdicts, want);
}

#[test]
fn a_sensor_that_jumps_is_named_and_so_is_the_step() {
    let fresh = nominal_episodes(Seed(5), 1, 30).remove(0);
    let mut monitor = opened(&BYTES).unwrap();
    assert!(monitor.diagnose().is_none());
    for (t, seen) in fresh.signals().transitions().enumerate() {
        let mut obs = seen.obs.to_vec();
        obs[1] += if t > 20 { 1.5 } else { 0.0 };
        monitor.step(&obs, seen.action).unwrap();
    }
    let found = monitor.diagnose().unwrap();
    assert_eq!((found.onset(), found.channels().next().unwrap().0), (20, "y"), "{found:?}");
    let json = serde_json::to_value(found).unwrap();
    assert!(json["channels"][0]["size"].as_f64().unwrap() > 5.0, "{json}");
    let p: f64 = found.probabilities().iter().map(|(_, p)| p).sum();
    assert!((p - 1.0).abs() < 1e-12);
}

#[test]
fn steps_that_cannot_be_scored_are_refused_and_change_nothing() {
    let mut monitor = opened(&BYTES).unwrap();
    let refuses = |found: StepError, want: &str| assert_eq!(found.to_string(), want);
    monitor.step(&[0.0; 3], &[0.0]).unwrap();
    refuses(monitor.step(&[0.0; 2], &[0.0]).unwrap_err(), "obs: expected 3 numbers, found 2");
    refuses(monitor.step(&[0.0; 3], &[]).unwrap_err(), "action: expected 1 numbers, found 0");
    assert_eq!(monitor.step(&[0.1; 3], &[0.0]).unwrap().unwrap().step, 0);
    let gap = Transition { obs: &[0.1, 0.1, 0.2], action: &[0.0], next_obs: &[0.0; 3] };
    let want = "obs, channel z: expected 0.1, where the transition before ended, found 0.2; a step is missing, or a reset";
    refuses(monitor.transition(&gap).unwrap_err(), want);
    monitor.reset();
    assert_eq!(monitor.transition(&gap).unwrap().step, 0);
}

#[test]
fn a_sensor_that_stays_away_is_lost_and_comes_back_without_an_alarm() {
    let fresh = nominal_episodes(Seed(8), 1, 40).remove(0);
    let (mut whole, mut monitor) = (opened(&BYTES).unwrap(), opened(&BYTES).unwrap());
    assert_eq!(monitor.about().lost_after, 10);
    let mut events = Vec::new();
    for (t, seen) in fresh.signals().transitions().enumerate() {
        let mut obs = seen.obs.to_vec();
        match t {
            3 => obs[0] = f32::INFINITY,
            10..25 => obs[1] = f32::NAN,
            _ => {}
        }
        let expected = whole.step(seen.obs, seen.action).unwrap();
        let Some(found) = monitor.step(&obs, seen.action).unwrap() else { continue };
        let missing = u32::from(t == 3 || (10..25).contains(&t));
        assert_eq!((found.missing, found.confidence), (missing, f64::from(3 - missing) / 3.0), "{t}");
        assert_eq!(found.stale, if t == 3 { 1 } else { (t as u32 + 1).saturating_sub(10) * missing }, "{t}");
        assert_eq!(found.event, None, "{t}");
        if missing == 0 {
            assert_eq!(found.score, expected.unwrap().score, "{t}: what was read again is as it was");
        }
        events.extend(found.sensor_event.map(|event| (t, event, found.lost)));
        let lost: Vec<_> = monitor.lost().map(|channel| channel.name.as_str()).collect();
        assert_eq!(lost, if (20..25).contains(&t) { vec!["y"] } else { vec![] }, "{t}");
    }
    assert_eq!(events, [(20, SensorEvent::Lost, 1), (25, SensorEvent::Returned, 0)]);
}

#[test]
fn a_transition_may_bring_what_the_one_before_it_lacked() {
    let mut monitor = opened(&BYTES).unwrap();
    let seen = |obs, next_obs| Transition { obs, action: &[0.0], next_obs };
    let found = monitor.transition(&seen(&[0.0; 3], &[0.1, f32::NAN, 0.1])).unwrap();
    assert_eq!((found.missing, found.stale), (1, 1));
    let found = monitor.transition(&seen(&[0.1, 0.3, f32::NAN], &[0.2; 3])).unwrap();
    assert_eq!((found.missing, found.confidence), (0, 1.0));
    let error = monitor.transition(&seen(&[0.2, 0.9, f32::NAN], &[0.2; 3])).unwrap_err();
    assert!(matches!(error, StepError::Gap { found: 0.9, .. }), "{error}");
}

/// The file with something in the header replaced by as many other characters.
fn edited(from: &str, to: &str) -> String {
    let (bytes, from) = (BYTES.clone(), from.as_bytes());
    let at = bytes.windows(from.len()).position(|w| w == from).expect("the header has this text");
    let bytes = [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat();
    opened(&bytes).err().unwrap().to_string()
}

#[test]
fn other_versions_and_edited_files_are_refused() {
    let found = edited(&format!("format\\\":{FORMAT}"), "format\\\":7");
    assert!(
        found.starts_with(&format!(
            "expected version {FORMAT} of the file format, found 7; fit the monitor again"
        )),
        "{found}"
    );
    let error = edited("train_episodes\\\":10", "train_episodes\\\":90");
    assert!(error.starts_with("the file is damaged or was edited: expected SHA-256 "), "{error}");
    let mut weights = BYTES.clone();
    *weights.last_mut().unwrap() ^= 1;
    assert!(matches!(opened(&weights), Err(FileError::Edited { .. })));
}

#[test]
fn a_missing_file_is_named() {
    let error = Monitor::open("no/such.monitor").err().unwrap().to_string();
    assert!(error.starts_with("cannot read no/such.monitor: "), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.monitor");
    std::fs::write(&path, &BYTES[..100]).unwrap();
    let error = Monitor::open(&path).err().unwrap().to_string();
    assert!(error.contains("cut.monitor: expected a file written by `offnominal fit`, found"), "{error}");
}

#[test]
fn the_same_monitor_gives_the_same_bytes() {
    let (about, archive) = decode(&BYTES).unwrap();
    assert!(is_monitor(&BYTES[..64]) && !is_monitor(b"time,level,flow\n") && !is_monitor(&BYTES[..7]));
    assert_eq!(encode(&about, &archive), *BYTES);
}

#[test]
fn watching_does_not_allocate() {
    let fresh = nominal_episodes(Seed(4), 1, 40).remove(0);
    let mut monitor = opened(&BYTES).unwrap();
    let mut episode = || {
        monitor.reset();
        for (t, seen) in fresh.signals().transitions().enumerate() {
            let gap = [seen.obs[0], f32::NAN, seen.obs[2]];
            monitor.step(if t % 4 == 1 { &gap } else { seen.obs }, seen.action).unwrap();
        }
        assert!(monitor.diagnose().is_some());
    };
    episode();
    assert_eq!(allocation_counter::measure(episode).count_total, 0);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(decode(&bytes).is_err());
    }

    #[test]
    fn damaged_files_are_errors(at in any::<prop::sample::Index>(), bit in 0..8_u8, cut in any::<prop::sample::Index>()) {
        let mut bytes = BYTES.clone();
        prop_assert!(decode(&bytes[..cut.index(bytes.len())]).is_err());
        bytes[at.index(BYTES.len())] ^= 1 << bit;
        // Spaces that pad the header are the only bytes without a meaning.
        if let Ok(read) = decode(&bytes) {
            prop_assert_eq!(read, decode(&BYTES).unwrap());
        }
    }
}

#[test]
fn parts_of_a_score_have_names_and_sum_to_it() {
    let (about, archive) = decode(&file(Rule::Max)).unwrap();
    let catalogue = offnominal_detectors::catalogue();
    let mut silent = Monitor::new(about.clone(), &archive, &catalogue, None).unwrap();
    let params = json!({"hidden": [8], "training": {"epochs": 3}});
    let detector = catalogue.build("residual-views", &params).unwrap();
    let episodes = nominal_episodes(Seed(1), 12, 30);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    let fitted = detector.fit(Nominal::new(&views[..10], &[]), &mut Rng::new(1)).unwrap();
    let scores = vec![vec![1.0]; 30];
    let threshold = Rule::Max.threshold(&scores, Level::P95).unwrap();
    let archive = Monitor::archive(fitted.as_ref(), &threshold, None, None).unwrap();
    let recipe = DetectorRecipe { id: "residual-views".into(), params };
    let about = About { detector: recipe, diagnoses: false, ..about };
    let mut telling = Monitor::new(about, &archive, &catalogue, None).unwrap();
    assert_eq!((telling.shares(), telling.evidence()), (None, None), "there is no step yet");
    for seen in views[11].transitions() {
        silent.transition(&seen).unwrap();
        let score = telling.transition(&seen).unwrap().score;
        let shares = telling.shares().unwrap();
        let sum: f64 = shares.iter().map(|share| share.share).sum();
        assert!((sum - score).abs() < 1e-9 && shares.iter().all(|s| "xyz".contains(&s.name)), "{shares:?}");
        assert_eq!((silent.shares(), silent.evidence()), (None, None), "knn does not tell");
        // The channel with the largest part, alone or most of all.
        let says = telling.evidence().unwrap().says;
        let named =
            [format!(" of {} against", shares[0].name), format!(" most of all {}, against", shares[0].name)];
        assert!(
            named.iter().any(|named| says.contains(named)) && says.ends_with("the dynamics model"),
            "{says}"
        );
    }
}

/// A detector that has all others inside it that need no policy, as each is fitted in a moment: its score has the bits of all.
fn all_detectors() -> serde_json::Value {
    let brief = json!({"epochs": 2});
    let of = |id: &str| match id {
        "isolation-forest" => json!({"id": id, "trees": 5}),
        "mlp-dm" | "ensemble-dm" | "multistep-dm" | "residual-views" | "residual-window" | "pe-dm" => {
            json!({"id": id, "hidden": [4], "training": brief})
        }
        "flow-density" => {
            json!({"id": id, "hidden": [4], "units": 4, "training": brief, "flow_training": brief})
        }
        "lstm-dm" => json!({"id": id, "hidden": 4, "head": [4], "training": brief}),
        "riqn" => json!({"id": id, "hidden": 4, "cosines": 4, "quantiles": 4, "training": brief}),
        "cusum" | "e-process" | "running-mean" => json!({"id": id, "inner": "knn"}),
        "rnd" => json!({"id": id, "training": brief}),
        "fusion" => json!({"id": id, "inner": ["knn", "clock"]}),
        "panel" => json!({"id": id, "inner": [["mewma", "dpca"], "clock"]}),
        _ => json!({"id": id}),
    };
    let in_policy = ["disagreement", "feature-mahalanobis", "feature-knn"];
    let ids = offnominal_detectors::ALL.iter().map(|entry| entry.id).filter(|id| !in_policy.contains(id));
    json!({"inner": ids.map(of).collect::<Vec<_>>()})
}

/// The file of a monitor of [`all_detectors`].
fn of_all_detectors() -> Vec<u8> {
    let (about, _) = decode(&BYTES).unwrap();
    let params = offnominal_detectors::complete("fusion", &all_detectors());
    let episodes = nominal_episodes(Seed(1), 8, 20);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    let detector = offnominal_detectors::catalogue().build("fusion", &params).unwrap();
    let fitted = detector.fit(Nominal::new(&views, &[]), &mut Rng::new(1)).unwrap();
    let threshold = Rule::Max.threshold(&[vec![1.0]], Level::P95).unwrap();
    let archive = Monitor::archive(fitted.as_ref(), &threshold, None, None).unwrap();
    let about = About {
        detector: DetectorRecipe { id: "fusion".into(), params },
        threshold: Calibrated::new(Rule::Max, &threshold, 1),
        diagnoses: false,
        ..about
    };
    encode(&about, &archive)
}

/// The bits of the scores of an episode that a monitor was not fitted on.
fn score_bits(monitor: &mut Monitor) -> String {
    let fresh = nominal_episodes(Seed(9), 1, 20).remove(0);
    let steps = fresh.signals();
    let bits = steps.transitions().map(|step| monitor.transition(&step).unwrap().score.to_bits());
    bits.map(|bits| format!("{bits:016x}\n")).collect()
}

/// Whoever changes what a detector learns, keeps or scores raises [`FORMAT`], and makes the files of the new version with
/// `UPDATE_EXPECT=1`; those of a version are never written again.
#[test]
fn a_file_of_this_format_is_opened_by_every_later_program_with_the_same_bits() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let [file, scores] = ["monitor", "scores"].map(|kind| folder.join(format!("format-{FORMAT}.{kind}")));
    if !file.exists() && std::env::var_os("UPDATE_EXPECT").is_some() {
        let bytes = of_all_detectors();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&scores, score_bits(&mut opened(&bytes).unwrap())).unwrap();
        std::fs::write(&file, bytes).unwrap();
    }
    let read = std::fs::read(&file).expect("UPDATE_EXPECT=1 makes the file of a new format");
    assert_eq!(score_bits(&mut opened(&read).unwrap()), std::fs::read_to_string(scores).unwrap());
    let fitted = of_all_detectors();
    assert_eq!(decode(&fitted).unwrap().1, decode(&read).unwrap().1, "what is learned is the same, too");
}

#[test]
fn a_file_says_every_parameter_so_that_other_defaults_change_nothing() {
    let found = offnominal_detectors::complete(
        "panel",
        &json!({"inner": [["mewma"], {"id": "cusum", "inner": "knn"}]}),
    );
    let at = |pointer: &str| found.pointer(pointer).unwrap_or_else(|| panic!("{pointer}: {found}")).clone();
    assert_eq!(at("/inner/0/0/reference"), "nominal");
    assert_eq!((at("/inner/1/inner/id"), at("/inner/1/inner/k")), (json!("knn"), json!(1)));
    assert_eq!(
        offnominal_detectors::complete("mlp-dm", &json!({"training": {"epochs": 3}}))["training"]["epochs"],
        3
    );
}

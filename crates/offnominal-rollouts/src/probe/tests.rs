//! A probe is what was fitted, and says of steps what `judge` says of whole rollouts.

use super::fit::Request;
use super::*;
use crate::detector::Lesson;
use crate::detector::tests::{ALL, drawn};
use crate::split::Split;
use offnominal_core::Seed;
use offnominal_work::context::Context;
use serde_json::json;
use std::collections::BTreeMap;

fn request(detector: &str) -> Request {
    Request { detector: detector.parse().unwrap(), alpha: 0.2, ..Request::default() }
}

fn probe(detector: &str) -> Probe {
    fit::fit(&request(detector), &drawn(160), &Context::silent(1, 1)).unwrap()
}

/// The error of bytes that are no probe.
fn refused(bytes: &[u8]) -> String {
    format!("{:#}", Probe::decode(bytes).err().expect("they are refused"))
}

#[test]
fn a_watcher_says_step_by_step_what_judge_says_of_whole_rollouts() {
    let data = drawn(120);
    let part = &Split::Folds(4).parts(&data, 1).unwrap()[0];
    let (context, instructions) = (Context::silent(1, 1), BTreeMap::new());
    for name in ALL {
        let detector: Detector = name.parse().unwrap();
        let lesson =
            Lesson { data: &data, part, instructions: &instructions, seed: Seed(1), context: &context };
        let judged = detector.fit(&lesson).unwrap();
        // The same lesson of what the detector reads, and through a file.
        let reads = detector.reads(&data).unwrap();
        let own = data.only(if reads.is_empty() { &[0] } else { &reads }, detector.reads_embeddings());
        let lesson = Lesson { data: &own, ..lesson };
        let mut about = probe("clock").about.clone();
        about.detector = name.into();
        about.signals = reads.iter().map(|&place| data.signals[place].clone()).collect();
        about.embedding = own.embedding;
        let read = Probe { about, fitted: detector.fit(&lesson).unwrap() }.encode();
        let read = Probe::decode(&read).unwrap_or_else(|e| panic!("{name}: {e:#}"));
        for &i in &part.test {
            let r = &data.rollouts[i];
            let task = data.tasks[r.task].as_str();
            let mut watcher = read.begin(&Rollout { task, number: i, ..Rollout::default() }).unwrap();
            let step = |k: usize| {
                let embedding = &r.embeddings[3 * k..3 * (k + 1)];
                let fields = json!({"step": k, "acm": r.signals[0][k], "tce": r.signals[1][k], "embedding": embedding});
                watcher.step(fields.as_object().unwrap()).unwrap().score
            };
            let found: Vec<f64> = (0..r.steps()).map(step).collect();
            assert_eq!(found, judged.scores(&data, i), "{name}, rollout {i}");
        }
    }
}

#[test]
fn a_file_comes_back_with_the_same_bytes() {
    for name in ALL {
        let bytes = probe(name).encode();
        let read = Probe::decode(&bytes).unwrap();
        assert_eq!(read.encode(), bytes, "{name}");
        assert_eq!(read.about.detector, name);
    }
}

#[test]
fn each_task_has_the_threshold_of_its_held_out_successes() {
    let data = drawn(160);
    let found = probe("mean(tce)");
    assert_eq!(found.about.signals, ["tce"]);
    assert!(found.about.tasks.iter().all(|task| task.from == Origin::Own && task.learned > task.failed));
    assert!(found.about.detected.as_ref().unwrap().value > 0.5, "{:?}", found.about.detected);
    // With one held-out success in five, tasks have too few for a threshold of their own.
    let small = Request { held_out: 0.1, ..request("mean(tce)") };
    let pooled = fit::fit(&small, &data, &Context::silent(1, 1)).unwrap();
    let [first, ..] = &pooled.about.tasks[..] else { panic!("tasks") };
    assert_eq!(first.from, Origin::Pooled);
    assert!(pooled.about.tasks.iter().all(|task| task.threshold == first.threshold));
    let none = Request { alpha: 0.01, ..small };
    let error = format!("{:#}", fit::fit(&none, &data, &Context::silent(1, 1)).err().unwrap());
    assert!(error.contains("expected 99 held-out successes of a task, or of all tasks together"), "{error}");
}

#[test]
fn the_promise_holds_for_fresh_successes_of_a_task() {
    // Fitted on the first half of the rollouts, watched on the others: of the latter a fifth may have an alarm, on average
    // over fits; 80 successes of one fit scatter around that.
    let all = drawn(480);
    let mut first = all.clone();
    first.rollouts.truncate(240);
    let found = fit::fit(&request("mean(tce)"), &first, &Context::silent(1, 1)).unwrap();
    let has_alarm = |i: usize| {
        let r = &all.rollouts[i];
        let task = all.tasks[r.task].as_str();
        let mut watcher = found.begin(&Rollout { task, ..Rollout::default() }).unwrap();
        (0..r.steps()).any(|k| watcher.seen(&[r.signals[1][k]], &[]).unwrap().alarm.unwrap())
    };
    let share = |fails: bool| {
        let of: Vec<usize> = (240..480).filter(|&i| all.rollouts[i].fails == fails).collect();
        of.iter().filter(|&&i| has_alarm(i)).count() as f64 / of.len() as f64
    };
    assert!(share(false) < 0.3 && share(true) > 0.6, "{} and {}", share(false), share(true));
}

#[test]
fn an_unknown_task_is_scored_and_has_no_alarm() {
    let found = probe("hazard");
    let mut watcher = found.begin(&Rollout { task: "juggle", ..Rollout::default() }).unwrap();
    let verdict = watcher.step(json!({"acm": 0.2, "tce": 9.0}).as_object().unwrap()).unwrap();
    assert!(verdict.score > 0.0 && verdict.threshold.is_none() && verdict.alarm.is_none(), "{verdict:?}");
    let instructions = ["cup", "door", "lift", "push"].map(|task| (task.to_string(), vec![0.5, 1.0]));
    let data = drawn(120);
    let (part, context) = (&Split::Folds(4).parts(&data, 1).unwrap()[0], Context::silent(1, 1));
    let lesson = Lesson {
        data: &data,
        part,
        instructions: &BTreeMap::from(instructions),
        seed: Seed(1),
        context: &context,
    };
    let fitted = Detector::ActProbe(1).fit(&lesson).unwrap();
    let reads = Probe { about: About { detector: "actprobe".into(), ..found.about }, fitted };
    let begin = |instruction: Option<&[f32]>| {
        let begun = reads.begin(&Rollout { task: "juggle", instruction, ..Rollout::default() });
        begun.err().map(|e| format!("{e:#}"))
    };
    let error = begin(None).unwrap();
    assert!(error.contains("\"juggle\": expected an embedding of the instruction"), "{error}");
    assert!(begin(Some(&[1.0])).unwrap().contains("expected an embedding of 2 numbers, found 1"));
    assert_eq!(begin(Some(&[1.0, 0.0])), None);
}

#[test]
fn chunks_are_read_as_in_recordings_and_what_is_missing_is_named() {
    let found = probe("hazard");
    let begin = || found.begin(&Rollout { task: "cup", executed: Some(1), ..Rollout::default() }).unwrap();
    let (mut plain, mut chunks) = (begin(), begin());
    // Of one action of 0.5 and then one of 0.25, tce is 0, and (0.5 − 0.25)² without an action left.
    for (chunk, acm, tce) in [([[0.5], [0.25]], 0.5, 0.0), ([[0.75], [0.0]], 0.75, 0.25)] {
        let a = plain.step(json!({"acm": acm, "tce": tce}).as_object().unwrap()).unwrap();
        let b = chunks.step(json!({"chunk": chunk}).as_object().unwrap()).unwrap();
        assert_eq!(a, b);
    }
    let error = |step: Value| {
        let mut watcher = begin();
        let found = format!("{:#}", watcher.step(step.as_object().unwrap()).unwrap_err());
        let again = watcher.step(json!({"acm": 1, "tce": 1}).as_object().unwrap()).unwrap_err();
        assert!(again.to_string().contains("beginning of a rollout after a step that was refused"));
        found
    };
    assert_eq!(error(json!({"acm": 1})), "step 0: expected the signal \"tce\", found acm");
    assert!(error(json!({"acm": 1, "tce": "x"})).contains("expected the signal \"tce\""));
    assert!(error(json!({"chunk": [[1]], "step": 3})).contains("step: expected 0, found 3"));
    let knn = probe("knn");
    let mut watcher = knn.begin(&Rollout { task: "cup", ..Rollout::default() }).unwrap();
    let missing = watcher.step(json!({"acm": 1}).as_object().unwrap()).unwrap_err().to_string();
    assert_eq!(missing, "step 0: expected an embedding of 3 numbers, found 0");
}

#[test]
fn what_is_no_probe_is_refused() {
    let sound = probe("hazard");
    let mut bytes = sound.encode();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    assert!(refused(&bytes).contains("damaged or was edited"), "{}", refused(&bytes));
    assert!(refused(b"{}").contains("expected a file written by"));
    let with = |change: &dyn Fn(&mut About)| {
        let mut about = sound.about.clone();
        change(&mut about);
        let mut archive = Archive::default();
        sound.fitted.save(&mut archive.writer());
        refused(&file::encode(&about, &archive))
    };
    assert_eq!(with(&|about| about.probe = 2), "expected version 1 of a failure probe, found 2");
    assert!(with(&|about| about.alpha = 1.5).contains("alpha: expected a share"));
    assert!(with(&|about| about.tasks.reverse()).contains("tasks: expected names in ascending order"));
    assert!(
        with(&|about| about.signals.truncate(1))
            .contains("features.signals: expected at most 1 numbers below 1")
    );
    assert!(
        with(&|about| about.tasks.truncate(1)).contains("baseline.tasks: expected ascending numbers below 1")
    );
    assert!(
        with(&|about| about.detector = "survival".into())
            .contains("expected a list of numbers, found nothing")
    );
    assert!(with(&|about| about.detector = "tcx".into()).contains("expected the signal \"tcx\""));
}

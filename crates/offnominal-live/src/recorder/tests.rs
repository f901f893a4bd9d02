//! What is kept, what is forgotten, and what an alarm writes.

use super::*;
use crate::testing::{Notes, about, tick};
use std::sync::atomic::Ordering;

fn recorder(secs: u64, folder: &Path) -> (Recorder, Arc<Notes>) {
    let notes = Arc::new(Notes::default());
    let shown: Arc<dyn Progress> = Arc::clone(&notes) as Arc<dyn Progress>;
    (Recorder::new(Duration::from_secs(secs), folder, &about(), &shown).unwrap(), notes)
}

#[test]
fn ticks_older_than_the_span_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let (mut recorder, _) = recorder(3, folder.path());
    (0..10).for_each(|t| assert!(recorder.add(tick(t, false))));
    let kept: Vec<i64> = recorder.ticks.iter().map(|tick| tick.time_nanos / 1_000_000_000).collect();
    assert_eq!(kept, [6, 7, 8, 9]);
    recorder.add(tick(2, false));
    assert_eq!(recorder.ticks.len(), 1, "another clock");
    assert_eq!(recorder.n_bytes, recorder.ticks[0].n_bytes());
    recorder.finish().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn memory_is_bounded_and_this_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut recorder, notes) = recorder(1000, folder.path());
    recorder.most_bytes = 10 * tick(0, false).n_bytes();
    (0..100).for_each(|t| assert!(recorder.add(tick(t, false))));
    assert!(recorder.n_bytes <= recorder.most_bytes && recorder.ticks.len() > 5);
    assert_eq!(notes.lines(), ["record: more than 256 MiB in that time, so less of it is kept"]);
}

#[test]
fn an_alarm_writes_both_files_and_overwrites_none() {
    let folder = tempfile::tempdir().unwrap();
    for expected in [["alarm-0-5.arrow", "alarm-0-5.mcap"], ["alarm-0-5-2.arrow", "alarm-0-5-2.mcap"]] {
        let (mut recorder, notes) = recorder(3, folder.path());
        (0..=5).for_each(|t| assert!(recorder.add(tick(t, t == 5))));
        recorder.acted(&[0.5]);
        recorder.finish().unwrap();
        assert!(expected.iter().all(|name| folder.path().join(name).is_file()));
        assert!(notes.lines()[0].starts_with("alarm in episode 0, step 5: the 4 ticks before it are in "));
    }
}

#[test]
fn a_verdict_does_not_wait_for_a_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (mut recorder, notes) = recorder(3, folder.path());
    notes.is_slow.store(true, Ordering::Relaxed);
    let begun = std::time::Instant::now();
    let taken = (0..50).filter(|&t| recorder.add(tick(t, true))).count();
    assert!((MOST_WAITING..50).contains(&taken), "{taken}");
    assert!(begun.elapsed() < Duration::from_millis(400), "{:?}", begun.elapsed());
    recorder.finish().unwrap();
    assert_eq!(notes.lines().iter().filter(|line| line.contains("this is said once")).count(), 1);
}

#[test]
fn what_cannot_be_written_is_an_error_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    let (mut recorder, notes) = recorder(3, &inner);
    std::fs::remove_dir_all(&inner).unwrap();
    std::fs::write(&inner, b"a file in the place of the folder").unwrap();
    recorder.add(tick(0, true));
    let error = recorder.finish().unwrap_err().to_string();
    assert!(error.starts_with("2 files of what happened before an alarm"), "{error}");
    assert!(notes.lines()[0].starts_with("alarm in episode 0, step 0: cannot make the folder"));
}

#[test]
fn a_span_is_positive_and_no_longer_than_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let notes: Arc<dyn Progress> = Arc::new(Notes::default());
    for secs in [0, 86_401] {
        let made = Recorder::new(Duration::from_secs(secs), folder.path(), &about(), &notes);
        let error = made.err().unwrap().to_string();
        assert_eq!(error, format!("record: expected more than 0 and at most 86400 seconds, found {secs}"));
    }
}

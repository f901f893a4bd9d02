//! Agreement with scikit-learn, errors by place, and arbitrary bytes.

use crate::metrics_file::*;
use offnominal_core::Seed;
use offnominal_stats::Level;
use proptest::prelude::*;

fn plan() -> Bootstrap {
    Bootstrap::new(100, Level::P95, Seed(0))
}

#[track_caller]
fn refuses(csv: &str, want: &str) {
    let found = read("x.csv", csv.as_bytes()).and_then(|e| judge("x.csv", &e, None, &plan())).unwrap_err();
    assert_eq!(found.to_string(), want);
}

/// `metrics.csv` (rows shuffled, ties, extra column) and `metrics.json` are made by `make_metrics.py` beside them.
#[test]
fn pooled_metrics_agree_with_scikit_learn() {
    let episodes = read("metrics.csv", include_bytes!("../../tests/data/metrics.csv")).unwrap();
    let want: serde_json::Value =
        serde_json::from_str(include_str!("../../tests/data/metrics.json")).unwrap();
    let rows = judge("metrics.csv", &episodes, None, &plan()).unwrap();
    for (id, want) in want["metrics"].as_object().unwrap() {
        let (_, found) = rows.iter().find(|(name, _)| name == id).unwrap();
        let (found, want) = (found.as_ref().unwrap().value, want.as_f64().unwrap());
        assert!((found - want).abs() < 1e-9, "{id}: {found} but {want}");
    }
}

#[test]
fn columns_and_rows_come_in_any_order() {
    let sorted = "episode,step,score,label\na,0,0.5,0\na,1,2,1\nb,0,1e-3,0\n";
    let mixed = "\u{feff}label, score ,note,step,episode\n1,2,x,1,a\n0,0.001,\"y,z\",0,b\n0,0.5,,0,a\n";
    let (sorted, mixed) = (read("s", sorted.as_bytes()).unwrap(), read("m", mixed.as_bytes()).unwrap());
    assert_eq!(sorted, mixed);
}

#[test]
fn errors_name_the_place() {
    let header = "episode,step,score,label\n";
    refuses("", "x.csv: expected a header and rows, found nothing");
    refuses(header, "x.csv: expected a header and rows, found a header alone");
    refuses(
        "episode,step,score\n",
        "x.csv, line 1: expected the columns episode, step, score, label, found episode, step, score; \
         label is missing",
    );
    refuses(
        "episode,step,score,label,step\n",
        "x.csv, line 1: expected the column step once, found it twice",
    );
    let field = |row: &str, want: &str| refuses(&format!("{header}a,0,1.5,0\n{row}\n"), want);
    field("a,1,NaN,0", "x.csv, line 3, column score: expected a finite number, found \"NaN\"");
    field("a,1,inf,0", "x.csv, line 3, column score: expected a finite number, found \"inf\"");
    field("a,1,0.5,2", "x.csv, line 3, column label: expected 0 or 1, or False or True, found \"2\"");
    field("a,-1,0.5,1", "x.csv, line 3, column step: expected a whole number, found \"-1\"");
    field(",1,0.5,1", "x.csv, line 3, column episode: expected a name, found \"\"");
    field(
        "a,0,0.5,1",
        "x.csv, line 3: expected each step once, found step 0 of episode \"a\" again (first in line 2)",
    );
    field("a,1,0.5,0", "x.csv: expected anomalous and nominal steps, found only nominal ones (2)");
    field("a,1,0.5", "x.csv, line 3: expected 4 fields as in line 1, found 3");
    field("a,1,0.5,1,9", "x.csv, line 3: expected 4 fields as in line 1, found 5");
}

#[test]
fn labels_come_as_other_programs_write_them() {
    let labels = |no: &str, yes: &str| {
        let csv = format!("episode,step,score,label\na,0,0,{no}\na,1,1,{yes}\n");
        read("x.csv", csv.as_bytes()).unwrap()[0].labels.clone()
    };
    for (no, yes) in [("0", "1"), ("0.0", "1.0"), ("False", "True"), ("false", "true")] {
        assert_eq!(labels(no, yes), [false, true], "{no} {yes}");
    }
}

#[test]
fn delays_need_every_step() {
    let csv = "episode,step,score,label\na,3,0,0\na,5,1,1\n";
    assert!(read("x.csv", csv.as_bytes()).is_ok());
    assert_eq!(
        read_without_gaps("x.csv", csv.as_bytes()).unwrap_err().to_string(),
        "x.csv, line 3: expected step 4 of episode \"a\" (delays count steps), found step 5"
    );
}

#[test]
fn a_threshold_adds_the_delay_metrics_and_what_is_undefined_says_so() {
    let csv = "episode,step,score,label\na,0,0,0\na,1,0,1\na,2,9,1\nb,0,0,0\nb,1,9,1\n";
    let episodes = read("x.csv", csv.as_bytes()).unwrap();
    let rows = judge("x.csv", &episodes, Some(5.0), &plan()).unwrap();
    let get = |id: &str| rows.iter().find(|(name, _)| *name == id).unwrap().1.clone();
    assert_eq!(get("detection_rate").unwrap().value, 1.0);
    assert_eq!(get("d5").unwrap().n, 2);
    assert_eq!(
        get("false_alarm_rate").unwrap_err().to_string(),
        "false alarm rate: expected at least 1 nominal episodes, found 0"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_without_gaps("x.csv", &bytes);
    }

    #[test]
    fn nearly_right_text_never_panics(body in "([a-b0-9.,\\-]|1,0,|\"|\n|\r|e9|NaN|\u{e9}){0,120}") {
        let text = format!("episode,step,score,label\n{body}");
        if let Ok(episodes) = read("x.csv", text.as_bytes()) {
            let _ = judge("x.csv", &episodes, Some(0.5), &plan());
        }
    }
}

#[test]
fn a_twin_gives_matched_metrics_and_is_no_episode_of_its_own() {
    let csv = "episode,step,score,label,twin\na,0,0,0,t\na,1,3,1,t\na,2,1,1,t\nt,0,0,0,\nt,1,2,0,\nt,2,2,0,\nn,0,0,0,\n";
    let episodes = read_without_gaps("x.csv", csv.as_bytes()).unwrap();
    assert_eq!((episodes.len(), episodes[0].twin.as_ref().unwrap().len()), (2, 3));
    let rows = judge("x.csv", &episodes, Some(1.5), &plan()).unwrap();
    let get = |id: &str| rows.iter().find(|(name, _)| *name == id).unwrap().1.clone().unwrap();
    // Of the four pairs of anomalous and twin's steps at the same times two are in order.
    assert_eq!(get("auroc_matched").value, 0.5);
    assert_eq!((get("false_alarm_rate").value, get("false_alarm_rate").n), (0.5, 2));
}

#[test]
fn wrong_twins_are_named() {
    let header = "episode,step,score,label,twin\n";
    let twin = |rows: &str, want: &str| refuses(&format!("{header}{rows}"), want);
    twin("a,0,1,1,b\n", "x.csv, line 2: twin \"b\" of episode \"a\": expected an episode of the file");
    twin(
        "a,0,1,1,b\nb,0,1,1,\n",
        "x.csv, line 2: twin \"b\" of episode \"a\": expected a nominal episode, found an anomalous step in line 3",
    );
    twin(
        "a,0,1,1,b\na,1,1,1,\nb,0,1,0,\n",
        "x.csv, line 3, column twin: expected that of the first row of episode \"a\", \"b\", found \"\"",
    );
    twin(
        "a,0,1,1,b\nb,0,1,0,\nc,0,1,1,b\n",
        "x.csv, line 4: twin \"b\" of episode \"c\": expected a twin of its own, found that of \"a\": its false alarms \
         would count twice. Judge each anomaly in a file of its own",
    );
    refuses(
        "episode,step,score,label,twin,twin\n",
        "x.csv, line 1: expected the column twin once, found it twice",
    );
}

#[test]
fn an_alarm_after_an_event_does_not_detect_it() {
    let csv = "episode,step,score,label\na,0,0,0\na,1,0,1\na,2,9,0\nb,0,9,1\nb,1,0,1\n";
    let episodes = read_without_gaps("x.csv", csv.as_bytes()).unwrap();
    let rows = judge("x.csv", &episodes, Some(5.0), &plan()).unwrap();
    let get = |id: &str| rows.iter().find(|(name, _)| *name == id).unwrap().1.clone().unwrap();
    // Two events, one of them detected; two nominal stretches, one with an alarm.
    assert_eq!((get("detection_rate").value, get("detection_rate").n), (0.5, 2));
    assert_eq!((get("false_alarm_rate").value, get("false_alarm_rate").n), (0.5, 2));
}

fn judged() -> Judged {
    let found = Estimate { value: 3.0, low: 1.0, high: f64::INFINITY, level: 0.95, n: 4, method: "m".into() };
    let never = StatsError::MedianNotReached { detected: 1, n: 4, low: 0.0 };
    Judged {
        rows: vec![("delay_median", Ok(found)), ("d5", Err(never))],
        episodes: 4,
        level: 0.95,
        by_event: false,
    }
}

#[test]
fn the_json_is_an_object_of_estimates() {
    let object = serde_json::to_value(judged()).unwrap();
    let back: Estimate = serde_json::from_value(object["delay_median"].clone()).unwrap();
    assert_eq!((back.value, back.high), (3.0, f64::INFINITY));
    assert!(object["d5"].is_null());
}

#[test]
fn the_table_says_why_there_is_no_value() {
    let text = judged().to_string();
    assert!(text.contains("95 % intervals") && text.contains("3.0000 [1.0000, inf]"), "{text}");
    assert!(text.contains("no value: the median is not reached"), "{text}");
}

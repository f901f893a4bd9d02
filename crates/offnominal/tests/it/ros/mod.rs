//! The node of ROS 2, compiled from its own sources against stubs of ROS, plays bags and says what `monitor` says of them.

mod bag;
mod lab;

use bag::{Fault, bag};
use lab::{Lab, Said, lab};
use serde_json::{Value, json};

/// What `monitor` says in the words of the node.
fn as_message(line: &Value) -> Value {
    let number = |name: &str, words: &[&str]| {
        let at = line[name].as_str().map_or(0, |word| words.iter().position(|w| *w == word).unwrap());
        json!(at)
    };
    let mut found = json!({
        "state": number("state", &["disarmed", "armed", "raised"]),
        "event": number("event", &["", "raised", "cleared"]),
        "sensor_event": number("sensor_event", &["", "lost", "returned"]),
        "acknowledged": line["acknowledged"].as_bool().unwrap_or(false),
        "dropped": line["dropped"].as_u64().unwrap_or(0),
        "shares": line.get("shares").cloned().unwrap_or(json!([])),
        "diagnosis": line.get("diagnosis").map_or(json!([]), |found| json!([diagnosis(found)])),
    });
    for name in "time_nanos episode step score statistic threshold missing stale confidence".split(' ') {
        found[name] = line[name].clone();
    }
    found
}

fn diagnosis(found: &Value) -> Value {
    const FAMILIES: [&str; 3] = ["observation", "action", "dynamics"];
    json!({
        "onset": found["onset"],
        "family": FAMILIES.iter().position(|family| found["family"] == *family).unwrap(),
        "probabilities": FAMILIES.map(|family| found["probabilities"][family].clone()),
        "channels": found["channels"],
        "names_faults": found.get("candidates").is_some(),
        "candidates": found["candidates"].as_array().into_iter().flatten().map(candidate).collect::<Vec<_>>(),
    })
}

fn candidate(found: &Value) -> Value {
    let mut found = found.clone();
    found["direction"] = json!(["up", "down"].iter().position(|word| found["direction"] == *word).unwrap());
    found
}

/// A number that was written with 17 digits has the same bits, whatever its form.
fn bits(value: &Value) -> Value {
    match value {
        Value::Number(n) => json!(n.as_f64().unwrap().to_bits()),
        Value::Array(all) => all.iter().map(bits).collect(),
        Value::Object(all) => all.iter().map(|(name, value)| (name.clone(), bits(value))).collect(),
        other => other.clone(),
    }
}

/// Compares all verdicts of the node with those of `monitor`, by a mapping; how many there were. Tests run side by side, so
/// each has files of its name.
#[track_caller]
fn same(lab: &Lab, name: &str, mapping: &str, fault: Fault) -> usize {
    said_by(lab, "arm.monitor", name, mapping, fault).len()
}

/// The verdicts of the node, which were compared.
#[track_caller]
fn said_by(lab: &Lab, monitor: &str, name: &str, mapping: &str, fault: Fault) -> Vec<Value> {
    let bag = lab.write(&format!("{name}.mcap"), &bag(7, fault));
    let mapping = lab.write(&format!("{name}.toml"), mapping.as_bytes());
    let (want, found) =
        (lab.monitor(monitor, &mapping, &bag), lab.replay_with(monitor, &mapping, &bag, &[]).verdicts());
    // The node does not know that no message follows the last one, so its last step is not over.
    assert!(
        (want.len().saturating_sub(1)..=want.len()).contains(&found.len()),
        "{} and {}",
        want.len(),
        found.len()
    );
    for (want, mut found) in want.iter().zip(found.clone()) {
        let lost = found.as_object_mut().unwrap().remove("lost_sensors").unwrap();
        if let Some(names) = want.get("lost_sensors") {
            assert_eq!(&lost, names);
        }
        assert_eq!(bits(&found), bits(&as_message(want)), "{found} {want}");
    }
    found
}

/// The parts of a score sum to it, and named faults are told when they are due.
#[test]
fn an_alarm_has_shares_and_named_faults() {
    let Some(lab) = lab() else { return };
    lab.teach_names();
    let fault = Fault { biased_from: Some(4.0), ..Fault::default() };
    let said = said_by(lab, "naming.monitor", "naming", lab::MAPPING, fault);
    let alarm = said.iter().find(|v| v["event"] == 1).unwrap();
    let shares = alarm["shares"].as_array().unwrap();
    let (sum, score) = (
        shares.iter().map(|part| part["share"].as_f64().unwrap()).sum::<f64>(),
        alarm["score"].as_f64().unwrap(),
    );
    assert!((sum - score).abs() <= 1e-9 * score.abs().max(1.0), "{alarm}");
    assert!(said.iter().all(|v| v["event"] == 1 || v["shares"] == json!([])));
    let named = |v: &&Value| v["diagnosis"][0]["names_faults"] == true;
    let steps: Vec<u64> = said.iter().filter(named).map(|v| v["step"].as_u64().unwrap()).collect();
    assert!(steps.len() >= 3 && [steps[1], steps[2]] == [steps[0] + 5, steps[0] + 20], "{steps:?}");
}

#[test]
fn verdicts_are_those_of_monitor_bit_for_bit() {
    let Some(lab) = lab() else { return };
    let span = Some([3.0, 5.5]);
    let faults = [
        Fault::default(),
        Fault { biased_from: Some(4.0), ..Fault::default() },
        Fault { silent: span, ..Fault::default() },
        Fault { nan: span, ..Fault::default() },
        Fault { silent: span, nan: Some([5.0, 6.0]), biased_from: Some(6.5), cut: 0 },
    ];
    for fault in faults {
        let n = same(lab, "faults", lab::MAPPING, fault);
        assert!(n > 150, "{n} verdicts with {fault:?}");
    }
}

#[test]
fn episodes_are_those_of_the_mapping() {
    let Some(lab) = lab() else { return };
    let fault = Fault { silent: Some([3.0, 5.5]), ..Fault::default() };
    for by in
        ["\"window\"\nsecs = 1.7", "\"gap\"\nsecs = 0.019", "\"event\"\ncolumn = \"/cmd_vel:angular.z\""]
    {
        let n = same(lab, "episodes", &lab::MAPPING.replace("\"file\"", by), fault);
        assert!(n > 20, "{n} verdicts with {by}");
    }
    let waits = lab::MAPPING.replace("max_age_secs", "wait_secs = 0.02\nmax_age_secs");
    assert!(same(lab, "episodes", &waits, fault) > 150);
}

#[test]
fn a_nominal_bag_is_nominal() {
    let Some(lab) = lab() else { return };
    let said = lab.replay(&lab.write("nominal.mcap", &bag(7, Fault::default())), &[]);
    assert_eq!(said.levels(), [(3, "no number yet of"), (0, "nominal")], "{said:?}");
    let values = said.statuses().pop().unwrap()["values"].clone();
    let names: Vec<&str> = values.as_array().unwrap().iter().map(|pair| pair[0].as_str().unwrap()).collect();
    for name in ["score", "threshold", "state", "missing", "lost sensors", "age of /imu [s]"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
}

#[test]
fn an_alarm_is_an_error_until_somebody_acknowledges_it() {
    let Some(lab) = lab() else { return };
    let bag = lab.write("biased.mcap", &bag(8, Fault { biased_from: Some(4.0), ..Fault::default() }));
    let said = lab.replay(&bag, &[("6.01", "~/acknowledge")]);
    assert_eq!(said.levels()[..3], [(3, "no number yet of"), (0, "nominal"), (2, "alarm since step")]);
    let alarm = said.statuses().into_iter().find(|status| status["level"] == 2).unwrap();
    assert_eq!(alarm["message"].as_str().unwrap().contains("gyro"), lab.diagnoses, "{alarm}");
    assert_eq!(
        said.answers("~/acknowledge"),
        [json!({"success": true, "message": "the alarm is taken back"})]
    );
    let raised = |v: &&Value| v["event"] == 1;
    let (first, again) = (said.verdicts().iter().filter(raised).count(), said.verdicts());
    assert!(first >= 2, "the fault goes on, so the alarm is raised again");
    let acknowledged: Vec<&Value> = again.iter().filter(|v| v["acknowledged"] == true).collect();
    assert_eq!(acknowledged.len(), 1);
    assert_eq!(lab.replay(&bag, &[("1", "~/acknowledge")]).answers("~/acknowledge")[0]["success"], false);
}

#[test]
fn a_topic_that_falls_silent_is_a_lost_sensor_and_no_alarm() {
    let Some(lab) = lab() else { return };
    let fault = Fault { silent: Some([3.0, 6.0]), ..Fault::default() };
    let said = lab.replay(&lab.write("silent.mcap", &bag(9, fault)), &[]);
    let levels = said.levels();
    assert_eq!(levels, [(3, "no number yet of"), (0, "nominal"), (1, "lost sensors: gyro"), (0, "nominal")]);
    let events: Vec<Value> = said.verdicts().iter().map(|v| v["sensor_event"].clone()).collect();
    assert_eq!(events.iter().filter(|event| **event == 1).count(), 1);
    assert_eq!(events.iter().filter(|event| **event == 2).count(), 1);
}

#[test]
fn what_is_not_a_number_is_missing() {
    let Some(lab) = lab() else { return };
    let fault = Fault { nan: Some([3.0, 3.4]), ..Fault::default() };
    let said = lab.replay(&lab.write("nan.mcap", &bag(10, fault)), &[]);
    // The last number holds up to its largest age, then it is missing.
    let missing: Vec<u64> = said.verdicts().iter().map(|v| v["missing"].as_u64().unwrap()).collect();
    assert!((7..=8).contains(&missing.iter().filter(|n| **n == 1).count()), "{missing:?}");
    assert_eq!(said.levels(), [(3, "no number yet of"), (0, "nominal")]);
}

#[test]
fn a_reset_begins_an_episode() {
    let Some(lab) = lab() else { return };
    let bag = lab.write("reset.mcap", &bag(11, Fault::default()));
    let said = lab.replay(&bag, &[("4", "~/reset")]);
    assert_eq!(said.answers("~/reset")[0]["success"], true);
    let episodes: Vec<[u64; 2]> =
        said.verdicts().iter().map(|v| ["episode", "step"].map(|name| v[name].as_u64().unwrap())).collect();
    let second = episodes.iter().position(|[episode, _]| *episode == 1).unwrap();
    assert_eq!((episodes[second], episodes.last().unwrap()[0]), ([1, 0], 1));
    assert!((75..=80).contains(&second), "{second}");
}

#[test]
fn a_message_that_is_damaged_is_told_and_left_out() {
    let Some(lab) = lab() else { return };
    let bag = lab.write("cut.mcap", &bag(7, Fault { cut: 9, ..Fault::default() }));
    let said = lab.replay(&bag, &[]);
    assert_eq!(said.errors().len(), 1);
    assert!(said.errors()[0].contains("topic /joint_states: time "), "{:?}", said.errors());
    let levels: Vec<u64> = said.statuses().iter().map(|status| status["level"].as_u64().unwrap()).collect();
    assert_eq!(levels.iter().filter(|level| **level == 2).count(), 1, "{levels:?}");
    assert!(said.verdicts().len() > 150);
}

#[test]
fn a_node_that_cannot_start_says_why() {
    let Some(lab) = lab() else { return };
    let bag = lab.write("none.mcap", &bag(13, Fault::default()));
    let other = lab.write("other.toml", lab::MAPPING.replace("gyro", "compass").as_bytes());
    let none = lab.path("none.monitor");
    let refused = |monitor: &str, mapping: &str| lab.refused(monitor, mapping, &bag);
    assert!(refused("", "-").contains("monitor_file: expected the path of a file"));
    assert!(refused(&none, "-").contains("cannot read"));
    assert!(refused(&lab.path("arm.monitor"), &none).contains("cannot read"));
    let names = refused(&lab.path("arm.monitor"), &other);
    assert!(names.contains("mapping: observation: expected the channels of the monitor"), "{names}");
    assert!(
        lab.replay_with("arm.monitor", &lab.path("map.toml"), &bag, &[]).verdicts().len() > 150,
        "the file's own mapping"
    );
}

/// What `Said` is for: two levels that follow one another are one.
#[test]
fn levels_are_told_once() {
    let status = |level: u64| json!({"/diagnostics": {"level": level, "message": "alarm since step 4"}});
    let said = Said(vec![status(2), status(2), status(0)]);
    assert_eq!(said.levels().iter().map(|level| level.0).collect::<Vec<_>>(), [2, 0]);
}

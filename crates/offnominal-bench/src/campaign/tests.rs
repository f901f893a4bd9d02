//! Campaign files that are read, and others that are refused with a reason.

use crate::campaign::*;
use serde_json::json;

/// A small campaign in the particle environment, with a policy that needs no file.
pub(crate) const SMALL: &str = r#"
name = "small"
seed = 5
envs = ["sap-goal1"]
policies = ["random"]
detectors = ["clock", { id = "knn", name = "nearest" }]
anomalies = [{ id = "obs-offset", magnitude = 0.5 }, { id = "dyn-mass", magnitude = 3 }]
video = false

[episodes]
train = 6
validation = 19
test = 5
"#;

#[track_caller]
fn refuses(from: &str, to: &str, wants: &[&str]) {
    assert!(SMALL.contains(from), "{from}");
    let error = format!("{:#}", Campaign::parse(&SMALL.replace(from, to)).unwrap_err());
    for want in wants {
        assert!(error.contains(want), "{want:?} is not in: {error}");
    }
}

#[test]
fn a_campaign_is_read() {
    let campaign = Campaign::parse(SMALL).unwrap();
    assert_eq!(campaign.detectors[1].name(), "nearest");
    assert_eq!(campaign.detectors[1].choice.params, json!({}));
    assert_eq!((campaign.seeds, campaign.strengths.len()), (1, 4));
    assert_eq!(campaign.schedule().onset, Onset::Random);
    let fixed = |id: &str, magnitude: serde_json::Value| AnomalyChoice {
        magnitude: MagnitudeChoice::Fixed {
            magnitude: serde_json::from_value(magnitude).unwrap(),
            strength: "custom".into(),
        },
        ..AnomalyChoice::calibrated(id)
    };
    let listed = vec![fixed("obs-offset", json!(0.5)), fixed("dyn-mass", json!(3))];
    assert_eq!(campaign.anomalies, Anomalies::List(listed));
}

#[test]
fn what_results_depend_on_most_must_be_said() {
    refuses("seed = 5\n", "", &["missing field `seed`"]);
    refuses("test = 5\n", "", &["missing field `test`"]);
    refuses("train = 6", "train = 0", &["episodes.train: expected at least 1, found 0"]);
}

#[test]
fn wrong_names_get_their_line_and_the_nearest_right_one() {
    refuses("sap-goal1", "sap-goal", &["line 4", "did you mean \"sap-goal"]);
    refuses("\"clock\"", "\"clok\"", &["line 6", "did you mean \"clock\"?"]);
    refuses("obs-offset", "obs-ofset", &["line 7", "did you mean \"obs-offset\"?"]);
    refuses("video = false", "strengths = [\"tny\"]", &["line 8", "did you mean \"tiny\"?"]);
    refuses("video = false", "flim = false", &["unknown field `flim`", "line 8"]);
    refuses("name = \"nearest\"", "kk = 1", &["line 6", "unknown field `kk`"]);
}

#[test]
fn wrong_values_are_shown() {
    refuses(
        "magnitude = 3",
        "magnitude = nan",
        &["line 7", "dyn-mass: expected a `magnitude` that is a finite number, found nan"],
    );
    refuses("video = false", "onset = -1", &["line 8", "expected a step from 0 to"]);
    refuses("video = false", "onset = \"soon\"", &["expected \"random\" or a step, found \"soon\""]);
    refuses("video = false", "false_alarms = 1.5", &["expected a share between 0 and 1, found 1.5"]);
    refuses("name = \"nearest\"", "name = \"clock\"", &["found \"clock\" twice"]);
    refuses("[\"sap-goal1\"]", "[]", &["envs: expected at least one environment"]);
}

#[test]
fn images_are_not_learnt_from_another_policy() {
    let fitted = "name = \"nearest\", fitted_on = \"tqc\"";
    assert!(Campaign::parse(&SMALL.replace("name = \"nearest\"", fitted)).is_ok());
    let text = SMALL.replace("name = \"nearest\"", fitted).replace("video = false", "images = 32");
    let text = text.replace("\"clock\", ", "").replace("id = \"knn\"", "id = \"frame-knn-own\"");
    let error = format!("{:#}", Campaign::parse(&text).unwrap_err());
    assert!(error.contains("line 6: fitted_on: expected none in a campaign of images"), "{error}");
}

#[test]
fn impossible_numbers_get_their_line() {
    refuses(
        "test = 5",
        "test = 1000001",
        &["line 13: episodes.test: expected at most 1000000, found 1000001"],
    );
    refuses(
        "video = false",
        "replicates = 100001",
        &["line 8: replicates: expected at most 100000, found 100001"],
    );
    refuses("video = false", "seeds = 4000000000", &["seeds: expected at most 10000, found 4000000000"]);
    refuses("video = false", "seeds = 0", &["seeds: expected at least 1, found 0"]);
    refuses(
        "validation = 19",
        "validation = 18",
        &["line 12: episodes.validation: expected at least 19", "false_alarms = 0.05, found 18"],
    );
    refuses("video = false", "false_alarms = 0.01", &["expected at least 99", "found 19"]);
}

#[test]
fn anomalies_are_different_and_have_a_strength() {
    let listed = SMALL.lines().find(|l| l.starts_with("anomalies")).unwrap();
    let twice = "line 7: anomalies: expected different anomalies, found \"obs-noise\" twice";
    refuses(listed, "anomalies = [\"obs-noise\", \"obs-*\", \"obs-noise\"]", &[twice]);
    let same = "{ id = \"obs-noise\", magnitude = 1 }";
    refuses(listed, &format!("anomalies = [{same}, {same}]"), &[twice, "at custom", "another `strength`"]);
    let level = "line 8: strengths: expected at least one level for \"dyn-*\"";
    refuses(listed, "anomalies = [\"dyn-*\"]\nstrengths = []", &[level]);
    refuses(listed, "anomalies = \"all\"\nstrengths = []", &["one level for \"all\""]);
    assert!(Campaign::parse(&SMALL.replace("video = false", "strengths = []")).is_ok());
}

#[test]
fn a_name_that_a_script_would_read_as_a_line_is_refused() {
    let name = SMALL.lines().find(|l| l.starts_with("name")).unwrap();
    refuses(name, "name = \"x\\ntouch /tmp/pwned\"", &["name: expected no control character, found '\\n'"]);
    refuses("name = \"nearest\"", "name = \"a\\u001b[31m\"", &["detectors: expected no control character"]);
    let listed = SMALL.lines().find(|l| l.starts_with("anomalies")).unwrap();
    let strength = "anomalies = [{ id = \"obs-noise\", magnitude = 1, strength = \"a\\rb\" }]";
    refuses(listed, strength, &["anomalies: expected no control character"]);
}

#[test]
fn only_a_detector_is_advised_to_take_another_name() {
    refuses("name = \"nearest\"", "name = \"clock\"", &["(a detector may be given another `name`)"]);
    let text = SMALL.replace("[\"sap-goal1\"]", "[\"sap-goal1\", \"sap-goal1\"]");
    let error = format!("{:#}", Campaign::parse(&text).unwrap_err());
    assert!(error.ends_with("envs: expected different names, found \"sap-goal1\" twice"), "{error}");
}

#[test]
fn the_example_of_the_documentation_is_a_campaign() {
    let page = include_str!("../../../../docs/howto/campaigns.md");
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let campaign = Campaign::parse(example).unwrap();
    let plan = Plan::new(campaign, example).unwrap();
    assert!(plan.stages[1].settings.len() > 3);
}

#[test]
fn anomalies_may_end_or_come_and_go() {
    let schedule = |extent: &str| {
        Campaign::parse(&SMALL.replace("video = false", &format!("extent = {extent}")))
            .unwrap()
            .schedule()
            .extent
    };
    assert_eq!(schedule("\"to-end\""), Extent::ToEnd);
    assert_eq!(schedule("{ window = 20 }"), Extent::Window { steps: 20 });
    assert_eq!(schedule("{ on = 5, off = 10 }"), Extent::Intermittent { on: 5, off: 10 });
    for wrong in ["\"end\"", "{ window = 0 }", "{ on = 5 }", "{ window = 3, on = 5, off = 1 }", "7"] {
        refuses("video = false", &format!("extent = {wrong}"), &["extent: expected \"to-end\"", "found"]);
    }
}

/// The small campaign with other anomalies, at the strengths of a policy that has some.
fn with_anomalies(list: &str) -> String {
    let listed = SMALL.lines().find(|l| l.starts_with("anomalies")).unwrap();
    SMALL
        .replace(listed, list)
        .replace("video = false", "strengths = [\"tiny\", \"strong\"]\nstrengths_of = \"tqc\"")
}

#[test]
fn one_anomaly_may_be_tried_in_several_ways() {
    let text = with_anomalies(
        "anomalies = [\"obs-offset\", { id = \"obs-offset\", name = \"one\", channels = \"one\", \
         extent = { window = 20 } }, { id = \"obs-sine-drift\", magnitude_of = \"obs-offset\", period = 20 }]",
    );
    let plan = Plan::new(Campaign::parse(&text).unwrap(), &text).unwrap();
    let settings = &plan.stages[0].settings;
    let found: Vec<_> =
        settings.iter().map(|s| (&*s.anomaly, &*s.strength, &*s.anomaly_spec.anomaly)).collect();
    let of = |name, id| [(name, "tiny", id), (name, "strong", id)];
    let offset = "obs-offset";
    assert_eq!(
        found,
        [of(offset, offset), of("one", offset), of("obs-sine-drift", "obs-sine-drift")].concat()
    );
    // All of the same magnitude at the same strength; each has what its own entry says, and nothing of the others.
    let magnitudes: Vec<_> = settings.iter().map(|s| s.magnitude).collect();
    assert_eq!(magnitudes, [&magnitudes[..2], &magnitudes[..2], &magnitudes[..2]].concat());
    assert_eq!(settings[0].anomaly_spec.params, json!({ "magnitude": magnitudes[0] }));
    assert_eq!(settings[2].anomaly_spec.params, json!({ "magnitude": magnitudes[0], "channels": "one" }));
    let extents: Vec<_> = settings.iter().map(|s| s.anomaly_spec.schedule.extent).step_by(2).collect();
    assert_eq!(extents, [Extent::ToEnd, Extent::Window { steps: 20 }, Extent::ToEnd]);
}

#[test]
fn what_is_said_of_an_anomaly_must_fit_together() {
    let listed = SMALL.lines().find(|l| l.starts_with("anomalies")).unwrap();
    let cases = [
        ("id = \"obs-stuck\", magnitude = 1, magnitude_of = \"obs-noise\"", "or `magnitude_of`, found both"),
        (
            "id = \"obs-noise\", strength = \"tiny\"",
            "obs-noise: expected a `magnitude` with the name of its `strength`",
        ),
        ("id = \"obs-*\", name = \"x\"", "obs-*: expected no `name` for all that obs-* meets, found \"x\""),
        (
            "id = \"obs-noise\", name = \"obs-offset\"",
            "line 7: obs-noise: expected a `name` that no anomaly has for an id",
        ),
        ("id = \"obs-noise\", name = \"dyn-x\"", "a `name` that no anomaly has"),
        ("id = \"obs-noise\", magnitude_of = \"obs-offse\"", "did you mean \"obs-offset\"?"),
        (
            "id = \"obs-noise\", magnitude_of = \"act-noise\"",
            "of the same class, observation, found \"act-noise\", of action",
        ),
        ("id = \"obs-noise\", magnitude = 1, extent = \"short\"", "obs-noise: extent: expected \"to-end\""),
    ];
    for (entry, want) in cases {
        refuses(listed, &format!("anomalies = [{{ {entry} }}]"), &[want]);
    }
    refuses(listed, "anomalies = [\"obs-noise\", { id = \"obs-noise\" }]", &["found \"obs-noise\" twice"]);
}

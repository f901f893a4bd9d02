//! The page of environments that were made up: what it says follows from them.

use crate::results::{Coverage, Diagnosed, Score, Taught};
use crate::suite::page::*;
use offnominal_files::provenance::Provenance;
use offnominal_stats::{METRICS, Metric, Promise, Rule};

/// An environment in which every number of a detector is the same.
fn environment(env: &str, out: &Path) {
    environment_at(env, out, "strong", 0.0);
}

/// The detectors; each is better than the one before.
const DETECTORS: [&str; 6] = ["clock", "knn", "lstm-dm", "mlp-dm", "pe-dm", "residual-views"];

/// The same at a strength, where every number of a detector is so much lower.
fn environment_at(env: &str, out: &Path, strength: &str, lost: f64) {
    environment_of(env, out, (strength, lost), &DETECTORS);
}

/// The same with other detectors.
fn environment_of(env: &str, out: &Path, (strength, lost): (&str, f64), detectors: &[&str]) {
    let faults = ["obs-noise", "act-noise", "dyn-mass"].map(|fault| (fault, -lost));
    made_up(env, out, (strength, detectors), &faults);
}

/// An environment in which the k-th detector has k / 10 of everything, and more where a fault says so.
pub(in crate::suite) fn environment_with(env: &str, out: &Path, detectors: &[&str], faults: &[(&str, f64)]) {
    made_up(env, out, ("strong", detectors), faults);
}

fn made_up(env: &str, out: &Path, (strength, detectors): (&str, &[&str]), faults: &[(&str, f64)]) {
    let detectors: Vec<String> = detectors.iter().map(ToString::to_string).collect();
    let mut rows = Vec::new();
    for policy in ["tqc", "sac", "td3"] {
        for (rank, detector) in detectors.iter().enumerate() {
            for (fault, more) in [("none", 0.0)].iter().chain(faults) {
                rows.extend(line(env, policy, fault, detector, (strength, rank as f64 / 10.0 + more)));
            }
        }
    }
    let coverage = Coverage {
        env: env.into(),
        policy: "tqc".into(),
        detector: "knn".into(),
        seed: 1,
        threshold: "conformal".into(),
        calibration: 100,
        watched: 200,
        alarms: 10,
        accepted: 0.05,
        most: 19,
    };
    let score = Score {
        env: env.into(),
        policy: "sac".into(),
        anomaly: "obs-noise".into(),
        strength: "strong".into(),
        seed: 1,
        value: 0.875,
        low: 0.8,
        high: 0.9,
    };
    let diagnosed = Diagnosed {
        campaign: "vector".into(),
        env: env.into(),
        policy: "tqc".into(),
        anomaly_class: "dynamics".into(),
        anomaly: "dyn-mass".into(),
        strength: "strong".into(),
        detector: "residual-views".into(),
        seed: 1,
        episodes: 100,
        alarms: 40,
        as_observation: 10,
        as_action: 30,
        right_family: 20,
        named: 10,
        right_direction: 5,
        covered: 36,
        set_size: 3.0,
        magnitude_error: 2.0_f64.ln(),
        onset_error: 2.0,
        alarm_delay: 5.0,
        ..Diagnosed::default()
    };
    let taught =
        |taught, after, more: u64| Diagnosed { taught, after, named: 10 + more, ..diagnosed.clone() };
    let diagnoses = vec![
        diagnosed.clone(),
        taught(Taught::Faults, 0, 0),
        taught(Taught::Faults, 20, 10),
        Diagnosed { abstained: 4, ..taught(Taught::OtherFaults, 20, 0) },
    ];
    let environment = Environment {
        env: env.into(),
        digest: "0".into(),
        made: Provenance::new(&format!("offnominal bench --suite vector --env {env}"), 1, b""),
        policies: vec![],
        seeds: 3,
        missing: vec!["policy x".into()],
        detectors: detectors.clone(),
        last_call: (1.0, 2),
        coverage: vec![coverage],
        diagnoses,
        hardware: String::new(),
        scores: vec![score],
    };
    environment.save(out, &rows, "").unwrap();
}

fn line(env: &str, policy: &str, anomaly: &str, detector: &str, (strength, value): (&str, f64)) -> Vec<Row> {
    let class = match anomaly {
        "none" => "none",
        obs if obs.starts_with("obs-") => "observation",
        act if act.starts_with("act-") => "action",
        _ => "dynamics",
    };
    let blank = Row {
        env: env.into(),
        modality: "vector".into(),
        policy: policy.into(),
        anomaly_class: class.into(),
        anomaly: anomaly.into(),
        strength: if anomaly == "none" { "none" } else { strength }.into(),
        magnitude: 1.0,
        detector: detector.into(),
        seeds: 3,
        episodes: 300,
        metric: String::new(),
        threshold: String::new(),
        value: if anomaly == "none" { 0.51 } else { value },
        low: 0.0,
        high: 1.0,
    };
    let of =
        |metric: &str, rule: &str| Row { metric: metric.into(), threshold: rule.into(), ..blank.clone() };
    let rules: Vec<&str> = Rule::all(Promise::on_average(0.05)).iter().map(Rule::id).collect();
    let rows = |metric: &Metric| match metric.thresholded {
        true => rules.iter().map(|rule| of(metric.id, rule)).collect(),
        false => vec![of(metric.id, "")],
    };
    METRICS.iter().flat_map(rows).collect()
}

#[test]
fn the_page_says_what_the_tables_tell() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::find("vector").unwrap();
    let error = page(suite, folder.path()).unwrap_err().to_string();
    assert!(error.contains("expected results of an environment of suite vector"), "{error}");
    environment("sap-goal0", folder.path());
    environment("mjc-reacher3d", folder.path());
    let page = page(suite, folder.path()).unwrap();
    for want in [
        "Not run yet, or without a policy or strengths: `mjc-cartpole-swingup`",
        "In sap-goal0 there is no policy x.",
        "12 of 12 are within .02 of it, and 12 of the intervals hold it",
        // 0.5 − 0.4 for every anomaly, in one environment of the choice and in one of the others.
        "| environments of the choice | 1 | – | +0.100 [",
        "| held-out environments | 1 | – | +0.100 [",
        // Published: 0.93 local; ours has 0.4 everywhere.
        // The best detector of every cell is ours, with 0.1 more than PE-DM.
        "| `pe-dm` | 0.40 [0.00, 1.00] | 0.10 [0.10, 0.10] | – | 0.10 [0.10, 0.10] | 3 of 3 |",
        "In no cell, those of the choice included, `residual-views` lacks more than 0.05",
        "| `pe-dm` | 0.93 / 0.40 [0.00, 1.00] | 0.94 / 0.40 [0.00, 1.00] | 0.40 [0.00, 1.00] |",
        // The published order is PE-DM, MLP-DM, LSTM-DM, kNN …; ours is the same but for two.
        "| pe-dm, mlp-dm, lstm-dm, knn |",
        "| – / 0.88 [0.80, 0.90] |",
        "| 5.0 % (5–5) |",
        "| dynamics | 80 | 0.50 [",
    ] {
        assert!(page.contains(want), "{want:?} is not in:\n{page}");
    }
}

#[test]
fn detectors_that_were_not_run_everywhere_are_in_no_mean_over_all() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::find("vector").unwrap();
    environment("sap-goal2", folder.path());
    let more = [&DETECTORS[..], &["cusum(pe-dm)"]].concat();
    environment_of("mjc-reacher3d", folder.path(), ("strong", 0.0), &more);
    let some = page(suite, folder.path()).unwrap();
    assert!(some.contains("because not run in every environment: `cusum(pe-dm)`."), "{some}");
    assert!(!some.contains("What the lead is made of"), "{some}");
}

#[test]
fn what_accumulation_is_worth_is_a_share_of_the_lead() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::find("vector").unwrap();
    let detectors =
        ["clock", "pe-dm", "running-mean(pe-dm)", "cusum(pe-dm)", "ensemble-dm", "residual-views"];
    for env in ["sap-goal0", "mjc-reacher3d"] {
        environment_of(env, folder.path(), ("tiny", 0.0), &detectors);
    }
    let page = page(suite, folder.path()).unwrap();
    for want in [
        "by which the accumulator of PE-DM is chosen: `cusum(pe-dm)`.",
        // PE-DM has .1 everywhere, its sum .3, our residuals .4 and ours .5.
        "| the model of residuals alone | `ensemble-dm` | +0.300 of +0.400 (75 %) | +0.300 of +0.400 (75 %) |",
        "| accumulation alone | `cusum(pe-dm)` | +0.200 of +0.400 (50 %) | +0.200 of +0.400 (50 %) |",
    ] {
        assert!(page.contains(want), "{want:?} is not in:\n{page}");
    }
}

#[test]
fn results_with_noise_stand_beside_those_without() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::find("vector").unwrap();
    environment_at("mjc-reacher3d", folder.path(), "tiny", 0.0);
    environment_at("sap-goal0", folder.path(), "tiny", 0.0);
    assert!(!page(suite, folder.path()).unwrap().contains("With nominal noise"));
    environment_at("mjc-reacher3d?noise=datasheet", &folder.path().join("datasheet"), "tiny", 0.05);
    let page = page(suite, folder.path()).unwrap();
    for want in [
        "### `datasheet`\n\nIn `mjc-reacher3d`. Not run yet: `mjc-cartpole-swingup`,",
        "| held-out environments | +0.100 [",
        "| environments of the choice and their siblings | – | – |",
        "With it: `residual-views`, `pe-dm`,",
        "| `mjc-reacher3d` | 0.00 → -0.05 | 0.10 → 0.05 |",
    ] {
        assert!(page.contains(want), "{want:?} is not in:\n{page}");
    }
}

/// A campaign's table of two detectors in one environment, of which the second has so much more.
fn campaign(out: &Path, name: &str, detectors: [(&str, f64); 2]) {
    let mut rows = Vec::new();
    for (detector, value) in detectors {
        for (class, anomaly) in
            [("observation", "obs-noise"), ("observation", "obs-offset"), ("action", "act-noise")]
        {
            for (strength, metric) in
                ["strong", "tiny"].into_iter().flat_map(|s| ["auroc_local", "auroc_matched"].map(|m| (s, m)))
            {
                rows.push(crate::results::Row {
                    campaign: name.into(),
                    env: "sap-goal0".into(),
                    modality: "vector".into(),
                    policy: "tqc".into(),
                    anomaly_class: class.into(),
                    anomaly: anomaly.into(),
                    strength: strength.into(),
                    magnitude: 1.0,
                    detector: detector.into(),
                    seed: 777,
                    episodes: 30,
                    metric: metric.into(),
                    threshold: String::new(),
                    value,
                    low: value - 0.01,
                    high: value + 0.01,
                });
            }
        }
    }
    let path = out.join(format!("variants/{name}.parquet"));
    offnominal_files::write::atomically(&path, &offnominal_files::table::to_parquet(&rows).unwrap()).unwrap();
}

#[test]
fn the_page_says_how_long_the_campaign_of_constant_channels_trains() {
    let text = include_str!("../../../../../campaigns/published-constant.toml");
    let epochs = format!("training = {{ epochs = {} }}", variants::CONSTANT_EPOCHS);
    assert_eq!(text.matches(&epochs).count(), 2, "`mlp-dm` with and without the channel: {epochs}");
    assert_eq!(text.matches("epochs =").count(), 2);
}

#[test]
fn variants_are_compared_with_the_detector_they_are_of() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::find("vector").unwrap();
    environment("sap-goal0", folder.path());
    assert!(!page(suite, folder.path()).unwrap().contains("does otherwise, measured"));
    campaign(folder.path(), "published-riqn", [("riqn", 0.905), ("riqn(scaling)", 0.605)]);
    campaign(folder.path(), "published-constant", [("knn", 0.5), ("knn(constant)", 0.75)]);
    let page = page(suite, folder.path()).unwrap();
    for want in [
        // Published: 0.44 strong and 0.37 tiny.
        "| sap-goal0 | strong | 0.44 | 0.9",
        "are 0.50 from our `riqn` on average, 0.20 with scaling",
        "| scaling | -0.300 [",
        "| `knn` | +0.250 [",
    ] {
        assert!(page.contains(want), "expected {want:?} in {page}");
    }
}

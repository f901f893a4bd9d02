//! Seeds of data, monitors, results and wires.

use crate::mutate::zipped;
use crate::read::policies::environment;
use offnominal_audit::evidence::bundle::{Bundle, Manifest};
use offnominal_audit::evidence::key::SecretKey;
use offnominal_audit::evidence::kind::Kind;
use offnominal_bench::results::{Results, Row};
use offnominal_core::alarm::Settings;
use offnominal_core::policy::Random;
use offnominal_core::prelude::*;
use offnominal_core::{Rng, Seed};
use offnominal_files::dataset::{self, Dataset, DatasetRecipe, PolicyName};
use offnominal_files::journal::Journal;
use offnominal_files::provenance::Provenance;
use offnominal_files::{array, image_file, store, table};
use offnominal_laws::nominal_episodes;
use offnominal_monitor::{About, Calibrated, ChannelName, DetectorRecipe, FORMAT, Identity, Monitor, encode};
use offnominal_risk::estimate::block::{Block, ExperimentSpec, Method};
use offnominal_rtde::message::{Reply, Setup};
use offnominal_stats::{Level, Promise, Rule};
use serde_json::json;

/// Two short episodes.
pub fn dataset() -> Vec<u8> {
    let (env, name) = (environment(), PolicyName { id: "random".into(), digest: "00".into() });
    let policy = Random::new(&env.spec().action);
    let trial = Trial { horizon: 4, ..Trial::new(env, &policy) };
    let episodes = vec![trial.nominal(Seed(1)), trial.nominal(Seed(2))];
    let recipe = DatasetRecipe::new(env.spec(), name, None, 7);
    dataset::encode(&Dataset { recipe, episodes, twins: vec![None, None] }).expect("sound episodes")
}

/// A table as CSV and as Parquet.
pub fn table() -> (Vec<u8>, Vec<u8>) {
    let rows = [row(0.5), row(f64::INFINITY)];
    (table::to_csv(&rows).expect("rows"), table::to_parquet(&rows).expect("rows"))
}

fn row(value: f64) -> Row {
    Row {
        campaign: "c".into(),
        env: "w".into(),
        modality: "vector".into(),
        policy: "tqc".into(),
        anomaly_class: "action".into(),
        anomaly: "act-delay".into(),
        strength: "tiny".into(),
        magnitude: 3.0,
        detector: "knn".into(),
        seed: u64::MAX,
        episodes: 5,
        metric: "auroc".into(),
        threshold: String::new(),
        value,
        low: 0.25,
        high: value,
    }
}

/// Results with two rows.
pub fn results() -> Vec<u8> {
    let results = Results { rows: vec![row(0.5), row(f64::NAN)], ..Results::default() };
    serde_json::to_vec(&results).expect("plain data")
}

/// The journal of a run with two blocks.
pub fn journal() -> Vec<u8> {
    let policy = PolicyName { id: "tqc".into(), digest: "00".into() };
    let spec = ExperimentSpec {
        env: "w".into(),
        simulator: None,
        policy,
        seed: 1,
        method: Method::Plain,
        scenario: None,
        anomaly_spec: None,
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("journal.jsonl");
    let (mut journal, _) = Journal::open::<_, Block>(&path, &spec).expect("a new journal");
    for first in [0, 10] {
        let block = Block {
            planned: 20,
            first,
            n: 10,
            secs: 0.5,
            steps: 90,
            at: vec![],
            tried: vec![],
            margins: vec![],
            samples: vec![],
            failures: vec![],
        };
        journal.push(&block).expect("writable");
    }
    std::fs::read(&path).expect("readable")
}

/// The list of the files of the finished cell that the reader has.
pub fn cell() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    store::Store::new(folder.path()).save("c", &[("a.bin", vec![1, 2])]).expect("writable");
    std::fs::read(folder.path().join("cells/c/done.json")).expect("readable")
}

fn six() -> Vec<u8> {
    array::to_npy(&[2, 3], &[0.0, 1.0, -1.0, 0.5, 2.0, 3.0])
}

/// An array.
pub fn npy() -> Vec<u8> {
    six()
}

/// An archive of two.
pub fn npz() -> Vec<u8> {
    zipped(&[("logits.npy".into(), six()), ("other.npy".into(), six())])
}

/// Images of each kind.
pub fn images() -> Vec<(String, Vec<u8>)> {
    let bytes: Vec<u8> = (0..48).collect();
    let all = [
        ("grey.png", image_file::grey(4, 4, &bytes[..16])),
        ("deep.png", image_file::grey16(4, 2, (0..8).map(|i| i * 8000))),
        ("colours.png", image_file::colours(4, 4, &bytes)),
    ];
    all.map(|(name, bytes)| (name.to_string(), bytes.expect("an image"))).into()
}

/// A k-nearest-neighbour monitor of a small linear system.
pub fn monitor() -> Vec<u8> {
    let episodes = nominal_episodes(Seed(1), 24, 6);
    let views: Vec<_> = episodes.iter().map(|e| e.signals()).collect();
    let params = json!({"k": 2});
    let detector = offnominal_detectors::catalogue().build("knn", &params).expect("a detector");
    let mut fitted = detector.fit(Nominal::new(&views[..4], &[]), &mut Rng::new(1)).expect("enough steps");
    let scores = fitted.score_episodes(&views[4..]);
    let rule = Rule::Conformal(Promise::on_average(0.1));
    let threshold = rule.threshold(&scores, Level::P95).expect("enough episodes");
    let identity = |id: &str| Identity { id: id.into(), digest: "00".into() };
    let channels = |names: &[&str]| -> Vec<ChannelName> {
        names
            .iter()
            .map(|name| ChannelName { name: (*name).into(), unit: "1".into(), ..ChannelName::default() })
            .collect()
    };
    let about = About {
        format: FORMAT,
        engine: env!("CARGO_PKG_VERSION").into(),
        detector: DetectorRecipe { id: "knn".into(), params },
        environment: identity("linear"),
        policy: identity("random"),
        observation: channels(&["x", "y", "z"]),
        action: channels(&["push"]),
        dt_secs: 0.1,
        train_episodes: 4,
        seed: 1,
        diagnoses: false,
        hypotheses: vec![],
        threshold: Calibrated::new(rule, &threshold, 20),
        alarm: Settings::default(),
        missing: offnominal_core::partial::Missing::Held,
        lost_after: 10,
        usual: vec![],
        groups: None,
        mapping: None,
    };
    fitted.reset();
    let archive = Monitor::archive(fitted.as_ref(), &threshold, None, None).expect("knn can be kept");
    encode(&about, &archive)
}

/// What a robot's controller says first.
pub fn rtde() -> Vec<u8> {
    let mut bytes = Vec::new();
    for reply in [
        Reply::Protocol(true),
        Reply::Outputs(Setup { recipe: 1, types: "DOUBLE" }),
        Reply::Inputs(Setup { recipe: 1, types: "INT32" }),
        Reply::Start(true),
    ] {
        reply.write(&mut bytes);
    }
    bytes
}

/// What the process of an environment says of it, and the answer to a reset and a step.
pub fn hosted() -> Vec<u8> {
    let about = json!({"image": null, "observation": [[null, 1.5], [0, null], [0, 1]], "choices": null,
        "action": [[-1, 1]], "horizon": 7, "parameters": [{"name": "mass", "range": [1, 0.1, 10]}],
        "source": "Gymnasium 1", "dt": [0.02, "tau"], "registered": null, "modules": {}, "shared": null, "thread": 1});
    let [reward, margin] = [1.5_f64, f64::INFINITY].map(f64::to_le_bytes);
    let answer = [&reward[..], &margin, &[5], &[0; 12]].concat();
    let message =
        |letter: u8, body: &[u8]| [&[letter], &(body.len() as u32).to_le_bytes()[..], body].concat();
    let described = message(b'H', about.to_string().as_bytes());
    [described, message(b'O', &answer), message(b'O', &answer), message(b'E', b"ValueError: x")].concat()
}

/// A signed bundle of two files.
pub fn evidence() -> Vec<u8> {
    let files = [("results/risk.json", "{}"), ("inputs/p.json", "{}")];
    let files = files.map(|(name, text)| (name.to_string(), text.as_bytes().to_vec())).into();
    let made = Provenance::new("offnominal risk estimate --env driving --policy p.json", 1, b"");
    let manifest = Manifest::new(Kind::RiskEstimate, made, &files, vec![]);
    let key = SecretKey::of([7; 32]);
    Bundle::new(manifest, files, Some(&key)).and_then(|bundle| bundle.to_bytes()).expect("two small files")
}

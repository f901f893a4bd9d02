//! Every command of `pixels` as a library call, and what is finished after a stop.

mod roles;

use crate::inputs::OutlierSource;
use crate::inputs::{NetworkSource, NominalSource, Reading};
use crate::results::Evaluation;
use crate::{describe, evaluate, frames, import, paste, predict, scenes, score, train};
use offnominal_engine::context::Context;
use offnominal_engine::progress::{Progress, Silent, Tracker};
use offnominal_files::{array, image_file};
use offnominal_work::cli;
use serde_json::json;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks the work to stop as soon as a unit of a task of that name is done.
struct Stopper {
    task: &'static str,
    stop: Arc<AtomicBool>,
}

/// One task of a [`Stopper`].
struct StoppingTask(Option<Arc<AtomicBool>>);

impl Progress for Stopper {
    fn begin(&self, what: &str, _: Range<u64>) -> Box<dyn Tracker> {
        Box::new(StoppingTask((what == self.task).then(|| Arc::clone(&self.stop))))
    }

    fn note(&self, line: &str) {
        Silent.note(line);
    }
}

impl Tracker for StoppingTask {
    fn update(&self, done: u64, _: u64) {
        if let Some(stop) = self.0.as_ref().filter(|_| done > 0) {
            stop.store(true, Ordering::Relaxed);
        }
    }

    fn message(&self, _: &str) {}
}

fn stopping(task: &'static str) -> Context {
    let context = Context::silent(1, 2);
    Context { progress: Arc::new(Stopper { task, stop: Arc::clone(&context.stop) }), ..context }
}

/// A folder with nominal and test images, and a baseline.
struct Data {
    folder: tempfile::TempDir,
    context: Context,
}

impl Data {
    fn new() -> Data {
        let data = Data { folder: tempfile::tempdir().unwrap(), context: Context::silent(1, 2) };
        for (name, contrast) in [("train", "usual"), ("test", "high")] {
            let request = json!({ "split": name, "n": 6, "width": 64, "height": 32, "contrast": contrast,
                "out": data.at(name) });
            let found = scenes::run(&asked(request), &data.context).unwrap();
            assert_eq!((json!(found.folder), found.images), (json!(data.at(name)), 6));
        }
        train::run(&data.training("model"), &data.context).unwrap();
        data
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn training(&self, out: &str) -> train::Request {
        asked(json!({ "data": self.at("train"), "out": self.at(out), "pixels": 30, "rounds": 3 }))
    }

    fn network(&self) -> NetworkSource {
        NetworkSource { model: Some(self.at("model/model.safetensors")), ..Default::default() }
    }

    fn evaluation(&self, out: &str) -> evaluate::Request {
        asked(json!({
            "data": [self.at("test")], "network": self.network(), "nominal": self.at("train"), "replicates": 100,
            "methods": ["entropy", "odin", "feature-knn"], "out": self.at(out),
        }))
    }
}

/// The request that JSON describes.
fn asked<R: clap::Args>(json: serde_json::Value) -> R {
    cli::request(&json).unwrap()
}

fn cells(out: &Path) -> usize {
    fs::read_dir(out.join("cells")).map_or(0, Iterator::count)
}

#[test]
fn a_network_of_onnx_is_evaluated_and_predicts() {
    let data = Data::new();
    let copied = |name: &str, feed: serde_json::Value| {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx").join(name);
        fs::copy(from, data.at(name)).unwrap();
        fs::write(data.at(name).with_extension("json"), feed.to_string()).unwrap();
        data.at(name)
    };
    let feed = json!({ "mean": [0.4, 0.4, 0.4], "deviation": [0.2, 0.2, 0.2] });
    let mut named = feed.clone();
    named["features"] = json!("/head/Conv");
    let model = copied("net.onnx", named.clone());
    let mut request = data.evaluation("page");
    request.network.model = Some(model.clone());
    let found = json!(evaluate::run(&request, &data.context).unwrap());
    let methods = found["evaluations"][0]["methods"].as_array().unwrap();
    let names: Vec<_> = methods.iter().map(|m| m["method"].as_str().unwrap()).collect();
    assert!(names.contains(&"feature-knn") && found["evaluations"][0]["mean_iou"].is_object(), "{names:?}");
    let written = predict::run(
        &asked(json!({ "data": data.at("test"), "model": model, "out": data.at("said") })),
        &data.context,
    );
    assert_eq!(written.unwrap().images, 6);
    // Without features, methods that need them say so; other classes and counts are refused.
    let mut refused = |model: PathBuf| {
        request.network.model = Some(model);
        format!("{:#}", evaluate::run(&request, &data.context).unwrap_err())
    };
    let error = refused(copied("net.onnx", feed.clone()));
    assert!(error.contains("feature"), "{error}");
    named["classes"] = json!(["road"]);
    let error = refused(copied("net.onnx", named));
    assert!(error.contains("the model knows the classes [\"road\"]"), "{error}");
    let error = refused(copied("three.onnx", feed));
    assert!(error.contains("expected logits of the 12 classes of the label map, found 3 classes"), "{error}");
}

#[test]
fn a_training_that_was_stopped_ends_with_the_same_file() {
    let data = Data::new();
    let error = train::run(&data.training("again"), &stopping("rounds")).unwrap_err();
    assert!(error.to_string().starts_with("stopped"), "{error:#}");
    let checkpoint = data.at("again/checkpoint.safetensors");
    assert!(checkpoint.is_file() && !data.at("again/model.safetensors").exists());
    let other = train::Request { rounds: 4, ..data.training("again") };
    let refused = format!("{:#}", train::run(&other, &data.context).unwrap_err());
    assert!(refused.contains("expected a checkpoint of the run"), "{refused}");
    let card = train::run(&data.training("again"), &data.context).unwrap();
    assert!(!checkpoint.exists() && card.classes.len() == 12);
    let model = |name: &str| fs::read(data.at(name).join("model.safetensors")).unwrap();
    assert!(model("model") == model("again"));
}

#[test]
fn finished_methods_are_not_measured_again() {
    let data = Data::new();
    let whole = evaluate::run(&data.evaluation("whole"), &data.context).unwrap();
    assert_eq!(cells(&data.at("whole")), 3);
    // A method that comes later finds the others finished; the held-out images are those of odin in both.
    let fewer = evaluate::Request { methods: vec!["odin".into()], ..data.evaluation("parts") };
    evaluate::run(&fewer, &data.context).unwrap();
    assert_eq!(cells(&data.at("parts")), 1);
    let parts = evaluate::run(&data.evaluation("parts"), &data.context).unwrap();
    assert_eq!(json!(parts.evaluations), json!(whole.evaluations));
    let finished = evaluate::run(&data.evaluation("parts"), &stopping("nothing")).unwrap();
    assert_eq!(finished.evaluations, whole.evaluations);
    let page = |name: &str| fs::read_to_string(data.at(name).join("pixels.html")).unwrap();
    assert!(page("whole") == page("parts"));
}

#[test]
fn arrays_and_counts_come_from_requests() {
    let data = Data::new();
    let (test, network) = (data.at("test"), data.network());
    let request = json!({ "data": test, "model": network.model, "out": data.at("said") });
    assert_eq!(predict::run(&asked(request), &data.context).unwrap().images, 6);
    assert!(data.at("said/logits/00005.npy").is_file() && data.at("said/features/00005.npy").is_file());
    let request =
        json!({ "data": test, "network": network, "methods": ["entropy"], "out": data.at("scores") });
    let found = score::run(&asked(request), &data.context).unwrap();
    assert_eq!((found.images, found.methods.len(), &found.methods[0].threshold), (6, 1, &None));
    assert!(data.at("scores/entropy/00000.npy").is_file());
    let request = json!({ "data": test, "nominal": data.at("train") });
    let found = describe::run(&asked(request), &data.context).unwrap();
    assert!(found.images == 6 && found.colour_auroc.is_some());
}

#[test]
fn features_unlike_the_nominal_ones_are_refused_with_both_shapes() {
    let data = Data::new();
    for name in ["train", "test"] {
        let (images, out) = (data.at(name), data.at(&format!("{name}-said")));
        let request = asked(json!({ "data": images, "model": data.network().model, "out": out }));
        predict::run(&request, &data.context).unwrap();
    }
    let feature = |name: &str| data.at(name).join("features/00003.npy");
    let array::Array { shape, values, .. } = array::read(&feature("test-said"), "features").unwrap();
    let [channels, rows, columns] = shape[..] else { panic!("{shape:?}") };
    let evaluated = |method: &str, found: [usize; 3]| {
        let n: usize = found.iter().product();
        let values: Vec<f32> = values.iter().cycle().take(n).copied().collect();
        fs::write(feature("test-said"), array::to_npy(&found, &values)).unwrap();
        let said = |name: &str, what: &str| data.at(&format!("{name}-said")).join(what);
        let network = NetworkSource {
            logits: vec![said("test", "logits")],
            features: vec![said("test", "features")],
            ..Default::default()
        };
        let (logits, features) = (Some(said("train", "logits")), Some(said("train", "features")));
        let nominal = NominalSource {
            nominal: Some(data.at("train").into()),
            nominal_logits: logits,
            nominal_features: features,
            ..Default::default()
        };
        let request =
            evaluate::Request { network, nominal, methods: vec![method.into()], ..data.evaluation("apart") };
        evaluate::run(&request, &data.context).map_err(|why| format!("{why:#}"))
    };
    let refused = |method: &str, found: [usize; 3]| {
        let error = evaluated(method, found).unwrap_err();
        let shapes =
            format!("{method}: expected features [channels, rows, columns] like {shape:?} of the nominal");
        assert!(error.contains(&shapes) && error.contains(&format!("found {found:?}")), "{error}");
    };
    for method in ["mahalanobis", "mahalanobis-code2019", "feature-knn", "vim"] {
        refused(method, [channels - 1, rows, columns]);
        refused(method, [channels + 1, rows, columns]);
    }
    for method in ["mahalanobis", "mahalanobis-code2019"] {
        refused(method, [channels, rows + 1, columns]);
        refused(method, [channels, columns, rows]);
    }
    // The neighbours of a feature are the same wherever it is.
    evaluated("feature-knn", [channels, rows + 1, columns]).unwrap();
    evaluated("mahalanobis", [channels, rows, columns]).unwrap();
}

/// Arrays of what the baseline says of both data sets, and a change of one of them.
struct Said(Data);

impl Said {
    fn new() -> Said {
        let data = Data::new();
        let request =
            json!({ "data": data.at("test"), "model": data.network().model, "out": data.at("said") });
        predict::run(&asked(request), &data.context).unwrap();
        Said(data)
    }

    fn logits(&self) -> (PathBuf, array::Array) {
        let path = self.0.at("said/logits/00003.npy");
        let array = array::read(&path, "logits").unwrap();
        (path, array)
    }

    fn evaluated(&self, request: evaluate::Request) -> Result<Evaluation, String> {
        let found = evaluate::run(&request, &self.0.context).map_err(|why| format!("{why:#}"))?;
        Ok(found.evaluations.into_iter().next().unwrap())
    }

    fn request(&self, out: &str, methods: &[&str]) -> evaluate::Request {
        let network = NetworkSource { logits: vec![self.0.at("said/logits")], ..Default::default() };
        let methods = methods.iter().map(ToString::to_string).collect();
        evaluate::Request { network, methods, nominal: NominalSource::default(), ..self.0.evaluation(out) }
    }
}

#[test]
fn probabilities_and_foreign_confidences_are_not_taken_for_logits() {
    let said = Said::new();
    let (path, array) = said.logits();
    let classes = array.shape[0];
    let shares: Vec<f32> = array.values.iter().map(|_| 1.0 / classes as f32).collect();
    fs::write(&path, array::to_npy(&array.shape, &shares)).unwrap();
    let error = said.evaluated(said.request("p", &["entropy"])).unwrap_err();
    assert!(error.contains("00003.npy: expected logits, found probabilities"), "{error}");
    fs::write(&path, array::to_npy(&array.shape, &array.values)).unwrap();
    let pixels = array.shape[1..].iter().product();
    for i in 0..6 {
        let mut confidence = vec![0.5; pixels];
        confidence[70] = if i == 2 { 1.5 } else { 0.5 };
        let name = said.0.at(&format!("confidence/{i:05}.npy"));
        fs::create_dir_all(name.parent().unwrap()).unwrap();
        fs::write(name, array::to_npy(&array.shape[1..], &confidence)).unwrap();
    }
    let mut request = said.request("c", &["confidence"]);
    request.network.confidence = vec![said.0.at("confidence")];
    let error = said.evaluated(request).unwrap_err();
    assert!(error.contains("expected confidences from 0 to 1, found 1.5 in row 1, column 6"), "{error}");
}

#[test]
fn passes_in_files_bring_the_methods_that_need_them() {
    let said = Said::new();
    for i in 0..6 {
        let path = said.0.at(&format!("said/logits/{i:05}.npy"));
        let array = array::read(&path, "logits").unwrap();
        let shape = [&[2], &array.shape[..]].concat();
        let other = array.values.iter().rev();
        let twice: Vec<f32> = array.values.iter().chain(other).copied().collect();
        fs::write(&path, array::to_npy(&shape, &twice)).unwrap();
    }
    let found = said.evaluated(said.request("passes", &["all"])).unwrap();
    let names: Vec<&str> = found.methods.iter().map(|m| m.method.as_str()).collect();
    assert!(names.contains(&"var-sum") && names.contains(&"mutual-information"), "{names:?}");
}

/// A score behind a sigmoid that reaches 1 in 32 bits, and not in 64.
fn saturated(score: f32) -> [u8; 8] {
    (1.0 - 1e-9 / (1.0 + f64::from(score).abs())).to_le_bytes()
}

#[test]
fn score_maps_need_no_network_and_are_judged_as_the_method_that_wrote_them() {
    let said = Said::new();
    let (network, methods) = (said.0.network(), ["entropy", "max-logit"]);
    let request = json!({ "data": said.0.at("test"), "network": network, "methods": methods, "out": said.0.at("maps") });
    score::run(&asked(request), &said.0.context).unwrap();
    let only = |out: &str, maps: &str| evaluate::Request {
        network: NetworkSource::default(),
        scores: vec![said.0.at(maps)],
        ..said.request(out, &["all"])
    };
    let of_maps = said.evaluated(only("maps-page", "maps")).unwrap();
    let of_network = said.evaluated(said.request("own", &["entropy", "max-logit"])).unwrap();
    assert!(of_maps.mean_iou.is_none() && of_network.mean_iou.is_some());
    for (a, b) in of_maps.methods.iter().zip(&of_network.methods) {
        assert_eq!((&a.method, &a.modes, &a.aupro), (&b.method, &b.modes, &b.aupro));
    }
    let one = said.evaluated(only("one-page", "maps/max-logit")).unwrap();
    assert_eq!((one.methods.len(), one.methods[0].method.as_str()), (1, "max-logit"));
    let twice = evaluate::Request { scores: vec![said.0.at("maps")], ..said.request("twice", &["entropy"]) };
    let error = said.evaluated(twice).unwrap_err();
    assert!(error.starts_with("entropy names a method and score maps"), "{error}");
    fs::rename(said.0.at("maps/entropy/00000.npy"), said.0.at("first.npy")).unwrap();
    let error = said.evaluated(only("lacks", "maps")).unwrap_err();
    assert!(error.contains("maps/entropy/00000.npy"), "a method that lacks its first map is one: {error}");
    let map = array::read(&said.0.at("first.npy"), "scores").unwrap();
    let [header, values] =
        [array::to_npy(&map.shape, &[]), map.values.iter().flat_map(|&v| saturated(v)).collect()];
    let wide = String::from_utf8_lossy(&header[10..]).replace("<f4", "<f8");
    fs::write(said.0.at("maps/entropy/00000.npy"), [&header[..10], wide.as_bytes(), &values].concat())
        .unwrap();
    let error = said.evaluated(only("wide", "maps")).unwrap_err();
    assert!(error.contains("expected numbers that differ in 32 bits if they do in 64"), "{error}");
    let error = said.evaluated(only("none", "train")).unwrap_err();
    assert!(error.contains("expected score maps 00000.npy, or METHOD/00000.npy"), "{error}");
    let error = said.evaluated(evaluate::Request { scores: Vec::new(), ..only("no", "maps") }).unwrap_err();
    assert!(error.contains("--scores DIR"), "{error}");
}

#[test]
fn every_method_has_a_gallery_and_a_perfect_one_has_none_to_show() {
    let said = Said::new();
    for i in 0..6 {
        let labels = image_file::read(&said.0.at(&format!("test/labels/{i:05}.png"))).unwrap();
        let image_file::Samples::Numbers(ids) = labels.samples else { panic!("labels are numbers") };
        let scores: Vec<f32> = ids.iter().map(|&id| f32::from(u8::from(id == 254))).collect();
        let file = said.0.at(&format!("truth/perfect/{i:05}.npy"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, array::to_npy(&[labels.height, labels.width], &scores)).unwrap();
    }
    let request =
        evaluate::Request { scores: vec![said.0.at("truth")], ..said.request("gallery", &["entropy"]) };
    let found = said.evaluated(request).unwrap();
    let [entropy, perfect] = &found.methods[..] else { panic!("two methods") };
    assert_eq!((entropy.method.as_str(), perfect.method.as_str()), ("entropy", "perfect"));
    let mistakes = || entropy.gallery.missed.iter().chain(&entropy.gallery.invented);
    assert!(mistakes().count() > 0 && mistakes().all(|m| m.predicted.is_some()));
    assert!(perfect.gallery.missed.is_empty() && perfect.gallery.invented.is_empty());
    let page = fs::read_to_string(said.0.at("gallery/pixels.html")).unwrap();
    assert_eq!(page.matches("<details class=\"gallery\"").count(), 2);
    assert_eq!(page.matches("<figcaption>0000").count(), mistakes().count());
    assert!(page.contains("Missed: none") && page.contains("Invented: none"));
    let told = page.matches("outlines of the truth and of what was found").count();
    assert!(told >= mistakes().count(), "pictures have words for those who do not see them");
}

#[test]
fn pooled_data_sets_are_judged_as_one_that_has_all_images() {
    let said = Said::new();
    let (whole, part) = (said.0.at("test"), |name: &str| said.0.at(name));
    for (name, images) in [("low", 0..3), ("high", 3..6)] {
        for kind in ["images", "labels", "shadows", "depth"] {
            fs::create_dir_all(part(name).join(kind)).unwrap();
            for i in images.clone() {
                let file = format!("{kind}/{i:05}.png");
                fs::copy(whole.join(&file), part(name).join(&file)).unwrap();
            }
        }
        fs::copy(whole.join("classes.toml"), part(name).join("classes.toml")).unwrap();
    }
    let mut request = said.request("pooled", &["entropy"]);
    let logits = request.network.logits[0].clone();
    request.network.logits.push(logits);
    let pooled =
        evaluate::Request { data: vec![part("low").into(), part("high").into()], pooled: true, ..request };
    let pooled = said.evaluated(pooled).unwrap();
    let one = said.evaluated(said.request("one", &["entropy"])).unwrap();
    assert_eq!((pooled.data.as_str(), pooled.images), ("low + high", 6));
    assert_eq!(pooled.methods, one.methods);
}

#[test]
fn the_same_things_are_pasted_whatever_is_recoloured() {
    let data = Data::new();
    let paste = |out: &str, recolour: f64| {
        let request = json!({ "data": data.at("train"), "out": data.at(out), "recolour": recolour });
        paste::run(&asked(request), &data.context)
    };
    let error = format!("{:#}", paste("never", 1.5).unwrap_err());
    assert!(error.contains("recolour: expected 0 to 1, found 1.5"), "{error}");
    let [plain, other] = [("plain", 0.0), ("recoloured", 1.0)].map(|(out, share)| {
        assert_eq!(paste(out, share).unwrap().images, 6);
        ["labels", "images"].map(|kind| {
            let mut files: Vec<_> = std::fs::read_dir(data.at(out).join(kind)).unwrap().collect();
            files.sort_by_key(|file| file.as_ref().unwrap().file_name());
            files.into_iter().map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect::<Vec<_>>()
        })
    });
    assert!(plain[0] == other[0], "labels");
    assert!(plain[1] != other[1], "images");
}

#[test]
fn a_head_learns_from_pasted_things_and_is_marked_alone_and_in_a_sum() {
    let data = Data::new();
    let request = json!({ "data": data.at("train"), "out": data.at("pasted") });
    assert_eq!(paste::run(&asked(request), &data.context).unwrap().images, 6);
    let methods = ["all", "feature-knn+outlier-head"].map(String::from).to_vec();
    let without = evaluate::Request { methods: methods.clone(), ..data.evaluation("without") };
    let error = format!("{:#}", evaluate::run(&without, &data.context).unwrap_err());
    assert!(error.contains("make them with `pixels paste` and name them with --outliers"), "{error}");
    let outliers = OutlierSource { outliers: Some(data.at("pasted").into()), ..Default::default() };
    let request = evaluate::Request { methods, outliers, ..data.evaluation("head") };
    let found = evaluate::run(&request, &data.context).unwrap().evaluations.remove(0);
    let marked: Vec<&str> =
        found.methods.iter().filter(|m| m.has_seen_pasted).map(|m| m.method.as_str()).collect();
    assert_eq!(marked, ["outlier-head", "feature-knn+outlier-head"]);
}

#[test]
fn images_are_resized_with_their_labels_and_small_ones_left_out() {
    let data = Data::new();
    let resize = Some("32x16".parse().unwrap());
    let reading = Reading { resize, ..Default::default() };
    let found =
        evaluate::run(&evaluate::Request { reading, ..data.evaluation("small") }, &data.context).unwrap();
    let pixels = |e: &Evaluation| e.unknown_pixels.unwrap() + e.known_pixels.unwrap();
    assert!(pixels(&found.evaluations[0]) <= found.evaluations[0].images as u64 * 32 * 16);
    let reading = Reading { least_pixels: 64 * 32 + 1, ..Default::default() };
    let error = evaluate::run(&evaluate::Request { reading, ..data.evaluation("none") }, &data.context);
    let error = format!("{:#}", error.unwrap_err());
    assert!(error.contains("expected images of 2049 pixels or more, found none"), "{error}");
}

#[test]
fn frames_of_an_environment_become_a_data_set() {
    let folder = tempfile::tempdir().unwrap();
    let request = json!({ "env": "sap-goal0", "policy": "random", "episodes": 1, "size": 32, "every": 5,
        "out": folder.path().join("frames") });
    let found = frames::run(&asked(request), &Context::silent(1, 1)).unwrap();
    assert!(found.images > 0 && found.folder.join("classes.toml").is_file());
}

#[test]
fn unknown_settings_and_weights_that_are_not_there_are_refused() {
    let error = cli::request::<scenes::Request>(&json!({ "images": 3 })).unwrap_err();
    assert!(error.to_string().contains("images: expected one of the arguments"), "{error}");
    let weights = asked(json!({ "weights": "none.safetensors" }));
    let nameless = import::run(&weights, &Context::silent(1, 1)).unwrap_err().to_string();
    assert!(nameless.contains("name --map or --validation"), "{nameless}");
}

//! The page in headless Chromium: the scores of every detector there have the bits that they have here.

use crate::tanks::{ask, fitted, recording, score_request};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Detectors, with recipes that are fitted quickly. `pe-dm` draws its samples anew where it is opened, and `riqn` its
/// cosines: their functions are those of the machine. What looks inside a policy needs one, and logs have none.
fn detectors() -> Vec<Value> {
    let brief = json!({ "epochs": 3 });
    let trained = ["residual-views", "residual-window", "ensemble-dm", "mlp-dm", "multistep-dm"];
    let plain = ["mewma", "dpca", "knn", "knn-transition", "ocsvm", "isolation-forest", "clock", "random"];
    let trained = trained.map(|id| json!({ "id": id, "hidden": [16], "training": brief }));
    let others = ["lstm-dm", "rnd"].map(|id| json!({ "id": id, "training": brief }));
    let inner = json!({ "id": "residual-views", "hidden": [16], "training": brief });
    let around = ["cusum", "e-process"].map(|id| json!({ "id": id, "inner": inner }));
    trained.into_iter().chain(others).chain(around).chain(plain.map(Value::from)).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn python(script: &str, arguments: &[&str]) -> String {
    let done = Command::new("python3").arg(root().join(script)).args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{script}: {}{}", text(&done.stdout), text(&done.stderr));
    text(&done.stdout)
}

/// Whether everything is here that the page is built of and shown by; if not, says what is missing.
fn is_possible() -> bool {
    let rustc =
        Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output().unwrap();
    let libraries = PathBuf::from(String::from_utf8_lossy(&rustc.stdout).trim());
    if !libraries.is_dir() {
        skips::skip(&format!("target {TARGET}"), format!("`rustup target add {TARGET}` installs it"));
        return false;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let has_browser = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
        .map(is_there)
        .contains(&true);
    if !has_browser {
        skips::skip("chromium", "the page for browsers is not looked at");
    }
    has_browser
}

const TARGET: &str = "wasm32-unknown-unknown";

/// The readers of the page find what the readers here find, in files that others wrote; zstd has another decoder there.
fn reads_the_same(page: &str) {
    let data = root().join("crates/offnominal-logs/tests/data");
    let names = [
        "ros.mcap",
        "json.mcap",
        "plain.mcap",
        "state.ulg",
        "same.csv.gz",
        "same.jsonl",
        "same.arrow",
        "same.arrows",
    ];
    let paths = names.map(|name| data.join(name));
    let files = paths.each_ref().map(|path| std::fs::read(path).unwrap());
    let request = json!({ "command": "inspect", "logs": names });
    let here: Value =
        serde_json::from_slice(&ask(&request, &files.each_ref().map(|file| &file[..])).unwrap()[0]).unwrap();
    let paths = paths.each_ref().map(|path| path.to_str().unwrap());
    let told = python("tests/web/drive.py", &[&[page, "--press", "inspect", "--files"], &paths[..]].concat());
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["pressed"][0]["text"], here["text"]);
}

#[test]
fn the_page_scores_with_the_same_bits_and_asks_nobody() {
    if !skips::is_slow_tier("the page for browsers, which is compiled for minutes") || !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (page, leak) = (at("page.html"), recording(99, Some(100)));
    python("packaging/web.py", &["--out", &page]);
    assert!(std::fs::metadata(&page).unwrap().len() < 5_000_000, "the page outgrows 5 MB");
    reads_the_same(&page);
    std::fs::write(at("leak.csv"), &leak).unwrap();
    for detector in detectors() {
        let monitor = fitted(&detector);
        std::fs::write(at("tanks.monitor"), &monitor).unwrap();
        let files = ["--files", &at("tanks.monitor"), &at("leak.csv"), "--save", &at("steps.csv")];
        let told = python("tests/web/drive.py", &[&[page.as_str()], &files[..]].concat());
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["pressed"][0]["state"], "done", "{detector}: {told}");
        assert_eq!((&told["requests"], &told["console"]), (&json!([]), &json!([])), "{detector}");
        let here = ask(&score_request(None), &[&monitor, &leak]).unwrap().remove(3);
        assert!(std::fs::read(at("steps.csv")).unwrap() == here, "{detector}: other bits");
    }
}

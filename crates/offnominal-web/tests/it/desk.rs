//! What a page gets for what it asks.

use crate::tanks::{MAPPING, ask, fit_request, fitted, nominal, recording, score_request};
use offnominal_work::context::Context;
use serde_json::{Value, json};

fn said(part: &[u8]) -> Value {
    serde_json::from_slice(part).unwrap()
}

#[test]
fn logs_are_inspected_a_monitor_is_fitted_and_a_leak_is_found() {
    let leak = recording(99, Some(100));
    let inspected = ask(&json!({ "command": "inspect", "logs": ["leak.csv"] }), &[&leak]).unwrap();
    let mapping = String::from_utf8(inspected[1].clone()).unwrap();
    assert!(
        mapping.contains("column = \"level\"") && inspected[2].starts_with(b"<!doctype html>"),
        "{mapping}"
    );
    let monitor = fitted(&json!("mewma"));
    let scored = ask(&score_request(None), &[&monitor, &leak]).unwrap();
    let found = said(&scored[0]);
    assert!(found["text"].as_str().unwrap().contains("leak.csv: 199 steps, alarm after"), "{found}");
    assert_eq!(found["found"]["recordings"][0]["alarms"].as_array().unwrap().len(), 1, "{found}");
    assert!(scored[1].starts_with(b"<!doctype html>") && scored[2].starts_with(b"log,part,step"));
    assert_eq!(scored[3].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count(), 200);
}

#[test]
fn the_monitor_is_the_file_that_the_command_writes() {
    let folder = tempfile::tempdir().unwrap();
    let logs = nominal(16);
    let mut request = fit_request(&logs, &json!("mewma"))["request"].clone();
    std::fs::write(folder.path().join("map.toml"), MAPPING).unwrap();
    for (name, bytes) in &logs {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    request["logs"] = logs.iter().map(|(name, _)| at(name)).collect();
    (request["map"], request["file"]) = (at("map.toml").into(), at("tanks.monitor").into());
    let request: offnominal_logs::fit::Request = offnominal_work::cli::request(&request).unwrap();
    offnominal_logs::fit::run(&request, &Context::silent(0, 1)).unwrap();
    assert!(std::fs::read(at("tanks.monitor")).unwrap() == fitted(&json!("mewma")), "the files differ");
}

#[test]
fn errors_are_those_of_the_command_line_and_name_the_file() {
    let (leak, monitor) = (recording(99, None), fitted(&json!("mewma")));
    let refused = |request: &Value, files: &[&[u8]]| format!("{:#}", ask(request, files).unwrap_err());
    let broken = refused(&score_request(None), &[b"nothing", &leak]);
    assert!(broken.starts_with("monitor tanks.monitor: "), "{broken}");
    let empty = refused(&score_request(None), &[&monitor, b""]);
    assert_eq!(empty, "log leak.csv: expected a log, found an empty file");
    let other = refused(
        &score_request(Some(&MAPPING.replace("\"level\"", "\"flow\" }, { column = \"level\""))),
        &[&monitor, &leak],
    );
    assert!(other.contains("monitor tanks.monitor") && other.contains("expected"), "{other}");
    let few = nominal(3);
    let few_files: Vec<&[u8]> = few.iter().map(|(_, bytes)| &bytes[..]).collect();
    let error = refused(&fit_request(&few, &json!("mewma")), &few_files);
    assert!(
        error.contains("expected at least 10 nominal recordings") && error.contains("found 3"),
        "{error}"
    );
    assert_eq!(refused(&score_request(None), &[&monitor]), "expected 2 files, found 1");
    let sealed =
        refused(&json!({ "command": "inspect", "logs": ["a.h5"] }), &[b"\x89HDF\r\n\x1a\n, and more"]);
    assert!(sealed.contains("log a.h5: expected a stream of CSV") && sealed.contains("Hdf5"), "{sealed}");
}

//! What `demo` prints is what the README and the page on the demo show.

use crate::succeeds;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const BIN: &str = env!("CARGO_BIN_EXE_offnominal");

/// The first part of the demo in a folder, with its usual place for what it writes.
fn demo(more: &[&str], folder: &Path) -> String {
    let mut command = Command::new(BIN);
    command.args(["demo", "--only", "logs", "--quiet"]).args(more).current_dir(folder).stdin(Stdio::null());
    String::from_utf8(succeeds(&mut command).stdout).unwrap()
}

#[test]
fn the_readme_shows_what_the_demo_prints() {
    let folder = tempfile::tempdir().unwrap();
    let printed = demo(&[], folder.path());
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let (inspected, found) = printed.split_once("$ offnominal fit ").unwrap();
    let commands = printed.lines().filter_map(|line| line.strip_prefix("$ "));
    let results = found.lines().skip(1).filter(|line| !line.is_empty() && !line.starts_with('$'));
    let results: Vec<&str> = results.take_while(|line| !line.starts_with("The picture")).collect();
    for line in commands.chain(results.iter().copied()) {
        assert!(readme.contains(line), "expected in README.md what the demo prints: {line}");
    }
    assert_eq!(results.len(), 10, "{found}");
    let mapping = fs::read_to_string(folder.path().join("runs/demo/logs/map.toml")).unwrap();
    assert!(inspected.contains(mapping.trim_end()), "{inspected}");
}

/// The second part takes minutes without optimisation.
#[test]
fn the_page_on_the_demo_shows_the_table_that_it_prints() {
    if !skips::is_slow_tier("the table of the demo") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(BIN);
    command
        .args(["demo", "--only", "environments", "--quiet"])
        .current_dir(folder.path())
        .stdin(Stdio::null());
    let printed = String::from_utf8(succeeds(&mut command).stdout).unwrap();
    let table: Vec<&str> = printed.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(table.len(), 8, "{printed}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorials/demo.md");
    assert!(
        fs::read_to_string(page).unwrap().contains(&table.join("\n")),
        "expected in docs/tutorials/demo.md what the demo prints:\n{}",
        table.join("\n")
    );
}

#[test]
fn as_json_the_demo_is_one_value_with_an_alarm_and_its_picture() {
    let folder = tempfile::tempdir().unwrap();
    let found: serde_json::Value = serde_json::from_str(&demo(&["--json"], folder.path())).unwrap();
    let logs = &found["logs"];
    let [good, knocked] = &logs["scored"]["recordings"].as_array().unwrap()[..] else {
        panic!("expected two recordings, found {logs}")
    };
    assert!(good["alarms"].as_array().unwrap().is_empty(), "{good}");
    let alarm = &knocked["alarms"][0];
    assert_eq!((&alarm["channels"][0]["name"], alarm["secs"].as_f64()), (&"lane_offset".into(), Some(6.05)));
    let page = fs::read_to_string(folder.path().join(logs["report"].as_str().unwrap())).unwrap();
    assert!(page.contains("Alarm at 6.05 s"));
}

/// The commands that the demo prints make the same files as the demo does.
#[test]
fn the_commands_do_what_the_demo_does() {
    if !skips::is_slow_tier("the commands of the demo") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let printed = demo(&[], folder.path());
    let files =
        ["map.toml", "car.monitor", "alarm.html"].map(|name| folder.path().join("runs/demo/logs").join(name));
    let made = files.each_ref().map(|file| fs::read(file).unwrap());
    files.iter().for_each(|file| fs::remove_file(file).unwrap());
    let path = Path::new(BIN).parent().unwrap().display();
    for line in printed.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let command = format!("PATH={path}:$PATH; {line}");
        succeeds(Command::new("sh").args(["-c", &command]).current_dir(folder.path()).stdin(Stdio::null()));
    }
    assert_eq!(files.map(|file| fs::read(file).unwrap()), made);
}

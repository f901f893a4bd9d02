//! The tables of all levels, as `docs/reference/noise.md` has them.

use super::*;
use std::fmt::Write;

const POLICIES: &str = include_str!("../../../../../studies/noise_policies.csv");

const MARK: &str = "<!-- What follows is written by the tests with UPDATE_EXPECT=1. -->\n";

#[test]
fn the_page_shows_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/noise.md");
    let shown = std::fs::read_to_string(&path).unwrap();
    let (head, _) = shown.split_once(MARK).expect("the page has its mark");
    let want = format!("{head}{MARK}\n{}\n{}", policies(), tables());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &want).unwrap();
    } else {
        assert!(want == shown, "docs/reference/noise.md is old; UPDATE_EXPECT=1 writes it");
    }
}

/// What the policies score at each level.
fn policies() -> String {
    let mut text = String::from(
        "## Which policies bear it\n\nTQC in the environments of the vector benchmark, 100 episodes each, by \
         `python studies/noise_policies.py > studies/noise_policies.csv`.\nWhere the \
         interval of a rate of success or of a return lies below that without noise, the last column says so.\n\n\
         | environment | level | return | success | |\n| --- | --- | --- | --- | --- |\n",
    );
    let mut plain = [0.0; 2];
    for row in csv::Reader::from_reader(POLICIES.as_bytes()).into_records().map(Result::unwrap) {
        let x: Vec<f64> = row.iter().skip(3).map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
        if &row[1] == NONE {
            plain = [x[1], x[4]];
        }
        let verdict = match (x[2] < plain[0], x[5] < plain[1]) {
            (_, true) => "**breaks**: succeeds less often",
            (true, false) => "loses return",
            (false, false) => "",
        };
        let line = format!("`{}` | {} | {:.1} [{:.1}, {:.1}]", &row[0], &row[1], x[0], x[1], x[2]);
        writeln!(text, "| {line} | {:.2} [{:.2}, {:.2}] | {verdict} |", x[3], x[4], x[5]).unwrap();
    }
    text
}

fn tables() -> String {
    let mut text = String::from(
        "## Sensors and actuators\n\nA figure whose source begins with *proposal* has none that can be looked up; \
         correct it if you know better.\nUniform noise ±a is taken as σ = a/√3.\n\n| name | unit | figures | source |\n| --- | --- | --- | --- |\n",
    );
    for (name, sensor) in &NoiseTable::parse(SENSORS).unwrap().sensors {
        writeln!(text, "| `{name}` | {} | {} | {} |", sensor.unit, figures(sensor), sensor.source).unwrap();
    }
    for (level, world, table) in ordered() {
        writeln!(text, "\n## `{world}` at `{level}`\n").unwrap();
        text += &of_world(&parse(table).unwrap());
    }
    text
}

/// The tables world by world.
fn ordered() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut all = WORLDS.to_vec();
    all.sort_by_key(|(_, world, _)| *world);
    all
}

fn figures(sensor: &Sensor) -> String {
    let there = sensor.figures().into_iter().filter(|(_, x)| *x > 0.0);
    let there: Vec<String> = there.map(|(name, x)| format!("`{name}` {}", number(x))).collect();
    if there.is_empty() { "–".into() } else { there.join(", ") }
}

fn number(x: f64) -> String {
    if x < 1e-3 { format!("{x:e}") } else { format!("{x}") }
}

fn of_world(table: &NoiseTable) -> String {
    let mut text = String::from(
        "| channels | sensor or actuator | times | unit of the channel |\n| --- | --- | --- | --- |\n",
    );
    for (side, entries) in [("observation", &table.observation), ("action", &table.action)] {
        for entry in entries {
            let names: Vec<String> = entry.channels.iter().map(|c| format!("`{c}`")).collect();
            let rate = if entry.by_difference { ", two readings apart by a step" } else { "" };
            let (sensor, times, scale) = (&entry.sensor, entry.times, entry.scale);
            writeln!(text, "| {side}: {} | `{sensor}`{rate} | {times} | {scale} |", names.join(", "))
                .unwrap();
        }
    }
    if let Some(jitter) = &table.jitter {
        writeln!(text, "\nCommands are late by |N(0, 1)| times {} s ({}).", jitter.secs, jitter.source)
            .unwrap();
    }
    text
}

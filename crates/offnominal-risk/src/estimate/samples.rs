//! The table of all experiments: one row for each, in the order of their draws. The estimate of a run that weights is the sum
//! of the weights of failures by the number of draws.

use super::block::{Block, Sample};
use crate::experimenter::Experimenter;
use offnominal_files::table::{Cell, Columns};

/// The columns of all experiments.
pub(super) fn columns(by: &Experimenter<'_>, blocks: &[Block]) -> Columns {
    let samples: Vec<&Sample> = blocks.iter().flat_map(|block| &block.samples).collect();
    let mut columns = Columns::new();
    let mut push = |name: String, cell: &dyn Fn(&Sample) -> Cell| {
        columns.push((name, samples.iter().map(|sample| cell(sample)).collect()));
    };
    push("draw".into(), &|s| Cell::Count(s.index));
    push("seed".into(), &|s| Cell::Count(by.key("experiment", s.index).0));
    push("weight".into(), &|s| Cell::Real(1.0 / s.chance));
    push("outcome".into(), &|s| Cell::Text(outcome(s).into()));
    push("steps".into(), &|s| Cell::Count(s.steps));
    push("margin".into(), &|s| real(s.margin));
    let env = &by.subject.env;
    for i in 0..env.failure_search().requirements().len() {
        let number = i as u64 + 1;
        push(format!("margin.{number}"), &|s| real(s.margins.get(i).copied().flatten()));
        push(format!("broken.{number}"), &|s| Cell::Truth(s.broken.contains(&number)));
    }
    for (i, name) in env.spec().initial.iter().enumerate() {
        push(format!("initial.{name}"), &|s| real(s.x.get(i).copied()));
    }
    columns
}

fn real(found: Option<f64>) -> Cell {
    found.map_or(Cell::Nothing, Cell::Real)
}

fn outcome(sample: &Sample) -> &'static str {
    match (sample.diverged, sample.failed) {
        (true, _) => "diverged",
        (false, true) => "failed",
        (false, false) => "passed",
    }
}

#[cfg(test)]
mod tests {
    use crate::estimate::{self, Request};
    use crate::testing::context;
    use offnominal_work::cli;
    use serde_json::{Value, json};
    use std::path::Path;

    /// The bytes of the table of a run, and its estimate.
    fn table(name: &Path, more: Value, jobs: usize) -> anyhow::Result<(Vec<u8>, f64)> {
        let mut all = json!({ "env": "cartpole", "policy": "random", "episodes": 120, "table": name,
            "scenario": { "stl": ["always (abs(theta) < 0.1)", "always (abs(x) < 0.2)"] } });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let report = estimate::alone(&cli::request::<Request>(&all)?, &context(jobs))?;
        Ok((std::fs::read(name)?, report.document.risk.risk.unwrap().value))
    }

    #[test]
    fn the_table_has_the_same_bits_for_any_threads_and_after_a_kill() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
        for (ending, more) in [
            ("csv", json!({})),
            ("parquet", json!({ "method": "adaptive", "rate": 0.3, "plain_share": 0.5 })),
        ] {
            let name = folder.path().join(format!("t.{ending}"));
            let with = |out: &Path| {
                let mut more = more.clone();
                more["out"] = json!(out.join(ending));
                more
            };
            let first = table(&name, more.clone(), 1).unwrap();
            assert!(table(&name, with(&whole), 3).unwrap() == first, "{ending}");
            let journal = std::fs::read(whole.join(ending).join("journal.jsonl")).unwrap();
            std::fs::create_dir_all(cut.join(ending)).unwrap();
            std::fs::write(cut.join(ending).join("journal.jsonl"), &journal[..journal.len() / 2]).unwrap();
            assert!(table(&name, with(&cut), 2).unwrap() == first, "{ending}");
        }
    }

    #[test]
    fn rows_are_experiments_and_say_what_the_estimate_does() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("t.csv");
        let (bytes, risk) = table(&name, json!({ "method": "adaptive", "rate": 0.3 }), 1).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let head = rows.next().unwrap();
        let expected = "draw seed weight outcome steps margin margin.1 broken.1 margin.2 broken.2 margin.3 broken.3 \
            initial.x initial.x_velocity initial.theta initial.theta_velocity";
        assert_eq!(head.join(" "), expected);
        let column = |name: &str| head.iter().position(|column| *column == name).unwrap();
        let (weight, outcome) = (column("weight"), column("outcome"));
        let mut sum = 0.0;
        for row in rows {
            let broken = (1..=3).any(|i| row[column(&format!("broken.{i}"))] == "true");
            assert_eq!(row[outcome], if broken { "failed" } else { "passed" });
            sum += if broken { row[weight].parse::<f64>().unwrap() } else { 0.0 };
        }
        assert!((sum / 400.0 - risk).abs() < 1e-9, "{sum} {risk}");
    }

    #[test]
    fn a_run_whose_experiments_are_not_known_and_other_endings_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (name, out) = (folder.path().join("t.csv"), folder.path().join("out"));
        table(&name, json!({ "table": null, "out": out }), 1).unwrap_err();
        let refusal = |name: &Path, more: Value| table(name, more, 1).unwrap_err().to_string();
        assert!(
            refusal(&name, json!({ "out": out }))
                .starts_with("table: expected a run that was made with --table")
        );
        let text = folder.path().join("t.txt");
        assert!(refusal(&text, json!({})).ends_with("expected a table that ends in .parquet or .csv"));
        let cheap = refusal(&name, json!({ "cheap": "cartpole", "scenario": {} }));
        assert!(cheap.contains("--table") && cheap.contains("cannot be used with"), "{cheap}");
    }
}

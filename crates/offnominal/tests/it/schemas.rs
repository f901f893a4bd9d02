//! The JSON Schemas in `schemas/` are those of the types.

use offnominal_audit::document::Audit;
use offnominal_bench::campaign::Campaign;
use offnominal_bench::suite::{Environment, Row};
use offnominal_live::stream::line_schema;
use offnominal_logs::mapping::Mapping;
use offnominal_monitor::VerdictLine;
use offnominal_pixels::label_map::LabelMap;
use offnominal_risk::estimate::multifidelity;
use offnominal_risk::{compare, stress};
use offnominal_rollouts::judge::Judged;
use schemars::{Schema, schema_for};
use std::path::Path;

/// Each file, what it describes, and its schema.
fn all() -> [(&'static str, &'static str, Schema); 12] {
    [
        ("audit", "audit.json: what an audit found", schema_for!(Audit)),
        ("campaign", "A campaign: the TOML file that says what to benchmark", schema_for!(Campaign)),
        ("compare", "compare.json: which policy is better", schema_for!(compare::Compared)),
        (
            "label-map",
            "Which label of a data set is known, unknown or ignored: a TOML file",
            schema_for!(LabelMap),
        ),
        ("mapping", "Which column of a log is which channel: a TOML file", schema_for!(Mapping)),
        ("monitor-line", "A line that `offnominal monitor` reads", line_schema()),
        ("monitor-verdict", "A line that `offnominal monitor` writes", schema_for!(VerdictLine<'_>)),
        (
            "multifidelity",
            "multifidelity.json: a failure probability that a cheap simulator helped to find",
            schema_for!(multifidelity::report::Report),
        ),
        ("result-row", "A row of ENV.parquet or ENV.csv of a suite", schema_for!(Row)),
        ("rollouts", "rollouts.json: failure detectors judged on rollouts", schema_for!(Judged)),
        (
            "stress",
            "stress.json: the most likely failures under the declared noise that were found",
            schema_for!(stress::report::Report),
        ),
        ("suite-environment", "ENV.json of a suite: what made the table beside it", schema_for!(Environment)),
    ]
}

#[test]
fn the_schemas_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    for (name, title, mut schema) in all() {
        schema.insert("title".into(), title.into());
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let path = folder.join(format!("{name}.json"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let is_current = std::fs::read_to_string(&path).unwrap_or_default() == text;
        assert!(is_current, "{} is old; UPDATE_EXPECT=1 writes it", path.display());
    }
}

//! A toy as the high-fidelity simulator and others as the low-fidelity one, and shipped environments: truth, journals, threads, goals,
//! refusals.

use super::*;
use crate::estimate;
use crate::experimenter::Experimenter;
use crate::testing::{Toy, rewrite, subject};
use offnominal_engine::scenario::ScenarioRequest;
use offnominal_work::cli;
use serde_json::{Value, json};

fn asked(more: Value) -> Request {
    read(more).unwrap()
}

fn read(more: Value) -> Result<Request> {
    let mut all =
        json!({ "env": "cartpole", "cheap": "cartpole", "policy": "random", "episodes": 50, "per_dear": 2 });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    cli::request(&all)
}

fn found(more: Value) -> Report {
    run(&asked(more), &Context::silent(5, 2)).unwrap()
}

fn refusal(more: Value) -> String {
    format!(
        "{:#}",
        read(more).and_then(|request| estimate::run(&request, &Context::silent(5, 2)).map(drop)).unwrap_err()
    )
}

/// Pairs of toys that fail from zero with these chances.
fn toys(dear: f64, cheap: f64, pairs: u64) -> Multifidelity {
    let [dear, cheap] = [dear, cheap].map(|height| subject(&Toy::new(height)));
    let by = |subject| Experimenter::new(subject, 3).unwrap();
    let players = pairs::Players { dear: by(&dear), cheap: by(&cheap) };
    let mut found = Multifidelity::new(4);
    (0..pairs).for_each(|i| players.pair(i, 4).unwrap().push(4, &mut found));
    found
}

#[test]
fn the_truth_is_that_of_the_dear_simulator_whatever_the_cheap_one_is() {
    let p = Toy::new(1.0).p();
    for cheap in [1.0, 0.5, 0.0] {
        let found = toys(1.0, cheap, 4000);
        let risk = found.estimate(Level::P95).unwrap();
        assert!(risk.covers(p), "{cheap}: {risk} {p}");
    }
    // The same simulator with the same random numbers agrees in every pair: ρ = 1, and K = 4 saves 1 − 1 / (K + 1).
    let same = toys(1.0, 1.0, 4000);
    assert!((1.0 - same.ratio().unwrap() - 0.8).abs() < 0.05 && same.coefficient() == 0.8125);
    // One that never fails says nothing.
    assert!(toys(1.0, 0.0, 400).ratio() == Some(1.0));
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_for_a_run_that_was_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let more = json!({ "cheap_parameters": { "pole-mass": 0.2 }, "block": 5, "episodes": 20 });
    let mut with_out = more.clone();
    with_out["out"] = json!(folder.path());
    let alone = run(&asked(more), &Context::silent(5, 1)).unwrap();
    assert_eq!(alone, found(with_out.clone()));
    // A run that was killed while it wrote its last block.
    let path = folder.path().join(pairs::JOURNAL);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 40]).unwrap();
    assert_eq!(found(with_out.clone()), alone);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let file = std::fs::read(folder.path().join("multifidelity.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&file).unwrap(), json!(alone));
    // The journal answers other questions of the same pairs, and is of no others.
    with_out["level"] = json!(0.8);
    assert!(found(with_out.clone()).risk.low >= alone.risk.low);
    with_out["cheap_parameters"] = json!({});
    assert!(run(&asked(with_out), &Context::silent(5, 2)).is_err());
}

#[test]
fn a_journal_that_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let more = json!({ "block": 5, "episodes": 10, "out": folder.path() });
    found(more.clone());
    rewrite(&folder.path().join(pairs::JOURNAL), |block| block["pairs"][1]["fresh"]["failures"] = json!(3));
    let error = refusal(more);
    assert!(
        error.starts_with("multifidelity.jsonl, block 0: expected one episode in each, and 2 fresh"),
        "{error}"
    );
}

#[test]
fn it_stops_where_the_interval_is_narrow_or_tells_the_side() {
    // The random policy lets every pole fall.
    let sure = found(json!({ "max_risk": 0.5, "early_stop": true, "episodes": 500 }));
    assert!(sure.stop == Stop::Above && sure.pairs < 500 && sure.unacceptable(0.5).is_some(), "{sure}");
    let safe = json!({ "policy": "tqc", "env": "sap-goal0", "cheap": "sap-goal0", "max_risk": 0.5, "early_stop": true,
        "episodes": 500 });
    let safe = found(safe);
    assert!(safe.stop == Stop::Below && safe.unacceptable(0.5).is_none(), "{safe}");
    let narrow = found(json!({ "width": 0.3, "episodes": 500 }));
    assert!(narrow.stop == Stop::Narrow && narrow.risk.high - narrow.risk.low <= 0.3, "{narrow}");
    let open = found(json!({ "width": 0.001 }));
    assert!(open.stop == Stop::Episodes && open.pairs == 50, "{open}");
    assert!(open.warnings[0].contains("50 of 50 high-fidelity episodes failed"), "{open}");
}

#[test]
fn parameters_are_those_of_all_episodes() {
    let nominal = found(json!({ "env": "sap-goal0", "cheap": "sap-goal0", "policy": "tqc", "episodes": 25 }));
    assert_eq!((nominal.dear_cost.episodes, nominal.cheap_cost.episodes), (25, 75));
    let parameter =
        offnominal_engine::catalogues::environment("cartpole", None).unwrap().spec().parameters[0].clone();
    let changed = |which: &str| {
        let report = found(json!({ which: { parameter.name.as_str(): parameter.high }, "episodes": 25 }));
        (report.dear_cost.steps, report.cheap_cost.steps)
    };
    let (plain, dear, cheap) =
        (found(json!({ "episodes": 25 })), changed("parameters"), changed("cheap_parameters"));
    assert!(dear.0 != plain.dear_cost.steps && dear.1 == plain.cheap_cost.steps);
    assert!(cheap.0 == plain.dear_cost.steps && cheap.1 != plain.cheap_cost.steps);
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let cases = [
        (json!({ "per_dear": 0 }), "per-dear: expected 1 to 1000, found 0"),
        (json!({ "episodes": 1 }), "episodes: expected 2 to"),
        (json!({ "width": 1.5 }), "width: expected a number above 0 and below 1, found 1.5"),
        (json!({ "max_risk": 1.5 }), "max risk: expected a number from 0 to 1"),
        (
            json!({ "early_stop": true }),
            "the following required arguments were not provided:\n  --max-risk <P>",
        ),
        (json!({ "method": "adaptive" }), "method: expected none with the low-fidelity environment cartpole"),
        (
            json!({ "scenario": { "below": 9.0 } }),
            "scenario: expected none with the low-fidelity environment",
        ),
        (
            json!({ "cheap": null, "per_dear": 5, "parameters": { "a": 1.0 } }),
            "the following required arguments were not provided:\n  --cheap <ENV>",
        ),
        (json!({ "cheap": null }), "the following required arguments were not provided:\n  --cheap <ENV>"),
        (
            json!({ "cheap": "driving" }),
            "initial conditions: expected those of cartpole and driving to be the same",
        ),
        (json!({ "cheap_parameters": { "pole-mas": 1.0 } }), "cheap-parameter: "),
        (json!({ "parameters": { "pole-mass": -1.0 } }), "parameter: "),
    ];
    for (more, expected) in cases {
        let error = refusal(more);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_parameter_that_is_set_gives_the_bits_of_a_table_with_one_row() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("mass.csv");
    std::fs::write(&table, "mass\n1.5\n").unwrap();
    let table: ScenarioRequest = cli::request(&json!({ "parameter_table": table })).unwrap();
    let drawn = table.subject("sap-goal2", "tqc").unwrap();
    let asked = asked(
        json!({ "env": "sap-goal2", "cheap": "sap-goal2", "policy": "tqc", "cheap_parameters": { "mass": 1.5 } }),
    );
    let simulators = Simulators::open(&asked).unwrap();
    let [drawn, dear, cheap] =
        [&drawn, &simulators.dear, &simulators.cheap].map(|subject| Experimenter::new(subject, 1).unwrap());
    let mut differ = 0;
    for i in 0..20 {
        let key = dear.key("table", i);
        let x = drawn.draw(key);
        let [one, other, nominal] =
            [(drawn, &x[..]), (cheap, &x[1..]), (dear, &x[1..])].map(|(by, x)| by.play(key, x).unwrap());
        assert_eq!(one, other);
        differ += usize::from(one != nominal);
    }
    assert!(differ > 10, "{differ}");
}

//! Files that are read, and what is wrong with others.

use super::*;
use crate::catalogues;
use crate::scenario::{Scenario, ScenarioRequest};
use serde_json::json;

fn environment() -> Box<dyn Env> {
    catalogues::configured("cartpole", &json!({})).unwrap()
}

const FILE: &str = "
[draw.gravity]
distribution = \"normal\"
mean = 9.8
sd = 0.5
low = 9.0

[draw.theta]
distribution = \"triangular\"
low = -0.2
mode = 0.0
high = 0.2

[draw.pole-length]
distribution = \"empirical\"
values = [0.7, 0.5]

[[correlation]]
between = [\"theta\", \"gravity\"]
rank = 0.9
";

fn drawn(text: &str) -> Result<Box<dyn Env>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drawn.toml");
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("kg.csv"), "kg,by\n1.5,a\nx,b\n").unwrap();
    let request = ScenarioRequest { distribution: Some(path), ..ScenarioRequest::default() };
    let env = environment();
    let scenario: Scenario = request.resolve(env.spec())?.unwrap();
    let again: Scenario = serde_json::from_value(serde_json::to_value(&scenario).unwrap()).unwrap();
    assert_eq!(again, scenario);
    scenario.apply(env)
}

#[test]
fn parameters_and_entries_are_drawn_together() {
    let env = drawn(FILE).unwrap();
    assert_eq!(env.spec().initial, ["gravity", "pole-length", "x", "x_velocity", "theta", "theta_velocity"]);
    let mut rng = Rng::new(1);
    let draws: Vec<Vec<f64>> = (0..4000).map(|_| env.draw(&mut rng)).collect();
    assert!(draws.iter().all(|x| x[0] >= 9.0 && [0.5, 0.7].contains(&x[1]) && x[4].abs() <= 0.2));
    assert!(draws.iter().all(|x| x[2].abs() <= 0.05), "the environment draws what the file does not name");
    let long = draws.iter().filter(|x| x[1] == 0.7).count();
    assert!((1850..2150).contains(&long), "{long} of 4000");
    // Spearman's correlation by ranks.
    let ranks = |k: usize| {
        let mut order: Vec<usize> = (0..draws.len()).collect();
        order.sort_by(|&a, &b| draws[a][k].total_cmp(&draws[b][k]));
        let mut rank = vec![0.0; order.len()];
        order.iter().enumerate().for_each(|(r, &i)| rank[i] = r as f64);
        rank
    };
    let (a, b) = (ranks(0), ranks(4));
    let n = draws.len() as f64;
    let squares: f64 = a.iter().zip(&b).map(|(x, y)| (x - y).powi(2)).sum();
    let spearman = 1.0 - 6.0 * squares / (n * (n * n - 1.0));
    // Cutting gravity off takes a little of it.
    assert!((spearman - 0.9).abs() < 0.03, "{spearman}");
    // A search varies what is drawn, and admits nothing else.
    let search = env.failure_search();
    assert!(draws.iter().take(50).all(|x| search.admits(&search.vary(x, &mut rng).unwrap())));
    assert!(!search.admits(&[9.8, 0.6, 0.0, 0.0, 0.0, 0.0]));
}

#[test]
fn an_episode_begins_where_its_entries_say() {
    let env = drawn(FILE).unwrap();
    let mut own = env.fork().unwrap();
    own.start(&[9.8, 0.5, 0.0, 0.0, 0.15, 0.0], &mut Rng::new(1));
    let mut obs = [0.0; 4];
    own.observe(&mut obs);
    assert!((obs[2] - 0.15).abs() < 1e-6, "{obs:?}");
}

#[test]
fn mistakes_are_named() {
    let refused = |text: &str, expected: &str| {
        let error = format!("{:#}", drawn(text).err().unwrap());
        assert!(error.contains(expected), "{error}");
    };
    let uniform = |name: &str| format!("[draw.{name}]\ndistribution = \"uniform\"\nlow = 0.1\nhigh = 0.2\n");
    refused("draw = {}", "draw: expected at least one number, found none");
    refused(
        &uniform("thetta"),
        "neither a parameter nor an initial condition \"thetta\"; did you mean \"theta\"?",
    );
    refused(
        "[draw.theta]\ndistribution = \"normal\"\nmean = 0\nsd = 0\n",
        "draw.theta: sd: expected a number above 0",
    );
    refused("[draw.theta]\ndistribution = \"normall\"\nmean = 0\nsd = 1\n", "normall");
    refused(&format!("{}mean = 3\n", uniform("theta")), "mean");
    let both = [uniform("theta"), uniform("x")].concat();
    let correlation = |a: &str, b: &str, rank: f64| {
        format!("[[correlation]]\nbetween = [\"{a}\", \"{b}\"]\nrank = {rank}\n")
    };
    refused(&[both.clone(), correlation("x", "y", 0.1)].concat(), "found \"y\"");
    refused(&[both.clone(), correlation("x", "x", 0.1)].concat(), "two different names");
    refused(&[both.clone(), correlation("x", "theta", 1.5)].concat(), "expected −1 to 1, found 1.5");
    let three = [both, uniform("x_velocity"), correlation("x", "theta", 0.9)].concat();
    let against = [correlation("x", "x_velocity", 0.9), correlation("theta", "x_velocity", -0.9)].concat();
    refused(&[three, against].concat(), "found a contradiction");
    let empirical = |more: &str| format!("[draw.theta]\ndistribution = \"empirical\"\n{more}\n");
    refused(&empirical(""), "expected `values`, or `file` with `column`");
    refused(&empirical("file = \"kg.csv\"\ncolumn = \"lb\""), "expected a column \"lb\"");
    refused(&empirical("file = \"kg.csv\"\ncolumn = \"kg\""), "line 3: expected a number, found \"x\"");
    refused("[draw.gravity]\ndistribution = \"uniform\"\nlow = -5\nhigh = -4\n", "none of 1000 draws");
}

//! Seeds that are text.

use serde_json::{Value, json};

/// A campaign that needs nothing from outside.
pub const CAMPAIGN: &str = r#"name = "small"
seed = 1
envs = ["sap-goal0"]
policies = ["sac"]
detectors = ["clock", { id = "knn", name = "knn-5", k = 5 }]
anomalies = [{ id = "act-delay", magnitude = 3 }, { id = "obs-offset", magnitude = 0.25 }]
seeds = 2
onset = 4
extent = { window = 5 }
false_alarms = 0.1
replicates = 50
traces = 1
video = false

[episodes]
train = 10
validation = 20
test = 5
"#;

/// A car over a road.
pub const POLYGONS: &str = "<annotation><imagesize><nrows>4</nrows><ncols>6</ncols></imagesize>
<object><name>Road</name><deleted>0</deleted><polygon><username>ann</username>
<pt><x>0</x><y>2</y></pt><pt><x>6</x><y>2</y></pt><pt><x>6</x><y>4</y></pt><pt><x>0</x><y>4</y></pt></polygon></object>
<object><name>vase</name><polygon><username>bob</username>
<pt><x>1</x><y>1</y></pt><pt><x>3</x><y>1</y></pt><pt><x>3</x><y>3</y></pt></polygon></object></annotation>
";

/// Steps of an episode, and of the next one.
pub const LINES: &str = r#"{"obs": [0.1, 0.2, -0.3], "action": [0.5], "reset": true, "step": 0}
{"obs": [0.1, 0.3, 0.0], "action": [-0.5], "step": 1}
{"obs": [0.2, 0.3, 1e3], "step": 2}
{"obs": [0.2, 0.3, 0.1], "action": [0.0], "reset": true, "step": 0}
{"obs": [0.2, 0.3, 0.1], "step": 1}
"#;

/// How a cart's pole and its angle are drawn.
pub const DISTRIBUTION: &str = "[draw.pole-length]
distribution = \"log-normal\"
median = 0.5
sigma = 0.1

[draw.theta]
distribution = \"empirical\"
values = [0.01, -0.02]

[[correlation]]
between = [\"theta\", \"pole-length\"]
rank = 0.5
";

/// Requirements on a speed and a gap.
pub const FORMULAS: &[&str] = &[
    "always[0, 5] (speed < 3 or gap > 1e1) and not eventually (abs(speed - gap / 2) <= min(0.1, gap))",
    "(gap > 0) until[0.5, inf] (\"speed\" >= -2 * 1.5 implies max(speed, 0) > 1)",
];

/// Scores of two episodes.
pub const SCORES: &str = "episode,step,score,label
a,0,0.1,0
a,1,0.2,0
a,2,0.9,1
a,3,0.4,1
b,0,0.1,0
b,1,0.3,0
b,2,0.2,0
";

/// Requests of commands.
pub const REQUESTS: &[&str] = &[
    r#"{"env": "sap-goal0", "policy": "sac", "episodes": 20}"#,
    r#"{"env": "sap-goal0", "policy": "sac", "detector": "knn", "train": 50, "calibration": 40, "file": "m"}"#,
    r#"{"env": "cartpole", "policy": "tqc", "episodes": 1000, "level": 0.95, "rate": 0.5}"#,
    r#"{"campaign": "c.toml", "out": "o"}"#,
    r#"{"file": "scores.csv", "threshold": 0.5, "replicates": 100, "level": 0.9}"#,
    r#"{"library": "sb3", "model": "m.zip", "env": "pendulum", "normalize": null, "out": "o"}"#,
];

/// A mapping of logs.
pub const MAPPING: &str = r#"version = 1
label = "leak"
task = "task"
observation = [{ column = "level", name = "water", unit = "m" }, { column = "flow" }]
command = [{ column = "valve" }]
ignored = ["reward"]
clock = { column = "time", unit = "ms", rate_hz = 10.0, max_age_secs = 0.5 }
episodes = { by = "window", secs = 30.0 }
outcome = { column = "done", success = 1 }
"#;

/// What a user says of a hosted environment.
pub const MANIFEST: &str = r#"observation = { names = ["x", "v"], units = ["m", "m/s"] }
action.units = ["N"]
[parameters]
length = { attribute = "unwrapped.length", low = 0.1, high = 2.0, unit = "m", meaning = "half the length of the pole" }
gravity = { attribute = "unwrapped.model.opt.gravity[2]", low = -20.0, high = -1.0 }
mass = { attribute = "unwrapped.model.body_mass", relative = true, low = 0.2, high = 5 }
"#;

/// Recipes of trainings.
pub const TRAININGS: &[&str] = &[
    r#"{"algorithm": "tqc", "steps": 40, "hidden": [8, 8], "batch": 8, "buffer": 50, "n_envs": 1, "lr": 0.001}"#,
    r#"{"algorithm": "td3", "steps": 40, "hidden": [8], "batch": 8, "buffer": 50, "normalise": "running"}"#,
    r#"{"algorithm": "sac", "steps": 40, "hidden": [8], "batch": 8, "buffer": 50, "alpha": 0.1}"#,
];

/// Anomalies with their schedules.
pub const ANOMALIES: &[&str] = &[
    r#"{"anomaly": "obs-offset", "params": {"magnitude": 0.25}, "schedule": {"onset": "random", "extent": "to_end"}}"#,
    r#"{"anomaly": "act-delay", "params": {"magnitude": 3}, "schedule": {"onset": {"at": 4}, "extent": {"window": {"steps": 3}}}}"#,
];

/// Texts with their numbers as names.
pub fn numbered(all: &[&str]) -> Vec<(String, Vec<u8>)> {
    all.iter().enumerate().map(|(i, text)| (format!("{i}.json"), text.as_bytes().to_vec())).collect()
}

/// Every detector with all its parameters.
pub fn recipes() -> Vec<(String, Vec<u8>)> {
    let entries = offnominal_detectors::ALL.iter().zip(offnominal_detectors::defaults());
    let recipe = |(entry, params): (&offnominal_core::Entry<_>, Value)| {
        let mut table = params;
        table["id"] = json!(entry.id);
        // TOML has no null.
        strip(&mut table);
        (format!("{}.json", entry.id), table.to_string().into_bytes())
    };
    entries.map(recipe).collect()
}

fn strip(value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|_, inner| !inner.is_null());
        map.values_mut().for_each(strip);
    }
}

/// Lines of a command that acts.
pub const POLICY_LINES: &[&str] = &[r#"{"action": [0.5, -2.0], "value": null}"#, r#"{"action": 2}"#];

/// The head of a request for the page of a monitor, with what a browser sends.
pub const PAGE_REQUEST: &str = "GET /events?token=0123456789abcdef%20 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\
                                Connection: keep-alive\r\nAccept: text/event-stream\r\nContent-Length: 0\r\n\
                                Origin: http://127.0.0.1:8080\r\nLast-Event-ID: 1795566690562-17\r\n\r\n";

/// The failures of a stress test: one, with a bias and two steps.
pub const STRESS: &str = r#"{
  "env": "pendulum?noise=motor.toml@0123456789ab",
  "noise": null,
  "policy": { "id": "random", "digest": "random" },
  "scenario": null,
  "seed": 1,
  "failures": [
    {
      "strategy": "climb",
      "search": 0,
      "key": 7,
      "initial": [0.5, -0.25],
      "experiments": 12,
      "refinement": 30,
      "steps": 2,
      "first": {
        "distance": 3.0, "log_likelihood": -4.5, "log_likelihood_of_a_draw": -1.5, "rms": 1.7, "largest": 2.0,
        "disturbed_steps": 2, "numbers": 3
      },
      "likelihood": {
        "distance": 1.5, "log_likelihood": -1.125, "log_likelihood_of_a_draw": -1.5, "rms": 0.87, "largest": 1.0,
        "disturbed_steps": 2, "numbers": 3
      },
      "start": [0.5],
      "disturbances": [[1.0], [-1.0]]
    }
  ]
}
"#;

/// Rollouts with signals, with chunks and embeddings, and with signals within others that begin late.
pub const ROLLOUTS: &[&str] = &[
    r#"{"rollout": "a", "task": "lift", "success": true, "steps": [{"t": 0, "tce": 0.5, "note": "x"}, {"t": 1, "tce": 1}]}
{"episode_id": 7, "task_id": "lift", "success": 0, "length": 1, "steps": [{"step": 0, "tce": -2}]}"#,
    r#"{"task": 1, "success": true, "executed": 1, "steps": [{"chunk": [[1], [2]], "embedding": [0, 1]}, {"chunk": [[4], [0]], "embedding": [2, 1]}]}
{"task": 2, "success": false, "failure_step": 0, "steps": [{"executed": 1, "chunk": [[1, 3]], "embedding": [0.5, 1e3]}]}"#,
    r#"{"task": 1, "success": true, "executed": 1, "steps": [{"chunk": [[[1], [2]], [[1], [3]]]}, {"chunk": [[[4]], [[1]]]}]}
{"task": 1, "success": false, "executed": 1, "steps": [{"chunk": [[[1]], [[2]]]}]}"#,
    r#"{"success": true, "steps": [{"x": {"y": [1, 2]}}, {"x": {"y": [2, 0]}, "late": 1}]}
{"success": false, "steps": [{"x": {"y": [1, 2]}}]}"#,
];

/// Detectors and splits of rollouts.
pub const ROLLOUT_REQUESTS: &[&str] =
    &["-ewma(acm)", "odds(hazard(tce, acm), actprobe)", "seen:0,1,2", "tasks:5"];

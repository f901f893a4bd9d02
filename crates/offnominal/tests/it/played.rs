//! Each command that plays a policy of another program says in its JSON how that is played, and what makes a bundle too.

use super::{offnominal, succeeds};
use serde_json::Value;
use std::path::Path;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../offnominal-agents/tests/sb3/trained.zip");

/// Commands with as little work as they do.
const COMMANDS: [&str; 9] = [
    "evaluate --policy MODEL --episodes 2",
    "collect --policy MODEL --episodes 2",
    "fit --policy MODEL --detector knn --train 5 --calibration 20 --diagnosis false",
    "calibrate --policy MODEL --anomaly obs-noise --episodes 24 --budget 100 --tolerance 0.9",
    "compare random MODEL --episodes 50",
    "risk estimate --policy MODEL --episodes 20",
    "risk estimate --policy MODEL --cheap pendulum --episodes 20",
    "risk search --policy MODEL --strategy random --budget 20",
    "risk select --policy MODEL --policy random --below -300 --budget 50",
];

/// What a command says on standard output, where it writes to a place.
fn told(command: &str, quiet: bool, out: &Path) -> (Value, String) {
    let words = command.split(' ').map(|word| if word == "MODEL" { MODEL } else { word });
    let args: Vec<&str> =
        words.chain(["--env", "pendulum", "--json"]).chain(quiet.then_some("--quiet")).collect();
    let mut line = offnominal(&args, out);
    if command.starts_with("evaluate") {
        line = std::process::Command::new(env!("CARGO_BIN_EXE_offnominal"));
        line.args(&args);
    }
    let output = succeeds(&mut line);
    (serde_json::from_slice(&output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn every_command_says_how_a_policy_is_played() {
    let folder = tempfile::tempdir().unwrap();
    for (n, command) in COMMANDS.iter().enumerate() {
        let out = folder.path().join(n.to_string());
        let (json, said) = told(command, n > 0, &out);
        let played = json["played"].as_object().unwrap_or_else(|| panic!("{command}: {json}"));
        let (name, of) = played.iter().next().unwrap();
        assert!(name.starts_with("trained-") && played.len() == 1, "{command}: {json}");
        assert_eq!(of["algorithm"], "sac of Stable-Baselines3", "{command}");
        assert_eq!(of["observations"], "not normalised, as no statistics are beside it", "{command}");
        assert_eq!(
            (&of["stack"], &of["action"], &of["deterministic"]),
            (&1.into(), &"squashed".into(), &true.into())
        );
        let line =
            "sac of Stable-Baselines3, observations not normalised, as no statistics are beside it, no stack";
        assert_eq!(said.contains(line), n == 0, "{command}: {said}");
        for kept in ["risk.json", "compare.json"].map(|file| out.join(file)) {
            let Ok(text) = std::fs::read_to_string(kept) else { continue };
            let kept: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(kept["made"]["policies"][name], *of, "{command}");
        }
    }
}

//! The cells of a campaign for another scheduler: JSON lines, or a script for Slurm or Kubernetes.

use crate::campaign::without_control;
use crate::cells::{Bench, Layer, Node};
use crate::run::Request;
use anyhow::Result;
use minijinja::Environment;
use minijinja::value::Serde;
use serde_json::{Value, json};
use std::path::Path;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Who is to run the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Scheduler {
    /// JSON lines, one per cell, dependencies first
    Cells,
    /// Script with one Slurm job array per layer
    Slurm,
    /// Script with one indexed Kubernetes job per layer
    Kubernetes,
}

/// What the scheduler reads: the cells of a campaign, or a script that runs them.
///
/// # Errors
/// If the campaign cannot be read, or is wrong.
pub fn text(scheduler: Scheduler, request: &Request) -> Result<String> {
    let (bench, _) = request.bench()?;
    match scheduler {
        Scheduler::Cells => Ok(bench.nodes.iter().map(|node| format!("{}\n", line(node))).collect()),
        Scheduler::Slurm => script(include_str!("schedule/slurm.sh"), &bench, request),
        Scheduler::Kubernetes => script(include_str!("schedule/kubernetes.sh"), &bench, request),
    }
}

fn line(Node { id, cell, .. }: &Node) -> Value {
    json!({ "id": id, "layer": cell.layer(), "needs": cell.needs(), "what": cell.to_string(), "spec": cell })
}

/// The script of a scheduler, with as many cells in each layer as the campaign has.
fn script(template: &str, bench: &Bench, Request { campaign, out, strengths }: &Request) -> Result<String> {
    let tables = strengths.as_ref().map(|file| ("strengths", file));
    for (what, path) in [("campaign", campaign), ("out", out)].into_iter().chain(tables) {
        without_control(what, &path.display().to_string())?;
    }
    let layers = Layer::ALL.map(|layer| json!({ "name": layer, "n": bench.layer(layer).count() }));
    let tables = strengths.as_ref().map_or(String::new(), |file| format!(" --strengths {}", quoted(file)));
    let bench = format!("offnominal bench {} --out {}{tables}", quoted(campaign), quoted(out));
    let campaign = campaign.display().to_string();
    let given = Serde(json!({ "layers": layers, "bench": bench, "campaign": campaign }));
    Ok(format!("{}\n", Environment::new().render_str(template, given)?))
}

/// A path as a shell reads it back, whatever is in it.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_line_break_does_not_become_a_line_of_the_script() {
        let folder = tempfile::tempdir().unwrap();
        let campaign = folder.path().join("x\ntouch pwned\n#.toml");
        std::fs::write(&campaign, crate::run::DEMO.replace("\"mjc-cartpole-swingup\", ", "")).unwrap();
        let request = Request { campaign, out: "out".into(), strengths: None };
        let refused = |scheduler| text(scheduler, &request).unwrap_err().to_string();
        for scheduler in [Scheduler::Slurm, Scheduler::Kubernetes] {
            assert!(
                refused(scheduler).contains("campaign: expected no control character"),
                "{}",
                refused(scheduler)
            );
        }
    }

    #[test]
    fn a_path_is_nothing_that_a_script_executes() {
        let folder = tempfile::tempdir().unwrap();
        let campaign = folder.path().join("x$(touch pwned)`touch pwned`'.toml");
        std::fs::write(&campaign, crate::run::DEMO.replace("\"mjc-cartpole-swingup\", ", "")).unwrap();
        let request = Request { campaign, out: "out".into(), strengths: None };
        // What the script gives to the cluster is only shown.
        let tools = "sbatch() { echo 7; }; kubectl() { cat; }; export IMAGE=i CLAIM=c; ";
        for scheduler in [Scheduler::Slurm, Scheduler::Kubernetes] {
            let script = tools.to_string() + &text(scheduler, &request).unwrap();
            let mut shell = std::process::Command::new("bash");
            let output =
                shell.args(["-c", &script]).current_dir(folder.path()).stdin(std::process::Stdio::null());
            let output = output.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(!folder.path().join("pwned").exists(), "{said}");
            assert!(scheduler == Scheduler::Slurm || said.contains("x$(touch pwned)`touch pwned`"), "{said}");
        }
    }

    #[test]
    fn a_shell_reads_a_quoted_path_back() {
        let path = Path::new("it's $HOME/a b");
        let output =
            std::process::Command::new("sh").args(["-c", &format!("printf %s {}", quoted(path))]).output();
        assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), "it's $HOME/a b");
    }
}

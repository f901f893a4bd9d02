//! The scripts of `bench --plan` bring a campaign through clusters that are played by scripts of ours.

use crate::{offnominal, succeeds};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const CAMPAIGN: &str = r#"
name = "elsewhere"
seed = 5
envs = ["sap-goal0"]
policies = ["random"]
detectors = ["clock", "knn"]
anomalies = [{ id = "obs-offset", magnitude = 0.5 }]
replicates = 20
false_alarms = 0.2
video = false
episodes = { train = 6, validation = 5, test = 5 }
"#;

/// Runs each number of an array at once, and says what number the job has.
const SBATCH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
echo "$*" >> submitted
last=0
for argument; do case $argument in --array=0-*) last=${argument#--array=0-};; esac; done
for i in $(seq 0 "$last"); do SLURM_ARRAY_TASK_ID=$i bash -c "${!#}" >&2; done
echo "$(wc -l < submitted);cluster"
"#;

/// Keeps what is applied, and does it when it is waited for.
const KUBECTL: &str = r#"#!/usr/bin/env bash
set -euo pipefail
if [ "$1" = apply ]; then cat > job.yaml; exit; fi
n=$(sed -n 's/^ *completions: //p' job.yaml)
line=$(grep -A1 -- '- |' job.yaml | tail -1)
for i in $(seq 0 "$((n - 1))"); do JOB_COMPLETION_INDEX=$i sh -c "$line" >&2; done
"#;

/// A folder with a campaign, and programs by the names of a cluster's.
struct Cluster {
    folder: tempfile::TempDir,
}

impl Cluster {
    fn with(program: &str, text: &str) -> Cluster {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("it's.toml"), CAMPAIGN).unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        let binary = env!("CARGO_BIN_EXE_offnominal");
        std::os::unix::fs::symlink(binary, folder.path().join("bin/offnominal")).unwrap();
        let path = folder.path().join("bin").join(program);
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        Cluster { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Plans the campaign for a scheduler, and runs the script.
    fn run(&self, scheduler: &str) {
        let plan = ["bench", "it's.toml", "--plan", scheduler];
        let script = succeeds(offnominal(&plan, Path::new("out")).current_dir(&self.folder)).stdout;
        fs::write(self.path("script.sh"), script).unwrap();
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        let mut bash = Command::new("bash");
        bash.args(["script.sh", "--partition=short"]).env("PATH", path).current_dir(&self.folder);
        succeeds(bash.env("IMAGE", "offnominal:1").env("CLAIM", "shared"));
    }

    /// Whether the results are those of one machine.
    fn is_right(&self) -> bool {
        succeeds(offnominal(&["bench", "it's.toml"], Path::new("here")).current_dir(&self.folder));
        let table = |folder: &str| fs::read(self.path(folder).join("results.csv")).unwrap();
        table("out") == table("here")
    }
}

#[test]
fn slurm_arrays_end_with_the_same_bits() {
    let cluster = Cluster::with("sbatch", SBATCH);
    cluster.run("slurm");
    let submitted = fs::read_to_string(cluster.path("submitted")).unwrap();
    let arrays: Vec<&str> = submitted.lines().collect();
    assert_eq!(arrays.len(), 4, "{submitted}");
    assert!(
        arrays[0].contains("--array=0-3 --partition=short") && !arrays[0].contains("afterok"),
        "{submitted}"
    );
    assert!(arrays[2].contains("--array=0-1 --dependency=afterok:2 --partition=short"), "{submitted}");
    assert!(arrays[3].contains("--dependency=afterok:3"), "{submitted}");
    assert!(cluster.is_right());
}

#[test]
fn kubernetes_jobs_end_with_the_same_bits() {
    let cluster = Cluster::with("kubectl", KUBECTL);
    cluster.run("kubernetes");
    assert!(fs::read_to_string(cluster.path("job.yaml")).unwrap().contains("image: offnominal:1"));
    assert!(cluster.is_right());
}

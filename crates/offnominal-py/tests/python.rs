//! Runs the Python tests, in a virtual environment that is made once and kept below the target folder.
//!
//! The extension module is the one that cargo has just built, so nothing is compiled twice; `pip` only fetches what the
//! tests import. Without python3, pip or a way to fetch, this says that it was skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the tests import, as the project file lists it.
fn requirements() -> Vec<String> {
    let project = fs::read_to_string(root().join("pyproject.toml")).unwrap();
    let table: toml::Table = project.parse().unwrap();
    let project = &table["project"];
    let lists = [&project["dependencies"], &project["optional-dependencies"]["test"]];
    lists.iter().flat_map(|l| l.as_array().unwrap()).map(|r| r.as_str().unwrap().to_string()).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder of this build, which holds the test program and, beside it, the extension module.
fn build() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_path_buf()
}

/// Runs a command; what it said if it failed.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let said = [output.stdout, output.stderr].concat();
    output.status.success().then_some(()).ok_or_else(|| String::from_utf8_lossy(&said).into_owned())
}

/// The interpreter of the virtual environment, which is made anew when the requirements change.
fn python() -> Result<PathBuf, String> {
    let (wanted, venv) = (requirements().join("\n"), build().join("../../python-tests"));
    let (python, done) = (venv.join("bin/python3"), venv.join("complete"));
    if fs::read_to_string(&done).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    let pip = ["-m", "pip", "install", "--quiet", "--only-binary=:all:"];
    run(Command::new(&python).args(pip).args(requirements()))?;
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
        eprintln!("skipped: the virtual environment is laid out as on Unix");
        return;
    }
    let python = match python() {
        Ok(python) => python,
        Err(why) => return eprintln!("skipped: no Python environment for the tests could be made: {why}"),
    };
    let folder = tempfile::tempdir().unwrap();
    package(folder.path());
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "-p", "no:cacheprovider"]).current_dir(root());
    pytest.env("PYTHONPATH", folder.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    if let Err(said) = run(&mut pytest) {
        panic!("{said}");
    }
}

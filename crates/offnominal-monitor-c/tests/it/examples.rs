//! Programs in C and C++, and Python with ctypes, say what the Rust monitor says, bit for bit.

use crate::support::{NAMING, bits, library, rows, said};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"];

pub fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A folder with the monitor's file.
pub fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("linear.monitor"), &*NAMING).unwrap();
    folder
}

/// A program that is there, or a test that is skipped.
pub fn program(variable: &str, usual: &str, what: &str) -> Option<OsString> {
    let name = std::env::var_os(variable).unwrap_or_else(|| usual.into());
    let runs = Command::new(&name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if cfg!(unix) && runs.is_ok_and(|status| status.success()) {
        return Some(name);
    }
    skips::skip(usual, what);
    None
}

/// Compiles an example against the shared or the static library; the program.
fn compiled(compiler: OsString, standard: &str, source: &str, is_shared: bool, folder: &TempDir) -> PathBuf {
    let (library, program) = (library(is_shared), folder.path().join("watch"));
    let mut rpath = OsString::from("-Wl,-rpath,");
    rpath.push(library.parent().unwrap());
    let mut command = Command::new(compiler);
    command.arg(standard).args(STRICT).arg("-I").arg(here("include")).arg(here(source));
    command.arg(library).arg(rpath).args(["-lpthread", "-ldl", "-lm"]).arg("-o").arg(&program);
    succeeds(&command.output().unwrap());
    program
}

#[track_caller]
pub fn succeeds(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What a command says of rows.
fn fed(command: &mut Command, rows: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdin, rows) = (child.stdin.take().unwrap(), rows.to_string());
    // A program that ends early closes the pipe.
    let writer = std::thread::spawn(move || drop(stdin.write_all(rows.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[track_caller]
pub fn says_the_same(command: &mut Command) {
    let output = fed(command, &rows());
    succeeds(&output);
    let found = String::from_utf8(output.stdout).unwrap();
    let want = said(&NAMING, &rows());
    for word in ["diagnosis ", "share ", "candidate "] {
        assert!(want.len() > 300 && want.iter().any(|line| line.starts_with(word)), "{word}: {want:#?}");
    }
    assert_eq!(found.lines().map(bits).collect::<Vec<_>>(), want.iter().map(|w| bits(w)).collect::<Vec<_>>());
}

#[test]
fn a_program_in_c_says_the_same() {
    let Some(compiler) = program("CC", "cc", "a program in C") else { return };
    let folder = folder();
    let watch = compiled(compiler, "-std=c11", "examples/watch.c", true, &folder);
    says_the_same(Command::new(&watch).arg(folder.path().join("linear.monitor")));
    let refused = |file: &str, rows: &str| {
        let output = fed(Command::new(&watch).arg(folder.path().join(file)), rows);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused("none.monitor", "").contains("cannot read"));
    assert!(refused("linear.monitor", "1 2\n").contains("obs: expected 3 numbers, found 2"));
    assert!(refused("linear.monitor", "1 2 3 4 5\n").contains("found more"));
}

#[test]
fn a_program_in_cpp_says_the_same_with_the_static_library() {
    let Some(compiler) = program("CXX", "c++", "a program in C++") else { return };
    let folder = folder();
    let watch = compiled(compiler, "-std=c++17", "examples/watch.cpp", false, &folder);
    says_the_same(Command::new(&watch).arg(folder.path().join("linear.monitor")));
    let output = fed(Command::new(&watch).arg(folder.path().join("none.monitor")), "");
    assert_eq!(output.status.code(), Some(2));
}

/// What the example does not show: moves, errors with their status, and calls without exceptions.
#[test]
fn the_class_of_cpp_moves_throws_and_does_not_throw() {
    let Some(compiler) = program("CXX", "c++", "the class of C++") else { return };
    let folder = folder();
    let watch = compiled(compiler, "-std=c++17", "tests/it/class.cpp", true, &folder);
    succeeds(&Command::new(&watch).arg(folder.path().join("linear.monitor")).output().unwrap());
}

#[test]
fn python_with_ctypes_says_the_same() {
    let Some(python) = program("PYTHON", "python3", "ctypes") else { return };
    let folder = folder();
    let mut command = Command::new(python);
    command.arg(here("tests/it/watch.py")).arg(library(true)).arg(folder.path().join("linear.monitor"));
    says_the_same(&mut command);
}

/// No read of what was not written, no write beside what was allocated, nothing left.
#[test]
fn valgrind_finds_nothing_in_the_program_in_c() {
    if !skips::is_slow_tier("the program in C under valgrind") {
        return;
    }
    let Some(compiler) = program("CC", "cc", "a program in C under valgrind") else { return };
    let Some(valgrind) = program("VALGRIND", "valgrind", "the program in C under it") else { return };
    let folder = folder();
    let watch = compiled(compiler, "-std=c11", "examples/watch.c", true, &folder);
    let mut command = Command::new(valgrind);
    command.args(["--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite"]);
    let output = fed(command.arg(&watch).arg(folder.path().join("linear.monitor")), &rows());
    succeeds(&output);
    let n_lines = String::from_utf8(output.stdout).unwrap().lines().count();
    assert!(n_lines > 300, "{n_lines} lines");
}

//! The commands as a user runs them, one module per topic.

mod audit;
mod bench;
mod browser;
mod card;
mod clusters;
mod compare;
mod demo;
mod evidence;
mod image_networks;
mod images;
mod inside;
#[cfg(unix)]
mod interrupt;
mod live;
mod live_page;
mod log_pages;
mod manual;
mod minari;
mod monitor;
mod multifidelity;
mod networks;
mod ood_rl;
mod own_env;
mod pages;
mod pixels;
mod played;
mod ranges;
mod renders;
mod report;
mod robot;
mod rollouts;
mod ros;
mod schemas;
mod shift;
mod stress;
mod tables;
mod tidy;
mod twice;

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The command, with a folder for its output.
fn offnominal(args: &[&str], out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_offnominal"));
    command.args(args).arg("--out").arg(out).stdin(Stdio::null());
    command
}

/// The command, which is told by other options where its output goes.
fn bare(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_offnominal"));
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs the command to its end and insists on success.
#[track_caller]
fn succeeds(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Runs the command to its end, insists on exit code 2, and returns what it said.
#[track_caller]
fn fails(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said
}

/// Whether Python can import the modules; says so on standard error if it cannot.
fn python_has(modules: &str) -> bool {
    let found = Command::new("python3").args(["-c", &format!("import {modules}")]).output();
    let has = found.is_ok_and(|o| o.status.success());
    if !has {
        skips::skip(&format!("python: {modules}"), "python3 cannot import them");
    }
    has
}

/// Runs a Python program and returns what it prints.
#[track_caller]
fn python(program: &str, args: &[&Path], environment: &[(&str, &Path)]) -> String {
    let mut command = Command::new("python3");
    command.arg("-c").arg(program).args(args).envs(environment.iter().copied());
    String::from_utf8(succeeds(&mut command).stdout).unwrap()
}

//! What a release has: the library, its headers, and what tells pkg-config and CMake of them, wherever it is unpacked.

use crate::examples::{folder, here, program, says_the_same, succeeds};
use crate::support::library;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The targets whose libraries are called as those of this machine, which builds none for others.
fn target() -> &'static str {
    match std::env::consts::OS {
        "macos" => "aarch64-apple-darwin",
        _ => "x86_64-unknown-linux-gnu",
    }
}

fn packaging(script: &str) -> PathBuf {
    here("../../packaging").join(script)
}

/// The library as it is laid out, and then moved.
fn laid_out(python: &OsString, folder: &TempDir) -> PathBuf {
    let (first, then) = (folder.path().join("first"), folder.path().join("then moved"));
    let mut command = Command::new(python);
    command.arg(packaging("c_library.py")).args(["--target", target()]);
    command.arg("--from").arg(library(true).parent().unwrap()).arg("--out").arg(&first);
    succeeds(&command.output().unwrap());
    std::fs::rename(first, &then).unwrap();
    then
}

/// What pkg-config says of the library in a folder.
fn asked(pkg_config: &OsString, folder: &Path, options: &[&str]) -> Vec<String> {
    let mut command = Command::new(pkg_config);
    command.env("PKG_CONFIG_PATH", folder.join("lib/pkgconfig")).args(options).arg("offnominal-monitor");
    let output = command.output().unwrap();
    succeeds(&output);
    shlex(&String::from_utf8(output.stdout).unwrap())
}

/// Words, of which a blank within one has a backslash before it.
fn shlex(text: &str) -> Vec<String> {
    let words = text.replace("\\ ", "\u{1}");
    words.split_whitespace().map(|word| word.replace('\u{1}', " ")).collect()
}

#[test]
fn pkg_config_finds_the_library_wherever_it_lies() {
    let Some(python) = program("PYTHON", "python3", "the C library as a release has it") else { return };
    let Some(pkg_config) = program("PKG_CONFIG", "pkg-config", "the C library by pkg-config") else { return };
    let Some(compiler) = program("CC", "cc", "the C library by pkg-config") else { return };
    let folder = folder();
    let place = laid_out(&python, &folder);
    let (flags, watch) = (asked(&pkg_config, &place, &["--cflags", "--libs"]), folder.path().join("watch"));
    let mut command = Command::new(compiler);
    command
        .args(["-std=c11", "-Wall", "-Werror"])
        .arg(here("examples/watch.c"))
        .args(flags)
        .arg("-o")
        .arg(&watch);
    succeeds(&command.output().unwrap());
    let mut command = Command::new(&watch);
    for variable in ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"] {
        command.env(variable, place.join("lib"));
    }
    says_the_same(command.arg(folder.path().join("linear.monitor")));
    assert_eq!(asked(&pkg_config, &place, &["--modversion"]), [env!("CARGO_PKG_VERSION")]);
    assert!(asked(&pkg_config, &place, &["--static", "--libs"]).contains(&"-lm".to_string()));
}

#[test]
fn cmake_finds_the_library_wherever_it_lies() {
    let Some(python) = program("PYTHON", "python3", "the C library as a release has it") else { return };
    let Some(cmake) = program("CMAKE", "cmake", "the C library by find_package") else { return };
    let folder = folder();
    let (place, project) = (laid_out(&python, &folder), folder.path().join("project"));
    std::fs::create_dir(&project).unwrap();
    let text = format!(
        "cmake_minimum_required(VERSION 3.16)\nproject(watch C CXX)\nset(CMAKE_CXX_STANDARD 17)\n\
         find_package(offnominal-monitor {} REQUIRED)\n\
         add_executable(shared {example}.c)\ntarget_link_libraries(shared PRIVATE offnominal::monitor)\n\
         add_executable(static {example}.cpp)\ntarget_link_libraries(static PRIVATE offnominal::monitor-static)\n",
        env!("CARGO_PKG_VERSION"),
        example = here("examples/watch").display()
    );
    std::fs::write(project.join("CMakeLists.txt"), text).unwrap();
    let build = project.join("build");
    let mut command = Command::new(&cmake);
    command.arg("-S").arg(&project).arg("-B").arg(&build);
    command.arg(format!("-DCMAKE_PREFIX_PATH={}", place.display()));
    succeeds(&command.output().unwrap());
    succeeds(&Command::new(&cmake).arg("--build").arg(&build).output().unwrap());
    for name in ["shared", "static"] {
        says_the_same(Command::new(build.join(name)).arg(folder.path().join("linear.monitor")));
    }
}

/// It packs megabytes, so the library of the quick tier is not packed.
#[test]
fn an_archive_has_the_library_beside_the_program() {
    if !skips::is_slow_tier("packing an archive") {
        return;
    }
    let Some(python) = program("PYTHON", "python3", "an archive of a release") else { return };
    let (folder, built) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for shared in [true, false] {
        let file = library(shared);
        std::fs::copy(&file, built.path().join(file.file_name().unwrap())).unwrap();
    }
    // It stands for the program, which this crate does not have; what does not run has no manual.
    std::fs::write(built.path().join("offnominal"), "a stand-in").unwrap();
    let mut command = Command::new(&python);
    command.arg(packaging("archive.py")).args(["--target", target()]);
    succeeds(&command.arg("--from").arg(built.path()).arg("--out").arg(folder.path()).output().unwrap());
    let name = format!("offnominal-{}-{}", env!("CARGO_PKG_VERSION"), target());
    let archive = folder.path().join(format!("{name}.tar.gz"));
    let listed = Command::new("tar").arg("-tzf").arg(archive).output().unwrap();
    succeeds(&listed);
    let listed = String::from_utf8(listed.stdout).unwrap();
    for file in [
        "bin/offnominal",
        "include/offnominal_monitor.h",
        "include/offnominal_stream.hpp",
        "lib/liboffnominal_monitor_c.a",
        "lib/pkgconfig/offnominal-monitor.pc",
        "lib/cmake/offnominal-monitor/offnominal-monitor-config.cmake",
        "share/offnominal/agents/shift/policies.zip",
        "LICENSE-MIT",
    ] {
        assert!(listed.lines().any(|line| line == format!("{name}/{file}")), "{file}: {listed}");
    }
}

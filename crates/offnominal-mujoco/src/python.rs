//! Starting Python so that nothing in the current folder is executed.
//!
//! `python -c` and `python -m` look for modules in the current folder first, so a file `mmap.py` there would run in the
//! place of the library's. Python 3.11 and later leave that folder out where `PYTHONSAFEPATH` is set; for 3.10 the first
//! line of every program does it, before anything is imported but `sys`, which is built in.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The first line of every program.
const SAFE_PATH: &str = "import sys; sys.path[:] = [folder for folder in sys.path if folder]\n";

/// An interpreter that runs a program, given as text; arguments follow. Processes that the program starts are as careful.
pub fn program(interpreter: &Path, text: &str) -> Command {
    let mut command = Command::new(interpreter);
    command.env("PYTHONSAFEPATH", "1").arg("-c").arg(format!("{SAFE_PATH}{text}"));
    command
}

/// An interpreter that runs an installed module, as `python -m` does; arguments follow.
pub fn module(interpreter: &Path, name: &str) -> Command {
    let run = format!(
        "import runpy; sys.argv[0] = {name:?}\nrunpy.run_module({name:?}, run_name='__main__', alter_sys=True)"
    );
    program(interpreter, &run)
}

/// A package that is installed beside an interpreter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its version.
    pub version: String,
    /// The folder of its modules.
    pub folder: PathBuf,
}

/// Prints the version and the folder of the package that the argument names.
const QUESTION: &str = "\
import importlib.metadata as metadata, importlib.util as util
print(metadata.version(sys.argv[1]))
print(util.find_spec(sys.argv[1]).submodule_search_locations[0])";

/// Asks an interpreter for a package, which is not imported (that may take a second). The name is that of its modules;
/// the name under which pip installs it differs from that in hyphens at most.
///
/// # Errors
/// If the interpreter cannot be run or has no such package, in words.
pub fn package(interpreter: &Path, name: &str) -> Result<Package, String> {
    let python = interpreter.display();
    let answer = program(interpreter, QUESTION).arg(name).output();
    let answer = answer.map_err(|e| format!("{python} cannot be run: {e}"))?;
    let text = String::from_utf8_lossy(&answer.stdout);
    match text.trim_end().split_once('\n') {
        Some((version, folder)) if answer.status.success() => {
            Ok(Package { version: version.trim().into(), folder: folder.trim().into() })
        }
        _ => Err(format!("{python} has no package {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_found_without_being_imported() {
        let found = package(Path::new("python3"), "pip").unwrap();
        assert!(found.folder.join("__main__.py").is_file() && found.version.contains('.'), "{found:?}");
        let missing = package(Path::new("python3"), "no_such_package").unwrap_err();
        assert_eq!(missing, "python3 has no package no_such_package");
        assert!(package(Path::new("no-python"), "pip").unwrap_err().starts_with("no-python cannot be run"));
    }

    /// Runs a command in a folder with modules that leave a trace where they are imported.
    fn traces(command: &mut Command, modules: &[&str]) -> (Vec<String>, String) {
        let folder = tempfile::tempdir().unwrap();
        for module in modules {
            let path = folder.path().join(module);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "open('executed-' + __name__.replace('/', '_'), 'w')").unwrap();
        }
        let output = command.current_dir(folder.path()).output().unwrap();
        let entries = std::fs::read_dir(folder.path()).unwrap().flatten();
        let names = entries.map(|e| e.file_name().to_string_lossy().into_owned());
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (names.filter(|name| name.starts_with("executed")).collect(), said)
    }

    #[test]
    fn modules_of_the_current_folder_are_not_executed() {
        // Without the environment variable too, as in Python 3.10.
        for forgets in [false, true] {
            let mut command = program(Path::new("python3"), "import mmap, importlib.metadata; print('done')");
            if forgets {
                command.env_remove("PYTHONSAFEPATH");
            }
            let (traces, said) = traces(&mut command, &["mmap.py", "importlib/metadata.py", "importlib.py"]);
            assert!(traces.is_empty() && said.contains("done"), "{traces:?} {said}");
        }
    }

    #[test]
    fn a_module_of_the_current_folder_is_not_taken_for_an_installed_one() {
        let mut command = module(Path::new("python3"), "pip");
        command.arg("--version").env_remove("PYTHONSAFEPATH");
        let (traces, said) = traces(&mut command, &["pip/__main__.py", "pip/__init__.py", "runpy.py"]);
        assert!(traces.is_empty(), "{traces:?} {said}");
    }
}

//! `doctor`: what works on this machine, and what to install for the rest. Nothing is fetched, and no file is kept.

use crate::data;
use anyhow::Result;
use clap::Args;
use offnominal_hosts::foreign;
use offnominal_mujoco::{library, python};
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::thread::available_parallelism;

/// Nothing is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct Request {}

/// What was looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Version of the program.
    pub version: String,
    /// Operating system and processor.
    pub machine: String,
    /// Processor cores that may be used.
    pub cores: usize,
    /// Each thing, whether it is there, and what needs it.
    pub things: Vec<Thing>,
}

/// One thing that some commands need.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Thing {
    /// Its name.
    pub name: String,
    /// Whether it can be used.
    pub works: bool,
    /// Where it is and its version; why it cannot be used.
    pub found: String,
    /// What needs it.
    pub needed_for: String,
    /// What to do where it cannot be used.
    pub remedy: Option<String>,
}

/// Packages of Python, what needs them, and how pip calls them.
const PACKAGES: &[(&str, &str, &str)] = &[
    ("gymnasium", "environments `gymnasium:ID`", "gymnasium"),
    ("numpy", "environments and policies in Python", "numpy"),
    (
        "stable_baselines3",
        "policies of Stable-Baselines3 that have layers of their own; others need no Python",
        "stable-baselines3",
    ),
    ("minari", "data sets of Minari by their id; their files need no Python", "minari"),
];

/// Looks at everything.
///
/// # Errors
/// Never; the type is that of every command.
pub fn run(_: &Request) -> Result<Report> {
    let python = foreign::interpreter();
    let mut things = vec![interpreter(&python)];
    if things[0].works {
        things.extend(PACKAGES.iter().map(|package| of_python(&python, package)));
    }
    things.extend([mujoco(), networks(), data_folder(), temporary()]);
    Ok(Report {
        version: env!("CARGO_PKG_VERSION").into(),
        machine: format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH),
        cores: available_parallelism().map_or(1, usize::from),
        things,
    })
}

impl Thing {
    fn new(name: &str, needed_for: &str, found: Result<String, String>, remedy: String) -> Thing {
        let works = found.is_ok();
        let remedy = (!works).then_some(remedy);
        let found = found.unwrap_or_else(|why| why);
        Thing { name: name.into(), works, found, needed_for: needed_for.into(), remedy }
    }
}

fn interpreter(python: &Path) -> Thing {
    let version = python::program(python, "print(sys.version.split()[0])").output();
    let found = match version {
        Err(why) => Err(format!("{} cannot be run: {why}", python.display())),
        Ok(said) if !said.status.success() => Err(format!("{} ended with {}", python.display(), said.status)),
        Ok(said) => Ok(format!("{} {}", python.display(), String::from_utf8_lossy(&said.stdout).trim())),
    };
    let remedy = format!("install Python 3.10 or later, or set {} to its path", foreign::PYTHON);
    Thing::new(
        "Python",
        "environments and policies in Python; logs and built-in environments need none",
        found,
        remedy,
    )
}

fn of_python(python: &Path, (name, needed_for, pip): &(&str, &str, &str)) -> Thing {
    let found = python::package(python, name).map(|found| found.version);
    Thing::new(name, needed_for, found, format!("{} -m pip install {pip}", python.display()))
}

fn mujoco() -> Thing {
    let found = library::present().map(|place| format!("{} from {place}", library::VERSION));
    let remedy = format!(
        "pip install mujoco=={}; or give python3 with pip access to PyPI once: the first use fetches it",
        library::VERSION
    );
    Thing::new(
        "MuJoCo",
        "environments mjc-*, ur*, hopper, walker, ant, humanoid-stand, half-cheetah-m",
        found,
        remedy,
    )
}

fn networks() -> Thing {
    let found = match cfg!(feature = "deep") {
        true => Ok("in this build".into()),
        false => Err("not in this build".into()),
    };
    let remedy = "build the program with `--features deep`".to_string();
    Thing::new("convolutional networks", "`pixels train`, `images fit` of networks", found, remedy)
}

fn data_folder() -> Thing {
    let missing = data::FILES.iter().find_map(|file| data::path(file).err());
    let found = match missing {
        Some(why) => Err(format!("{why:#}")),
        None => Ok(data::folder_of(data::FILES[0])),
    };
    let remedy = format!("set {} to the repository's folder agents/", data::FOLDER);
    Thing::new("data folder", "`shift` and the networks of `pixels`", found, remedy)
}

fn temporary() -> Thing {
    let folder = std::env::temp_dir();
    let found = tempfile::tempdir().map(|_| folder.display().to_string());
    let found = found.map_err(|why| format!("{}: {why}", folder.display()));
    Thing::new(
        "temporary folder",
        "environments in Python",
        found,
        "set TMPDIR to a folder that can be written".into(),
    )
}

impl Display for Report {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Report { version, machine, cores, things } = self;
        writeln!(out, "offnominal {version}, {machine}, {cores} cores")?;
        let width = things.iter().map(|thing| thing.name.len()).max().unwrap_or_default();
        for Thing { name, works, found, needed_for, remedy } in things {
            let mark = if *works { "ok     " } else { "missing" };
            writeln!(out, "  {mark}  {name:<width$}  {found}")?;
            if let Some(remedy) = remedy {
                writeln!(out, "           {:<width$}  needed for {needed_for}", "")?;
                writeln!(out, "           {:<width$}  to do: {remedy}", "")?;
            }
        }
        write!(
            out,
            "Logs, built-in environments without MuJoCo, and pages need nothing else; any browser opens the pages."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_that_is_none_is_missing_with_what_to_do() {
        let found = interpreter(Path::new("/no/such/python"));
        assert!(!found.works && found.found.contains("/no/such/python cannot be run"), "{found:?}");
        assert!(found.remedy.is_some_and(|text| text.contains("OFFNOMINAL_PYTHON")));
        let none = of_python(Path::new("/no/such/python"), &PACKAGES[0]);
        assert!(!none.works && none.remedy.is_some_and(|text| text.ends_with("pip install gymnasium")));
    }

    #[test]
    fn what_is_missing_stands_with_what_needs_it() {
        let report = run(&Request {}).unwrap();
        let text = report.to_string();
        for thing in &report.things {
            assert_eq!(thing.works, thing.remedy.is_none(), "{thing:?}");
            assert!(
                text.contains(&thing.name) && (thing.works || text.contains(&thing.needed_for)),
                "{text}"
            );
        }
        assert!(report.things.iter().any(|thing| thing.name == "MuJoCo"));
    }
}

//! Fetching the published wheel with pip, checking it, and unpacking the one file that is needed.

use crate::locate::Places;
use crate::python;
use crate::{FetchError, VERSION};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A published wheel: for which machine, its checksum, and the library inside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wheel {
    os: &'static str,
    arch: &'static str,
    /// The platform tag by which pip is asked for it.
    tag: &'static str,
    sha256: &'static str,
    /// Path of the shared library inside.
    member: &'static str,
}

/// The wheels of MuJoCo 3.17.0 for CPython 3.11 on PyPI (none is published for macOS on Intel).
const WHEELS: [Wheel; 4] = [
    Wheel {
        os: "linux",
        arch: "x86_64",
        tag: "manylinux_2_28_x86_64",
        sha256: "d66928d86a2d1b601bbaa4dc11db50214d17d5301bb8afd84721313b67ff0874",
        member: "mujoco/libmujoco.so.3.17.0",
    },
    Wheel {
        os: "linux",
        arch: "aarch64",
        tag: "manylinux_2_28_aarch64",
        sha256: "91a70ed9979c383ff1f5c03f25cc2e1280a8254c1a8e558d5dd7f4184f01efc9",
        member: "mujoco/libmujoco.so.3.17.0",
    },
    Wheel {
        os: "macos",
        arch: "aarch64",
        tag: "macosx_11_0_arm64",
        sha256: "6c324addca24a24a7b0beff2ec49300e9d4481fd8ccd611514ba7ea8e4a5e870",
        member: "mujoco/libmujoco.3.17.0.dylib",
    },
    Wheel {
        os: "windows",
        arch: "x86_64",
        tag: "win_amd64",
        sha256: "390c4820796e2b905f64f011ae3c307d686f8548a3571b7420da0001ee6faaf2",
        member: "mujoco/mujoco.dll",
    },
];

impl Wheel {
    /// The wheel for the machine that this program runs on.
    pub(crate) fn of_this_machine() -> Result<Wheel, FetchError> {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        let wheel = WHEELS.iter().find(|w| (w.os, w.arch) == (os, arch));
        wheel.copied().ok_or(FetchError::UnknownPlatform { os, arch })
    }

    /// The name of the library, in the package's folder as in the cache.
    pub(crate) fn file_name(&self) -> &'static str {
        self.member.rsplit('/').next().expect("a path has a last part")
    }
}

/// Downloads, checks and unpacks the library; returns where it is then.
///
/// The file appears in the cache folder complete or not at all.
pub(crate) fn into_cache(places: &Places, progress: &mut dyn FnMut(&str)) -> Result<PathBuf, FetchError> {
    let wheel = Wheel::of_this_machine()?;
    let cache = places.cache.as_ref().ok_or(FetchError::NoCacheFolder)?;
    std::fs::create_dir_all(cache).map_err(FetchError::io(cache))?;
    let folder = tempfile::tempdir_in(cache).map_err(FetchError::io(cache))?;
    progress(&format!("downloading MuJoCo {VERSION} with pip (about 8 MB, once)"));
    let file = download(&places.python, &wheel, folder.path())?;
    check(&file, &wheel)?;
    let library = cache.join(wheel.file_name());
    unpack(&file, &wheel, &library)?;
    progress(&format!("MuJoCo {VERSION} is now in {}", library.display()));
    Ok(library)
}

fn download(interpreter: &Path, wheel: &Wheel, folder: &Path) -> Result<PathBuf, FetchError> {
    let failed = |reason: String| FetchError::Pip { python: interpreter.display().to_string(), reason };
    let output = python::module(interpreter, "pip")
        .args(["download", "--no-deps", "--only-binary=:all:", "--python-version", "3.11"])
        .args(["--implementation", "cp", "--platform", wheel.tag, &format!("mujoco=={VERSION}")])
        .args(["--quiet", "--disable-pip-version-check", "--dest"])
        .arg(folder)
        .output()
        .map_err(|e| failed(e.to_string()))?;
    if !output.status.success() {
        return Err(failed(gist(&String::from_utf8_lossy(&output.stderr))));
    }
    let mut files = std::fs::read_dir(folder).map_err(FetchError::io(folder))?.flatten().map(|f| f.path());
    files.find(|f| f.extension().is_some_and(|e| e == "whl")).ok_or_else(|| failed("no wheel came".into()))
}

/// The first and the last line of what pip said: the cause (such as a missing network) and the outcome.
fn gist(said: &str) -> String {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    match (lines.next(), lines.next_back()) {
        (Some(first), Some(last)) => format!("{first} … {last}"),
        (Some(only), None) => only.into(),
        _ => "pip said nothing".into(),
    }
}

fn check(file: &Path, wheel: &Wheel) -> Result<(), FetchError> {
    let bytes = std::fs::read(file).map_err(FetchError::io(file))?;
    let found: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if found == wheel.sha256 {
        return Ok(());
    }
    Err(FetchError::Checksum { file: file.into(), expected: wheel.sha256, found })
}

/// Writes the library aside and then renames it, so that no other process sees half of it.
fn unpack(file: &Path, wheel: &Wheel, library: &Path) -> Result<(), FetchError> {
    let archive = |source| FetchError::Archive { file: file.into(), member: wheel.member, source };
    let opened = File::open(file).map_err(FetchError::io(file))?;
    let mut zip = zip::ZipArchive::new(opened).map_err(archive)?;
    let mut member = zip.by_name(wheel.member).map_err(archive)?;
    let folder = library.parent().expect("the library lies in the cache folder");
    let mut aside = tempfile::NamedTempFile::new_in(folder).map_err(FetchError::io(folder))?;
    std::io::copy(&mut member, &mut aside).map_err(FetchError::io(aside.path()))?;
    aside.persist(library).map_err(|e| FetchError::io(library)(e.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A wheel for this machine with the given bytes as its library.
    fn wheel_file(folder: &Path, member: &str, bytes: &[u8]) -> PathBuf {
        let path = folder.join("mujoco.whl");
        let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
        zip.start_file(member, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
        zip.finish().unwrap();
        path
    }

    #[test]
    fn the_library_is_unpacked_whole() {
        let folder = tempfile::tempdir().unwrap();
        let wheel = WHEELS[0];
        let file = wheel_file(folder.path(), wheel.member, b"machine code");
        let library = folder.path().join(wheel.file_name());
        unpack(&file, &wheel, &library).unwrap();
        assert_eq!(std::fs::read(library).unwrap(), b"machine code");
    }

    #[test]
    fn a_wheel_without_the_library_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let file = wheel_file(folder.path(), "mujoco/other", b"");
        let library = folder.path().join("library");
        let message = unpack(&file, &WHEELS[0], &library).unwrap_err().to_string();
        assert!(message.contains("libmujoco.so.3.17.0"), "{message}");
        assert!(!library.exists());
    }

    /// A pip that delivers something else than the published wheel.
    #[cfg(unix)]
    #[test]
    fn a_wheel_with_another_checksum_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let script = "for last; do :; done\necho forged > \"$last/mujoco.whl\"\n";
        let python = crate::locate::fake_python(folder.path(), script);
        let cache = folder.path().join("cache");
        let places = Places { named: None, python, cache: Some(cache.clone()) };
        let error = into_cache(&places, &mut |_| ()).unwrap_err();
        assert!(matches!(error, FetchError::Checksum { .. }), "{error}");
        assert_eq!(std::fs::read_dir(cache).unwrap().count(), 0);
    }

    #[test]
    fn what_pip_said_is_cut_to_cause_and_outcome() {
        assert_eq!(
            gist("WARNING: refused\nWARNING: refused\n\nERROR: none\n"),
            "WARNING: refused … ERROR: none"
        );
        assert_eq!((gist("ERROR: none\n"), gist("\n")), ("ERROR: none".into(), "pip said nothing".into()));
    }

    #[test]
    fn every_wheel_names_a_library_of_the_version_and_a_whole_checksum() {
        for wheel in WHEELS {
            assert_eq!(wheel.sha256.len(), 64);
            assert!(wheel.os == "windows" || wheel.file_name().contains(VERSION));
        }
    }
}

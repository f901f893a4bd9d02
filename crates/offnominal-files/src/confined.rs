//! A process that does the work of a bundle which anybody may have made: it starts no program, connects to nobody, and
//! writes only below one folder.
//!
//! Nothing is concluded from how a command looks. Who starts a program, opens a connection or writes a file asks here
//! first, so there is no way of writing a command that leads around it.

use anyhow::{Context as _, Result, ensure};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// The variable that confines a process to a folder. It is passed on to every process that this one starts.
pub const FOLDER: &str = "OFFNOMINAL_CONFINED";

/// The folder to which this process is confined, if it is.
pub fn folder() -> Option<&'static Path> {
    static READ: OnceLock<Option<PathBuf>> = OnceLock::new();
    READ.get_or_init(|| std::env::var_os(FOLDER).map(PathBuf::from)).as_deref()
}

/// Asks to start a program or to open a connection.
///
/// # Errors
/// If this process is confined; the message names what would have run.
pub fn may_run(what: &str) -> Result<()> {
    allowed(folder(), what)
}

/// Asks to write a file or a folder.
///
/// # Errors
/// If this process is confined to a folder in which it is not.
pub fn may_write(path: &Path) -> Result<()> {
    folder().map_or(Ok(()), |folder| within(folder, path))
}

fn allowed(folder: Option<&Path>, what: &str) -> Result<()> {
    ensure!(
        folder.is_none(),
        "the work would run {what}, which the bundle names; if you trust it, --allow-programs does it"
    );
    Ok(())
}

/// Whether a path lies in a folder, whatever links and `..` stand in it.
fn within(folder: &Path, path: &Path) -> Result<()> {
    let whole = std::path::absolute(path).with_context(|| path.display().to_string())?;
    let is_plain = !whole.components().any(|part| part == Component::ParentDir);
    let real = whole.ancestors().find_map(|above| above.canonicalize().ok());
    let is_inside =
        real.zip(folder.canonicalize().ok()).is_some_and(|(real, folder)| real.starts_with(folder));
    ensure!(
        is_plain && is_inside,
        "the work would write {}, outside its own folder; a bundle may not",
        path.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confined_process_runs_nothing_and_any_other_what_it_wants() {
        assert!(allowed(None, "command:x").is_ok());
        let why = allowed(Some(Path::new("x")), "command:x").unwrap_err().to_string();
        assert!(why.contains("command:x") && why.contains("--allow-programs"), "{why}");
    }

    #[test]
    fn it_writes_into_its_folder_only() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), inside.path().join("link")).unwrap();
        let (inside, outside) = (inside.path(), outside.path());
        for path in [inside.join("a/b.csv"), inside.to_path_buf(), inside.join("./a")] {
            within(inside, &path).unwrap();
        }
        for path in [outside.join("a"), inside.join("link/a"), inside.join("a/../../b"), "relative".into()] {
            let why = within(inside, &path).unwrap_err().to_string();
            assert!(why.contains("outside its own folder"), "{why}");
        }
    }
}

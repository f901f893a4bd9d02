//! Files beside a network, in which its weights lie.

use anyhow::{Context, Result, ensure};
use offnominal_agents::onnx::{Beside, Onnx};
use offnominal_core::limits::GRAPH_NUMBERS;
use offnominal_files::read;
use std::path::{Component, Path};

/// Bytes of all weights at most: as many numbers as a graph may hold, of 64 bits.
const MOST_BYTES: u64 = GRAPH_NUMBERS as u64 * 8;

/// Reads the files that a network names; they must be in its folder.
///
/// # Errors
/// If one is elsewhere, too long, or cannot be read.
pub fn read(network: &Path, bytes: &[u8]) -> Result<Beside> {
    let (mut found, mut left) = (Beside::new(), MOST_BYTES);
    for name in Onnx::files(bytes)? {
        let is_inside = Path::new(&name).components().all(|part| matches!(part, Component::Normal(_)));
        ensure!(
            is_inside && !name.is_empty(),
            "weights: expected a file in the folder of the network, found {name:?}"
        );
        let folder = network.parent().unwrap_or(Path::new(""));
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let path = folder.join(&name);
        let missing = || format!("weights: expected the file {name:?} beside the network, found none");
        let (real, home) = (path.canonicalize().with_context(missing)?, folder.canonicalize()?);
        let length = std::fs::metadata(&real)?.len();
        ensure!(
            real.is_file() && real.starts_with(home),
            "weights: {name:?} leads out of the folder of the network"
        );
        ensure!(
            length <= left,
            "weights: expected at most {MOST_BYTES} bytes in all, found more with {name:?}"
        );
        left -= length;
        found.insert(name, read::bytes(&real)?);
    }
    Ok(found)
}

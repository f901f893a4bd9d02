//! The readers: each takes any bytes and says whether it accepts them.

pub mod files;
pub mod images;
pub mod logs;
pub mod outcomes;
pub mod policies;
pub mod requests;
pub mod rollouts;
pub mod wires;
pub mod works;

use std::io::Write;

/// A file of these bytes, for what reads files only.
pub(crate) fn on_disk(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(bytes).expect("a temporary file can be written");
    file
}

/// The bytes of hexadecimal digits.
pub(crate) fn digits(text: &str) -> Vec<u8> {
    (0..text.len() / 2).filter_map(|i| u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()).collect()
}

/// Reads bytes whose digest, if it is the only thing that is wrong, is mended first: what is behind it counts.
///
/// `outcome` gives the stored digest and the true one, in hexadecimal digits, if they differ.
pub(crate) fn mended<T>(
    bytes: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, Option<(Vec<u8>, Vec<u8>)>>,
) -> Option<T> {
    match decode(bytes) {
        Ok(found) => Some(found),
        Err(None) => None,
        Err(Some((stored, found))) => {
            let at = bytes.windows(stored.len().max(1)).rposition(|w| w == stored)?;
            let mut bytes = bytes.to_vec();
            bytes.splice(at..at + stored.len(), found);
            decode(&bytes).ok()
        }
    }
}

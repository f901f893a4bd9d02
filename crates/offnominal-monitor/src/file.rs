//! The file of a monitor: safetensors, with a header and a digest of everything.
//!
//! Each list of numbers is a tensor of one dimension, so that any reader of the format can look into the file. Whole numbers have
//! the narrowest type that holds all numbers of their list, as trees are long lists of small ones. The header is JSON in its
//! metadata. The tensor `digest` holds the SHA-256 of the header and of all other tensors.

use crate::about::About;
use crate::error::FileError;
use offnominal_core::archive::{Archive, Numbers};
use offnominal_nets::Tensors;
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The version of the file format that this engine writes and reads. Every engine that has it opens what another one wrote, with
/// the same bits of scores: a detector that learns or scores something else makes a new one,
/// and so does a header with a new key.
pub const FORMAT: u32 = 4;
/// Name of the header among the texts of the file.
const HEADER: &str = "offnominal";
/// Name of the digest among the tensors.
const DIGEST: &str = "digest";

/// Writes a monitor; the same monitor always gives the same bytes.
///
/// # Panics
/// If a list of the archive is called `digest`.
pub fn encode(about: &About, archive: &Archive) -> Vec<u8> {
    seal(serde_json::to_string(about).expect("a header is valid JSON"), archive)
}

/// Writes named lists of numbers under a header, which is JSON with `format`.
///
/// # Panics
/// If a list of the archive is called `digest`.
pub fn seal(header: String, archive: &Archive) -> Vec<u8> {
    let mut lists: Vec<(&str, Dtype, Vec<u8>)> =
        archive.lists.iter().map(|(name, list)| (name.as_str(), dtype(list), bytes(list))).collect();
    assert!(!archive.lists.contains_key(DIGEST), "no list may be called {DIGEST}");
    let digest = digest(&header, lists.iter().map(|(n, t, b)| (*n, *t, &b[..])));
    lists.push((DIGEST, Dtype::U8, digest));
    let views = lists.iter().map(|(name, dtype, data)| {
        let len = data.len() / (dtype.bitsize() / 8);
        (*name, TensorView::new(*dtype, vec![len], data).expect("the length is that of the data"))
    });
    let texts = HashMap::from([(HEADER.to_string(), header)]);
    serialize(views, Some(texts)).expect("names are unique and lengths right")
}

/// Reads a monitor; what its detector learned is not looked at yet.
///
/// # Errors
/// If the bytes are cut off, were edited, or have another version.
pub fn decode(bytes: &[u8]) -> Result<(About, Archive), FileError> {
    let (header, archive) = unseal(bytes)?;
    let about: About =
        serde_json::from_str(&header).map_err(|e| FileError::Format { found: format!("a header: {e}") })?;
    check(&about)?;
    Ok((about, archive))
}

/// Whether a file begins as a monitor does, of whichever version; 64 bytes are enough to tell.
pub fn is_monitor(first: &[u8]) -> bool {
    let begins = format!("{{\"__metadata__\":{{\"{HEADER}\":");
    first.get(8..).is_some_and(|header| header.starts_with(begins.as_bytes()))
}

/// What bytes without a header of ours are, as far as they tell.
fn something_else(bytes: &[u8]) -> &'static str {
    match std::str::from_utf8(&bytes[..bytes.len().min(64)]) {
        _ if bytes.is_empty() => "an empty file",
        Ok(_) => "a text; the monitor comes before the logs",
        Err(_) => "a file of something else, or one that was cut off",
    }
}

/// Reads what [`seal`] wrote, with this version of the format.
///
/// # Errors
/// As [`decode`].
pub fn unseal(bytes: &[u8]) -> Result<(String, Archive), FileError> {
    let malformed = |found: &dyn std::fmt::Display| FileError::Format { found: found.to_string() };
    Tensors::check_header(bytes).map_err(|_| malformed(&something_else(bytes)))?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| malformed(&e))?;
    let file = SafeTensors::deserialize(bytes).map_err(|e| malformed(&e))?;
    let header = metadata.metadata().as_ref().and_then(|texts| texts.get(HEADER));
    let header = header.ok_or_else(|| malformed(&"tensors without a header"))?;
    version(header)?;
    verify(header, &file)?;
    let mut archive = Archive::default();
    for (name, view) in file.iter().filter(|(name, _)| *name != DIGEST) {
        archive.lists.insert(name.to_string(), numbers(name, &view)?);
    }
    Ok((header.clone(), archive))
}

/// The version is looked at before anything else, so that a newer file is called newer and not broken.
fn version(header: &str) -> Result<(), FileError> {
    #[derive(Deserialize)]
    struct Versions {
        format: u32,
    }
    let Versions { format } = serde_json::from_str(header)
        .map_err(|e| FileError::Format { found: format!("a header without a version: {e}") })?;
    if format == FORMAT { Ok(()) } else { Err(FileError::Version { expected: FORMAT, found: format }) }
}

fn verify(header: &str, file: &SafeTensors<'_>) -> Result<(), FileError> {
    let expected = file.tensor(DIGEST).map_err(|_| FileError::Format { found: "no digest".into() })?;
    let mut views: Vec<_> = file.iter().filter(|(name, _)| *name != DIGEST).collect();
    views.sort_by_key(|(name, _)| *name);
    let found = digest(header, views.iter().map(|(name, view)| (*name, view.dtype(), view.data())));
    let same = expected.data() == found;
    same.then_some(()).ok_or_else(|| FileError::Edited { expected: hex(expected.data()), found: hex(&found) })
}

fn digest<'a>(header: &str, lists: impl Iterator<Item = (&'a str, Dtype, &'a [u8])>) -> Vec<u8> {
    let mut digest = Sha256::new();
    let mut add = |part: &[u8]| {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    };
    add(header.as_bytes());
    for (name, dtype, data) in lists {
        add(name.as_bytes());
        add(format!("{dtype:?}").as_bytes());
        add(data);
    }
    digest.finalize().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// What no fit writes.
fn check(about: &About) -> Result<(), FileError> {
    let require = |holds, place, expected, found: String| {
        if holds { Ok(()) } else { Err(FileError::Header { place, expected, found }) }
    };
    require(about.obs_width() > 0, "observation", "one channel or more", "none".into())?;
    let value = about.threshold.value;
    require(value.is_finite(), "threshold", "a finite number", value.to_string())?;
    require(about.dt_secs > 0.0, "dt_secs", "a time above zero", about.dt_secs.to_string())
}

fn dtype(numbers: &Numbers) -> Dtype {
    match numbers {
        Numbers::F32(_) => Dtype::F32,
        Numbers::F64(_) => Dtype::F64,
        Numbers::U64(list) => narrowest(list),
    }
}

/// The narrowest type of whole numbers that holds all of a list.
fn narrowest(list: &[u64]) -> Dtype {
    match list.iter().copied().max().unwrap_or(0) {
        0..=0xff => Dtype::U8,
        0x100..=0xffff => Dtype::U16,
        0x1_0000..=0xffff_ffff => Dtype::U32,
        _ => Dtype::U64,
    }
}

fn bytes(numbers: &Numbers) -> Vec<u8> {
    match numbers {
        Numbers::F32(list) => list.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Numbers::F64(list) => list.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Numbers::U64(list) => {
            let width = narrowest(list).bitsize() / 8;
            list.iter().flat_map(|v| v.to_le_bytes().into_iter().take(width)).collect()
        }
    }
}

/// Whole numbers come back as `u64`, at most eight times as many bytes as there are in the file.
fn numbers(name: &str, view: &TensorView<'_>) -> Result<Numbers, FileError> {
    let data = view.data();
    Ok(match view.dtype() {
        Dtype::F32 => Numbers::F32(each(data, f32::from_le_bytes)),
        Dtype::F64 => Numbers::F64(each(data, f64::from_le_bytes)),
        Dtype::U8 => Numbers::U64(each(data, |b: [u8; 1]| b[0].into())),
        Dtype::U16 => Numbers::U64(each(data, |b| u16::from_le_bytes(b).into())),
        Dtype::U32 => Numbers::U64(each(data, |b| u32::from_le_bytes(b).into())),
        Dtype::U64 => Numbers::U64(each(data, u64::from_le_bytes)),
        other => return Err(FileError::Format { found: format!("tensor {name:?} of type {other:?}") }),
    })
}

fn each<const N: usize, T>(data: &[u8], of: impl Fn([u8; N]) -> T) -> Vec<T> {
    data.as_chunks::<N>().0.iter().map(|&bytes| of(bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_the_narrowest_type_and_come_back() {
        let tops =
            [(0xff, Dtype::U8), (0xffff, Dtype::U16), (0xffff_ffff, Dtype::U32), (u64::MAX, Dtype::U64)];
        for (top, narrow) in tops {
            let list = Numbers::U64(vec![3, top, 0]);
            let (found, data) = (dtype(&list), bytes(&list));
            assert_eq!((found, data.len()), (narrow, 3 * narrow.bitsize() / 8));
            let view = TensorView::new(found, vec![3], &data).unwrap();
            assert_eq!(numbers("n", &view).unwrap(), list);
            if let Some(next) = top.checked_add(1) {
                assert_ne!(dtype(&Numbers::U64(vec![next])), narrow);
            }
        }
        assert_eq!(bytes(&Numbers::U64(vec![])), [0; 0]);
    }
}

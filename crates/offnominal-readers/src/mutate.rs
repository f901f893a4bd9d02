//! Mutants: seeds that were changed as their formats allow.
//!
//! A mutant is a pure function of the seed of the run, the target and its number, so whoever knows these can have it
//! again. Most changes keep what the first check of a reader looks at (lengths, checksums, JSON that is JSON), so that
//! what lies behind it is reached.

mod bytes;
pub mod dice;
mod frames;
mod json;
mod protobuf;
mod safetensors;
mod text;
mod zip;

pub use zip::written as zipped;

use crate::{Format, Target};
use dice::Dice;

/// The mutant of that number, made of one of the seeds.
///
/// # Panics
/// If there are no seeds.
pub fn mutant(target: &Target, seeds: &[Vec<u8>], seed: u64, index: u64) -> Vec<u8> {
    let mut dice = Dice::new(seed, target.name, index);
    let mut bytes = dice.of(seeds).clone();
    for _ in 0..1 + dice.below(4) {
        if dice.once_in(12) || !as_format(target.format, &mut bytes, &mut dice) {
            bytes::mutate(&mut bytes, &mut dice);
        }
    }
    bytes
}

/// Changes one thing as the format allows; false if the bytes are not in the format.
fn as_format(format: Format, bytes: &mut Vec<u8>, dice: &mut Dice) -> bool {
    match format {
        Format::Bytes => return false,
        Format::Json => return json::mutate(bytes, dice),
        Format::Text => text::mutate(bytes, dice),
        Format::Safetensors => return safetensors::mutate(bytes, dice),
        Format::Zip => return zip::mutate(bytes, dice),
        Format::Protobuf => return protobuf::mutate(bytes, dice),
        Format::Png => return frames::mutate(bytes, &frames::PNG, dice),
        Format::Packages => return frames::mutate(bytes, &frames::PACKAGES, dice),
        Format::Messages => return frames::mutate(bytes, &frames::MESSAGES, dice),
    }
    true
}

/// Changes an entry of an archive, whose name tells its format.
fn inner(name: &str, bytes: &mut Vec<u8>, dice: &mut Dice) {
    let format = match name.rsplit('.').next() {
        Some("pth") => Format::Zip,
        Some("npy") => Format::Text,
        _ if name == "data" => Format::Json,
        _ => Format::Bytes,
    };
    if !as_format(format, bytes, dice) {
        bytes::mutate(bytes, dice);
    }
}

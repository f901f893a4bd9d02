//! Mutants of what comes in pieces that say how long they are: the chunks of PNG, packages, messages.

use super::bytes;
use super::dice::Dice;
use std::io::{Read, Write};

/// Takes the first frame off some bytes: its header and its body.
type Split = fn(&mut &[u8]) -> Option<(Vec<u8>, Vec<u8>)>;

/// How a piece says how long it is.
pub struct Framing {
    /// Bytes before the first piece.
    head: usize,
    /// Splits a piece's label and content off the rest.
    split: Split,
    /// Writes a piece.
    join: fn(&[u8], &[u8]) -> Vec<u8>,
}

/// Chunks with a length, a name and a checksum.
pub const PNG: Framing = Framing {
    head: 8,
    split: |rest| {
        let length = u32::from_be_bytes(*rest.split_off(..4)?.first_chunk()?) as usize;
        let name = rest.split_off(..4)?.to_vec();
        let content = rest.split_off(..length)?.to_vec();
        rest.split_off(..4)?;
        Some((name, content))
    },
    join: |name, content| {
        let mut sum = flate2::Crc::new();
        sum.update(name);
        sum.update(content);
        let length = (content.len() as u32).to_be_bytes();
        [&length, name, content, &sum.sum().to_be_bytes()].concat()
    },
};

/// Two bytes of length, of everything, before a letter.
pub const PACKAGES: Framing = Framing {
    head: 0,
    split: |rest| {
        let length = u16::from_be_bytes(*rest.split_off(..2)?.first_chunk()?);
        let letter = rest.split_off(..1)?.to_vec();
        Some((letter, rest.split_off(..usize::from(length.checked_sub(3)?))?.to_vec()))
    },
    join: |letter, content| {
        let length = (content.len() + 3).min(65_535) as u16;
        [&length.to_be_bytes(), letter, content].concat()
    },
};

/// A letter before four bytes of length.
pub const MESSAGES: Framing = Framing {
    head: 0,
    split: |rest| {
        let letter = rest.split_off(..1)?.to_vec();
        let length = u32::from_le_bytes(*rest.split_off(..4)?.first_chunk()?);
        Some((letter, rest.split_off(..length as usize)?.to_vec()))
    },
    join: |letter, content| [letter, &(content.len() as u32).to_le_bytes(), content].concat(),
};

/// Changes one piece, or which there are; false if the bytes have none.
pub fn mutate(file: &mut Vec<u8>, framing: &Framing, dice: &mut Dice) -> bool {
    let Some((head, mut rest)) = file.split_at_checked(framing.head) else { return false };
    let mut pieces = Vec::new();
    while let Some(piece) = (framing.split)(&mut rest) {
        pieces.push(piece);
    }
    if pieces.is_empty() {
        return false;
    }
    let at = dice.below(pieces.len());
    match dice.below(10) {
        0 => drop(pieces.remove(at)),
        1 => pieces.insert(at, pieces[dice.below(pieces.len())].clone()),
        2 => {
            let other = pieces[dice.below(pieces.len())].0.clone();
            pieces[at].0 = other;
        }
        3 => bytes::mutate(&mut pieces[at].0, dice),
        _ => content(&mut pieces[at], dice),
    }
    let written = pieces.iter().flat_map(|(label, content)| (framing.join)(label, content));
    *file = head.iter().copied().chain(written).collect();
    true
}

/// Changes what a piece holds: what is packed is unpacked first.
fn content((label, content): &mut (Vec<u8>, Vec<u8>), dice: &mut Dice) {
    if label == b"IDAT" && dice.once_in(2) {
        let mut plain = Vec::new();
        let unpacked = flate2::read::ZlibDecoder::new(&content[..]).take(1 << 20).read_to_end(&mut plain);
        if unpacked.is_ok() {
            bytes::mutate(&mut plain, dice);
            let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(&plain).expect("memory can be written");
            *content = packer.finish().expect("memory can be written");
            return;
        }
    }
    if !super::json::mutate(content, dice) {
        bytes::mutate(content, dice);
    }
}

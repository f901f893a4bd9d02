//! Mutants of bytes of which nothing is known.

use super::dice::Dice;

/// Longest mutant; what takes more is a matter of limits, which have tests of their own.
pub const LONGEST: usize = 1 << 18;

/// Changes one thing.
pub fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let n = bytes.len();
    match dice.below(10) {
        0 | 1 if n > 0 => bytes[dice.below(n)] ^= 1 << dice.below(8),
        2 if n > 0 => bytes[dice.below(n)] = dice.number() as u8,
        3 | 4 => write_number(bytes, dice),
        5 => {
            let range = dice.range(n);
            bytes.drain(range);
        }
        6 => {
            let range = dice.range(n);
            let (piece, at) = (bytes[range].to_vec(), dice.below(n + 1));
            let times = if dice.once_in(8) { 1 + dice.below(64) } else { 1 };
            bytes.splice(at..at, piece.repeat(times));
        }
        7 => bytes.truncate(dice.below(n + 1)),
        8 => {
            let (range, fill) = (dice.range(n), *dice.of(&[0, 0xff, 0x20, 0x28, 0x5b, 0x7b]));
            bytes[range].fill(fill);
        }
        _ => {
            let (piece, at) = (dice.number().to_le_bytes(), dice.below(n + 1));
            let len = 1 + dice.below(8);
            bytes.splice(at..at, piece[..len].iter().copied());
        }
    }
    bytes.truncate(LONGEST);
}

/// Writes a number of some width and order over what is there.
fn write_number(bytes: &mut [u8], dice: &mut Dice) {
    let width = *dice.of(&[1, 2, 4, 8]);
    if bytes.len() < width {
        return;
    }
    let float = *dice.of(&[f32::NAN, f32::INFINITY, f32::MAX, -1.0, 1e-40]);
    let mut piece = match dice.below(4) {
        0 => u64::from(float.to_bits()).to_le_bytes(),
        _ => dice.number().to_le_bytes(),
    };
    if dice.once_in(3) {
        piece[..width].reverse();
    }
    let at = dice.below(bytes.len() - width + 1);
    bytes[at..at + width].copy_from_slice(&piece[..width]);
}

//! Mutants of text: a word or a number is another one, or a line comes twice.

use super::dice::{Dice, NUMBERS};

/// Changes one thing.
pub fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    match dice.below(6) {
        0 => lines(bytes, dice),
        1 => brackets(bytes, dice),
        _ => word(bytes, dice),
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"_.-+#".contains(&b) || b >= 0x80
}

/// Where the words are.
fn words(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut all, mut from) = (Vec::new(), None);
    for (i, &b) in bytes.iter().chain(b" ").enumerate() {
        match (is_word(b), from) {
            (true, None) => from = Some(i),
            (false, Some(start)) => {
                all.push(start..i);
                from = None;
            }
            _ => {}
        }
    }
    all
}

fn word(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let all = words(bytes);
    if all.is_empty() {
        return;
    }
    let range = dice.of(&all).clone();
    let new: Vec<u8> = match dice.below(8) {
        0 => Vec::new(),
        1 => bytes[dice.of(&all).clone()].to_vec(),
        2 => bytes[range.clone()].repeat(1 + dice.below(4)),
        3 => vec![b'['; 1 << dice.below(12)],
        _ => dice.of(NUMBERS).as_bytes().to_vec(),
    };
    bytes.splice(range, new);
}

fn lines(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let mut lines: Vec<Vec<u8>> = bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    let (at, other) = (dice.below(lines.len()), dice.below(lines.len()));
    match dice.below(4) {
        0 => drop(lines.remove(at)),
        1 => lines.swap(at, other),
        2 => lines.insert(other, lines[at].clone()),
        _ => {
            let copies = vec![lines[at].clone(); 1 << dice.below(10)];
            lines.splice(at..at, copies);
        }
    }
    *bytes = lines.join(&b'\n');
}

/// Repeats or removes what stands between two separators.
fn brackets(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let is_end = |b: &u8| b"<>,;:=()[]{}\"'".contains(b);
    let ends: Vec<usize> = (0..bytes.len()).filter(|&i| is_end(&bytes[i])).collect();
    if ends.is_empty() {
        return;
    }
    let (a, b) = (*dice.of(&ends), *dice.of(&ends));
    let range = a.min(b)..a.max(b);
    let times = *dice.of(&[0, 2, 2, 3, 50]);
    let new = bytes[range.clone()].repeat(times);
    bytes.splice(range, new);
}

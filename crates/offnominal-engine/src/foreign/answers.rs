//! The answers of a process as bytes, for tests of what reads them.

use super::actor::About;
use super::describe::Description;
use super::wire::{self, Reply};

/// Reads one answer after the other; whether all of them are sound.
pub fn answers(mut bytes: &[u8]) -> bool {
    let (mut body, mut obs) = (Vec::new(), [0.0; 3]);
    while !bytes.is_empty() {
        let Ok(letter) = wire::receive(&mut bytes, &mut body, wire::LONGEST_DESCRIPTION) else {
            return false;
        };
        let is_sound = match letter {
            b'H' => Description::read(&body).is_ok_and(|d| d.spec("gymnasium:X").is_ok()),
            b'O' => Reply::read(&body).is_some_and(|(_, rest)| wire::numbers(rest, false, &mut obs)),
            b'A' => wire::numbers(&body, false, &mut obs) || About::read(&body).is_ok(),
            _ => letter == b'E',
        };
        if !is_sound {
            return false;
        }
    }
    true
}

//! The answers of a process, and manifests of users, as bytes, for tests of what reads them.

use super::actor::About;
use super::ahead::Played;
use super::describe::Description;
use super::manifest::Manifest;
use super::wanted::Wanted;
use super::wire::{self, Reply};

/// Reads one answer after the other; whether all of them are sound.
pub fn answers(mut bytes: &[u8]) -> bool {
    let (mut body, mut obs) = (Vec::new(), [0.0; 3]);
    while !bytes.is_empty() {
        let Ok(letter) = wire::receive(&mut bytes, &mut body, wire::LONGEST_DESCRIPTION) else {
            return false;
        };
        let is_sound = match letter {
            b'H' => Description::read(&body)
                .is_ok_and(|d| d.spec("gymnasium:X", &Wanted::policies_only()).is_ok()),
            b'O' => Reply::read(&body).is_some_and(|(_, rest)| wire::numbers(rest, false, &mut obs)),
            b'L' => Played::read(&body, 8, 3, 2).is_some(),
            b'A' => wire::numbers(&body, false, &mut obs) || About::read(&body).is_ok(),
            _ => letter == b'E',
        };
        if !is_sound {
            return false;
        }
    }
    true
}

/// Reads a manifest; whether it is sound.
pub fn manifest(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    Manifest::parse(text).is_ok_and(|manifest| {
        let parameters = manifest.parameters();
        assert!(parameters.is_object(), "parameters are no object");
        true
    })
}

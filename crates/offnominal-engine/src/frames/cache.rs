//! Films that were made before, packed: in a benchmark one detector after another looks at the same ones.
//!
//! A picture is kept as its difference from the one before, compressed. A film that does not fit any more is made anew
//! each time it is needed: all detectors look at all films in the same order, so one that made room for it would be
//! missed just as much.

use crate::frames as filming;
use crate::frames::Studio;
use anyhow::Result;
use lz4_flex::block::{compress, decompress_into};
use offnominal_core::image_detector::Film;
use offnominal_core::prelude::*;
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The films of one world and policy.
#[derive(Default)]
pub struct FilmCache {
    kept: Mutex<Option<Kept>>,
}

/// The packed pictures of films by what distinguishes these, and bytes of memory that are left for more.
struct Kept {
    films: HashMap<String, Arc<Packed>>,
    room: u64,
}

/// Pictures one after the other; where each is the same as the one before, it takes some two hundred bytes.
type Packed = Vec<Vec<u8>>;

/// Memory for films where the system does not say what is free, bytes.
const ROOM: u64 = 1 << 30;

impl FilmCache {
    /// The film of an episode, from the cache if it is there.
    ///
    /// # Errors
    /// As [`filming::film`].
    pub fn film(&self, trial: &Trial<'_>, episode: &Episode, studio: Studio) -> Result<Film> {
        let key = key(episode, studio);
        if let Some(packed) = self.find(&key) {
            let frames = unpacked(&packed, studio.side * studio.side * 3);
            let size = (studio.side, studio.side);
            return Ok(Film::new(size, frames, episode.actions.clone(), episode.act_width));
        }
        let film = filming::film(trial, episode, studio)?;
        self.keep(key, &film);
        Ok(film)
    }

    fn find(&self, key: &str) -> Option<Arc<Packed>> {
        let kept = self.kept.lock().expect("no thread panics while it holds the lock");
        kept.as_ref()?.films.get(key).cloned()
    }

    /// Keeps a film if there is room; half of the memory that is free at first may be used.
    fn keep(&self, key: String, film: &Film) {
        let packed = packed(film);
        let bytes: u64 = packed.iter().map(|p| p.len() as u64).sum();
        let mut kept = self.kept.lock().expect("no thread panics while it holds the lock");
        let room = || filming::available().map_or(ROOM, |bytes| bytes / 2);
        let kept = kept.get_or_insert_with(|| Kept { films: HashMap::new(), room: room() });
        if bytes <= kept.room && kept.films.insert(key, packed.into()).is_none() {
            kept.room -= bytes;
        }
    }
}

/// What makes a film another one: where it was seen from, how the episode began, and what was done in it.
fn key(episode: &Episode, studio: Studio) -> String {
    let commands: Vec<u8> = episode.actions.iter().flat_map(|a| a.to_le_bytes()).collect();
    let what = json!([studio, episode.env, episode.seed, episode.initial, episode.fault, episode.onset]);
    offnominal_files::store::address(&[what.to_string().as_bytes(), &commands].concat())
}

fn packed(film: &Film) -> Packed {
    let n = film.frame_len();
    let mut change = vec![0; n];
    let mut pack = |t: usize| {
        change.copy_from_slice(film.frame(t));
        if t > 0 {
            change.iter_mut().zip(film.frame(t - 1)).for_each(|(c, &before)| *c ^= before);
        }
        compress(&change)
    };
    (0..=film.len()).map(&mut pack).collect()
}

fn unpacked(packed: &Packed, n: usize) -> Vec<u8> {
    let mut frames = vec![0; packed.len() * n];
    for (t, bytes) in packed.iter().enumerate() {
        let (before, rest) = frames.split_at_mut(t * n);
        decompress_into(bytes, &mut rest[..n]).expect("what was packed here can be unpacked");
        if let Some(last) = before.rchunks_exact(n).next() {
            rest[..n].iter_mut().zip(last).for_each(|(f, &before)| *f ^= before);
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Cast;
    use offnominal_core::schedule::{Extent, Onset};

    fn episodes(cast: &Cast, anomaly: &str) -> [Episode; 2] {
        let schedule = Schedule { onset: Onset::At(3), extent: Extent::ToEnd };
        let fault = Fault { anomaly: anomaly.into(), params: json!({"magnitude": 0.4}), schedule };
        let (episode, twin) =
            cast.trial().with_twin(Seed(5), &fault, &crate::catalogues::anomalies()).unwrap();
        [episode, twin]
    }

    #[test]
    fn what_comes_out_is_what_went_in() {
        let cast = Cast::new("sap-goal0", "tqc").unwrap();
        let studio = Studio { side: 48 };
        // A fault of the camera changes nothing but the pictures: the commands of both are the same.
        for episode in episodes(&cast, "cam-noise") {
            let fresh = filming::film(&cast.trial(), &episode, studio).unwrap();
            let cache = FilmCache::default();
            for _ in 0..2 {
                assert_eq!(cache.film(&cast.trial(), &episode, studio).unwrap(), fresh);
            }
            let kept = cache.kept.lock().unwrap();
            assert_eq!(kept.as_ref().unwrap().films.len(), 1);
        }
    }

    #[test]
    fn films_that_differ_in_anything_are_kept_apart() {
        let cast = Cast::new("sap-goal0", "tqc").unwrap();
        let [noisy, twin] = episodes(&cast, "cam-noise");
        let keys = [
            key(&noisy, Studio { side: 48 }),
            key(&twin, Studio { side: 48 }),
            key(&twin, Studio { side: 32 }),
            key(&Episode { onset: Some(4), ..noisy.clone() }, Studio { side: 48 }),
        ];
        assert_eq!(keys.iter().collect::<std::collections::HashSet<_>>().len(), 4);
    }

    #[test]
    fn what_does_not_fit_is_made_anew() {
        let cast = Cast::new("sap-goal0", "tqc").unwrap();
        let [episode, twin] = episodes(&cast, "act-offset");
        let cache = FilmCache { kept: Mutex::new(Some(Kept { films: HashMap::new(), room: 0 })) };
        let studio = Studio { side: 24 };
        let film = cache.film(&cast.trial(), &episode, studio).unwrap();
        assert_ne!(film, cache.film(&cast.trial(), &twin, studio).unwrap());
        assert_eq!(film, cache.film(&cast.trial(), &episode, studio).unwrap());
        assert!(cache.kept.lock().unwrap().as_ref().unwrap().films.is_empty());
    }
}

//! What a process says on its standard output and standard error: the end of it is kept.

use std::collections::VecDeque;
use std::io::{PipeReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that are kept.
const KEPT: usize = 1 << 16;

/// The most characters of a line that are told.
const TOLD: usize = 1000;

/// The last bytes that were said.
#[derive(Clone, Default)]
pub(crate) struct OutputTail(Arc<Mutex<VecDeque<u8>>>);

impl OutputTail {
    /// Listens, on a thread of its own, until the last one who can speak is gone.
    pub(crate) fn listen(mut to: PipeReader) -> OutputTail {
        let said = OutputTail::default();
        let heard = said.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 1 << 13];
            while let Ok(n @ 1..) = to.read(&mut buffer) {
                heard.push(&buffer[..n]);
            }
        });
        said
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    /// The last line that is not empty.
    pub(crate) fn last_line(&self) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        Some(line.chars().take(TOLD).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::{Duration, Instant};

    #[test]
    fn the_end_of_a_flood_is_kept() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let said = OutputTail::listen(reader);
        let line = [b'x'; 1000];
        (0..2000).for_each(|_| writer.write_all(&line).unwrap());
        writer.write_all(b"\nthe last words\n\n").unwrap();
        drop(writer);
        let began = Instant::now();
        while said.last_line().as_deref() != Some("the last words") {
            assert!(began.elapsed() < Duration::from_secs(20), "{:?}", said.last_line());
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(said.0.lock().unwrap().len() <= KEPT);
    }
}

//! TensorBoard event files: scalars over training steps, which other trackers read as well.
//!
//! A file is a row of TFRecord frames (length as u64, its masked CRC-32C, payload, its masked CRC-32C; little endian)
//! around protocol-buffer messages `Event { 1: wall_time double, 2: step int64, 3: file_version string,
//! 5: Summary { 1: Value { 1: tag string, 2: simple_value float } } }`.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// An event file that is being written.
pub struct EventFile {
    file: File,
    name: String,
}

impl EventFile {
    /// Begins a new file in the folder; files of earlier parts of the run stay.
    ///
    /// # Errors
    /// If the file cannot be made; the message names it.
    pub fn create(folder: &Path) -> Result<EventFile> {
        let secs = wall_time() as u64;
        let free = |k: &u32| !folder.join(file_name(secs, *k)).exists();
        let path = folder.join(file_name(secs, (0..).find(free).unwrap_or(0)));
        let name = path.display().to_string();
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let file = File::create(&path).with_context(|| format!("cannot write {name}"))?;
        let mut events = EventFile { file, name };
        events.append(&version_event(wall_time()))?;
        Ok(events)
    }

    /// Adds scalars of one step.
    ///
    /// # Errors
    /// If the file cannot be written; the message names it.
    pub fn scalars(&mut self, step: u64, values: &[(&str, f64)]) -> Result<()> {
        self.append(&scalar_event(wall_time(), step, values))
    }

    /// One frame in one write, so that a reader never sees less unless the machine fails.
    fn append(&mut self, event: &[u8]) -> Result<()> {
        self.file.write_all(&frame(event)).with_context(|| format!("cannot write {}", self.name))
    }
}

fn file_name(secs: u64, k: u32) -> String {
    format!("events.out.tfevents.{secs}.offnominal.{k}")
}

fn wall_time() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

/// A TFRecord around a payload.
fn frame(payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u64).to_le_bytes();
    let parts: [&[u8]; 4] =
        [&length, &masked_crc(&length).to_le_bytes(), payload, &masked_crc(payload).to_le_bytes()];
    parts.concat()
}

/// CRC-32C, rotated and shifted as TFRecord does, so that a checksum of checksums is not degenerate.
fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

fn version_event(wall_time: f64) -> Vec<u8> {
    let mut event = Vec::new();
    fixed64(&mut event, 1, wall_time);
    delimited(&mut event, 3, b"brain.Event:2");
    event
}

fn scalar_event(wall_time: f64, step: u64, values: &[(&str, f64)]) -> Vec<u8> {
    let (mut summary, mut event) = (Vec::new(), Vec::new());
    for (tag, value) in values {
        let mut entry = Vec::new();
        delimited(&mut entry, 1, tag.as_bytes());
        varint(&mut entry, 2 << 3 | 5);
        entry.extend_from_slice(&(*value as f32).to_le_bytes());
        delimited(&mut summary, 1, &entry);
    }
    fixed64(&mut event, 1, wall_time);
    varint(&mut event, 2 << 3);
    varint(&mut event, step);
    delimited(&mut event, 5, &summary);
    event
}

fn fixed64(out: &mut Vec<u8>, field: u64, value: f64) {
    varint(out, field << 3 | 1);
    out.extend_from_slice(&value.to_le_bytes());
}

fn delimited(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a file into payloads, and checks every checksum by the bitwise definition of CRC-32C.
    fn payloads(mut bytes: &[u8]) -> Vec<Vec<u8>> {
        let checked = |data: &[u8], stored: &[u8]| {
            let crc = data.iter().fold(!0_u32, |crc, &byte| {
                (0..8).fold(crc ^ u32::from(byte), |c, _| (c >> 1) ^ (0x82f6_3b78 & (c & 1).wrapping_neg()))
            });
            let masked = (!crc).rotate_right(15).wrapping_add(0xa282_ead8);
            assert_eq!(masked.to_le_bytes(), stored);
        };
        let mut found = vec![];
        while !bytes.is_empty() {
            let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            checked(&bytes[..8], &bytes[8..12]);
            checked(&bytes[12..12 + length], &bytes[12 + length..16 + length]);
            found.push(bytes[12..12 + length].to_vec());
            bytes = &bytes[16 + length..];
        }
        found
    }

    /// The fields of a message: number, and the bytes or the number as bytes.
    fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
        fn number(bytes: &mut &[u8]) -> u64 {
            let end = bytes.iter().position(|b| b & 0x80 == 0).unwrap();
            let value = bytes[..=end].iter().rev().fold(0, |v, b| v << 7 | u64::from(b & 0x7f));
            *bytes = &bytes[end + 1..];
            value
        }
        let mut found = vec![];
        while !bytes.is_empty() {
            let key = number(&mut bytes);
            let value = match key & 7 {
                0 => number(&mut bytes).to_le_bytes().to_vec(),
                wire => {
                    let length =
                        if wire == 2 { number(&mut bytes) as usize } else { 8 - (wire as usize & 4) };
                    let value = bytes[..length].to_vec();
                    bytes = &bytes[length..];
                    value
                }
            };
            found.push((key >> 3, value));
        }
        found
    }

    #[test]
    fn files_are_read_back_and_a_second_part_gets_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = EventFile::create(folder.path()).unwrap();
        file.scalars(300, &[("eval/return", -1.5), ("eval/success", 0.25)]).unwrap();
        let events = payloads(&std::fs::read(&file.name).unwrap());
        assert_eq!(fields(&events[0])[1], (3, b"brain.Event:2".to_vec()));
        let event = fields(&events[1]);
        assert_eq!(event[1], (2, 300_u64.to_le_bytes().to_vec()));
        let values: Vec<_> = fields(&event[2].1).iter().map(|(_, v)| fields(v)).collect();
        assert_eq!(values[0], [(1, b"eval/return".to_vec()), (2, (-1.5_f32).to_le_bytes().to_vec())]);
        assert_eq!(values[1][0].1, b"eval/success");
        assert_ne!(EventFile::create(folder.path()).unwrap().name, file.name);
    }
}

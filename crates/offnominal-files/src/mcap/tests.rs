//! What is written has the places that it states, at its end and in the middle.

use super::*;
use serde_json::json;
use std::io::Cursor;

fn two_channels() -> (Writer<Cursor<Vec<u8>>>, [u16; 2]) {
    let mut file = Writer::new(Cursor::new(Vec::new())).unwrap();
    let schema = json!({"type": "object"});
    let ids = ["/a", "/b"].map(|topic| file.channel(topic, "Any", &schema).unwrap());
    (file, ids)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// The kinds and the contents of all records.
fn records(bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let (mut at, mut found) = (MAGIC.len(), Vec::new());
    while at + 9 <= bytes.len() {
        let len = u64_at(bytes, at + 1) as usize;
        found.push((bytes[at], &bytes[at + 9..at + 9 + len]));
        at += 9 + len;
    }
    found
}

#[test]
fn the_summary_leads_to_every_message() {
    let (mut file, [a, b]) = two_channels();
    for i in 0..5 {
        file.message(if i == 2 { b } else { a }, 10 + i, format!("{{\"x\":{i}}}").as_bytes()).unwrap();
        file.flush().unwrap();
    }
    let bytes = file.finish().unwrap().into_inner();
    let all = records(&bytes[..bytes.len() - MAGIC.len()]);
    let kinds: Vec<u8> = all.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [1, 3, 4, 3, 4, 6, 7, 7, 15, 3, 3, 4, 4, 11, 8, 14, 14, 14, 14, 2]);
    let (_, footer) = all[all.len() - 1];
    let [summary, offsets] = [0, 8].map(|at| u64_at(footer, at) as usize);
    assert_eq!((bytes[summary], bytes[offsets]), (record::SCHEMA, record::SUMMARY_OFFSET));
    let mut crc = Crc::new();
    crc.update(&bytes[summary..bytes.len() - MAGIC.len() - 4]);
    assert_eq!(footer[16..], crc.sum().to_le_bytes());
    let (_, index) = all[14];
    assert_eq!([u64_at(index, 0), u64_at(index, 8)], [10, 14]);
    let (start, len) = (u64_at(index, 16) as usize, u64_at(index, 24) as usize);
    assert_eq!((bytes[start], u64_at(&bytes, start + 1) as usize + 9), (record::CHUNK, len));
    // The index of the second channel has one entry, and there its message begins.
    let (_, entries) = all[7];
    let at = start + CHUNK_HEADER as usize + u64_at(entries, 14) as usize;
    assert_eq!((bytes[at], bytes[at + 9]), (record::MESSAGE, b as u8));
}

#[test]
fn what_was_flushed_is_sound_before_the_end() {
    let (mut file, [a, _]) = two_channels();
    file.message(a, 1, b"{}").unwrap();
    file.flush().unwrap();
    file.message(a, 2, b"{}").unwrap();
    let kinds: Vec<u8> = records(file.to.get_ref()).iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [1, 3, 4, 3, 4, 6, 5], "an empty chunk, and behind it the message that was flushed");
}

#[test]
fn a_full_chunk_is_ended() {
    let (mut file, [a, _]) = two_channels();
    let long = vec![b' '; CHUNK_BYTES as usize / 2];
    (0..5).for_each(|i| file.message(a, i, &long).unwrap());
    let bytes = file.finish().unwrap().into_inner();
    let chunks = records(&bytes).iter().filter(|(kind, _)| *kind == record::CHUNK).count();
    assert_eq!(chunks, 3);
}

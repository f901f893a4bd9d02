//! ULog, the format of PX4's flight logs: definitions, then messages of fixed layout.
//!
//! Each subscription is a topic: `name`, or `name[i]` for a further instance. Its clock is the field `timestamp`.
//! Reference: the ULog file format in PX4's developer guide. It is read here and not by the crate `px4-ulog` because that
//! one multiplies out nested arrays before it looks at their size, so that a definition of a few bytes fills the memory.

use super::filled;
use crate::record::{Column, Sink, Topic, Value};
use anyhow::{Context, Result, anyhow, bail, ensure};
use offnominal_topics::record::Charge;
use std::collections::HashMap;
use std::io::Read;

const MAGIC: &[u8] = &[0x55, 0x4c, 0x6f, 0x67, 0x01, 0x12, 0x35];
/// Columns of one topic, at most: a message has less than 65,536 bytes.
const MAX_COLUMNS: usize = 65_536;

/// Whether a file begins as a ULog does.
pub fn is_ulog(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Reads all data messages. A message that is cut off at the end of the file is lost, as after a loss of power; so is one
/// that is cut off where a crash has appended data.
///
/// # Errors
/// If the file needs what is not known, or the sink refuses what it is told.
pub fn read(mut from: impl Read, sink: &mut dyn Sink) -> Result<()> {
    let mut header = [0; 16];
    from.read_exact(&mut header).context("expected a header of 16 bytes")?;
    ensure!(is_ulog(&header), "expected a ULog file");
    let (mut log, mut at, mut payload) = (Log::default(), 16u64, Vec::new());
    loop {
        let mut head = [0; 3];
        let room = log.appended.iter().copied().find(|&from| from > at).map_or(u64::MAX, |from| from - at);
        // What lies before an offset ends there, whatever length it says that it has.
        if room < head.len() as u64 {
            pass(&mut from, room)?;
            lost_end(at, sink)?;
            at += room;
            continue;
        }
        match filled(&mut from, &mut head)? {
            0 => return Ok(()),
            3 => {}
            _ => return lost_end(at, sink),
        }
        let length = u64::from(u16::from_le_bytes([head[0], head[1]]));
        if head.len() as u64 + length > room {
            pass(&mut from, room - head.len() as u64)?;
            lost_end(at, sink)?;
            at += room;
            continue;
        }
        payload.resize(length as usize, 0);
        if filled(&mut from, &mut payload)? < payload.len() {
            return lost_end(at, sink);
        }
        log.message(head[2], &payload, at, sink).with_context(|| format!("message at byte {at}"))?;
        at += 3 + length;
    }
}

fn lost_end(at: u64, sink: &mut dyn Sink) -> Result<()> {
    sink.lost(None, "a message that is cut off", &format!("at byte {at}"))
}

/// Passes over bytes.
fn pass(from: &mut impl Read, n: u64) -> Result<()> {
    std::io::copy(&mut from.take(n), &mut std::io::sink()).map(drop).context("cannot read")
}

#[derive(Default)]
struct Log {
    formats: HashMap<String, Vec<Field>>,
    subscriptions: HashMap<u16, Subscription>,
    n_topics: usize,
    /// Where appended data begin, in order.
    appended: Vec<u64>,
}

/// A field as it is defined.
struct Field {
    name: String,
    kind: String,
    count: Option<usize>,
}

/// What is read of the messages of one subscription.
struct Subscription {
    topic: usize,
    timestamp: Option<usize>,
    leaves: Vec<Leaf>,
    is_wanted: bool,
}

/// A number at a place of the message.
#[derive(Clone)]
struct Leaf {
    name: String,
    at: usize,
    plain: Plain,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Plain {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Log {
    fn message(&mut self, kind: u8, payload: &[u8], at: u64, sink: &mut dyn Sink) -> Result<()> {
        let (what, read) = match kind {
            b'B' => return self.flags(payload),
            b'F' => ("definitions", text(payload).and_then(|text| self.format(text))),
            b'A' => ("subscriptions", self.subscribe(payload, sink)),
            b'D' => ("data", self.data(payload, sink)),
            b'O' => {
                let millis = payload.get(..2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
                sink.left_out(None, &format!("{millis} ms that the logger lost"));
                return Ok(());
            }
            // Information, parameters, logged texts, synchronisation.
            b'I' | b'M' | b'P' | b'Q' | b'R' | b'L' | b'C' | b'S' => return Ok(()),
            _ => ("messages of an unknown kind", Err(anyhow!("{:?}", char::from(kind)))),
        };
        match read {
            Err(why) if !sink.is_refusing() => sink.lost(None, what, &format!("byte {at}: {why:#}")),
            told => told,
        }
    }

    /// What the file needs of its reader: only data that are appended after a crash are known.
    fn flags(&mut self, payload: &[u8]) -> Result<()> {
        ensure!(payload.len() >= 40, "expected flags of at least 40 bytes, found {}", payload.len());
        let unknown = payload[8] & !1 != 0 || payload[9..16].iter().any(|&b| b != 0);
        if unknown {
            bail!(
                "expected a file that needs no more than this reader knows, found the flags {:02x?}",
                &payload[8..16]
            );
        }
        if payload[8] & 1 != 0 {
            let offsets = payload[16..40].chunks_exact(8);
            self.appended = offsets.map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes"))).collect();
            self.appended.sort_unstable();
        }
        Ok(())
    }

    /// `name:type field;type field;…`
    fn format(&mut self, text: &str) -> Result<()> {
        let (name, fields) =
            text.split_once(':').with_context(|| format!("expected name:fields, found {text:?}"))?;
        let fields = fields.split(';').filter(|field| !field.is_empty()).map(field).collect::<Result<_>>()?;
        self.formats.insert(name.into(), fields);
        Ok(())
    }

    fn subscribe(&mut self, payload: &[u8], sink: &mut dyn Sink) -> Result<()> {
        ensure!(payload.len() > 3, "expected a subscription of more than 3 bytes, found {}", payload.len());
        let (instance, id, name) =
            (payload[0], u16::from_le_bytes([payload[1], payload[2]]), text(&payload[3..])?);
        let mut leaves = Leaves { log: self, found: Vec::new(), at: 0, n: 0 };
        leaves.of(name, "", 0, sink)?;
        let mut leaves = leaves.found;
        let is_clock = |leaf: &Leaf| leaf.name == "timestamp" && leaf.plain == Plain::U64;
        let timestamp = leaves.iter().position(is_clock).map(|i| leaves.remove(i).at);
        let topic = self.n_topics;
        self.n_topics += 1;
        let full = if instance == 0 { name.to_string() } else { format!("{name}[{instance}]") };
        let is_wanted =
            sink.topic(topic, &Topic { name: full, kind: name.into(), is_timed: timestamp.is_some() })?;
        if is_wanted {
            leaves
                .iter()
                .enumerate()
                .try_for_each(|(i, leaf)| sink.column(topic, i, &Column::new(&leaf.name)))?;
        }
        self.subscriptions.insert(id, Subscription { topic, timestamp, leaves, is_wanted });
        Ok(())
    }

    fn data(&self, payload: &[u8], sink: &mut dyn Sink) -> Result<()> {
        ensure!(payload.len() >= 2, "expected data of at least 2 bytes, found {}", payload.len());
        let (id, data) = (u16::from_le_bytes([payload[0], payload[1]]), &payload[2..]);
        let of = self
            .subscriptions
            .get(&id)
            .with_context(|| format!("expected a subscription {id}, found none"))?;
        if !of.is_wanted {
            return Ok(());
        }
        // Padding at the end may be missing, and so may fields that a newer definition has.
        let time = of.timestamp.and_then(|at| whole(data, at, Plain::U64)).map(|us| us.saturating_mul(1000));
        let row: Vec<Value<'_>> = of.leaves.iter().map(|leaf| value(data, leaf)).collect();
        sink.row(of.topic, time, &row)
    }
}

/// The leaves of a message, in the order of its bytes.
struct Leaves<'a> {
    log: &'a Log,
    found: Vec<Leaf>,
    at: usize,
    /// Fields that were looked at; types without fields have no bytes to count.
    n: usize,
}

impl Leaves<'_> {
    fn of(&mut self, name: &str, path: &str, depth: usize, sink: &mut dyn Sink) -> Result<()> {
        ensure!(depth < 16, "expected at most 16 levels of types, found more at {name}");
        let fields = self
            .log
            .formats
            .get(name)
            .with_context(|| format!("expected the format {name:?}, found none"))?;
        for field in fields {
            for i in 0..field.count.unwrap_or(1) {
                self.n += 1;
                ensure!(self.n < MAX_COLUMNS, "expected a message of less than {MAX_COLUMNS} fields");
                let length = path.len() + field.name.len() + size_of::<Leaf>();
                sink.charge(Charge::Memory(length as u64))?;
                let mut path = format!("{path}{}{}", if path.is_empty() { "" } else { "." }, field.name);
                if field.count.is_some() {
                    path += &format!("[{i}]");
                }
                match size(&field.kind) {
                    None => self.of(&field.kind, &path, depth + 1, sink)?,
                    Some((size, plain)) => {
                        let is_padding = field.name.starts_with("_padding");
                        if let Some(plain) = plain.filter(|_| !is_padding) {
                            self.found.push(Leaf { name: path, at: self.at, plain });
                        }
                        self.at += size;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The size of a plain type in bytes and how it is read; characters are no numbers. `None` for a format.
fn size(kind: &str) -> Option<(usize, Option<Plain>)> {
    Some(match kind {
        "int8_t" => (1, Some(Plain::I8)),
        "uint8_t" | "bool" => (1, Some(Plain::U8)),
        "char" => (1, None),
        "int16_t" => (2, Some(Plain::I16)),
        "uint16_t" => (2, Some(Plain::U16)),
        "int32_t" => (4, Some(Plain::I32)),
        "uint32_t" => (4, Some(Plain::U32)),
        "int64_t" => (8, Some(Plain::I64)),
        "uint64_t" => (8, Some(Plain::U64)),
        "float" => (4, Some(Plain::F32)),
        "double" => (8, Some(Plain::F64)),
        _ => return None,
    })
}

/// `type name` or `type[n] name`.
fn field(text: &str) -> Result<Field> {
    let (kind, name) =
        text.trim().split_once(' ').with_context(|| format!("expected a type and a name, found {text:?}"))?;
    let name = name.trim().to_string();
    let Some((kind, count)) = kind.split_once('[') else {
        return Ok(Field { name, kind: kind.into(), count: None });
    };
    let count = count.strip_suffix(']').and_then(|n| n.parse().ok());
    let count = count
        .filter(|&n: &usize| n < MAX_COLUMNS)
        .with_context(|| format!("expected type[n], found {text:?}"))?;
    Ok(Field { name, kind: kind.into(), count: Some(count) })
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).context("expected a text")
}

fn value(data: &[u8], leaf: &Leaf) -> Value<'static> {
    let real = |x: Option<f64>| x.map_or(Value::Missing, Value::from);
    match leaf.plain {
        Plain::F32 => real(bytes(data, leaf.at).map(|b| f32::from_le_bytes(b).into())),
        Plain::F64 => real(bytes(data, leaf.at).map(f64::from_le_bytes)),
        plain => whole(data, leaf.at, plain).map_or(Value::Missing, Value::Integer),
    }
}

fn whole(data: &[u8], at: usize, plain: Plain) -> Option<i64> {
    match plain {
        Plain::I8 => Some(i8::from_le_bytes(bytes(data, at)?).into()),
        Plain::U8 => Some(u8::from_le_bytes(bytes(data, at)?).into()),
        Plain::I16 => Some(i16::from_le_bytes(bytes(data, at)?).into()),
        Plain::U16 => Some(u16::from_le_bytes(bytes(data, at)?).into()),
        Plain::I32 => Some(i32::from_le_bytes(bytes(data, at)?).into()),
        Plain::U32 => Some(u32::from_le_bytes(bytes(data, at)?).into()),
        Plain::I64 => Some(i64::from_le_bytes(bytes(data, at)?)),
        Plain::U64 => i64::try_from(u64::from_le_bytes(bytes(data, at)?)).ok(),
        Plain::F32 | Plain::F64 => None,
    }
}

fn bytes<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..at.checked_add(N)?)?.try_into().ok()
}

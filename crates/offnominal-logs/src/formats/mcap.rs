//! MCAP files: messages of named channels, in JSON or as ROS 2 writes them (CDR), of any type that the file defines.

use super::compression::{self, BYTES_OF_WORK};
use super::json;
use super::mcap_records::{self, Record};
use crate::record::{Sink, Topic};
use anyhow::{Context, Result, bail};
use offnominal_topics::cdr;
use offnominal_topics::nested::Nested;
use offnominal_topics::record::Charge;
use offnominal_topics::ros_schema::Types;
use std::collections::HashMap;
use std::io::Read;

/// Reads all messages in the order of the file. What is damaged, cut off or of an unknown kind is lost, and nothing else.
///
/// # Errors
/// If it is no such file, it cannot be read, or the sink refuses what it is told.
pub fn read(from: impl Read, sink: &mut dyn Sink) -> Result<()> {
    let mut channels = Channels::default();
    mcap_records::read(from, |record| match record {
        Record::Schema { id, name, encoding, data } => {
            let schema = Schema { name: name.into(), encoding: encoding.into(), data: data.into() };
            channels.schemas.insert(id, schema);
            Ok(())
        }
        Record::Channel { id, schema, topic, encoding } => {
            channels
                .announced
                .insert(id, Announced { schema, topic: topic.into(), encoding: encoding.into() });
            Ok(())
        }
        Record::Message { channel, log_time, data } => channels.read(channel, log_time, data, sink),
        Record::Lost { what, why } => sink.lost(None, what, &why),
        Record::Unpacked(bytes) => sink.charge(Charge::Work(bytes / BYTES_OF_WORK)),
    })
}

/// What is said of messages that do not follow their definition.
pub const DAMAGED: &str = "messages that cannot be read";

/// What is known of each channel.
#[derive(Default)]
struct Channels {
    schemas: HashMap<u16, Schema>,
    announced: HashMap<u16, Announced>,
    /// For each channel with messages its place in `all`.
    by_id: HashMap<u16, usize>,
    all: Vec<Channel>,
}

/// How messages are written.
struct Schema {
    name: String,
    encoding: String,
    data: Vec<u8>,
}

/// What the file says of a channel.
struct Announced {
    schema: u16,
    topic: String,
    encoding: String,
}

struct Channel {
    decoder: Decoder,
    into: Nested,
}

enum Decoder {
    Json,
    Cdr {
        types: Types,
        name: String,
    },
    /// Not wanted, or of an encoding that is not read.
    None,
}

impl Channels {
    fn read(&mut self, id: u16, log_time: u64, data: &[u8], sink: &mut dyn Sink) -> Result<()> {
        let number = match self.by_id.get(&id) {
            Some(&number) => number,
            None if self.announced.contains_key(&id) => self.open(id, sink)?,
            None => {
                return sink.lost(None, "messages of a channel without a record", &format!("channel {id}"));
            }
        };
        let Channel { decoder, into } = &mut self.all[number];
        let time = i64::try_from(log_time).ok();
        let place = || format!("time {log_time} ns");
        match decoder.read(time, data, into, sink).with_context(place) {
            Err(why) if !sink.is_refusing() => sink.lost(Some(number), DAMAGED, &format!("{why:#}")),
            told => told,
        }
    }

    fn open(&mut self, id: u16, sink: &mut dyn Sink) -> Result<usize> {
        let (number, announced) = (self.all.len(), &self.announced[&id]);
        let Announced { schema: schema_id, topic: name, encoding } = announced;
        let schema = self.schemas.get(schema_id).filter(|_| *schema_id != 0);
        let kind = schema.map_or_else(|| encoding.clone(), |schema| schema.name.clone());
        let is_wanted = sink.topic(number, &Topic { name: name.clone(), kind, is_timed: true })?;
        let decoder = match decoder(encoding, schema) {
            Ok(decoder) if is_wanted => decoder,
            Ok(_) => Decoder::None,
            Err(why) => {
                sink.lost(Some(number), "all messages", &format!("{why:#}"))?;
                Decoder::None
            }
        };
        self.all.push(Channel { decoder, into: Nested::new(number) });
        self.by_id.insert(id, number);
        Ok(number)
    }
}

impl Decoder {
    fn read(&self, time: Option<i64>, data: &[u8], into: &mut Nested, sink: &mut dyn Sink) -> Result<()> {
        match self {
            Decoder::None => Ok(()),
            Decoder::Json => json::read(data, time, into, sink),
            Decoder::Cdr { types, name } => {
                cdr::read(types, name, &compression::message(data, sink)?, time, into, sink)
            }
        }
    }
}

/// How the messages of a channel are read.
fn decoder(encoding: &str, schema: Option<&Schema>) -> Result<Decoder> {
    match (encoding, schema) {
        ("json", _) => Ok(Decoder::Json),
        ("cdr", Some(Schema { name, encoding, data })) if encoding == "ros2msg" => {
            let text = std::str::from_utf8(data).context("expected a schema in UTF-8")?;
            let types = Types::parse(name, text).with_context(|| format!("schema {name}"))?;
            Ok(Decoder::Cdr { types, name: name.clone() })
        }
        ("cdr", Some(schema)) => bail!("expected a schema in ros2msg, found {:?}", schema.encoding),
        ("cdr", None) => bail!("expected a schema, found none"),
        _ => bail!("expected messages in json or cdr, found {encoding:?}"),
    }
}

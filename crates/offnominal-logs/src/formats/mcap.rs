//! MCAP files: messages of named channels, in JSON or as ROS 2 writes them (CDR), of any type that the file defines.

use super::json;
use super::mcap_records::{self, Record};
use crate::record::{Sink, Topic};
use anyhow::{Context, Result, bail};
use offnominal_topics::cdr;
use offnominal_topics::nested::Nested;
use offnominal_topics::ros_schema::Types;
use std::collections::HashMap;
use std::io::Read;

/// Reads all messages in the order of the file.
///
/// # Errors
/// If the file is damaged, a message does not follow its schema, or the sink refuses a row. A file that ends early is an
/// error after its last whole message.
pub fn read(from: impl Read, sink: &mut dyn Sink) -> Result<()> {
    let (mut channels, mut n) = (Channels::default(), 0);
    let read = mcap_records::read(from, |record| match record {
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
        Record::Message { channel, log_time, data } => {
            n += 1;
            channels.read(channel, log_time, data, sink)
        }
    });
    read.with_context(|| format!("after {n} messages"))
}

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
    topic: String,
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
            None => self.open(id, sink)?,
        };
        let Channel { topic, decoder, into } = &mut self.all[number];
        let time = i64::try_from(log_time).ok();
        decoder.read(time, data, into, sink).with_context(|| format!("topic {topic}, time {log_time} ns"))
    }

    fn open(&mut self, id: u16, sink: &mut dyn Sink) -> Result<usize> {
        let number = self.all.len();
        let announced = self
            .announced
            .get(&id)
            .with_context(|| format!("channel {id}: expected its record before its messages, found none"))?;
        let Announced { schema, topic: name, encoding } = announced;
        let schema = match schema {
            0 => None,
            id => Some(
                self.schemas
                    .get(id)
                    .with_context(|| format!("topic {name}: expected the schema {id}, found none"))?,
            ),
        };
        let kind = schema.map_or_else(|| encoding.clone(), |schema| schema.name.clone());
        let is_wanted = sink.topic(number, &Topic { name: name.clone(), kind, is_timed: true })?;
        let decoder = match decoder(name, encoding, schema)? {
            Some(decoder) if is_wanted => decoder,
            Some(_) => Decoder::None,
            None => {
                sink.left_out(Some(number), &format!("messages in {encoding}, which is not read"));
                Decoder::None
            }
        };
        self.all.push(Channel { topic: name.clone(), decoder, into: Nested::new(number) });
        self.by_id.insert(id, number);
        Ok(number)
    }
}

impl Decoder {
    fn read(&self, time: Option<i64>, data: &[u8], into: &mut Nested, sink: &mut dyn Sink) -> Result<()> {
        match self {
            Decoder::None => Ok(()),
            Decoder::Json => json::read(data, time, into, sink),
            Decoder::Cdr { types, name } => cdr::read(types, name, data, time, into, sink),
        }
    }
}

/// How the messages of a channel are read; `None` for an encoding that is not.
fn decoder(topic: &str, encoding: &str, schema: Option<&Schema>) -> Result<Option<Decoder>> {
    match (encoding, schema) {
        ("json", _) => Ok(Some(Decoder::Json)),
        ("cdr", Some(Schema { name, encoding, data })) if encoding == "ros2msg" => {
            let text = std::str::from_utf8(data).context("expected a schema in UTF-8")?;
            let types = Types::parse(name, text).with_context(|| format!("schema {name}"))?;
            Ok(Some(Decoder::Cdr { types, name: name.clone() }))
        }
        ("cdr", Some(schema)) => {
            bail!("topic {topic}: expected a schema in ros2msg, found {:?}", schema.encoding)
        }
        ("cdr", None) => bail!("topic {topic}: expected a schema, found none"),
        _ => Ok(None),
    }
}

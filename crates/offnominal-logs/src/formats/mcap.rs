//! MCAP files: messages of named channels, in JSON or as ROS 2 writes them (CDR), of any type that the file defines.

use super::nested::Nested;
use super::ros_schema::Types;
use super::{cdr, json};
use crate::record::{Sink, Topic};
use anyhow::{Context, Result, bail};
use mcap::io::MessageReader;
use mcap::sans_io::LinearReaderOptions;
use std::collections::HashMap;
use std::io::Read;

/// Largest record or chunk that is read.
const MAX_RECORD: usize = 256 << 20;

/// Reads all messages in the order of the file.
///
/// # Errors
/// If the file is damaged, a message does not follow its schema, or the sink refuses a row. A file that ends early is an
/// error after its last whole message.
pub fn read(from: impl Read, sink: &mut dyn Sink) -> Result<()> {
    let options = LinearReaderOptions::default()
        .with_record_length_limit(MAX_RECORD)
        .with_prevalidate_chunk_crcs(true)
        .with_validate_data_section_crc(true)
        .with_validate_summary_section_crc(true);
    let mut channels = Channels::default();
    for (n, message) in MessageReader::new_with_options(from, options).enumerate() {
        let message = message.with_context(|| format!("after {n} messages"))?;
        let time = i64::try_from(message.log_time).ok();
        let place = || format!("topic {}, time {} ns", message.channel.topic, message.log_time);
        channels.read(&message.channel, time, &message.data, sink).with_context(place)?;
    }
    Ok(())
}

/// What is known of each channel.
#[derive(Default)]
struct Channels {
    by_id: HashMap<u16, usize>,
    all: Vec<Channel>,
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
    fn read(
        &mut self,
        channel: &mcap::Channel<'_>,
        time: Option<i64>,
        data: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let number = match self.by_id.get(&channel.id) {
            Some(&number) => number,
            None => self.open(channel, sink)?,
        };
        let Channel { decoder, into } = &mut self.all[number];
        match decoder {
            Decoder::None => Ok(()),
            Decoder::Json => json::read(data, time, into, sink),
            Decoder::Cdr { types, name } => {
                into.begin();
                cdr::read(types, name, data, into, sink)?;
                into.end(time, sink)
            }
        }
    }

    fn open(&mut self, channel: &mcap::Channel<'_>, sink: &mut dyn Sink) -> Result<usize> {
        let number = self.all.len();
        let kind =
            channel.schema.as_ref().map_or_else(|| channel.message_encoding.clone(), |s| s.name.clone());
        let topic = Topic { name: channel.topic.clone(), kind, is_timed: true };
        let is_wanted = sink.topic(number, &topic)?;
        let decoder = match decoder(channel)? {
            Some(decoder) if is_wanted => decoder,
            Some(_) => Decoder::None,
            None => {
                let why = format!("messages in {}, which is not read", channel.message_encoding);
                sink.left_out(Some(number), &why);
                Decoder::None
            }
        };
        self.all.push(Channel { decoder, into: Nested::new(number) });
        self.by_id.insert(channel.id, number);
        Ok(number)
    }
}

/// How the messages of a channel are read; `None` for an encoding that is not.
fn decoder(channel: &mcap::Channel<'_>) -> Result<Option<Decoder>> {
    match (channel.message_encoding.as_str(), &channel.schema) {
        ("json", _) => Ok(Some(Decoder::Json)),
        ("cdr", Some(schema)) if schema.encoding == "ros2msg" => {
            let text = std::str::from_utf8(&schema.data).context("expected a schema in UTF-8")?;
            let types =
                Types::parse(&schema.name, text).with_context(|| format!("schema {}", schema.name))?;
            Ok(Some(Decoder::Cdr { types, name: schema.name.clone() }))
        }
        ("cdr", Some(schema)) => {
            bail!("topic {}: expected a schema in ros2msg, found {:?}", channel.topic, schema.encoding)
        }
        ("cdr", None) => bail!("topic {}: expected a schema, found none", channel.topic),
        _ => Ok(None),
    }
}

//! rosbag2: a folder with `metadata.yaml`, or one of its files: SQLite (`.db3`) or MCAP.
//!
//! Since ROS 2 Iron the file holds the definitions of its messages; an older one does not, and is refused for the topics
//! whose definitions are not given.

use crate::record::{Sink, Topic};
use anyhow::{Context, Result, bail, ensure};
use offnominal_topics::cdr;
use offnominal_topics::nested::Nested;
use offnominal_topics::ros_schema::Types;
use rusqlite::{Connection, OpenFlags};
use std::collections::HashMap;
use std::path::Path;

/// Longest message that is read.
const MAX_MESSAGE: i64 = 64 << 20;

/// A topic of the bag.
struct Channel {
    number: usize,
    types: Option<Types>,
    kind: String,
    into: Nested,
}

/// Reads the messages of an SQLite file in the order of their time.
///
/// # Errors
/// If it is none, has no definitions, or a message does not follow its own.
pub fn sqlite(path: &Path, sink: &mut dyn Sink) -> Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let bag = Connection::open_with_flags(path, flags).context("expected an SQLite file")?;
    let definitions = definitions(&bag)?;
    let mut channels = topics(&bag, &definitions, sink)?;
    let mut found = bag
        .prepare("SELECT topic_id, timestamp, length(data), data FROM messages ORDER BY timestamp, id")
        .context("expected a table of messages")?;
    let mut rows = found.query([])?;
    while let Some(row) = rows.next().context("the table of messages is damaged")? {
        let (topic, time): (i64, i64) = (row.get(0)?, row.get(1)?);
        let size: i64 = row.get(2)?;
        ensure!(size <= MAX_MESSAGE, "time {time} ns: expected at most {MAX_MESSAGE} bytes, found {size}");
        let channel = channels
            .get_mut(&topic)
            .with_context(|| format!("time {time} ns: expected a topic {topic}, found none"))?;
        let Some(types) = &channel.types else { continue };
        let data = row.get_ref(3)?.as_blob().context("expected a message of bytes")?;
        let place = || format!("topic {} ({}), time {time} ns", channel.number, channel.kind);
        cdr::read(types, &channel.kind, data, Some(time), &mut channel.into, sink).with_context(place)?;
    }
    Ok(())
}

/// The definition of each type, where the file holds them.
fn definitions(bag: &Connection) -> Result<HashMap<String, (String, String)>> {
    let query = "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions";
    let Ok(mut found) = bag.prepare(query) else { return Ok(HashMap::new()) };
    let rows = found.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    rows.collect::<Result<_, _>>().context("the definitions of messages are damaged")
}

fn topics(
    bag: &Connection,
    definitions: &HashMap<String, (String, String)>,
    sink: &mut dyn Sink,
) -> Result<HashMap<i64, Channel>> {
    let mut found = bag
        .prepare("SELECT id, name, type, serialization_format FROM topics ORDER BY id")
        .context("expected a table of topics")?;
    let mut rows = found.query([])?;
    let mut channels = HashMap::new();
    while let Some(row) = rows.next()? {
        let (id, name, kind, format): (i64, String, String, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        let number = channels.len();
        let is_wanted =
            sink.topic(number, &Topic { name: name.clone(), kind: kind.clone(), is_timed: true })?;
        let types = if format == "cdr" && is_wanted {
            Some(types(&name, &kind, definitions.get(&kind))?)
        } else {
            if format != "cdr" {
                sink.left_out(Some(number), &format!("messages in {format}, which is not read"));
            }
            None
        };
        channels.insert(id, Channel { number, types, kind, into: Nested::new(number) });
    }
    Ok(channels)
}

fn types(topic: &str, kind: &str, definition: Option<&(String, String)>) -> Result<Types> {
    match definition {
        Some((encoding, text)) if encoding == "ros2msg" => {
            Types::parse(kind, text).with_context(|| format!("topic {topic}: definition of {kind}"))
        }
        Some((encoding, _)) => {
            bail!("topic {topic}: expected the definition of {kind} in ros2msg, found {encoding:?}")
        }
        None => bail!(
            "topic {topic}: expected the definition of {kind} in the file, found none (bags before ROS 2 Iron have none; \
             `ros2 bag convert` adds them, or leave the topic out)"
        ),
    }
}

/// The files of a bag, in order, as its `metadata.yaml` lists them.
///
/// # Errors
/// If there is no list of files.
pub fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let path = folder.join("metadata.yaml");
    let text = offnominal_files::read::text(&path)?;
    // The list is the only thing of it that is needed, and rosbag2 writes one item per line.
    let after = text.split_once("relative_file_paths:").map(|(_, rest)| rest);
    let listed =
        after.with_context(|| format!("{}: expected relative_file_paths, found none", path.display()))?;
    let items = listed.lines().skip(1).map(str::trim).take_while(|line| line.starts_with("- "));
    let files: Vec<_> = items.map(|item| folder.join(item[2..].trim_matches(['"', '\'']))).collect();
    ensure!(!files.is_empty(), "{}: expected files, found none", path.display());
    // A list from elsewhere must not lead out of the folder.
    let outside = files.iter().find(|file| file.parent() != Some(folder));
    if let Some(file) = outside {
        bail!("{}: expected files in the folder of the bag, found {}", path.display(), file.display());
    }
    Ok(files)
}

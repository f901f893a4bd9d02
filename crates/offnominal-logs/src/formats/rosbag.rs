//! rosbag2: a folder with `metadata.yaml`, or one of its files: SQLite (`.db3`) or MCAP.
//!
//! Since ROS 2 Iron the file holds the definitions of its messages; an older one does not, and the topics whose definitions
//! are not given are lost. So is what a file that was cut off or damaged does not hold any more.

use super::mcap::DAMAGED;
use super::{compression, sqlite_files};
use crate::record::{Sink, Topic};
use anyhow::{Context, Result, bail, ensure};
use offnominal_topics::cdr;
use offnominal_topics::nested::Nested;
use offnominal_topics::ros_schema::Types;
use rusqlite::{Connection, Row};
use sqlite_files::is_too_long;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The list of the files of a bag, which is written last.
const LIST: &str = "metadata.yaml";

/// Longest message that is read.
const MAX_MESSAGE: i64 = 64 << 20;

/// A topic of the bag.
struct Channel {
    number: usize,
    types: Option<Types>,
    kind: String,
    into: Nested,
}

/// Reads the messages of an SQLite file in its order, which is that in which they came.
///
/// # Errors
/// If it is none, its tables are views or computed, or the sink refuses what it is told.
pub fn sqlite(path: &Path, sink: &mut dyn Sink) -> Result<()> {
    let bag = sqlite_files::open(path)?;
    let definitions = definitions(&bag)?;
    let mut channels = topics(&bag, &definitions, sink)?;
    sqlite_files::insist_on_a_table(&bag, "messages")?;
    let mut found = bag
        .prepare("SELECT topic_id, timestamp, length(data), data FROM messages")
        .context("expected a table of messages")?;
    let mut rows = found.query([])?;
    loop {
        match rows.next() {
            Ok(Some(row)) => message(row, &mut channels, sink)?,
            Ok(None) => return Ok(()),
            Err(why) if is_too_long(&why) => {
                return Err(why).context("expected messages, found none in a long time");
            }
            Err(why) => return sink.lost(None, "the rest of the messages", &why.to_string()),
        }
    }
}

fn message(row: &Row<'_>, channels: &mut HashMap<i64, Channel>, sink: &mut dyn Sink) -> Result<()> {
    let head = || -> Result<(i64, i64, i64), rusqlite::Error> { Ok((row.get(0)?, row.get(1)?, row.get(2)?)) };
    let (topic, time, size) = match head() {
        Ok(head) => head,
        Err(why) => return sink.lost(None, DAMAGED, &why.to_string()),
    };
    let Some(channel) = channels.get_mut(&topic) else {
        return sink.lost(None, "messages of a topic that is not there", &format!("topic {topic}"));
    };
    let Some(types) = &channel.types else { return Ok(()) };
    let mut read = || {
        ensure!(size <= MAX_MESSAGE, "expected at most {MAX_MESSAGE} bytes, found {size}");
        let data = row.get_ref(3)?.as_blob().context("expected a message of bytes")?;
        cdr::read(
            types,
            &channel.kind,
            &compression::message(data, sink)?,
            Some(time),
            &mut channel.into,
            sink,
        )
    };
    match read().with_context(|| format!("time {time} ns")) {
        Err(why) if !sink.is_refusing() => sink.lost(Some(channel.number), DAMAGED, &format!("{why:#}")),
        told => told,
    }
}

/// The definition of each type, where the file holds them.
fn definitions(bag: &Connection) -> Result<HashMap<String, (String, String)>> {
    if !sqlite_files::has_table(bag, "message_definitions")? {
        return Ok(HashMap::new());
    }
    let query = "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions";
    let mut found = bag.prepare(query)?;
    let rows = found.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    rows.collect::<Result<_, _>>().context("the definitions of messages are damaged")
}

fn topics(
    bag: &Connection,
    definitions: &HashMap<String, (String, String)>,
    sink: &mut dyn Sink,
) -> Result<HashMap<i64, Channel>> {
    sqlite_files::insist_on_a_table(bag, "topics")?;
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
        let types = match types(&format, &kind, definitions.get(&kind)) {
            Ok(types) => Some(types).filter(|_| is_wanted),
            Err(why) => {
                sink.lost(Some(number), "all messages", &format!("{why:#}"))?;
                None
            }
        };
        channels.insert(id, Channel { number, types, kind, into: Nested::new(number) });
    }
    Ok(channels)
}

fn types(format: &str, kind: &str, definition: Option<&(String, String)>) -> Result<Types> {
    ensure!(format == "cdr", "expected messages in cdr, found {format:?}");
    match definition {
        Some((encoding, text)) if encoding == "ros2msg" => {
            Types::parse(kind, text).with_context(|| format!("definition of {kind}"))
        }
        Some((encoding, _)) => bail!("expected the definition of {kind} in ros2msg, found {encoding:?}"),
        None => bail!(
            "expected the definition of {kind} in the file, found none (bags before ROS 2 Iron have none; \
             `ros2 bag convert` adds them)"
        ),
    }
}

/// Whether a folder is a bag: it has a list of its files, or at least such files, as where the recorder was killed.
pub fn is_bag(folder: &Path) -> bool {
    folder.join(LIST).is_file() || !unlisted(folder).unwrap_or_default().is_empty()
}

/// The files of a bag in order: as its list says, else those that are there.
///
/// # Errors
/// If the folder cannot be read, or there is no file.
pub fn files(folder: &Path, sink: &mut dyn Sink) -> Result<Vec<PathBuf>> {
    let listed = listed(folder);
    match listed {
        Ok(files) => Ok(files),
        Err(why) => {
            let files = unlisted(folder)?;
            ensure!(!files.is_empty(), "{why:#}");
            sink.lost(None, "the list of the files, so all that are there were read", &format!("{why:#}"))?;
            Ok(files)
        }
    }
}

/// Files that have the ending of one of a bag, in the order of their numbers.
fn unlisted(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_part = |name: &str| {
        let name = name.trim_end_matches(".zstd");
        name.ends_with(".db3") || name.ends_with(".mcap")
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| is_part(&name.to_string_lossy())) {
            found.push(path);
        }
    }
    found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(found)
}

/// The files of a bag, in order, as its list says.
fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let path = folder.join(LIST);
    ensure!(path.is_file(), "expected {LIST}, found none");
    let text = offnominal_files::read::text(&path)?;
    // The list is the only thing of it that is needed, and rosbag2 writes one item per line.
    let after = text.split_once("relative_file_paths:").map(|(_, rest)| rest);
    let listed =
        after.with_context(|| format!("{}: expected relative_file_paths, found none", path.display()))?;
    let items = listed.lines().skip(1).map(str::trim).take_while(|line| line.starts_with("- "));
    let files: Vec<_> = items.map(|item| folder.join(item[2..].trim_matches(['"', '\'']))).collect();
    ensure!(!files.is_empty(), "{}: expected files, found none", path.display());
    Ok(files)
}

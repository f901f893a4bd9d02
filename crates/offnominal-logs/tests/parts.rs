//! Logs of which one part is damaged, cut off or of an unknown kind (`data/make_parts.py`): the rest is read, and what is lost
//! is said. And logs that declare what is not in them: an error, soon.

use offnominal_logs::chosen::Truth;
use offnominal_logs::formats::{self, Format};
use offnominal_logs::mapping::Mapping;
use offnominal_logs::record::{Column, Sink, Topic, Value};
use offnominal_logs::{inspect, recordings};
use offnominal_work::context::Context;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A topic: its name, the names of its columns, and its rows.
type Told = (String, Vec<String>, Vec<Vec<Option<f64>>>);

/// Rows of each column, by topic.
#[derive(Default)]
struct Read {
    topics: Vec<Told>,
    said: Vec<String>,
}

impl Sink for Read {
    fn topic(&mut self, _: usize, topic: &Topic) -> anyhow::Result<bool> {
        self.topics.push((topic.name.clone(), Vec::new(), Vec::new()));
        Ok(true)
    }

    fn column(&mut self, topic: usize, _: usize, column: &Column) -> anyhow::Result<()> {
        self.topics[topic].1.push(column.name.clone());
        Ok(())
    }

    fn row(&mut self, topic: usize, _: Option<i64>, row: &[Value<'_>]) -> anyhow::Result<()> {
        self.topics[topic].2.push(row.iter().map(|value| value.number()).collect());
        Ok(())
    }

    fn left_out(&mut self, _: Option<usize>, what: &str) {
        self.said.push(what.into());
    }
}

impl Read {
    /// A column of the topic that has it; it has a number in each row that is not lost.
    fn column(&self, name: &str) -> Vec<f64> {
        let has =
            |topic: &&(String, Vec<String>, Vec<Vec<Option<f64>>>)| topic.1.iter().any(|own| own == name);
        let (_, names, rows) = self.topics.iter().find(has).expect(name);
        let at = names.iter().position(|own| own == name).unwrap();
        rows.iter().filter_map(|row| row.get(at).copied().flatten()).collect()
    }

    fn says(&self, text: &str) {
        assert!(self.said.iter().any(|what| what.contains(text)), "{text}: {:?}", self.said);
    }
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read(path: &Path) -> anyhow::Result<(Format, Read)> {
    let mut found = Read::default();
    Ok((formats::read(path, &mut found)?, found))
}

fn part(name: &str) -> Read {
    read(&path("parts").join(name)).unwrap_or_else(|why| panic!("{why:#}")).1
}

fn speeds() -> Vec<f64> {
    (0..60).map(|i| 1.0 + 0.3 * (f64::from(i) / 5.0).sin()).collect()
}

/// Whether numbers are those of the rows that are left, but for what a type rounds.
fn are_like(found: &[f64], rows: impl Iterator<Item = usize>) {
    let (all, rows): (Vec<f64>, Vec<usize>) = (speeds(), rows.collect());
    assert_eq!(found.len(), rows.len());
    for (x, row) in found.iter().zip(rows) {
        assert!((x - all[row]).abs() < 1e-3, "row {row}: {x}, not {}", all[row]);
    }
}

#[test]
fn a_chunk_of_mcap_costs_its_own_messages() {
    are_like(&part("whole.mcap").column("speed"), 0..60);
    let found = part("chunk.mcap");
    assert!((40..59).contains(&found.column("speed").len()));
    found.says("chunks: ");
}

#[test]
fn a_topic_or_message_of_an_unknown_kind_costs_itself() {
    let found = part("kinds.mcap");
    are_like(&found.column("speed"), (0..60).filter(|i| !matches!(i, 20 | 21)));
    assert_eq!(found.column("throttle").len(), 59, "the object with NaN has another number");
    found.says("expected a schema in ros2msg, found \"ros2idl\"");
    found.says("NaN or Infinity");
    found.says("messages that cannot be read: ");
}

#[test]
fn a_data_set_of_hdf5_costs_itself() {
    let found = part("kinds.h5");
    for name in ["speed", "half", "big"] {
        are_like(&found.column(name), 0..60);
    }
    found.says("opaque: expected whole or floating-point numbers");
    let damaged = part("chunk.h5");
    assert_eq!(damaged.column("throttle"), found.column("throttle")[..0], "rows are read at once");
    are_like(&damaged.column("speed"), 0..60);
    damaged.says("throttle, from row 0 on");
}

#[test]
fn arrow_is_read_by_its_footer_and_a_page_of_parquet_costs_its_column() {
    for name in ["polars.arrow", "polars-zstd.arrow", "batches.arrow", "groups.parquet"] {
        are_like(&part(name).column("speed"), 0..60);
    }
    let found = part("page.parquet");
    are_like(&found.column("speed"), (0..20).chain(40..60));
    assert_eq!(found.column("throttle").len(), 60);
    found.says("columns of a group of rows: group 1: speed");
}

#[test]
fn bags_are_read_however_they_are_compressed() {
    for name in ["bag.db3", "messages.db3", "bag-zstd"] {
        let found = part(name);
        are_like(&found.column("speed"), (0..60).filter(|i| !matches!(i, 30 | 31)));
        found.says("a topic that is not there: topic 7");
        found.says("expected the definition of a/msg/Old");
    }
}

#[test]
fn a_bag_without_a_list_has_the_files_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(path("parts/bag.db3"), folder.path().join("bag_0.db3")).unwrap();
    let (format, found) = read(folder.path()).unwrap();
    assert_eq!((format, found.column("speed").len()), (Format::Rosbag, 58));
    found.says("expected metadata.yaml, found none");
}

#[test]
fn what_a_crash_appended_completes_no_message() {
    let found = part("appended.ulg");
    are_like(&found.column("speed"), (0..60).filter(|&i| i != 30));
    found.says("expected a subscription 9, found none");
    found.says("a message that is cut off");
}

/// A log that ends anywhere: its rows are the first ones of the whole, and what comes at the end is said.
#[test]
fn a_log_that_was_cut_off_is_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let names = [
        "parts/plain.mcap",
        "parts/whole.mcap",
        "bag-mcap/bag-mcap.mcap",
        "state.ulg",
        "same.arrows",
        "same.jsonl",
    ];
    for name in names {
        let (_, whole) = read(&path(name)).unwrap();
        let bytes = std::fs::read(path(name)).unwrap();
        let file = folder.path().join(Path::new(name).file_name().unwrap());
        let mut n_read = 0;
        for cut in (1..40).map(|i| bytes.len() * i / 40) {
            std::fs::write(&file, &bytes[..cut]).unwrap();
            let Ok((_, found)) = read(&file) else { continue };
            n_read += 1;
            for ((_, _, rows), (_, _, all)) in found.topics.iter().zip(&whole.topics) {
                let same =
                    |(row, all): (&Vec<Option<f64>>, &Vec<Option<f64>>)| all.starts_with(row) || row == all;
                assert!(rows.len() <= all.len() && rows.iter().zip(all).all(same), "{name}, {cut} bytes");
            }
            let rows = |read: &Read| read.topics.iter().map(|(_, _, rows)| rows.len()).sum::<usize>();
            let is_whole = rows(&found) == rows(&whole);
            assert!(is_whole || !name.ends_with("mcap") || !found.said.is_empty(), "{name}, {cut} bytes");
        }
        // A stream of Arrow with one batch has all of it or nothing.
        assert!(n_read > 10 || name == "same.arrows", "{name}: {n_read} of 39");
    }
}

#[test]
fn what_is_declared_and_not_there_is_an_error_soon() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.jsonl");
    let deep = format!("{}1{}\n", format!("{{\"{}\":", "k".repeat(100_000)).repeat(120), "}".repeat(120));
    let wide: String = (0..200_000).map(|i| format!("{{\"k{i}\":1}}\n")).collect();
    let mut refused: BTreeMap<String, PathBuf> = BTreeMap::new();
    for (name, text) in [("deep", deep), ("wide", wide)] {
        let file = file.with_file_name(format!("{name}.jsonl"));
        std::fs::write(&file, text).unwrap();
        refused.insert(name.into(), file);
    }
    for name in ["rows.h5", "links.h5", "computed.db3", "types.mcap"] {
        refused.insert(name.into(), path("parts").join(name));
    }
    for (name, file) in refused {
        let begun = Instant::now();
        assert!(formats::read(&file, &mut ()).is_err(), "{name}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{name}: {:?}", begun.elapsed());
    }
}

#[cfg(unix)]
#[test]
fn links_and_pipes_of_a_folder_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    std::fs::create_dir_all(root.join("meta")).unwrap();
    std::fs::create_dir_all(root.join("data")).unwrap();
    std::fs::write(root.join("meta/info.json"), r#"{"codebase_version":"v3.0","features":{}}"#).unwrap();
    for name in ["a", "b", "c"] {
        symlink(".", root.join("data").join(name)).unwrap();
    }
    assert!(read(&root).is_err(), "there is no file");
    std::fs::copy(path("parts/groups.parquet"), root.join("data/x.parquet")).unwrap();
    let pipe = root.join("data/z.parquet");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    symlink(path("parts/groups.parquet"), root.join("data/y.parquet")).unwrap();
    let (_, found) = read(&root).unwrap();
    assert_eq!(found.column("speed").len(), 60, "of one file");
    found.says("files: 2 times");
}

#[test]
fn a_log_of_which_no_part_may_be_lost_is_an_error_with_what_is() {
    let lenient = Context::silent(0, 1);
    let strict = Context { strict: true, ..lenient.clone() };
    for (name, is_whole) in [
        ("plain.mcap", true),
        ("groups.parquet", true),
        ("polars-zstd.arrow", true),
        ("chunk.mcap", false),
        ("kinds.mcap", false),
        ("chunk.h5", false),
        ("page.parquet", false),
        ("bag-zstd", false),
        ("appended.ulg", false),
    ] {
        let logs = [path("parts").join(name)];
        let found = inspect::of(&logs, &lenient).unwrap().0;
        let refused = inspect::of(&logs, &strict).map(drop).map_err(|why| format!("{why:#}"));
        assert_eq!(refused.is_ok(), is_whole, "{name}: {refused:?}");
        let Err(why) = refused else { continue };
        assert!(why.contains("expected a log that can be read as a whole") && why.contains(name), "{why}");
        let mapping = Mapping::parse(&found.mapping).unwrap();
        let read = |context| recordings::read(&logs, &mapping, Truth::IfThere, context).map(drop);
        assert!(read(&lenient).is_ok(), "{name}");
        assert_eq!(format!("{:#}", read(&strict).unwrap_err()), why);
    }
}

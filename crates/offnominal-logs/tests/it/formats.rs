//! The same numbers in every format, written by the formats' own writers (`data/make.py`), and what damaged logs say.

use offnominal_logs::formats::{self, Format};
use offnominal_logs::record::{Column, Sink, Topic, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The time of a row, and its numbers.
type Row = (Option<i64>, Vec<Option<f64>>);

/// Everything that a log holds.
#[derive(Default)]
struct Whole {
    topics: Vec<(Topic, Vec<Column>, Vec<Row>)>,
    left_out: Vec<String>,
}

impl Sink for Whole {
    fn topic(&mut self, number: usize, topic: &Topic) -> anyhow::Result<bool> {
        assert_eq!(number, self.topics.len(), "topics are numbered in order");
        self.topics.push((topic.clone(), Vec::new(), Vec::new()));
        Ok(true)
    }

    fn column(&mut self, topic: usize, number: usize, column: &Column) -> anyhow::Result<()> {
        assert_eq!(number, self.topics[topic].1.len(), "columns are numbered in order");
        self.topics[topic].1.push(column.clone());
        Ok(())
    }

    fn row(&mut self, topic: usize, time: Option<i64>, row: &[Value<'_>]) -> anyhow::Result<()> {
        let (_, columns, rows) = &mut self.topics[topic];
        assert_eq!(row.len(), columns.len(), "a row has a value for each column known so far");
        rows.push((time, row.iter().map(|value| value.number()).collect()));
        Ok(())
    }

    fn left_out(&mut self, _: Option<usize>, what: &str) {
        self.left_out.push(what.into());
    }
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data")).join(name)
}

fn read(name: &str) -> (Format, Whole) {
    let mut whole = Whole::default();
    let format = formats::read(&path(name), &mut whole).unwrap_or_else(|e| panic!("{e:#}"));
    (format, whole)
}

impl Whole {
    fn topic(&self, name: &str) -> BTreeMap<String, Vec<Option<f64>>> {
        let (_, columns, rows) = self.topics.iter().find(|t| t.0.name == name).expect("the topic is there");
        let column = |i: usize| rows.iter().map(|(_, row)| row.get(i).copied().flatten()).collect();
        columns.iter().enumerate().map(|(i, c)| (c.name.clone(), column(i))).collect()
    }

    fn times(&self, name: &str) -> Vec<Option<i64>> {
        self.topics.iter().find(|t| t.0.name == name).unwrap().2.iter().map(|row| row.0).collect()
    }
}

/// The columns of the table that every format holds.
fn expected() -> BTreeMap<String, Vec<Option<f64>>> {
    let of = |f: fn(f64) -> Option<f64>| (0..40).map(|i| f(f64::from(i))).collect();
    BTreeMap::from([
        ("time".into(), of(|i| Some(i * 0.02))),
        ("x".into(), of(|i| Some(i / 8.0))),
        ("y".into(), of(|i| Some(-(i * i) / 4.0))),
        ("command".into(), of(|i| Some((i % 5.0) / 2.0))),
        ("count".into(), of(Some)),
        ("missing".into(), of(|i| (i % 3.0 == 0.0).then_some(i / 2.0))),
    ])
}

#[test]
fn a_table_is_the_same_in_every_format() {
    let formats = [
        ("same.csv", Format::Csv),
        ("same.tsv", Format::Csv),
        ("same.csv.gz", Format::Csv),
        ("same.jsonl", Format::JsonLines),
        ("same.parquet", Format::Parquet),
        ("same.arrow", Format::Arrow),
        ("same.arrows", Format::ArrowStream),
        ("same.h5", Format::Hdf5),
    ];
    for (name, format) in formats {
        let (found, whole) = read(name);
        assert_eq!(found, format, "{name}");
        assert_eq!(whole.topic(""), expected(), "{name}");
        assert!(whole.times("").iter().all(Option::is_none));
    }
}

#[test]
fn messages_in_json_have_the_same_numbers_and_their_own_times() {
    let (format, whole) = read("json.mcap");
    assert_eq!((format, whole.topic("/row")), (Format::Mcap, expected()));
    assert_eq!(whole.times("/row")[2], Some(1_600_000_000_040_000_000));
}

#[test]
fn messages_of_ros_are_read_by_the_definition_in_the_file() {
    for name in ["ros.mcap", "bag-sqlite", "bag-mcap", "bag-sqlite/bag-sqlite.db3"] {
        let (_, whole) = read(name);
        let (joints, table) = (whole.topic("/joint_states"), expected());
        assert_eq!(joints["position[shoulder]"], table["x"], "{name}");
        assert_eq!(joints["position[elbow]"], table["y"], "{name}");
        assert_eq!(joints["effort[shoulder]"], table["command"], "{name}");
        assert_eq!(joints["header.stamp.sec"], table["count"], "{name}");
        assert!(
            !joints.keys().any(|column| column.starts_with("velocity")),
            "{name}: an empty array has no columns"
        );
        assert_eq!(whole.times("/joint_states")[1], Some(1_600_000_000_020_000_000), "{name}");
    }
    let (format, whole) = read("bag-sqlite");
    let imu = whole.topic("/imu");
    assert_eq!((format, imu["linear_acceleration.z"].len()), (Format::Rosbag, 20));
    assert!(imu["linear_acceleration.z"].iter().all(|z| *z == Some(9.75)));
    assert_eq!(imu["angular_velocity.x"][3], Some(6.0 / 8.0));
    let (_, ros) = read("ros.mcap");
    let units = &ros.topics[0].1;
    assert!(units.iter().any(|c| c.name == "position[elbow]" && c.unit.as_deref() == Some("rad")));
}

#[test]
fn vectors_of_lerobot_have_the_names_of_their_entries() {
    let (format, whole) = read("lerobot");
    let (table, found) = (expected(), whole.topic(""));
    assert_eq!(format, Format::LeRobot);
    assert_eq!(found["observation.state[shoulder]"], table["x"]);
    assert_eq!(found["observation.state[elbow]"], table["y"]);
    assert_eq!(found["action[wrist]"], table["command"]);
    assert_eq!(found["episode_index"][39], Some(3.0));
    assert_eq!(whole.left_out, ["observation.images.top: a video"]);
}

#[test]
fn a_flight_log_has_one_topic_for_each_instance() {
    let (format, whole) = read("state.ulg");
    let (table, found) = (expected(), whole.topic("state"));
    assert_eq!(format, Format::Ulog);
    assert_eq!(
        (&found["p[1].x"], &found["p[0].y"], &found["count"]),
        (&table["x"], &table["y"], &table["count"])
    );
    assert_eq!(found.keys().collect::<Vec<_>>(), ["count", "on", "p[0].x", "p[0].y", "p[1].x", "p[1].y"]);
    assert_eq!(whole.times("state")[3], Some(60_000_000));
    assert_eq!(
        whole.topic("state[1]")["count"],
        [0, 4, 8, 12, 16, 20, 24, 28, 32, 36].map(|n| Some(f64::from(n)))
    );
    assert_eq!(whole.left_out, ["12 ms that the logger lost", "a message that is cut off: at byte 2215"]);
}

/// What is said of a log of these bytes.
fn refused(name: &str, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, bytes).unwrap();
    let error = formats::read(&file, &mut Whole::default()).expect_err("it is refused");
    let text = format!("{error:#}");
    assert!(text.contains(name), "{text}");
    text
}

#[test]
fn a_damaged_log_is_named_with_the_place() {
    let bytes = |name: &str| std::fs::read(path(name)).unwrap();
    assert!(
        refused("x.mcap", &bytes("ros.mcap")[..60]).contains("nothing can be read: the file ended early")
    );
    assert!(refused("x.jsonl", b"[1]\n{\n").contains("line 1: expected a JSON object, found an array"));
    assert!(refused("x.parquet", &bytes("same.parquet")[..900]).contains("expected a Parquet file"));
    assert!(refused("x.bin", &[0, 1, 2, 3]).contains("found a file that begins with [00, 01, 02, 03]"));
    assert!(refused("empty.csv", b"").contains("found an empty file"));
    refused("x.db3", &bytes("bag-sqlite/bag-sqlite.db3")[..9000]);
}

#[test]
fn episodes_of_minari_are_one_topic() {
    let (format, whole) = read("minari/table-v0");
    assert_eq!(format, Format::Hdf5);
    assert_eq!(whole.topics.len(), 1);
    let (found, expected) = (whole.topic(""), expected());
    // Each episode has ten observations and nine actions.
    let rows = |f: &dyn Fn(usize) -> Option<f64>| (0..30).map(f).collect::<Vec<_>>();
    assert_eq!(found["episode"], rows(&|i| Some((i / 10) as f64)));
    assert_eq!(found["observations/at[0]"], expected["x"][..30]);
    assert_eq!(found["observations/at[1]"], expected["y"][..30]);
    assert_eq!(found["actions"], rows(&|i| expected["command"][i].filter(|_| i % 10 != 9)));
    assert_eq!(found["infos/success"], rows(&|i| Some(f64::from(u8::from(i > 20)))));
}

#[test]
fn columns_of_all_types_are_the_same_in_arrow_and_parquet() {
    for name in ["kinds.arrow", "kinds.parquet", "pages.parquet"] {
        let (_, whole) = read(name);
        let (found, expected) = (whole.topic(""), expected());
        let column = |name: &str| &found[name];
        assert_eq!(column("x"), &expected["x"], "{name}");
        assert_eq!((column("position[1]"), column("pose.x")), (&expected["y"], &expected["x"]));
        assert_eq!((column("count"), column("pose.at[0]")), (&expected["count"], &expected["count"]));
        assert_eq!(column("missing"), &expected["missing"]);
        assert_eq!(column("is_even")[..3], [Some(1.0), Some(0.0), Some(1.0)]);
        assert_eq!(column("forces[2]")[3], Some(0.375), "the fourth row has three");
        assert_eq!(column("forces[2]")[4], None, "the fifth has none");
        assert_eq!(column("time")[1], Some(1.600_000_000_02e18));
        assert_eq!(whole.left_out, ["image: values of type Binary"]);
    }
}

#[test]
fn a_declared_size_of_arrow_is_not_believed() {
    let mut large = std::fs::read(path("same.arrows")).unwrap();
    large[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = refused("x.arrows", &large);
    assert!(
        error.contains("expected a description of at most") && error.contains("found 4294967295"),
        "{error}"
    );
}

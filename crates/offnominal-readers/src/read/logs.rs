//! Readers of logs, which find out the format by themselves.

use super::on_disk;
use anyhow::Result;
use offnominal_logs::formats;
use offnominal_logs::mapping::Mapping;
use offnominal_logs::record::{Column, Sink, Topic, Value};
use offnominal_logs::splits::Columns;

/// Takes everything and keeps nothing.
struct Anything;

impl Sink for Anything {
    fn topic(&mut self, _: usize, _: &Topic) -> Result<bool> {
        Ok(true)
    }

    fn column(&mut self, _: usize, _: usize, _: &Column) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, _: usize, _: Option<i64>, _: &[Value<'_>]) -> Result<()> {
        Ok(())
    }

    fn left_out(&mut self, _: Option<usize>, _: &str) {}
}

fn log(bytes: &[u8]) -> bool {
    formats::read(on_disk(bytes).path(), &mut Anything).is_ok()
}

/// CSV.
pub fn log_csv(bytes: &[u8]) -> bool {
    log(bytes)
}

/// JSON lines.
pub fn log_json_lines(bytes: &[u8]) -> bool {
    log(bytes)
}

/// Arrow files and streams, and Parquet.
pub fn log_columnar(bytes: &[u8]) -> bool {
    log(bytes)
}

/// HDF5, as a log and as a split of labelled episodes, which not every log is.
pub fn log_hdf5(bytes: &[u8]) -> bool {
    let _ = Columns::of_file(on_disk(bytes).path());
    log(bytes)
}

/// MCAP.
pub fn log_mcap(bytes: &[u8]) -> bool {
    log(bytes)
}

/// SQLite files of rosbag2, with messages of ROS 2.
pub fn log_rosbag(bytes: &[u8]) -> bool {
    log(bytes)
}

/// ULog.
pub fn log_ulog(bytes: &[u8]) -> bool {
    log(bytes)
}

/// The mapping of a log.
pub fn mapping(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| Mapping::parse(text).is_ok())
}

//! Readers of logs, which find out the format by themselves.

use super::on_disk;
use offnominal_logs::formats;
use offnominal_logs::mapping::Mapping;
use offnominal_logs::splits::Columns;

fn log(bytes: &[u8]) -> bool {
    formats::read(on_disk(bytes).path(), &mut ()).is_ok()
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

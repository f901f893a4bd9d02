//! The list of all readers.

use crate::read::{files, images, logs, outcomes, policies, requests, rollouts, wires, works};

/// What a reader reads, which decides how mutants of it are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Nothing that a mutant could keep.
    Bytes,
    /// JSON, or lines of it.
    Json,
    /// Words and numbers between separators: TOML, CSV, XML.
    Text,
    /// A JSON header and tensors.
    Safetensors,
    /// A zip of other formats.
    Zip,
    /// Protocol buffers.
    Protobuf,
    /// PNG.
    Png,
    /// Packages with two bytes of length before a letter.
    Packages,
    /// Messages with a letter before four bytes of length.
    Messages,
}

/// A reader of outside bytes.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, which is that of its fuzz target and of its folder of seeds.
    pub name: &'static str,
    /// What it reads.
    pub format: Format,
    /// Reads bytes; whether they are accepted.
    pub read: fn(&[u8]) -> bool,
}

macro_rules! targets {
    ($($format:ident $module:ident::$name:ident,)*) => {
        /// Every reader.
        pub const TARGETS: &[Target] =
            &[$(Target { name: stringify!($name), format: Format::$format, read: $module::$name },)*];
    };
}

targets! {
    Safetensors policies::policy,
    Safetensors policies::network,
    Json policies::card,
    Protobuf policies::onnx,
    Zip policies::sb3,
    Bytes policies::sb3_statistics,
    Zip policies::cleanrl,
    Zip policies::rsl_rl,
    Safetensors policies::checkpoint,
    Safetensors policies::history,
    Safetensors policies::predictor,
    Safetensors files::tensors,
    Bytes files::torch_legacy,
    Text files::npy,
    Zip files::npz,
    Bytes files::dataset,
    Text files::table_csv,
    Bytes files::table_parquet,
    Json files::journal,
    Json files::stress,
    Json files::cell,
    Png images::png,
    Bytes images::picture,
    Text images::label_map,
    Protobuf images::segmentation,
    Json images::segmentation_feed,
    Text images::polygons,
    Text logs::log_csv,
    Json logs::log_json_lines,
    Bytes logs::log_columnar,
    Bytes logs::log_hdf5,
    Bytes logs::log_mcap,
    Bytes logs::log_rosbag,
    Bytes logs::log_ulog,
    Text logs::mapping,
    Json outcomes::outcomes_json,
    Text outcomes::outcomes_table,
    Json rollouts::rollout_lines,
    Bytes rollouts::rollout_table,
    Bytes rollouts::rollout_pickle,
    Text rollouts::rollout_request,
    Bytes rollouts::task_embeddings,
    Safetensors works::monitor_file,
    Json works::monitor_lines,
    Text works::campaign,
    Text works::noise,
    Text works::manifest,
    Text works::metrics_csv,
    Json works::results,
    Zip works::evidence,
    Text requests::formula,
    Text requests::distribution,
    Json requests::request,
    Json requests::recipe,
    Json requests::train_config,
    Json requests::anomaly,
    Packages wires::rtde,
    Messages wires::hosted,
    Json wires::policy_line,
    Text wires::page_request,
}

/// The reader of that name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

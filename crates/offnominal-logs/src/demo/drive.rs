//! Drives of a car, as CSV with a row every 0.05 s.

use anyhow::Result;
use csv::Writer;
use offnominal_core::Seed;
use offnominal_core::prelude::Episode;
use offnominal_engine::anomaly_request::AnomalyRequest;
use offnominal_engine::collect::play;
use offnominal_engine::context::Context;
use offnominal_engine::monitor_file::{self, System};
use offnominal_engine::subject::Subject;
use offnominal_files::write::atomically;
use offnominal_monitor::ChannelName;
use serde_json::json;
use std::path::{Path, PathBuf};

const NOMINAL: usize = 40;

/// Rows of a recording: 12.5 s.
const ROWS: usize = 250;

/// The files of the recordings.
pub(super) struct Drives {
    /// Those of a car that is as it should be.
    pub nominal: Vec<PathBuf>,
    /// One more drive, without and with a camera that is knocked on the way.
    pub new: Vec<PathBuf>,
}

impl Drives {
    /// Drives and writes them.
    pub fn write(folder: &Path, context: &Context) -> Result<Drives> {
        let car = Subject::new("car-lanekeep", "tqc")?;
        let system = monitor_file::system(&car);
        let write = |name: &str, drive: &Episode| -> Result<PathBuf> {
            let path = folder.join(name);
            atomically(&path, &table(&system, drive)?)?;
            Ok(path)
        };
        let seed = Seed(context.seed).child("demo");
        let nominal = play(&car, None, seed.child("nominal"), 0..NOMINAL, "recordings", context)?.episodes;
        let named = nominal.iter().enumerate().map(|(i, drive)| write(&format!("run{i:02}.csv"), drive));
        let nominal = named.collect::<Result<_>>()?;
        // From 6 s on the camera that sees the lane sees the car 0.2 m too far to the left.
        let knocked: AnomalyRequest = serde_json::from_value(
            json!({"anomaly": "obs-offset", "magnitude": 0.2, "channels": ["lane_offset"], "onset": 120}),
        )?;
        let knocked = car.anomaly_spec(Some(&knocked))?;
        // Its twin is the same drive without that.
        let both = play(&car, knocked.as_ref(), seed.child("new"), 0..1, "recordings", context)?.episodes;
        let new = [("new-good.csv", &both[1]), ("new-knocked.csv", &both[0])];
        let new = new.into_iter().map(|(name, drive)| write(name, drive)).collect::<Result<_>>()?;
        Ok(Drives { nominal, new })
    }
}

/// A drive as CSV. The last observation of an episode has no command, so that field is empty.
fn table(system: &System<'_>, drive: &Episode) -> Result<Vec<u8>> {
    let mut out = Writer::from_writer(Vec::new());
    let commands = system.action.iter().map(|channel| format!("command.{}", header(channel)));
    out.write_record(
        std::iter::once("time".to_string()).chain(system.observation.iter().map(header)).chain(commands),
    )?;
    let mut commands = drive.actions.chunks_exact(drive.act_width);
    for (step, observation) in drive.observations.chunks_exact(drive.obs_width).enumerate().take(ROWS) {
        out.write_field(format!("{:.2}", step as f64 * system.dt_secs))?;
        observation.iter().try_for_each(|value| out.write_field(value.to_string()))?;
        match commands.next() {
            Some(command) => command.iter().try_for_each(|value| out.write_field(value.to_string()))?,
            None => system.action.iter().try_for_each(|_| out.write_field(""))?,
        }
        out.write_record(None::<&[u8]>)?;
    }
    Ok(out.into_inner()?)
}

/// The name of a channel, with its unit in brackets if it has one.
fn header(channel: &ChannelName) -> String {
    match channel.unit.as_str() {
        "" | "1" => channel.name.clone(),
        unit => format!("{} [{unit}]", channel.name),
    }
}

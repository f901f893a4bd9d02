//! The flags that describe a disturbance, shared by the commands that make one.

use clap::Args;
use offnominal_core::anomaly::{ChannelName, Channels};
use offnominal_core::schedule::Onset;
use offnominal_engine::anomaly_request::{AnomalyRequest, OnsetChoice};
use std::path::PathBuf;

/// What is done to the episodes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Anomaly")]
pub struct AnomalyArgs {
    /// Anomaly id (see `list anomalies --env`); without it the episodes are nominal
    #[arg(long, value_name = "A")]
    anomaly: Option<String>,
    /// How strong, in the anomaly's own unit
    #[arg(
        long,
        value_name = "M",
        requires = "anomaly",
        conflicts_with = "strength",
        allow_negative_numbers = true,
        value_parser = finite
    )]
    magnitude: Option<f64>,
    /// How strong, as a calibrated level: tiny, medium, strong or extreme; always for all channels
    #[arg(long, value_name = "S", requires = "anomaly")]
    strength: Option<String>,
    /// The table that `calibrate` wrote, or its folder, in which the strength is looked for [default: those of this
    /// program, then runs/calibrate]
    #[arg(long, value_name = "FILE", requires = "strength")]
    strengths: Option<PathBuf>,
    /// Channels that are touched, by name or index, with commas between; `one` draws one for each episode [default: all]
    #[arg(long, value_name = "C,…", value_delimiter = ',', requires = "anomaly")]
    channels: Vec<String>,
    /// First anomalous step: a number, or `random`
    #[arg(long, value_name = "random|K", value_parser = onset, default_value = "random")]
    onset: Onset,
    /// The anomaly ends after so many steps
    #[arg(long, value_name = "STEPS", requires = "anomaly", conflicts_with = "intermittent")]
    window: Option<u32>,
    /// The anomaly comes for ON steps and goes for OFF steps
    #[arg(long, value_name = "ON,OFF", requires = "anomaly", value_parser = intermittent)]
    intermittent: Option<(u32, u32)>,
}

fn finite(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number".to_string())?;
    if number.is_finite() { Ok(number) } else { Err(format!("expected a finite number, found {number}")) }
}

fn onset(text: &str) -> Result<Onset, String> {
    match text {
        "random" => Ok(Onset::Random),
        number => number.parse().map(Onset::At).map_err(|_| "expected a step or `random`".into()),
    }
}

fn intermittent(text: &str) -> Result<(u32, u32), String> {
    let parsed =
        text.split_once(',').and_then(|(on, off)| Some((on.trim().parse().ok()?, off.trim().parse().ok()?)));
    match parsed {
        Some((on, off)) if on > 0 && off > 0 => Ok((on, off)),
        _ => Err("expected two positive whole numbers of steps, such as 5,10".into()),
    }
}

impl AnomalyArgs {
    /// The options as a request; none, if no anomaly was asked for.
    pub fn request(self) -> Option<AnomalyRequest> {
        let AnomalyArgs { anomaly, magnitude, strength, strengths, channels, onset, window, intermittent } =
            self;
        Some(AnomalyRequest {
            anomaly: anomaly?,
            magnitude,
            strength,
            strengths,
            policy: None,
            channels: of_names(&channels),
            onset: OnsetChoice(onset),
            window,
            intermittent,
        })
    }
}

/// The channels, if any are named: a word alone, or a list.
fn of_names(given: &[String]) -> Option<Channels> {
    match given {
        [] => None,
        [word] if word == "one" => Some(Channels::One),
        [word] if word == "all" => Some(Channels::All),
        names => Some(Channels::Some(names.iter().map(|name| channel(name)).collect())),
    }
}

fn channel(text: &str) -> ChannelName {
    text.parse().map_or_else(|_| ChannelName::Name(text.into()), ChannelName::Index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_a_word_or_a_list() {
        let read = |given: &[&str]| of_names(&given.iter().map(|c| c.to_string()).collect::<Vec<_>>());
        let name = || ChannelName::Name("x".into());
        assert_eq!((read(&["one"]), read(&["all"])), (Some(Channels::One), Some(Channels::All)));
        assert_eq!(read(&["0", "x"]), Some(Channels::Some(vec![ChannelName::Index(0), name()])));
        assert_eq!((read(&["x"]), read(&[])), (Some(Channels::Some(vec![name()])), None));
    }

    #[test]
    fn onsets_and_extents_are_read() {
        assert_eq!((onset("random"), onset("7")), (Ok(Onset::Random), Ok(Onset::At(7))));
        assert_eq!(intermittent("5,10"), Ok((5, 10)));
        assert_eq!(finite("nan"), Err("expected a finite number, found NaN".into()));
        assert_eq!(finite("-inf"), Err("expected a finite number, found -inf".into()));
        assert!(finite("-0.5") == Ok(-0.5) && finite("much").is_err());
        assert!(onset("soon").is_err() && intermittent("5").is_err() && intermittent("0,3").is_err());
    }
}

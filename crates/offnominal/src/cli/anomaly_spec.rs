//! The flags that describe a disturbance, shared by the commands that make one.

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use offnominal_core::anomaly::ChannelName;
use offnominal_core::anomaly_spec;
use offnominal_core::prelude::*;
use offnominal_engine::subject::Subject;
use offnominal_engine::{catalogues, strengths};
use offnominal_files::store::address;
use serde_json::{Value, json};

/// What is done to the episodes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Anomaly")]
pub struct AnomalyArgs {
    /// Anomaly id (see `list anomalies --env`); without it the episodes are nominal
    #[arg(long, value_name = "A")]
    pub anomaly: Option<String>,
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
    intermittent: Option<Extent>,
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

fn intermittent(text: &str) -> Result<Extent, String> {
    let parsed =
        text.split_once(',').and_then(|(on, off)| Some((on.trim().parse().ok()?, off.trim().parse().ok()?)));
    match parsed {
        Some((on, off)) if on > 0 && off > 0 => Ok(Extent::Intermittent { on, off }),
        _ => Err("expected two positive whole numbers of steps, such as 5,10".into()),
    }
}

impl AnomalyArgs {
    /// The disturbance; `None` if no anomaly was asked for.
    ///
    /// # Errors
    /// If the anomaly does not apply to the environment, or its strength is missing, unknown or not calibrated.
    pub fn anomaly_spec(&self, subject: &Subject) -> Result<Option<AnomalySpec>> {
        let Some(anomaly) = &self.anomaly else { return Ok(None) };
        anomaly_spec::check(anomaly, &catalogues::anomalies(), subject.env.spec())?;
        let mut params = json!({ "magnitude": self.magnitude(subject, anomaly)? });
        if !self.channels.is_empty() {
            params["channels"] = channels(&self.channels);
        }
        let schedule = Schedule { onset: self.onset, extent: self.extent()? };
        Ok(Some(AnomalySpec { anomaly: anomaly.clone(), params, schedule }))
    }

    /// What is asked for, as a part of a file name: anomaly, strength, and what is not the default; or `nominal`.
    pub fn slug(&self) -> String {
        let Some(anomaly) = &self.anomaly else { return "nominal".into() };
        let mut parts = vec![anomaly.clone()];
        parts.extend(self.magnitude.map(|m| format!("{m:?}").trim_end_matches(".0").to_string()));
        parts.extend(self.strength.clone());
        if !self.channels.is_empty() {
            parts.push(format!("channels-{}", channels_slug(&self.channels)));
        }
        if let Onset::At(step) = self.onset {
            parts.push(format!("onset-{step}"));
        }
        parts.extend(self.window.map(|steps| format!("window-{steps}")));
        if let Some(Extent::Intermittent { on, off }) = self.intermittent {
            parts.push(format!("on-{on}-off-{off}"));
        }
        parts.join("-")
    }

    fn magnitude(&self, subject: &Subject, anomaly: &str) -> Result<f64> {
        match (self.magnitude, &self.strength) {
            (Some(magnitude), _) => Ok(magnitude),
            (None, Some(level)) if self.channels.is_empty() => of_level(subject, anomaly, level),
            (None, Some(level)) => bail!(
                "--strength {level} with --channels: a strength is calibrated with all channels disturbed, and says \
                 nothing of a few; give --magnitude instead (all channels: {})",
                of_level(subject, anomaly, level)?
            ),
            (None, None) => None.context("expected --magnitude or --strength with --anomaly, found neither"),
        }
    }

    fn extent(&self) -> Result<Extent> {
        ensure!(self.window != Some(0), "--window: expected at least 1 step, found 0");
        Ok(self.window.map(|steps| Extent::Window { steps }).or(self.intermittent).unwrap_or_default())
    }
}

fn of_level(subject: &Subject, anomaly: &str, level: &str) -> Result<f64> {
    strengths::magnitude(&subject.env.spec().id, &subject.name.id, anomaly, level)
}

/// The channels with `+` between them; of a list that is too long for a file name, its digest.
fn channels_slug(channels: &[String]) -> String {
    const LONGEST: usize = 80;
    let list = channels.join("+");
    let is_plain = |c: char| c.is_alphanumeric() || "_.-+".contains(c);
    if list.len() <= LONGEST && list.chars().all(is_plain) { list } else { address(list.as_bytes()) }
}

/// The channels as a recipe has them: a word alone, or a list.
fn channels(given: &[String]) -> Value {
    match given {
        [word] if word == "one" || word == "all" => json!(word),
        names => json!(names.iter().map(|c| channel(c)).collect::<Vec<_>>()),
    }
}

fn channel(text: &str) -> ChannelName {
    text.parse().map_or_else(|_| ChannelName::Name(text.into()), ChannelName::Index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        anomaly_spec: AnomalyArgs,
    }

    fn slug(args: &str) -> String {
        Line::parse_from(std::iter::once("x").chain(args.split_whitespace())).anomaly_spec.slug()
    }

    #[test]
    fn what_differs_has_another_slug() {
        assert_eq!(slug(""), "nominal");
        assert_eq!(slug("--anomaly obs-drift --strength strong"), "obs-drift-strong");
        assert_eq!(slug("--anomaly act-delay --magnitude 3 --onset 7"), "act-delay-3-onset-7");
        assert_eq!(
            slug("--anomaly obs-noise --magnitude 0.25 --channels 0,agent_y --window 9"),
            "obs-noise-0.25-channels-0+agent_y-window-9"
        );
        assert_eq!(
            slug("--anomaly obs-noise --magnitude 10 --intermittent 5,10"),
            "obs-noise-10-on-5-off-10"
        );
        let long = |last: &str| {
            slug(&format!("--anomaly a --strength s --channels {}{last}", "velocity,".repeat(20)))
        };
        assert!(long("x") != long("y") && long("x").len() < 80);
    }

    #[track_caller]
    fn refuses(args: &str, want: &str) {
        let line = Line::parse_from(std::iter::once("x").chain(args.split_whitespace()));
        let error = line
            .anomaly_spec
            .anomaly_spec(&Subject::new("sap-goal1", "tqc").unwrap())
            .unwrap_err()
            .to_string();
        assert!(error.contains(want), "{error}");
    }

    #[test]
    fn a_strength_is_not_taken_for_some_channels() {
        let all = strengths::magnitude("sap-goal1", "tqc", "obs-noise", "strong").unwrap();
        refuses(
            "--anomaly obs-noise --strength strong --channels 0",
            &format!("give --magnitude instead (all channels: {all})"),
        );
    }

    #[test]
    fn a_wrong_name_is_not_looked_up_among_the_strengths() {
        let want = "is called \"dyn-mas\"; did you mean \"dyn-mass\"?; there are: obs-noise";
        refuses("--anomaly dyn-mas --strength strong", want);
        refuses("--anomaly dyn --magnitude 1", "dyn-mass, dyn-force, dyn-moving-objects");
    }

    #[test]
    fn channels_are_a_word_or_a_list() {
        let read = |given: &[&str]| channels(&given.iter().map(|c| c.to_string()).collect::<Vec<_>>());
        assert_eq!((read(&["one"]), read(&["all"])), (json!("one"), json!("all")));
        assert_eq!((read(&["0", "x"]), read(&["x"])), (json!([0, "x"]), json!(["x"])));
    }

    #[test]
    fn onsets_and_extents_are_read() {
        assert_eq!((onset("random"), onset("7")), (Ok(Onset::Random), Ok(Onset::At(7))));
        assert_eq!(intermittent("5,10"), Ok(Extent::Intermittent { on: 5, off: 10 }));
        assert_eq!(finite("nan"), Err("expected a finite number, found NaN".into()));
        assert_eq!(finite("-inf"), Err("expected a finite number, found -inf".into()));
        assert!(finite("-0.5") == Ok(-0.5) && finite("much").is_err());
        assert!(onset("soon").is_err() && intermittent("5").is_err() && intermittent("0,3").is_err());
    }
}

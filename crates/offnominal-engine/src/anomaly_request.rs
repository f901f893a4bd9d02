//! An anomaly as commands and Python describe it, before environment and policy are known.

use crate::{catalogues, strengths};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use offnominal_core::anomaly::{ChannelName, Channels};
use offnominal_core::anomaly_spec::AND;
use offnominal_core::prelude::*;
use offnominal_files::store::address;
use offnominal_work::cli;
use offnominal_worlds::anomaly::{self, Class, Deviations};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::str::FromStr;
use toml::Value as Toml;

/// What is done to the episodes.
#[derive(Debug, Clone, PartialEq, Deserialize, Args)]
#[serde(deny_unknown_fields)]
#[command(next_help_heading = "Anomaly")]
pub struct AnomalyRequest {
    /// Anomaly id (see `list anomalies`), or several at once: `ID=M+ID=M` [default: none]
    #[arg(long, value_name = "A", required = false)]
    pub anomaly: String,
    /// Strength in the anomaly's own unit
    #[arg(long, value_name = "M", requires = "anomaly", conflicts_with = "strength", allow_negative_numbers = true,
        value_parser = cli::finite)]
    pub magnitude: Option<f64>,
    /// The magnitude counts in nominal standard deviations of each channel
    #[arg(long, requires = "magnitude")]
    #[serde(default)]
    pub deviations: bool,
    /// Calibrated strength: tiny, medium, strong or extreme
    #[arg(long, value_name = "S", requires = "anomaly")]
    pub strength: Option<String>,
    /// Table or folder of `calibrate` [default: shipped, then runs/calibrate]
    #[arg(long, value_name = "FILE", requires = "strength")]
    pub strengths: Option<PathBuf>,
    /// The policy for which the level is calibrated; the one that acts, if none is named.
    #[arg(skip)]
    pub policy: Option<String>,
    /// Disturbed channels by name or index, or `one` at random [default: all]
    #[arg(long, value_name = "C,…", requires = "anomaly", value_parser = channels)]
    pub channels: Option<Channels>,
    /// First anomalous step, or `random`
    #[arg(long, value_name = "random|K", default_value = "random")]
    #[serde(default)]
    pub onset: OnsetChoice,
    /// Steps until the anomaly ends [default: to the end]
    #[arg(long, value_name = "STEPS", requires = "anomaly", conflicts_with = "intermittent")]
    pub window: Option<u32>,
    /// Repeat: ON steps with, OFF steps without the anomaly
    #[arg(long, value_name = "ON,OFF", requires = "anomaly", value_parser = cli::pair::<u32>)]
    pub intermittent: Option<(u32, u32)>,
}

/// The channels that are named: a word alone, or a list.
fn channels(given: &str) -> Result<Channels, String> {
    let channel =
        |text: &str| text.parse().map_or_else(|_| ChannelName::Name(text.into()), ChannelName::Index);
    Ok(match given {
        "one" => Channels::One,
        "all" => Channels::All,
        names => Channels::Some(names.split(',').map(channel).collect()),
    })
}

/// First anomalous step, written as a number or `"random"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Toml")]
pub struct OnsetChoice(pub Onset);

impl Default for OnsetChoice {
    fn default() -> Self {
        OnsetChoice(Onset::Random)
    }
}

impl FromStr for OnsetChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<OnsetChoice, String> {
        match text {
            "random" => Ok(OnsetChoice(Onset::Random)),
            number => {
                let step = number.parse().map_err(|_| "expected a step or `random`")?;
                Ok(OnsetChoice(Onset::At(step)))
            }
        }
    }
}

impl TryFrom<Toml> for OnsetChoice {
    type Error = String;

    fn try_from(value: Toml) -> Result<Self, String> {
        match value {
            Toml::String(word) if word == "random" => Ok(OnsetChoice(Onset::Random)),
            Toml::Integer(step) => u32::try_from(step)
                .map(|step| OnsetChoice(Onset::At(step)))
                .map_err(|_| format!("onset: expected a step from 0 to {}, found {step}", u32::MAX)),
            other => Err(format!("onset: expected \"random\" or a step, found {other}")),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for OnsetChoice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Onset".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [{ "const": "random" }, { "type": "integer", "minimum": 0, "maximum": u32::MAX }]
        })
    }
}

/// Checks that an anomaly can begin before the episodes of an environment end.
///
/// # Errors
/// If it cannot.
pub fn check_onset(onset: Onset, env: &str, horizon: u32) -> Result<()> {
    let Onset::At(step) = onset else { return Ok(()) };
    ensure!(step < horizon, "expected a step before {horizon}, where episodes of {env} end, found {step}");
    Ok(())
}

impl AnomalyRequest {
    /// The anomaly in an environment whose episodes end at `horizon`, where `policy` acts; in deviations of its nominal
    /// episodes, if that is asked for.
    ///
    /// # Errors
    /// If the anomaly does not apply to the environment, its strength is missing, unknown or not calibrated, or a
    /// number of steps makes no sense.
    pub fn resolve(
        &self,
        env: &dyn Env,
        policy: &str,
        horizon: u32,
        nominal: Option<&Deviations>,
    ) -> Result<AnomalySpec> {
        let spec = env.spec();
        let policy = self.policy.as_deref().unwrap_or(policy);
        let parts = self.parts()?;
        let params = parts.iter().map(|part| self.params(part, spec, policy, nominal));
        let mut params = params.collect::<Result<Vec<_>>>()?;
        let params = if params.len() == 1 { params.remove(0) } else { json!(params) };
        check_onset(self.onset.0, &spec.id, horizon).context("onset")?;
        let schedule = Schedule { onset: self.onset.0, extent: self.extent()? };
        let ids: Vec<&str> = parts.iter().map(|part| part.id).collect();
        let found = AnomalySpec { anomaly: ids.join(&AND.to_string()), params, schedule };
        found.build(&catalogues::anomalies(), env)?;
        Ok(found)
    }

    /// What acts at the same time: mostly one anomaly.
    fn parts(&self) -> Result<Vec<Part<'_>>> {
        let parts: Vec<Part<'_>> = self.anomaly.split(AND).map(Part::read).collect::<Result<_>>()?;
        let found = match parts.iter().filter(|part| part.magnitude.is_some()).count() {
            0 if parts.len() == 1 => return Ok(parts),
            0 if self.magnitude.is_some() => "one magnitude",
            0 => "",
            written if written < parts.len() => "it of some",
            _ if self.magnitude.is_some() || self.strength.is_some() => "a magnitude or a strength besides",
            _ => "",
        };
        ensure!(
            found.is_empty(),
            "anomaly {:?}: expected the magnitude of each as ID=M, found {found}",
            self.anomaly
        );
        ensure!(
            parts.len() == 1 || self.channels.is_none(),
            "channels: expected one anomaly with them, found several: {}",
            self.anomaly
        );
        Ok(parts)
    }

    fn params(
        &self,
        part: &Part<'_>,
        spec: &EnvSpec,
        policy: &str,
        nominal: Option<&Deviations>,
    ) -> Result<Value> {
        catalogues::check_anomaly(part.id, spec)?;
        let magnitude = part.magnitude.map_or_else(|| self.magnitude(part.id, &spec.id, policy), Ok)?;
        let mut params = json!({ "magnitude": magnitude });
        if let Some(channels) = &self.channels {
            params["channels"] = json!(channels);
        }
        if self.deviations {
            params["units"] = json!(part.units(nominal)?);
        }
        Ok(params)
    }

    /// What is asked for, as a part of a file name: anomaly, strength, and what is not the default.
    pub fn slug(&self) -> String {
        let mut parts = vec![self.anomaly.replace('=', "-")];
        parts.extend(self.magnitude.map(|m| format!("{m:?}").trim_end_matches(".0").to_string()));
        parts.extend(self.deviations.then(|| "deviations".to_string()));
        parts.extend(self.strength.clone());
        parts.extend(self.channels.as_ref().map(|channels| format!("channels-{}", channels_slug(channels))));
        if let Onset::At(step) = self.onset.0 {
            parts.push(format!("onset-{step}"));
        }
        parts.extend(self.window.map(|steps| format!("window-{steps}")));
        parts.extend(self.intermittent.map(|(on, off)| format!("on-{on}-off-{off}")));
        parts.join("-")
    }

    fn magnitude(&self, id: &str, env: &str, policy: &str) -> Result<f64> {
        let from = self.strengths.as_deref();
        let calibrated = |level: &str| strengths::magnitude(env, policy, id, level, from);
        match (self.magnitude, &self.strength) {
            (Some(_), Some(_)) => bail!("expected magnitude or strength, found both"),
            (Some(magnitude), None) if magnitude.is_finite() => Ok(magnitude),
            (Some(magnitude), None) => bail!("magnitude: expected a finite number, found {magnitude}"),
            (None, None) => {
                bail!("expected magnitude or strength with anomaly {:?}, found neither", self.anomaly)
            }
            (None, Some(level)) if matches!(self.channels, None | Some(Channels::All)) => calibrated(level),
            (None, Some(level)) => bail!(
                "strength {level} with channels: a strength is calibrated with all channels disturbed, and says nothing \
                 of a few; give a magnitude instead (all channels: {})",
                calibrated(level)?
            ),
        }
    }

    fn extent(&self) -> Result<Extent> {
        match (self.window, self.intermittent) {
            (None, None) => Ok(Extent::ToEnd),
            (Some(_), Some(_)) => bail!("expected window or intermittent, found both"),
            (Some(steps), None) if steps > 0 => Ok(Extent::Window { steps }),
            (None, Some((on, off))) if on > 0 && off > 0 => Ok(Extent::Intermittent { on, off }),
            (window, intermittent) => bail!(
                "window, intermittent: expected positive numbers of steps, found {window:?} and {intermittent:?}"
            ),
        }
    }
}

/// One of the anomalies that act at the same time.
struct Part<'r> {
    id: &'r str,
    /// That which is written behind it, as `ID=M`.
    magnitude: Option<f64>,
}

impl<'r> Part<'r> {
    fn read(text: &'r str) -> Result<Part<'r>> {
        let Some((id, magnitude)) = text.split_once('=') else {
            return Ok(Part { id: text, magnitude: None });
        };
        let number = magnitude.parse().ok().filter(|m: &f64| m.is_finite());
        let magnitude =
            number.with_context(|| format!("anomaly {id}: expected a finite number, found {magnitude:?}"))?;
        Ok(Part { id, magnitude: Some(magnitude) })
    }

    /// The nominal deviation of each channel that it disturbs.
    fn units<'d>(&self, nominal: Option<&'d Deviations>) -> Result<&'d [f64]> {
        let known =
            nominal.context("deviations: expected a policy whose nominal episodes tell them, found none")?;
        let kind = anomaly::kind(self.id)?;
        ensure!(
            matches!(kind.class, Class::Observation | Class::Action),
            "deviations: expected an anomaly of channels, found {}, which has none",
            self.id
        );
        Ok(known.of_class(kind.class))
    }
}

/// The channels with `+` between them; of a list that is too long for a file name, its digest.
fn channels_slug(channels: &Channels) -> String {
    const LONGEST: usize = 80;
    let list = match channels {
        Channels::All => "all".into(),
        Channels::One => "one".into(),
        Channels::Some(names) => names.iter().map(channel_name).collect::<Vec<_>>().join("+"),
    };
    let is_plain = |c: char| c.is_alphanumeric() || "_.-+".contains(c);
    if list.len() <= LONGEST && list.chars().all(is_plain) { list } else { address(list.as_bytes()) }
}

fn channel_name(channel: &ChannelName) -> String {
    match channel {
        ChannelName::Index(i) => i.to_string(),
        ChannelName::Name(name) => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Subject;

    fn request(json: Value) -> AnomalyRequest {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn what_differs_has_another_slug() {
        let check = |json, slug| assert_eq!(request(json).slug(), slug);
        check(json!({"anomaly": "obs-drift", "strength": "strong"}), "obs-drift-strong");
        check(json!({"anomaly": "act-delay", "magnitude": 3, "onset": 7}), "act-delay-3-onset-7");
        check(
            json!({"anomaly": "obs-noise", "magnitude": 0.25, "channels": [0, "agent_y"], "window": 9}),
            "obs-noise-0.25-channels-0+agent_y-window-9",
        );
        check(
            json!({"anomaly": "obs-noise", "magnitude": 10, "intermittent": [5, 10]}),
            "obs-noise-10-on-5-off-10",
        );
        let long = |last: &str| {
            request(json!({"anomaly": "a", "channels": [vec!["velocity"; 20].join(","), last]})).slug()
        };
        assert!(long("x") != long("y") && long("x").len() < 80);
    }

    #[track_caller]
    fn refuses(json: Value, want: &str) {
        let subject = Subject::new("sap-goal1", "tqc").unwrap();
        let error = subject.anomaly_spec(Some(&request(json))).unwrap_err();
        assert!(format!("{error:#}").contains(want), "{error:#}");
    }

    #[test]
    fn a_strength_is_not_taken_for_some_channels() {
        let all = strengths::magnitude("sap-goal1", "tqc", "obs-noise", "strong", None).unwrap();
        refuses(
            json!({"anomaly": "obs-noise", "strength": "strong", "channels": [0]}),
            &format!("give a magnitude instead (all channels: {all})"),
        );
    }

    #[test]
    fn a_wrong_name_is_not_looked_up_among_the_strengths() {
        let want = "is called \"dyn-mas\"; did you mean \"dyn-mass\"?; there are: obs-noise";
        refuses(json!({"anomaly": "dyn-mas", "strength": "strong"}), want);
        refuses(json!({"anomaly": "dyn", "magnitude": 1}), "dyn-mass, dyn-force, dyn-moving-objects");
    }

    #[test]
    fn several_at_once_have_a_magnitude_each() {
        let subject = Subject::new("sap-goal1", "tqc").unwrap();
        let found = |json| subject.anomaly_spec(Some(&request(json))).unwrap().unwrap();
        let two = found(json!({"anomaly": "obs-offset=0.5+act-delay=3"}));
        assert_eq!(two.anomaly, "obs-offset+act-delay");
        assert_eq!(two.params, json!([{"magnitude": 0.5}, {"magnitude": 3.0}]));
        let one = found(json!({"anomaly": "obs-offset=0.5"}));
        assert_eq!(one, found(json!({"anomaly": "obs-offset", "magnitude": 0.5})));
        let strong = found(json!({"anomaly": "obs-offset+obs-noise", "strength": "strong"}));
        let calibrated = |id| strengths::magnitude("sap-goal1", "tqc", id, "strong", None).unwrap();
        let want = json!([{"magnitude": calibrated("obs-offset")}, {"magnitude": calibrated("obs-noise")}]);
        assert_eq!(strong.params, want);
        refuses(json!({"anomaly": "obs-offset+act-delay", "magnitude": 1}), "as ID=M, found one magnitude");
        refuses(json!({"anomaly": "obs-offset=1+act-delay"}), "as ID=M, found it of some");
        refuses(
            json!({"anomaly": "obs-offset=1", "strength": "strong"}),
            "a magnitude or a strength besides",
        );
        refuses(json!({"anomaly": "obs-offset=x"}), "expected a finite number, found \"x\"");
        let with_channels = json!({"anomaly": "obs-offset=1+obs-noise=1", "channels": [0]});
        refuses(with_channels, "channels: expected one anomaly with them, found several");
    }

    #[test]
    fn steps_that_make_no_sense_are_refused() {
        let with = |key: &str, value: Value| json!({"anomaly": "obs-noise", "magnitude": 0.5, key: value});
        refuses(with("onset", json!(100_000)), "onset: expected a step before ");
        refuses(with("window", json!(0)), "expected positive numbers of steps, found Some(0) and None");
        refuses(with("intermittent", json!([0, 3])), "found None and Some((0, 3))");
        let error = serde_json::from_value::<AnomalyRequest>(with("onset", json!("soon"))).unwrap_err();
        assert!(
            error.to_string().contains("onset: expected \"random\" or a step, found \"soon\""),
            "{error}"
        );
    }
}

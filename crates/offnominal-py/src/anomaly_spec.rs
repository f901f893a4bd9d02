//! The keyword arguments that describe an anomaly, as a recipe.

use anyhow::{Result, bail, ensure};
use offnominal_core::anomaly::Channels;
use offnominal_core::anomaly_spec;
use offnominal_core::prelude::*;
use offnominal_engine::{catalogues, strengths};
use serde_json::{Value, json};

/// What Python may say of an anomaly.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    anomaly: String,
    #[serde(default)]
    magnitude: Option<f64>,
    #[serde(default)]
    strength: Option<String>,
    /// For whom the strength is calibrated.
    #[serde(default = "shipped")]
    policy: String,
    #[serde(default)]
    channels: Option<Channels>,
    #[serde(default = "random")]
    onset: Value,
    #[serde(default)]
    window: Option<u32>,
    #[serde(default)]
    intermittent: Option<(u32, u32)>,
}

fn shipped() -> String {
    "tqc".into()
}

fn random() -> Value {
    json!("random")
}

/// The fault that a JSON object describes, or null for none, checked against the environment and its horizon.
pub(crate) fn read(text: &str, env: &dyn Env, horizon: u32) -> Result<Option<AnomalySpec>> {
    let Some(wanted) = serde_json::from_str::<Option<Wanted>>(text)? else { return Ok(None) };
    let spec = env.spec();
    anomaly_spec::check(&wanted.anomaly, &catalogues::anomalies(), spec)?;
    let mut params = json!({ "magnitude": wanted.magnitude(&spec.id)? });
    if let Some(channels) = &wanted.channels {
        params["channels"] = serde_json::to_value(channels)?;
    }
    let schedule = Schedule { onset: wanted.onset(horizon)?, extent: wanted.extent()? };
    let found = AnomalySpec { anomaly: wanted.anomaly, params, schedule };
    found.build(&catalogues::anomalies(), env)?;
    Ok(Some(found))
}

impl Wanted {
    fn magnitude(&self, env: &str) -> Result<f64> {
        match (self.magnitude, &self.strength) {
            (Some(_), Some(_)) => bail!("expected magnitude or strength, found both"),
            (Some(magnitude), None) if magnitude.is_finite() => Ok(magnitude),
            (Some(magnitude), None) => bail!("magnitude: expected a finite number, found {magnitude}"),
            (None, None) => {
                bail!("expected magnitude or strength with anomaly={:?}, found neither", self.anomaly)
            }
            (None, Some(level)) => {
                ensure!(
                    matches!(self.channels, None | Some(Channels::All)),
                    "strength={level:?} with channels: a strength is calibrated with all channels disturbed; give a \
                     magnitude instead"
                );
                strengths::magnitude(env, &self.policy, &self.anomaly, level)
            }
        }
    }

    fn onset(&self, horizon: u32) -> Result<Onset> {
        match &self.onset {
            Value::String(word) if word == "random" => Ok(Onset::Random),
            Value::Number(n) if n.as_u64().is_some_and(|n| n < u64::from(horizon)) => {
                Ok(Onset::At(n.as_u64().unwrap_or_default() as u32))
            }
            found => bail!("onset: expected \"random\" or a step from 0 to {}, found {found}", horizon - 1),
        }
    }

    fn extent(&self) -> Result<Extent> {
        match (self.window, self.intermittent) {
            (None, None) => Ok(Extent::ToEnd),
            (Some(steps), None) if steps > 0 => Ok(Extent::Window { steps }),
            (None, Some((on, off))) if on > 0 && off > 0 => Ok(Extent::Intermittent { on, off }),
            (Some(_), Some(_)) => bail!("expected window or intermittent, found both"),
            (window, intermittent) => {
                bail!(
                    "window, intermittent: expected positive numbers of steps, found {window:?} and {intermittent:?}"
                )
            }
        }
    }
}

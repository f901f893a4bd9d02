//! What a campaign file may write where an anomaly, an onset or an extent is expected: a word, or a table.

use super::ExtentChoice;
use offnominal_core::prelude::*;
use offnominal_engine::detector_choice::{json, text};
use serde::Deserialize;
use serde_json::Value;
use toml::Value as Toml;

/// Anomalies: all of them, or a list.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(try_from = "Toml")]
pub enum Anomalies {
    /// Everything that applies to the environment.
    #[default]
    All,
    /// These.
    List(Vec<AnomalyChoice>),
}

/// An anomaly: an id or a pattern tried at the calibrated strengths, or a table with a magnitude of its own.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Toml")]
pub enum AnomalyChoice {
    /// An id, or a beginning of ids followed by `*`.
    Calibrated(String),
    /// An id and its parameters, `magnitude` among them.
    Custom {
        /// Anomaly id.
        id: String,
        /// Name of the strength in results.
        strength: String,
        /// Its parameters.
        params: Value,
    },
}

impl AnomalyChoice {
    /// The id or pattern.
    pub fn pattern(&self) -> &str {
        match self {
            AnomalyChoice::Calibrated(pattern) => pattern,
            AnomalyChoice::Custom { id, .. } => id,
        }
    }

    /// The name of the strength, if the magnitude is its own.
    pub fn strength(&self) -> Option<&str> {
        match self {
            AnomalyChoice::Calibrated(_) => None,
            AnomalyChoice::Custom { strength, .. } => Some(strength),
        }
    }
}

impl TryFrom<Toml> for Anomalies {
    type Error = String;

    fn try_from(value: Toml) -> Result<Self, String> {
        match value {
            Toml::String(word) if word == "all" => Ok(Anomalies::All),
            Toml::Array(items) if items.is_empty() => Err("expected at least one anomaly, found none".into()),
            Toml::Array(items) => {
                items.into_iter().map(AnomalyChoice::try_from).collect::<Result<_, _>>().map(Anomalies::List)
            }
            other => Err(format!("expected \"all\" or a list of anomalies, found {other}")),
        }
    }
}

impl TryFrom<Toml> for AnomalyChoice {
    type Error = String;

    fn try_from(value: Toml) -> Result<Self, String> {
        match value {
            Toml::String(pattern) => Ok(AnomalyChoice::Calibrated(pattern)),
            Toml::Table(mut table) => {
                let id = text(&mut table, "id")?
                    .ok_or("expected an `id` in the table of an anomaly, found none")?;
                let found = table.get("magnitude").map_or("none".into(), Toml::to_string);
                let number =
                    table.get("magnitude").and_then(|m| m.as_float().or(m.as_integer().map(|i| i as f64)));
                let magnitude = number.filter(|m| m.is_finite());
                magnitude
                    .ok_or(format!("{id}: expected a `magnitude` that is a finite number, found {found}"))?;
                let strength = text(&mut table, "strength")?.unwrap_or_else(|| "custom".into());
                Ok(AnomalyChoice::Custom { id, strength, params: json(table)? })
            }
            other => Err(format!("expected an anomaly's id or a table with id and magnitude, found {other}")),
        }
    }
}

impl TryFrom<Toml> for ExtentChoice {
    type Error = String;

    fn try_from(value: Toml) -> Result<Self, String> {
        let steps = |key: &str| {
            let number = value.get(key).and_then(Toml::as_integer).filter(|&n| n > 0);
            number.and_then(|n| u32::try_from(n).ok())
        };
        let n_keys = value.as_table().map_or(0, toml::Table::len);
        let extent = match (steps("window"), steps("on"), steps("off")) {
            _ if value.as_str() == Some("to-end") => Some(Extent::ToEnd),
            (Some(steps), None, None) if n_keys == 1 => Some(Extent::Window { steps }),
            (None, Some(on), Some(off)) if n_keys == 2 => Some(Extent::Intermittent { on, off }),
            _ => None,
        };
        extent.map(ExtentChoice).ok_or_else(|| {
            format!(
                "extent: expected \"to-end\", {{ window = STEPS }} or {{ on = STEPS, off = STEPS }} with at least \
                 1 step, found {value}"
            )
        })
    }
}

//! What a campaign file may write where an anomaly, an onset or an extent is expected: a word, or a table.

use super::ExtentChoice;
use offnominal_core::anomaly_spec::AND;
use offnominal_core::prelude::*;
use offnominal_engine::detector_choice::{json, text};
use offnominal_worlds::anomaly::{Class, kind};
use serde::Deserialize;
use serde_json::{Map, Number, Value};
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

impl Anomalies {
    /// The names of strengths that are not calibrated.
    pub fn strengths(&self) -> impl Iterator<Item = &str> {
        let choices = match self {
            Anomalies::All => &[][..],
            Anomalies::List(choices) => choices,
        };
        choices.iter().filter_map(AnomalyChoice::strength)
    }
}

/// An anomaly: what is done, how strong, for how long, and its name in results.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Toml")]
pub struct AnomalyChoice {
    /// Its id, or a beginning of ids followed by `*`.
    pub id: String,
    /// Its name in results, if that is not its id: one anomaly may be tried in several ways.
    pub name: Option<String>,
    /// How strong it is.
    pub magnitude: MagnitudeChoice,
    /// Its other parameters.
    pub params: Map<String, Value>,
    /// Anomalies that begin and end with it, each with its magnitude.
    pub with: Vec<(String, Number)>,
    /// How long it lasts, if not as long as the others of the campaign.
    pub extent: Option<Extent>,
}

/// How strong an anomaly is.
#[derive(Debug, Clone, PartialEq)]
pub enum MagnitudeChoice {
    /// As was calibrated for it, at each of the campaign's strengths.
    Calibrated,
    /// As was calibrated for another anomaly, in whose unit its own magnitude is.
    CalibratedFor(String),
    /// This.
    Fixed {
        /// In the anomaly's own unit, as the file has it.
        magnitude: Number,
        /// Name of the strength in results.
        strength: String,
    },
}

impl AnomalyChoice {
    /// An id or a pattern, at the calibrated strengths.
    pub fn calibrated(id: &str) -> AnomalyChoice {
        let (id, params) = (id.to_string(), Map::new());
        let magnitude = MagnitudeChoice::Calibrated;
        AnomalyChoice { id, name: None, magnitude, params, with: vec![], extent: None }
    }

    /// What it is called in results: its name, else the ids of all that acts.
    pub fn called(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.ids())
    }

    /// What acts at the same time, as a recipe has it.
    pub fn ids(&self) -> String {
        let all = std::iter::once(&*self.id).chain(self.with.iter().map(|(id, _)| &**id));
        all.collect::<Vec<_>>().join(&AND.to_string())
    }

    /// The name of the strength, if the magnitude is its own.
    pub fn strength(&self) -> Option<&str> {
        match &self.magnitude {
            MagnitudeChoice::Calibrated | MagnitudeChoice::CalibratedFor(_) => None,
            MagnitudeChoice::Fixed { strength, .. } => Some(strength),
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
            Toml::String(pattern) => Ok(AnomalyChoice::calibrated(&pattern)),
            Toml::Table(mut table) => {
                let id = text(&mut table, "id")?
                    .ok_or("expected an `id` in the table of an anomaly, found none")?;
                parts(&id, table).map_err(|why| format!("{id}: {why}"))
            }
            other => Err(format!("expected an anomaly's id or a table with an id, found {other}")),
        }
    }
}

/// The class of an anomaly; those that a program adds to the catalogue are a class of their own.
pub(super) fn class(id: &str) -> &'static str {
    match kind(id).map(|kind| kind.class) {
        Ok(Class::Observation) => "observation",
        Ok(Class::Action) => "action",
        Ok(Class::Dynamics) => "dynamics",
        Ok(Class::Camera) => "camera",
        Err(_) => "own",
    }
}

/// What a table says of an anomaly; whatever is none of a campaign's own keys is a parameter.
fn parts(id: &str, mut table: toml::Table) -> Result<AnomalyChoice, String> {
    let name = text(&mut table, "name")?;
    if let Some(name) = name.as_ref().filter(|_| id.ends_with('*')) {
        return Err(format!("expected no `name` for all that {id} meets, found {name:?}"));
    }
    let magnitude = magnitude(&mut table)?;
    let extent = table.remove("extent").map(ExtentChoice::try_from).transpose()?.map(|extent| extent.0);
    let with = table.remove("with").map(with).transpose()?.unwrap_or_default();
    let Value::Object(params) = json(table)? else { return Err("expected a table".into()) };
    Ok(AnomalyChoice { id: id.into(), name, magnitude, params, with, extent })
}

/// The magnitudes of other anomalies by their ids.
fn with(found: Toml) -> Result<Vec<(String, Number)>, String> {
    let expected = || format!("expected `with` as a table of ids and finite magnitudes, found {found}");
    let table = found.as_table().ok_or_else(expected)?;
    let each = table.iter().map(|(id, magnitude)| Some((id.clone(), number(magnitude)?)));
    each.collect::<Option<_>>().ok_or_else(expected)
}

fn number(found: &Toml) -> Option<Number> {
    match found {
        Toml::Integer(whole) => Some((*whole).into()),
        Toml::Float(number) => Number::from_f64(*number),
        _ => None,
    }
}

/// A number, or the anomaly whose calibrated magnitudes count; those of its own, if neither is given.
fn magnitude(table: &mut toml::Table) -> Result<MagnitudeChoice, String> {
    let (found, of) = (table.remove("magnitude"), text(table, "magnitude_of")?);
    let strength = text(table, "strength")?;
    match (found, of, strength) {
        (Some(found), None, strength) => {
            let magnitude = number(&found)
                .ok_or_else(|| format!("expected a `magnitude` that is a finite number, found {found}"))?;
            Ok(MagnitudeChoice::Fixed { magnitude, strength: strength.unwrap_or_else(|| "custom".into()) })
        }
        (Some(_), Some(of), _) => {
            Err(format!("expected `magnitude` or `magnitude_of`, found both; the latter is {of:?}"))
        }
        (None, _, Some(strength)) => Err(format!(
            "expected a `magnitude` with the name of its `strength`, found {strength:?} without; calibrated ones have \
             the names of the campaign's `strengths`"
        )),
        (None, Some(of), None) => Ok(MagnitudeChoice::CalibratedFor(of)),
        (None, None, None) => Ok(MagnitudeChoice::Calibrated),
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

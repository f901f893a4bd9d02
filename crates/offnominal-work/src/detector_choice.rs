//! A detector as a configuration file names it: a word, or a table.

use serde::Deserialize;
use serde_json::Value;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use toml::Value as Toml;

/// A detector: an id, or a table of `id`, parameters, and perhaps a `name` for results.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Toml")]
pub struct DetectorChoice {
    /// Name in the catalogue.
    pub id: String,
    /// Name in results.
    pub name: String,
    /// Parameters; an empty object gives the defaults.
    pub params: Value,
}

impl DetectorChoice {
    /// A detector with its defaults; `default` is [`offnominal_detectors::DEFAULT`].
    pub fn named(id: &str) -> DetectorChoice {
        let id = resolved(id);
        DetectorChoice { name: id.into(), id: id.into(), params: Value::Object(Default::default()) }
    }
}

/// An id, or a table; the parameters of the built-in detectors are known by name.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for DetectorChoice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DetectorChoice".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        use serde_json::{Map, json};
        let text = || json!({ "type": "string", "minLength": 1 });
        let known = offnominal_detectors::ALL.iter().zip(offnominal_detectors::defaults());
        let rules = known.map(|(entry, defaults)| {
            let names = defaults
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, value)| (name.clone(), json!({ "default": value })));
            let own = [("id".to_string(), text()), ("name".to_string(), text())].into_iter().chain(names);
            let properties: Map<String, Value> = own.collect();
            let is_it = json!({ "properties": { "id": { "const": entry.id } } });
            json!({ "if": is_it, "then": { "properties": properties, "additionalProperties": false } })
        });
        schemars::json_schema!({
            "description": "A detector's id, or a table with the id, parameters, and perhaps a name for results.",
            "anyOf": [
                text(),
                {
                    "type": "object",
                    "required": ["id"],
                    "properties": { "id": text(), "name": text() },
                    "allOf": rules.collect::<Vec<_>>()
                }
            ]
        })
    }
}

/// Reads an id, or a table such as `{ id = "knn", k = 3 }`, which may also be JSON.
impl FromStr for DetectorChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.trim_start().starts_with('{') {
            return Ok(DetectorChoice::named(text));
        }
        if let Ok(table) = serde_json::from_str::<Toml>(text) {
            return DetectorChoice::try_from(table);
        }
        let table: toml::Table = format!("detector = {text}").parse().map_err(|e| format!("{e}"))?;
        DetectorChoice::try_from(table["detector"].clone())
    }
}

impl TryFrom<Toml> for DetectorChoice {
    type Error = String;

    fn try_from(value: Toml) -> Result<Self, String> {
        match value {
            Toml::String(id) => Ok(DetectorChoice::named(&id)),
            Toml::Table(mut table) => {
                let id = text(&mut table, "id")?
                    .ok_or("expected an `id` in the table of a detector, found none")?;
                let id = resolved(&id).to_string();
                let name = text(&mut table, "name")?.unwrap_or_else(|| id.clone());
                Ok(DetectorChoice { id, name, params: json(table)? })
            }
            other => Err(format!("expected a detector's id or a table with an id, found {other}")),
        }
    }
}

/// As [`FromStr`] reads it: the id, or a table on one line.
impl Display for DetectorChoice {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.to_toml() {
            Toml::String(id) => out.write_str(&id),
            table => table.fmt(out),
        }
    }
}

impl DetectorChoice {
    /// As a campaign file names it.
    pub fn to_toml(&self) -> Toml {
        let params = self.params.as_object().filter(|params| !params.is_empty());
        if params.is_none() && self.name == self.id {
            return Toml::String(self.id.clone());
        }
        let named =
            [("id", &self.id), ("name", &self.name)].map(|(key, value)| (key.into(), value.clone().into()));
        let params = params.into_iter().flatten().filter_map(|(key, value)| {
            // A parameter that is absent has its default, and so has one that is null.
            Some((key.clone(), Toml::try_from(value).ok()?))
        });
        Toml::Table(named.into_iter().chain(params).collect())
    }
}

/// The id of a detector; that of [`offnominal_detectors::DEFAULT`] for `default`.
fn resolved(id: &str) -> &str {
    if id == "default" { offnominal_detectors::DEFAULT } else { id }
}

/// The label of a detector's branch of the seed tree: its name.
///
/// The detectors of this project were called `offnominal` when the committed results were made; their random numbers
/// stay the same.
pub fn seed_label(name: &str) -> &str {
    match name {
        "residual-views" | "patch-fusion" => "offnominal",
        other => other,
    }
}

/// Takes a text out of a table.
///
/// # Errors
/// If something else than a text has that name.
pub fn text(table: &mut toml::Table, key: &str) -> Result<Option<String>, String> {
    match table.remove(key) {
        None => Ok(None),
        Some(Toml::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("{key}: expected a text, found {other}")),
    }
}

/// The parameters of a table as JSON.
///
/// # Errors
/// If a value has no counterpart there.
pub fn json(table: toml::Table) -> Result<Value, String> {
    serde_json::to_value(table).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_written_is_read_again() {
        for text in [
            "knn",
            "{ id = \"knn\", name = \"five\", k = 5 }",
            "{ id = \"mlp-dm\", training = { epochs = 3 } }",
        ] {
            let choice: DetectorChoice = text.parse().unwrap();
            assert_eq!(choice.to_string().parse(), Ok(choice), "{text}");
        }
        assert_eq!(DetectorChoice::named("knn").to_string(), "knn");
    }

    #[test]
    fn a_detector_is_an_id_or_a_table_with_one() {
        let read = |text: &str| text.parse::<DetectorChoice>();
        assert_eq!(read("knn"), Ok(DetectorChoice::named("knn")));
        assert_eq!(read("{ id = \"knn\", k = 3 }").unwrap().params, json!({"k": 3}));
        assert!(read("{ k = 3 }").unwrap_err().contains("expected an `id`"));
    }
}

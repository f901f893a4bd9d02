//! The schemas of what a campaign file writes as a word or a table.

use super::{Anomalies, AnomalyChoice, ExtentChoice};
use offnominal_engine::strengths::LEVELS;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

impl JsonSchema for Anomalies {
    fn schema_name() -> Cow<'static, str> {
        "Anomalies".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let choice = generator.subschema_for::<AnomalyChoice>();
        json_schema!({
            "description": "All that apply to the environment, or these.",
            "anyOf": [{ "const": "all" }, { "type": "array", "minItems": 1, "items": choice }]
        })
    }
}

impl JsonSchema for AnomalyChoice {
    fn schema_name() -> Cow<'static, str> {
        "AnomalyChoice".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let extent = generator.subschema_for::<ExtentChoice>();
        json_schema!({
            "description": "An id or a pattern such as dyn-*, tried at the calibrated strengths, or a table of an id and \
                what is to be said of it; keys that are not listed are parameters of the anomaly.",
            "anyOf": [
                { "type": "string", "minLength": 1 },
                {
                    "type": "object",
                    "required": ["id"],
                    "properties": {
                        "id": { "description": "Anomaly id.", "type": "string" },
                        "name": { "description": "Its name in results.", "type": "string" },
                        "magnitude": { "description": "In the anomaly's own unit.", "type": "number" },
                        "magnitude_of": {
                            "description": "The anomaly whose calibrated magnitudes count.",
                            "type": "string"
                        },
                        "strength": { "description": "Name of the strength in results.", "type": "string" },
                        "extent": extent,
                        "with": {
                            "description": "Anomalies that begin and end with it, each with its magnitude.",
                            "type": "object",
                            "additionalProperties": { "type": "number" }
                        },
                        "channels": {
                            "anyOf": [
                                { "enum": ["all", "one"] },
                                { "type": "array", "items": { "type": ["string", "integer"] } }
                            ]
                        }
                    },
                    "dependentRequired": { "strength": ["magnitude"] },
                    "not": { "required": ["magnitude", "magnitude_of"] }
                }
            ]
        })
    }
}

impl JsonSchema for ExtentChoice {
    fn schema_name() -> Cow<'static, str> {
        "Extent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let steps = || json_schema!({ "type": "integer", "minimum": 1, "maximum": u32::MAX });
        let table = |keys: &[&str]| {
            let properties: serde_json::Map<_, _> =
                keys.iter().map(|key| (key.to_string(), steps().to_value())).collect();
            json_schema!({ "type": "object", "required": keys, "properties": properties, "additionalProperties": false })
        };
        json_schema!({ "anyOf": [{ "const": "to-end" }, table(&["window"]), table(&["on", "off"])] })
    }
}

/// The calibrated levels, which a campaign lists by name.
pub(super) fn strengths(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = LEVELS.iter().map(|(name, _)| *name).collect();
    json_schema!({ "type": "array", "items": { "enum": names } })
}

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

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An id or a pattern such as dyn-*, tried at the calibrated strengths, or an id with a magnitude.",
            "anyOf": [
                { "type": "string", "minLength": 1 },
                {
                    "type": "object",
                    "required": ["id", "magnitude"],
                    "properties": {
                        "id": { "description": "Anomaly id.", "type": "string" },
                        "magnitude": { "description": "In the anomaly's own unit.", "type": "number" },
                        "strength": { "description": "Name of the strength in results.", "type": "string" },
                        "channels": {
                            "anyOf": [
                                { "enum": ["all", "one"] },
                                { "type": "array", "items": { "type": ["string", "integer"] } }
                            ]
                        }
                    }
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

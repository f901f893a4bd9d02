//! A detector of a campaign, and whose nominal episodes it is fitted on.
//!
//! A detector learns from the episodes of the policy that acts, unless the campaign names another policy with
//! `fitted_on`. Its thresholds come from the same policy's episodes, or with `recalibrated` from those of the policy that acts:
//! the first is a monitor that stays while the policy is exchanged, the second one whose threshold was set anew.

use offnominal_engine::detector_choice::{DetectorChoice, text};
use serde::Deserialize;
use toml::Value as Toml;

/// A detector, and whose nominal episodes it is fitted on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Toml")]
pub struct CampaignDetector {
    /// The detector.
    pub choice: DetectorChoice,
    /// The policy on whose episodes it is fitted, if not on those of the one that acts.
    pub fitted_on: Option<String>,
    /// Whether the thresholds are nevertheless those of the policy that acts.
    pub recalibrated: bool,
}

impl CampaignDetector {
    /// Its name in results.
    pub fn name(&self) -> &str {
        &self.choice.name
    }
}

impl TryFrom<Toml> for CampaignDetector {
    type Error = String;

    fn try_from(mut value: Toml) -> Result<Self, String> {
        let (mut fitted_on, mut recalibrated) = (None, None);
        if let Toml::Table(table) = &mut value {
            fitted_on = text(table, "fitted_on")?;
            recalibrated = table.remove("recalibrated");
        }
        let recalibrated = match recalibrated {
            None => false,
            Some(Toml::Boolean(found)) => found,
            Some(other) => return Err(format!("recalibrated: expected true or false, found {other}")),
        };
        let choice = DetectorChoice::try_from(value)?;
        if recalibrated && fitted_on.is_none() {
            return Err(format!(
                "{}: recalibrated: expected the policy of `fitted_on` with it, found none",
                choice.id
            ));
        }
        Ok(CampaignDetector { choice, fitted_on, recalibrated })
    }
}

/// The schema of a detector with the two keys more.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for CampaignDetector {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CampaignDetector".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        use serde_json::json;
        let mut schema = DetectorChoice::json_schema(generator);
        let table = schema.pointer_mut("/anyOf/1").expect("a table is its second form");
        table["dependentRequired"] = json!({ "recalibrated": ["fitted_on"] });
        let more = json!({
            "fitted_on": {
                "description": "The policy on whose nominal episodes it is fitted and its thresholds are set.",
                "type": "string"
            },
            "recalibrated": {
                "description": "Whether the thresholds are nevertheless set on episodes of the policy that acts.",
                "type": "boolean"
            }
        });
        let add = |rule: &mut serde_json::Value| {
            let own = rule["properties"].as_object_mut().expect("a table has properties");
            own.extend(
                more.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())),
            );
        };
        add(table);
        table["allOf"].as_array_mut().into_iter().flatten().for_each(|rule| add(&mut rule["then"]));
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CampaignDetector, String> {
        let table: toml::Table = format!("detector = {text}").parse().unwrap();
        CampaignDetector::try_from(table["detector"].clone())
    }

    #[test]
    fn what_is_not_said_is_that_of_the_policy_that_acts() {
        let own = |text: &str| {
            let CampaignDetector { choice, fitted_on, recalibrated } = read(text).unwrap();
            (choice.name, choice.params, fitted_on, recalibrated)
        };
        let tqc = Some("tqc".to_string());
        let params = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(own("\"knn\""), ("knn".into(), params("{}"), None, false));
        let table = "{ id = \"knn\", k = 3, fitted_on = \"tqc\", recalibrated = true }";
        assert_eq!(own(table), ("knn".into(), params("{\"k\": 3}"), tqc, true));
    }

    #[test]
    fn wrong_values_are_shown() {
        let error = |text: &str| read(text).unwrap_err();
        assert!(error("{ id = \"knn\", fitted_on = 3 }").contains("fitted_on: expected a text, found 3"));
        let odd = error("{ id = \"knn\", fitted_on = \"tqc\", recalibrated = 1 }");
        assert!(odd.contains("recalibrated: expected true or false, found 1"), "{odd}");
        let alone = error("{ id = \"knn\", recalibrated = true }");
        assert!(alone.contains("knn: recalibrated: expected the policy of `fitted_on`"), "{alone}");
    }
}

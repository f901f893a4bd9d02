//! The recipe of a disturbance, stored with every episode.

use crate::anomaly::{Anomaly, AnomalyError};
use crate::catalogue::{BuildError, Catalogue};
use crate::env::Env;
use crate::schedule::Schedule;
use crate::spec::EnvSpec;
use crate::suggest::nearest;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// The recipe of a disturbance: which anomaly, how strong, and when. Plain data, stored with every episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnomalySpec {
    /// Name in the catalogue of anomalies, or `dyn-<parameter>`.
    pub anomaly: String,
    /// Its parameters, `magnitude` among them.
    pub params: Value,
    /// Onset and extent.
    pub schedule: Schedule,
}

impl AnomalySpec {
    /// The anomaly, ready for one episode in the given environment.
    ///
    /// # Errors
    /// If the name or a parameter is wrong, or the anomaly does not fit the environment.
    pub fn build(
        &self,
        from: &Catalogue<dyn Anomaly>,
        env: &dyn Env,
    ) -> Result<Box<dyn Anomaly>, BuildError> {
        // Whatever the entry complains about, a wrong name is the cause.
        let spec = env.spec();
        let known =
            || ids(from.entries().iter().map(|e| e.id), spec.parameters.iter().map(|p| p.name.as_str()));
        self.fitted(from, spec).map_err(|e| check(&self.anomaly, &known()).err().unwrap_or(e))
    }

    fn fitted(&self, from: &Catalogue<dyn Anomaly>, spec: &EnvSpec) -> Result<Box<dyn Anomaly>, BuildError> {
        let (id, params) = self.entry();
        let mut anomaly = from.build(id, &params)?;
        anomaly.fit(spec).map_err(|e: AnomalyError| BuildError::Parameters(e.to_string()))?;
        Ok(anomaly)
    }

    /// The catalogue's name for the anomaly, and the parameters it wants: `dyn-mass` is `dyn` of the parameter `mass`.
    fn entry(&self) -> (&str, Cow<'_, Value>) {
        let Some(parameter) = self.anomaly.strip_prefix(DYNAMICS) else {
            return (&self.anomaly, Cow::Borrowed(&self.params));
        };
        let mut params = self.params.clone();
        if let Value::Object(fields) = &mut params {
            fields.insert("parameter".into(), parameter.into());
        }
        (ENTRY, Cow::Owned(params))
    }
}

/// Begins the names of dynamics anomalies: the environment's parameter follows.
pub const DYNAMICS: &str = "dyn-";

/// The entry of the catalogue that stands for all dynamics anomalies.
const ENTRY: &str = "dyn";

/// The names of anomalies in an environment with these parameters, in the order of the entries: the entry of the
/// dynamics becomes one name for each parameter.
pub fn ids<'p>(
    entries: impl Iterator<Item = &'static str>,
    parameters: impl Iterator<Item = &'p str> + Clone,
) -> Vec<String> {
    let names = |id: &'static str| match id {
        ENTRY => parameters.clone().map(|p| format!("{DYNAMICS}{p}")).collect(),
        signal => vec![signal.to_string()],
    };
    entries.flat_map(names).collect()
}

/// Checks that a name is among those of an environment's anomalies.
///
/// # Errors
/// [`BuildError::Unknown`], with the nearest name and all names that apply.
pub fn check(id: &str, known: &[String]) -> Result<(), BuildError> {
    if known.iter().any(|k| k == id) {
        return Ok(());
    }
    Err(BuildError::Unknown {
        noun: "anomaly of this environment",
        id: id.into(),
        nearest: nearest(id, known.iter().map(String::as_str)),
        known: known.join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, entry};
    use serde_json::json;

    /// Does nothing.
    #[derive(Deserialize)]
    struct Idle {}

    impl Anomaly for Idle {}

    const ALL: &[Entry<dyn Anomaly>] =
        &[entry!(Idle as dyn Anomaly, "obs-noise", "x"), entry!(Idle as dyn Anomaly, "dyn", "x")];

    #[test]
    fn the_names_of_an_environment_are_listed_and_the_nearest_is_suggested() {
        let all = ids(ALL.iter().map(|e| e.id), ["mass", "gear"].into_iter());
        assert!(["obs-noise", "dyn-mass", "dyn-gear"].iter().all(|id| check(id, &all).is_ok()));
        let error = check("dyn-mas", &all).unwrap_err().to_string();
        let want = "no anomaly of this environment is called \"dyn-mas\"; did you mean \"dyn-mass\"?; \
                    there are: obs-noise, dyn-mass, dyn-gear";
        assert_eq!(error, want);
        assert!(check("dyn", &all).is_err());
    }

    #[test]
    fn the_parameter_of_a_dynamics_anomaly_is_in_its_name() {
        let anomaly_spec = AnomalySpec {
            anomaly: "dyn-mass".into(),
            params: json!({ "magnitude": 2.0 }),
            schedule: Schedule::WHOLE,
        };
        let want = json!({ "magnitude": 2.0, "parameter": "mass" });
        assert_eq!(anomaly_spec.entry(), ("dyn", Cow::Owned(want)));
    }
}

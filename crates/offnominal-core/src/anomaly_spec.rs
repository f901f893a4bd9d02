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
        self.fitted(from, env.spec()).map_err(|e| check(&self.anomaly, from, env.spec()).err().unwrap_or(e))
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

/// The names of the anomalies that apply to an environment with these parameters, in the order of the catalogue: the
/// entry of the dynamics becomes one name for each.
pub fn ids<'p>(
    from: &Catalogue<dyn Anomaly>,
    parameters: impl Iterator<Item = &'p str> + Clone,
) -> Vec<String> {
    let names = |id: &'static str| match id {
        ENTRY => parameters.clone().map(|p| format!("{DYNAMICS}{p}")).collect(),
        signal => vec![signal.to_string()],
    };
    from.entries().iter().flat_map(|e| names(e.id)).collect()
}

/// Checks that an anomaly of that name applies to an environment.
///
/// # Errors
/// [`BuildError::Unknown`], with the nearest name and all names that apply.
pub fn check(id: &str, from: &Catalogue<dyn Anomaly>, spec: &EnvSpec) -> Result<(), BuildError> {
    let known = ids(from, spec.parameters.iter().map(|p| p.name.as_str()));
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
    use crate::spec::{Channel, Parameter};
    use crate::{Entry, entry};
    use serde_json::json;

    /// Does nothing.
    #[derive(Deserialize)]
    struct Idle {}

    impl Anomaly for Idle {}

    const ALL: &[Entry<dyn Anomaly>] =
        &[entry!(Idle as dyn Anomaly, "obs-noise", "x"), entry!(Idle as dyn Anomaly, "dyn", "x")];

    fn spec() -> EnvSpec {
        EnvSpec {
            id: "w".into(),
            summary: String::new(),
            source: String::new(),
            observation: vec![Channel::unbounded("x", "position", "m")],
            action: vec![Channel::unbounded("u", "force", "N")],
            dt_secs: 1.0,
            horizon: 1,
            parameters: ["mass", "gear"].map(|n| Parameter::new(n, "x", "1", 1.0, 0.0, 2.0)).into(),
            initial: vec![],
            reward: String::new(),
            reset: String::new(),
            success: String::new(),
            classes: vec![],
            cameras: vec![],
        }
    }

    #[test]
    fn the_names_of_an_environment_are_listed_and_the_nearest_is_suggested() {
        let all = Catalogue::new("anomaly", ALL);
        assert!(["obs-noise", "dyn-mass", "dyn-gear"].iter().all(|id| check(id, &all, &spec()).is_ok()));
        let error = check("dyn-mas", &all, &spec()).unwrap_err().to_string();
        let want = "no anomaly of this environment is called \"dyn-mas\"; did you mean \"dyn-mass\"?; \
                    there are: obs-noise, dyn-mass, dyn-gear";
        assert_eq!(error, want);
        assert!(check("dyn", &all, &spec()).is_err());
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

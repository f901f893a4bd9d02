//! The recipe of a disturbance, stored with every episode.

use crate::anomaly::{Anomaly, AnomalyError, Several};
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
    /// Name in the catalogue of anomalies, or `dyn-<parameter>`; of several at the same time, their names with
    /// [`AND`] between them.
    pub anomaly: String,
    /// Its parameters, `magnitude` among them; of several, a list with those of each.
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
        let spec = env.spec();
        let mut parts = self.parts()?.map(|(id, params)| built(id, params, from, spec));
        let first = parts.next().expect("a name has at least one part")?;
        let others = parts.collect::<Result<Vec<_>, _>>()?;
        if others.is_empty() {
            return Ok(first);
        }
        Ok(Box::new(Several([first].into_iter().chain(others).collect())))
    }

    /// The names of the anomalies that act at the same time: mostly one.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.anomaly.split(AND)
    }

    /// What goes wrong, with its magnitude, as a reader is told it.
    pub fn words(&self) -> String {
        let word = |(id, params): (&str, &Value)| format!("{id} of {}", params["magnitude"]);
        self.parts().map(|parts| parts.map(word).collect::<Vec<_>>().join(" and ")).unwrap_or_default()
    }

    /// Each name with its parameters.
    fn parts(&self) -> Result<impl Iterator<Item = (&str, &Value)>, BuildError> {
        let each = match &self.params {
            Value::Array(each) => each.iter().collect(),
            one => vec![one],
        };
        let wanted = self.ids().count();
        // Of a parameter that is set twice, the first value would be lost without a word.
        if let Some(twice) = self.ids().enumerate().find(|(i, id)| self.ids().skip(i + 1).any(|o| o == *id)) {
            let found = format!("expected different anomalies at once, found {} twice", twice.1);
            return Err(BuildError::Parameters(found));
        }
        if each.len() == wanted {
            return Ok(self.ids().zip(each));
        }
        Err(BuildError::Parameters(format!(
            "expected parameters of each of the {wanted} anomalies of {:?}, found {}",
            self.anomaly,
            each.len()
        )))
    }
}

/// One anomaly, fitted to the environment.
fn built(
    id: &str,
    params: &Value,
    from: &Catalogue<dyn Anomaly>,
    spec: &EnvSpec,
) -> Result<Box<dyn Anomaly>, BuildError> {
    // Whatever the entry complains about, a wrong name is the cause.
    let known = || ids(from.entries().iter().map(|e| e.id), spec.parameters.iter().map(|p| p.name.as_str()));
    let (entry, params) = entry(id, params);
    let fitted = from.build(entry, &params).and_then(|mut anomaly| {
        anomaly.fit(spec).map_err(|e: AnomalyError| BuildError::Parameters(e.to_string()))?;
        Ok(anomaly)
    });
    fitted.map_err(|e| check(id, &known()).err().unwrap_or(e))
}

/// The catalogue's name for an anomaly, and the parameters it wants: `dyn-mass` is `dyn` of the parameter `mass`.
fn entry<'a>(id: &'a str, params: &'a Value) -> (&'a str, Cow<'a, Value>) {
    let Some(parameter) = id.strip_prefix(DYNAMICS) else { return (id, Cow::Borrowed(params)) };
    let mut params = params.clone();
    if let Value::Object(fields) = &mut params {
        fields.insert("parameter".into(), parameter.into());
    }
    (ENTRY, Cow::Owned(params))
}

/// Stands between the names of anomalies that act at the same time.
pub const AND: char = '+';

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
        let want = json!({ "magnitude": 2.0, "parameter": "mass" });
        assert_eq!(entry("dyn-mass", &json!({ "magnitude": 2.0 })), ("dyn", Cow::Owned(want)));
    }

    #[test]
    fn each_of_several_has_parameters_of_its_own() {
        let spec = |anomaly: &str, params| AnomalySpec {
            anomaly: anomaly.into(),
            params,
            schedule: Schedule::WHOLE,
        };
        let two = spec("a+dyn-mass", json!([{ "magnitude": 1 }, { "magnitude": 2 }]));
        let ids: Vec<_> =
            two.parts().unwrap().map(|(id, params)| (id, params["magnitude"].clone())).collect();
        assert_eq!(ids, [("a", json!(1)), ("dyn-mass", json!(2))]);
        let error = spec("a+b", json!({ "magnitude": 1 })).parts().err().unwrap().to_string();
        assert!(error.contains("each of the 2 anomalies of \"a+b\", found 1"), "{error}");
        assert!(spec("a", json!([{}, {}])).parts().is_err());
        let error = spec("dyn-mass+a+dyn-mass", json!([{}, {}, {}])).parts().err().unwrap().to_string();
        assert!(error.contains("expected different anomalies at once, found dyn-mass twice"), "{error}");
    }
}

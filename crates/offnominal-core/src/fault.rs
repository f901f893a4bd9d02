//! The recipe of a disturbance, stored with every episode.

use crate::anomaly::{Anomaly, AnomalyError};
use crate::catalogue::{BuildError, Catalogue};
use crate::env::Env;
use crate::schedule::Schedule;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// The recipe of a disturbance: which anomaly, how strong, and when. Plain data, stored with every episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Name in the catalogue of anomalies, or `dyn-<parameter>`.
    pub anomaly: String,
    /// Its parameters, `magnitude` among them.
    pub params: Value,
    /// Onset and extent.
    pub schedule: Schedule,
}

impl Fault {
    /// The anomaly, ready for one episode in the given world.
    ///
    /// # Errors
    /// If the name or a parameter is wrong, or the anomaly does not fit the world.
    pub fn build(
        &self,
        from: &Catalogue<dyn Anomaly>,
        env: &dyn Env,
    ) -> Result<Box<dyn Anomaly>, BuildError> {
        let (id, params) = self.entry();
        let mut anomaly = from.build(id, &params)?;
        anomaly.fit(env.spec()).map_err(|e: AnomalyError| BuildError::Parameters(e.to_string()))?;
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
        ("dyn", Cow::Owned(params))
    }
}

/// Begins the names of dynamics anomalies: the world's parameter follows.
pub const DYNAMICS: &str = "dyn-";

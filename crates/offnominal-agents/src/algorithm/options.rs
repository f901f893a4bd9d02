//! Which options a recipe may set.

use super::find;
use crate::config::{ConfigError, Normalise, TrainConfig, fields};
use serde_json::Value;

impl TrainConfig {
    /// The recipe for another algorithm: options that it does not have return to their defaults.
    ///
    /// # Errors
    /// If there is no such algorithm.
    pub fn with_algorithm(&self, name: &str) -> Result<TrainConfig, ConfigError> {
        let algorithm = find(name)?;
        let (mut fields, defaults) = (fields(self), fields(&Self::default()));
        for option in algorithm.foreign() {
            fields.insert(option.into(), defaults[option].clone());
        }
        let changed: TrainConfig = serde_json::from_value(fields.into()).expect("a recipe is plain data");
        // Without filters there is no image to be centred.
        let blind = changed.filters.is_empty() && changed.normalise == Normalise::Centred;
        let normalise = if blind { Normalise::None } else { changed.normalise };
        Ok(TrainConfig { algorithm: name.into(), normalise, ..changed })
    }

    /// The recipe with one option changed; the value is read as JSON, or else as a text.
    ///
    /// # Errors
    /// If the option does not exist, or the value has the wrong type or is out of range.
    pub fn with(&self, name: &str, value: &str) -> Result<TrainConfig, ConfigError> {
        let (mut fields, algorithm) = (fields(self), find(&self.algorithm)?);
        if algorithm.foreign().any(|option| option == name) {
            return Err(algorithm.refuse(name));
        }
        if !fields.contains_key(name) {
            fields.retain(|option, _| algorithm.foreign().all(|foreign| foreign != option));
            let names: Vec<&str> = fields.keys().map(String::as_str).collect();
            let hint = offnominal_core::suggest::did_you_mean(name, names.iter().copied());
            let names = names.join(", ");
            return Err(ConfigError::Option(format!("{name:?} does not exist{hint}; there are: {names}")));
        }
        fields.insert(name.into(), serde_json::from_str(value).unwrap_or_else(|_| Value::from(value)));
        let changed: TrainConfig =
            serde_json::from_value(fields.into()).map_err(|e| ConfigError::Option(format!("{name}: {e}")))?;
        changed.check()?;
        Ok(changed)
    }

    /// Checks that every value lies in its range, and that no option is set that the algorithm does not have.
    ///
    /// # Errors
    /// Naming the first one that does not.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_options()?;
        self.check_ranges()
    }

    /// An option that would do nothing is an error.
    fn check_options(&self) -> Result<(), ConfigError> {
        let (algorithm, fields, defaults) = (find(&self.algorithm)?, fields(self), fields(&Self::default()));
        match algorithm.foreign().find(|&option| fields[option] != defaults[option]) {
            Some(option) => Err(algorithm.refuse(option)),
            None => Ok(()),
        }
    }
}

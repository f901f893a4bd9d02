//! Recipes: which variables a data package holds, in which order.

use super::package::Malformed;
use super::value::{Fields, Type, Value};
use thiserror::Error;

/// The names of a list as it is sent; a comma at the end, as some clients put it, adds no name.
pub fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// The variables of a data package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RtdeRecipe {
    /// The number that its packages carry.
    pub id: u8,
    /// The types, in order.
    pub types: Vec<Type>,
}

/// Why a controller's answer to a setup is no recipe.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// It does not know a variable.
    #[error("the controller has no variable {0:?}; its software may be too old")]
    NotFound(String),
    /// Somebody else writes a variable.
    #[error("another client of the controller, or a fieldbus, writes {0:?}")]
    InUse(String),
    /// It answers something else.
    #[error("expected {expected} types, found {found:?}")]
    Unclear {
        /// How many variables were asked for.
        expected: usize,
        /// What came.
        found: String,
    },
}

impl RtdeRecipe {
    /// Reads the answer to a setup of the variables `asked`, separated by commas.
    ///
    /// # Errors
    /// If a variable cannot be had.
    pub fn agreed(asked: &str, id: u8, types: &str) -> Result<RtdeRecipe, RecipeError> {
        let unclear = || RecipeError::Unclear { expected: names(asked).count(), found: types.into() };
        let mut known = Vec::new();
        for (name, found) in names(asked).zip(names(types)) {
            known.push(match found {
                "NOT_FOUND" => return Err(RecipeError::NotFound(name.into())),
                "IN_USE" => return Err(RecipeError::InUse(name.into())),
                other => Type::of(other).ok_or_else(unclear)?,
            });
        }
        let complete = names(asked).count() == known.len() && names(types).count() == known.len();
        if complete { Ok(RtdeRecipe { id, types: known }) } else { Err(unclear()) }
    }

    /// Unpacks the values of a data package into `values`, which is as long as the recipe.
    ///
    /// # Errors
    /// If the package is too short or too long.
    pub fn unpack(&self, packed: &[u8], values: &mut [Value]) -> Result<(), Malformed> {
        let mut from = Fields(packed);
        for (value, &of) in values.iter_mut().zip(&self.types) {
            *value = Value::read(of, &mut from)?;
        }
        from.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_becomes_a_recipe() {
        let recipe = RtdeRecipe::agreed("timestamp,actual_q,", 1, "DOUBLE,VECTOR6D").unwrap();
        assert_eq!(recipe, RtdeRecipe { id: 1, types: vec![Type::Double, Type::Vector6] });
    }

    #[test]
    fn refusals_name_the_variable() {
        let refused = |types| RtdeRecipe::agreed("timestamp,speed", 0, types).unwrap_err().to_string();
        assert!(refused("DOUBLE,NOT_FOUND").contains("no variable \"speed\""));
        assert!(refused("IN_USE,DOUBLE").contains("writes \"timestamp\""));
        for unclear in ["DOUBLE", "DOUBLE,DOUBLE,DOUBLE", "DOUBLE,FLOAT"] {
            assert!(refused(unclear).starts_with("expected 2 types"), "{unclear}");
        }
    }
}

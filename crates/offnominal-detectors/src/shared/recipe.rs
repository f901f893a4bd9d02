//! Recipes: plain data, each field with its default and its meaning.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::marker::PhantomData;

/// Declares a recipe: `recipe! { pub struct Knn { pub k: NonZeroUsize = count(1) } }`.
///
/// A field that the configuration leaves out has its default; a field that is not declared is refused.
macro_rules! recipe {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$of_field:meta])* pub $field:ident: $type:ty = $default:expr),* $(,)?
    }) => {
        offnominal_core::with_defaults! {
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
            #[serde(default, deny_unknown_fields)]
            pub struct $name {
                $($(#[$of_field])* pub $field: $type = $default,)*
            }
        }

        impl $crate::shared::recipe::Described for $name {
            fn fields() -> Vec<$crate::shared::recipe::Field> {
                let $name { $($field),* } = $name::default();
                vec![$($crate::shared::recipe::Field::new::<$type>(
                    stringify!($field),
                    stringify!($type),
                    &[$(stringify!($of_field)),*],
                    &$field,
                )),*]
            }
        }
    };
}
pub(crate) use recipe;

/// A recipe that tells its fields, as all do that `recipe` declares.
pub trait Described {
    /// In the order of the declaration.
    fn fields() -> Vec<Field>;
}

/// A parameter of a recipe, for listings and for other languages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// The name of its Rust type.
    pub kind: &'static str,
    /// What it means.
    pub about: String,
    /// Its default as configuration.
    pub default: Value,
    /// The words that it may be, if it is a choice of words.
    pub choices: Vec<String>,
}

/// Asks any recipe for its fields. One that is not [`Described`] has its names and defaults told, by [`Undescribed`], which a
/// call reaches only where the method of the type itself does not apply.
pub(crate) struct Probe<T>(PhantomData<T>);

impl<T> Default for Probe<T> {
    fn default() -> Self {
        Probe(PhantomData)
    }
}

impl<T: Described> Probe<T> {
    pub(crate) fn fields(&self) -> Vec<Field> {
        T::fields()
    }
}

/// See [`Probe`].
pub(crate) trait Undescribed {
    fn fields(&self) -> Vec<Field>;
}

impl<T: Default + Serialize> Undescribed for Probe<T> {
    fn fields(&self) -> Vec<Field> {
        let defaults = serde_json::to_value(T::default()).expect("a recipe is plain data");
        let fields = defaults.as_object().cloned().unwrap_or_default().into_iter();
        let told = |(name, default)| Field { name, kind: "", about: String::new(), default, choices: vec![] };
        fields.map(told).collect()
    }
}

impl Field {
    /// From the parts of its declaration; `attributes` are its documentation.
    pub(crate) fn new<T: Serialize + DeserializeOwned>(
        name: &str,
        kind: &'static str,
        attributes: &[&str],
        default: &T,
    ) -> Field {
        let default = serde_json::to_value(default).expect("a recipe is plain data");
        // A long line stands below its `doc =`.
        let lines = attributes.iter().filter_map(|line| line.strip_prefix("doc =")).map(str::trim);
        let about = lines.map(|line| line.trim_matches(['r', '#', '"', ' '])).collect::<Vec<_>>().join(" ");
        Field { name: name.into(), kind, about, default, choices: choices::<T>() }
    }
}

/// The words of an enumeration: serde names them where it refuses another one.
fn choices<T: DeserializeOwned>() -> Vec<String> {
    let refusal = serde_json::from_str::<T>("\"?\"").err().map(|e| e.to_string()).unwrap_or_default();
    let Some(known) = refusal.strip_prefix("unknown variant `?`, expected ") else { return vec![] };
    known.split('`').skip(1).step_by(2).map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Knn, PeDm};
    use serde_json::json;

    #[test]
    fn fields_are_told_with_meaning_default_and_choices() {
        let fields = PeDm::fields();
        assert_eq!(
            fields.iter().map(|f| &*f.name).collect::<Vec<_>>(),
            ["hidden", "members", "score", "samples", "training", "keep_constant_channels"]
        );
        assert_eq!(
            (&fields[1].default, &*fields[1].about),
            (&json!(5), "Number of networks, each trained on episodes drawn with replacement.")
        );
        assert!(fields.iter().all(|field| !field.about.is_empty()), "{fields:?}");
        assert_eq!(fields[2].choices, ["sampled-min", "analytic"]);
        assert!(Knn::fields()[0].choices.is_empty());
    }
}

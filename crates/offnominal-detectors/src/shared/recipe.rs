//! Recipes: plain data, each field with its default.

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
    };
}
pub(crate) use recipe;

//! Structures whose fields stand beside their defaults.

/// Declares a structure together with its [`Default`]: each field is written with the value that it has if not given.
///
/// ```
/// offnominal_core::with_defaults! {
///     /// How a car stops.
///     #[derive(Debug, PartialEq)]
///     pub struct Brakes {
///         /// Largest force, N.
///         pub force: f64 = 8000.0,
///         /// Whether wheels are kept from locking.
///         pub antilock: bool = true,
///     }
/// }
/// assert_eq!(Brakes::default(), Brakes { force: 8000.0, antilock: true });
/// ```
#[macro_export]
macro_rules! with_defaults {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty = $default:expr,)*
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }
    };
}

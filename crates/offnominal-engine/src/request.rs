//! What the requests of all crates have in common.

/// Defines what fields of a request are where they are absent: one function per field, for `#[serde(default = "…")]`
/// and for whoever lists the defaults.
#[macro_export]
macro_rules! defaults {
    ($($name:ident: $type:ty = $value:expr;)*) => {
        $(
            #[doc = concat!("What `", stringify!($name), "` is where a request does not say it.")]
            pub fn $name() -> $type {
                $value
            }
        )*
    };
}

//! Recordings of any origin: read, mapped to channels, cut into episodes, and watched.
//!
//! | module | what |
//! |---|---|
//! | [`record`] | what every format is read as |
//! | [`formats`] | the formats, one file each |
//! | [`inspect`] | what is in logs, and a proposed mapping |
//! | [`mapping`] | which column is what |

pub mod formats;
pub mod inspect;
pub mod mapping;
pub mod record;

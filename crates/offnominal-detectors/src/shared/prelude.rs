//! What the file of a detector uses, in one line: the nouns of the core, and the mechanism that is common to detectors.

pub(crate) use super::ranges::count;
pub(crate) use super::recipe::recipe;
pub(crate) use offnominal_core::detector::check;
pub(crate) use offnominal_core::prelude::*;
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use std::num::NonZeroUsize;
pub(crate) use std::sync::Arc;

//! Training as its users see it, in tiny worlds.

mod allocation;
mod files;
mod learning;
mod pictures;
mod recipe;
mod resume;
mod sb3;
mod uncertainty;
mod worlds;

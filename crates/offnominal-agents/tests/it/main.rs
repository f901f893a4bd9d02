//! Training as its users see it, in tiny worlds.

mod allocation;
mod files;
mod pendulum;
mod resume;
mod worlds;

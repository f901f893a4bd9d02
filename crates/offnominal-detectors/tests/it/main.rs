//! Laws, parity and properties of the catalogue.

mod allocation;
mod catalogue;
mod contributing;
mod diagnosis;
mod invariance;
mod laws;
mod limits;
mod parity;
mod progress;
mod quick;
mod readings;
mod spoiled;

//! Environments against their sources.

mod anomalies;
mod arms;
mod cameras;
mod car;
mod cards;
mod classic;
mod golden;
mod pong;
mod robot;
mod sap;

//! Logs from the reader to the alarm.

mod against;
mod alarms;
mod constants;
mod drift;
mod formats;
mod good_bad;
mod long;
mod page;
mod parts;
mod splits;
mod stated;
mod tables;
mod tasks;
mod told;
mod truth;

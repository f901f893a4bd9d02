//! Rollouts from the file to the page.

mod judging;
mod published;
mod reading;

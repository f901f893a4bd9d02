//! What only image detectors need: camera faults by structural similarity, panels of the report, the patch encoder.

pub mod calibrate;
pub mod encoder;
pub mod panels;
pub mod similarity;

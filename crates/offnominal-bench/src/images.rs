//! What only image detectors need: camera faults by structural similarity, panels of the report, the patch
//! encoder, and networks that are fitted and score.

pub mod calibrate;
pub mod encoder;
pub mod fit;
pub mod panels;
pub mod score;
pub mod similarity;

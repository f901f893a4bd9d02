//! Training as its users see it, in tiny environments.

mod allocation;
mod environments;
mod files;
mod hostile_onnx;
mod images;
mod learning;
mod recipe;
mod resume;
mod sb3;
mod sb3_others;
mod torch;
mod uncertainty;

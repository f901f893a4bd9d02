//! Training as its users see it in tiny environments, and policies in files of others.

mod allocation;
mod environments;
mod files;
mod hostile_onnx;
mod images;
mod learning;
mod onnx;
mod recipe;
mod resume;
mod sb3;
mod sb3_others;
mod torch;
mod uncertainty;

//! Networks against closed forms and other libraries.

mod convolutions;
mod gradients;
mod recurrent;
mod sequences;

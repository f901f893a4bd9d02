//! `pixels`: where in an image the unknown thing is.

mod describe;
mod evaluate;
mod features;
mod frames;
mod import;
mod inputs;
mod paste;
mod predict;
mod scenes;
mod score;
mod train;

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::{Args, Subcommand};
use offnominal_pixels::Written;
use serde::Serialize;

/// Arguments of `pixels`.
#[derive(Debug, Args)]
pub struct Pixels {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Draw streets or rooms in which the class of every pixel is known
    Scenes(scenes::Scenes),
    /// Play episodes of an environment and write what its camera saw, with the class of every pixel
    Frames(frames::Frames),
    /// Paste things into the images of a data set, from which outlier-head learns
    Paste(paste::Paste),
    /// Count classes, unknown pixels and boundaries of a data set, and how far one gets by colour alone
    Describe(describe::Describe),
    /// Train a network: the baseline, PSPNet or DeepLabV3+
    Train(train::Train),
    /// Take over weights that were trained elsewhere: of torchvision's deeplabv3_resnet50, or of a network of `pixels train`
    Import(import::Import),
    /// Write a model's logits, features and confidences as .npy files
    Predict(predict::Predict),
    /// Write features of a public encoder as .npy files, for the methods that read features
    Features(features::Features),
    /// Write a score for each pixel as .npy files
    Score(score::Score),
    /// Judge methods on data sets: metrics in four modes, components, causes of mistakes, a page
    Evaluate(evaluate::Evaluate),
}

impl Pixels {
    /// Runs the command within.
    ///
    /// # Errors
    /// Whatever that command reports.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        match self.what {
            What::Scenes(args) => args.run(common),
            What::Frames(args) => args.run(common),
            What::Paste(args) => args.run(common),
            What::Describe(args) => args.run(common),
            What::Train(args) => args.run(common),
            What::Import(args) => args.run(common),
            What::Predict(args) => args.run(common),
            What::Features(args) => args.run(common),
            What::Score(args) => args.run(common),
            What::Evaluate(args) => args.run(common),
        }
    }
}

/// Prints a result: as JSON, or in words.
fn print<T: Serialize>(found: &T, common: &Common, words: impl Fn(&T) -> String) -> Result<Outcome> {
    common.print_text(if common.json { Common::as_json(found)? } else { words(found) })
}

/// A folder in words.
fn as_text(found: &Written) -> String {
    format!("{}: {} images", found.folder.display(), found.images)
}

/// The command line as it was given.
fn command() -> String {
    std::env::args().skip(1).fold("offnominal".to_string(), |line, arg| line + " " + &arg)
}

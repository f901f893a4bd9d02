//! `pixels scenes`: draws a data set.

use crate::cli::Common;
use crate::cli::pixels::Outcome;
use anyhow::Result;
use clap::{Args, ValueEnum};
use offnominal_core::Seed;
use offnominal_pixels::scenes;
use offnominal_scenes::{ClassSet, Level, Recipe, Set, Split};
use serde_json::json;
use std::io::Write;

/// Arguments of `pixels scenes`.
#[derive(Debug, Args)]
pub struct Scenes {
    /// What is drawn
    #[arg(long, value_enum, default_value_t = Kind::Road)]
    set: Kind,
    /// Which towns: train A, B, C; validation D; test E, with unknown things
    #[arg(long, value_enum, default_value_t = Part::Test)]
    split: Part,
    /// How hard the unknown things of streets are to find
    #[arg(long, value_enum, default_value_t = Hardness::Medium)]
    level: Hardness,
    /// Number of pictures
    #[arg(short, long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    n: u32,
    /// Pixels per row
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(32..=4096))]
    width: u32,
    /// Rows
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(16..=2048))]
    height: u32,
    /// Number of classes: 12, or the 19 of Cityscapes
    #[arg(long, default_value = "12", value_name = "12|19", value_parser = class_set)]
    classes: ClassSet,
}

fn class_set(text: &str) -> Result<ClassSet, String> {
    match text {
        "12" => Ok(ClassSet::Twelve),
        "19" => Ok(ClassSet::Nineteen),
        other => Err(format!("expected 12 or 19, found {other:?}")),
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// Streets
    Road,
    /// Three-wheelers among cars, all else ignored
    ThreeWheeler,
    /// Rooms, and as many streets
    Indoor,
    /// Clipped normal noise, and as many streets
    NormalNoise,
    /// Perlin noise, and as many streets
    Perlin,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Part {
    Train,
    Validation,
    Test,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Hardness {
    /// Large, near, in loud colours
    Easy,
    /// As such things look
    Medium,
    /// Smaller, farther, with the texture of the road
    Hard,
}

impl Scenes {
    /// Draws the pictures and prints where they are.
    ///
    /// # Errors
    /// If the folder exists or cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let folder = common.out_or("scenes");
        scenes::draw(
            &self.recipe(),
            self.classes,
            self.n as usize,
            Seed(common.seed),
            &folder,
            &common.context(),
        )?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{:#}", json!({ "folder": folder, "pictures": self.n }))?;
        } else {
            writeln!(out, "{}: {} pictures", folder.display(), self.n)?;
        }
        Ok(Outcome::Done)
    }

    fn recipe(&self) -> Recipe {
        let set = match self.set {
            Kind::Road => Set::Road,
            Kind::ThreeWheeler => Set::ThreeWheeler,
            Kind::Indoor => Set::Indoor,
            Kind::NormalNoise => Set::NormalNoise,
            Kind::Perlin => Set::Perlin,
        };
        let split = match self.split {
            Part::Train => Split::Train,
            Part::Validation => Split::Validation,
            Part::Test => Split::Test,
        };
        let level = match self.level {
            Hardness::Easy => Level::Easy,
            Hardness::Medium => Level::Medium,
            Hardness::Hard => Level::Hard,
        };
        Recipe { set, split, level, width: self.width as usize, height: self.height as usize }
    }
}

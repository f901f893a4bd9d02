//! `pixels scenes`: draws a data set.

use crate::cli::Common;
use crate::cli::pixels::{Outcome, as_text, print};
use anyhow::Result;
use clap::{Args, ValueEnum};
use offnominal_pixels::scenes::{Request, run};
use offnominal_scenes::{ClassSet, Contrast, Distance, Set, Size, Split};

/// Arguments of `pixels scenes`.
#[derive(Debug, Args)]
pub struct Scenes {
    /// What is drawn
    #[arg(long, value_enum, default_value_t = SetName::Road)]
    set: SetName,
    /// Which towns: train A, B, C; validation D; test E, with unknown things
    #[arg(long, value_enum, default_value_t = SplitName::Test)]
    split: SplitName,
    /// How unknown things of streets look against the ground
    #[arg(long, value_enum, default_value_t = ContrastName::Usual)]
    contrast: ContrastName,
    /// How large they are
    #[arg(long, value_enum, default_value_t = SizeName::Usual)]
    size: SizeName,
    /// How far away they are
    #[arg(long, value_enum, default_value_t = DistanceName::Usual)]
    distance: DistanceName,
    /// Number of images
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
enum SetName {
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
enum SplitName {
    Train,
    Validation,
    Test,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ContrastName {
    /// Far lighter than the road, with patches that are far darker
    High,
    /// The colours that such things usually have
    Usual,
    /// The colours and the texture of the road
    Low,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SizeName {
    /// A third larger than such things are
    Large,
    /// As large as such things are
    Usual,
    /// Two thirds as large
    Small,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DistanceName {
    /// 6 to 13 m
    Near,
    /// 7 to 30 m
    Usual,
    /// 20 to 45 m
    Far,
}

impl Scenes {
    /// Draws the images and prints where they are.
    ///
    /// # Errors
    /// If the folder exists or cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let request = Request {
            set: match self.set {
                SetName::Road => Set::Road,
                SetName::ThreeWheeler => Set::ThreeWheeler,
                SetName::Indoor => Set::Indoor,
                SetName::NormalNoise => Set::NormalNoise,
                SetName::Perlin => Set::Perlin,
            },
            split: match self.split {
                SplitName::Train => Split::Train,
                SplitName::Validation => Split::Validation,
                SplitName::Test => Split::Test,
            },
            contrast: match self.contrast {
                ContrastName::High => Contrast::High,
                ContrastName::Usual => Contrast::Usual,
                ContrastName::Low => Contrast::Low,
            },
            size: match self.size {
                SizeName::Large => Size::Large,
                SizeName::Usual => Size::Usual,
                SizeName::Small => Size::Small,
            },
            distance: match self.distance {
                DistanceName::Near => Distance::Near,
                DistanceName::Usual => Distance::Usual,
                DistanceName::Far => Distance::Far,
            },
            n: self.n,
            width: self.width as usize,
            height: self.height as usize,
            classes: self.classes,
            out: common.out_or("scenes"),
        };
        print(&run(&request, &common.context())?, common, as_text)
    }
}

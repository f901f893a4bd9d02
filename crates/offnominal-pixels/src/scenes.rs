//! Drawn scenes as a folder in our own layout: images, labels, instances, depth, shadows, and the label map.

use crate::label_map::{LabelMap, Otherwise};
use crate::written::{Written, data_set, write_image};
use anyhow::Result;
use clap::Args;
use offnominal_core::Seed;
use offnominal_engine::context::Context;
use offnominal_engine::request::within;
use offnominal_files::image_file::{colours, grey, grey16};
use offnominal_scenes::{
    ClassSet, Contrast, Difficulty, Distance, Drawn, IGNORED, SceneRecipe, Set, Size, Split, UNKNOWN,
    Visible, Weather,
};
use offnominal_work::cli::word;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Units of the depth images for a metre; 0 is the sky, or farther than they reach.
pub const DEPTH_UNITS: f32 = 256.0;

/// Name of the list of what the scenes show.
pub const LIST: &str = "scenes.json";

/// A scene.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct SceneRecord {
    name: String,
    town: &'static str,
    weather: Option<Weather>,
    things: Vec<Visible>,
}

/// The list.
#[derive(Debug, Serialize)]
struct SceneList {
    recipe: SceneRecipe,
    classes: ClassSet,
    seed: u64,
    scenes: Vec<SceneRecord>,
}

/// What to draw; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Args)]
pub struct Request {
    /// road, three-wheeler, indoor, normal-noise or perlin (docs/reference/pixels.md)
    #[arg(long, value_parser = word::<Set>, default_value = "road")]
    pub set: Set,
    /// train, validation or test; test has unknown objects
    #[arg(long, value_parser = word::<Split>, default_value = "test")]
    pub split: Split,
    /// Contrast of unknown objects in streets: high, usual or low
    #[arg(long, value_parser = word::<Contrast>, default_value = "usual")]
    pub contrast: Contrast,
    /// Their size: large, usual or small
    #[arg(long, value_parser = word::<Size>, default_value = "usual")]
    pub size: Size,
    /// Their distance: near, usual or far
    #[arg(long, value_parser = word::<Distance>, default_value = "usual")]
    pub distance: Distance,
    /// Number of images
    #[arg(short, long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub n: u32,
    /// Width in pixels, 16 to 4096
    #[arg(long, default_value_t = 256)]
    pub width: usize,
    /// Height in pixels, 16 to 4096
    #[arg(long, default_value_t = 128)]
    pub height: usize,
    /// Classes: 12, or the 19 of Cityscapes
    #[arg(long, default_value = "12", value_name = "12|19", value_parser = class_set)]
    pub classes: ClassSet,
    /// New folder
    #[arg(long, value_name = "DIR", default_value = "runs/scenes")]
    pub out: PathBuf,
}

fn class_set(text: &str) -> Result<ClassSet, String> {
    match text {
        "12" => Ok(ClassSet::Twelve),
        "19" => Ok(ClassSet::Nineteen),
        other => Err(format!("expected 12 or 19, found {other:?}")),
    }
}

/// Draws scenes into a folder that is not there yet; it appears when all are drawn.
///
/// # Errors
/// If the folder exists, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Written> {
    within("n", request.n, 1..=1_000_000)?;
    within("width", request.width, 16..=4096)?;
    within("height", request.height, 16..=4096)?;
    let Request { set, split, contrast, size, distance, n, width, height, classes, ref out } = *request;
    let difficulty = Difficulty { contrast, size, distance };
    let recipe = SceneRecipe { set, split, difficulty, width, height };
    let kinds = ["images", "labels", "instances", "depth", "shadows"];
    data_set(out, &kinds, &label_map(classes), LIST, |root| {
        let scenes = context.map(n as usize, "scenes", |i| draw(&recipe, classes, context.seed, i, root))?;
        Ok(SceneList { recipe, classes, seed: context.seed, scenes })
    })?;
    Ok(Written { folder: out.clone(), images: n as usize })
}

/// Draws and writes a scene.
fn draw(recipe: &SceneRecipe, classes: ClassSet, seed: u64, i: usize, root: &Path) -> Result<SceneRecord> {
    let (drawn, name) = (recipe.draw(Seed(seed), i), format!("{i:05}"));
    save(&drawn, classes, root, &name)?;
    Ok(SceneRecord { name, town: drawn.town, weather: drawn.weather, things: drawn.image.visible })
}

fn save(drawn: &Drawn, classes: ClassSet, root: &Path, name: &str) -> Result<()> {
    let p = &drawn.image;
    let put = |kind: &str, png: Vec<u8>| write_image(root, kind, name, &png);
    let labels: Vec<u8> = p.classes.iter().map(|&c| classes.label(c)).collect();
    let shadow: Vec<u8> = p.shadow.iter().map(|&s| 255 * u8::from(s)).collect();
    let far = f32::from(u16::MAX) / DEPTH_UNITS;
    let depth = p.depth_m.iter().map(|&d| if d < far { (d * DEPTH_UNITS).round() as u16 } else { 0 });
    put("images", colours(p.width, p.height, &p.rgb)?)?;
    put("labels", grey(p.width, p.height, &labels)?)?;
    put("instances", grey16(p.width, p.height, p.instances.iter().copied())?)?;
    put("depth", grey16(p.width, p.height, depth)?)?;
    put("shadows", grey(p.width, p.height, &shadow)?)
}

/// What the labels mean.
pub fn label_map(classes: ClassSet) -> LabelMap {
    let names = classes.names();
    let hex = |[r, g, b]: [u8; 3]| format!("#{r:02x}{g:02x}{b:02x}");
    LabelMap {
        classes: names.iter().map(|(name, _)| (*name).into()).collect(),
        unknown: vec![UNKNOWN.to_string()],
        ignore: vec![IGNORED.to_string()],
        known_any: Vec::new(),
        otherwise: Otherwise::Error,
        colours: names.iter().map(|&(name, colour)| (name.into(), hex(colour))).collect(),
        known: names
            .iter()
            .enumerate()
            .map(|(id, (name, _))| ((*name).into(), vec![id.to_string()]))
            .collect(),
    }
}

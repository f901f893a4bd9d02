//! Images of streets and rooms in which everything is known: class, instance, depth and shadow of every pixel.
//!
//! A street has a pinhole camera, a sun or none, weather, houses, trees, traffic and people; the test split adds things
//! that training never shows, inside the scene, so that their light, shadow, size and occlusion are right. Nothing is
//! read from files: an image is a function of a recipe, a seed and a number.
//!
//! ```
//! use offnominal_core::Seed;
//! use offnominal_scenes::{Class, Difficulty, SceneRecipe, Set, Split};
//!
//! let difficulty = Difficulty::default();
//! let recipe = SceneRecipe { set: Set::Road, split: Split::Train, difficulty, width: 64, height: 32 };
//! let image = recipe.draw(Seed(1), 0).image;
//! assert_eq!(image.rgb.len(), 64 * 32 * 3);
//! assert!(image.share(Class::Road) > 0.05 && image.share(Class::Unknown) == 0.0);
//! ```

mod alignment;
mod body;
pub mod class;
pub mod difficulty;
mod draw;
mod facade;
mod glare;
mod ground;
mod hull;
pub mod image;
mod junction;
#[cfg(test)]
mod laws;
mod look;
mod material;
mod night;
mod noise;
mod noise_image;
mod panes;
mod rain;
mod ray;
pub mod recipe;
mod room;
mod scene;
mod shade;
mod shadow;
mod solid;
mod street;
mod surface;
mod things;
pub mod town;
mod traffic;
mod unusual;
mod view;
pub mod weather;

pub use class::{Class, ClassSet, IGNORED, UNKNOWN};
pub use difficulty::{Contrast, Difficulty, Distance, Size};
pub use image::{Image, Visible};
pub use recipe::{Drawn, SceneRecipe, Set};
pub use town::Split;
pub use weather::Weather;

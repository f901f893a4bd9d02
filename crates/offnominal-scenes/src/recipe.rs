//! Which images are drawn: the set, the split, how hard, how large.

use crate::class::Class;
use crate::difficulty::Difficulty;
use crate::draw::draw;
use crate::image::Image;
use crate::noise_image;
use crate::room::room;
use crate::scene::Scene;
use crate::street;
use crate::things::chance;
use crate::town::{Split, Town};
use crate::traffic;
use crate::unusual;
use crate::weather::Weather;
use offnominal_core::{Rng, Seed};
use serde::{Deserialize, Serialize};

/// A set of images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Set {
    /// Streets; in the test split with unknown things on them.
    #[default]
    Road,
    /// Three-wheelers among cars; all else is ignored. The analogue of IDD.
    ThreeWheeler,
    /// Rooms, whose walls are ignored, and streets without anything unknown. The analogue of SUN.
    Indoor,
    /// Clipped normal noise, and streets without anything unknown.
    NormalNoise,
    /// Perlin noise, and streets without anything unknown.
    Perlin,
}

/// Share of test streets without anything unknown.
const EMPTY: f32 = 0.1;

/// How often unknown things are placed anew where others hide them all.
const TRIES: usize = 30;

/// What to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SceneRecipe {
    /// The set.
    pub set: Set,
    /// The split. Sets other than streets belong to the test.
    pub split: Split,
    /// How hard unknown things of streets are to find.
    pub difficulty: Difficulty,
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// An image with where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// The image.
    pub image: Image,
    /// The letter of its town; empty if it is in none.
    pub town: &'static str,
    /// Its weather; none where there is none.
    pub weather: Option<Weather>,
}

impl SceneRecipe {
    /// The image of a number; the same seed and number give the same bits.
    pub fn draw(&self, seed: Seed, number: usize) -> Drawn {
        let mut rng = seed.child(format!("{:?} {:?}", self.set, self.split).as_str()).child(number).rng();
        // Every second image of these sets is a street without anything unknown, as the paper mixes them.
        let is_other = number.is_multiple_of(2);
        match self.set {
            Set::Indoor if is_other => self.finish(&room(&mut rng), &mut rng),
            Set::NormalNoise if is_other => plain(noise_image::normal(self.width, self.height, &mut rng)),
            Set::Perlin if is_other => plain(noise_image::perlin(self.width, self.height, &mut rng)),
            set => self.street(set, &mut rng),
        }
    }

    fn street(&self, set: Set, rng: &mut Rng) -> Drawn {
        let towns = Town::of(if set == Set::Road { self.split } else { Split::Test });
        let (town, weather) = (&towns[rng.below(towns.len())], Weather::draw(rng));
        let mut scene = street::street(rng, town, weather);
        match (set, self.split) {
            (Set::Road, Split::Test) => {
                if chance(rng, 0.15) {
                    traffic::oddity(rng, &mut scene);
                }
                if !chance(rng, EMPTY) {
                    let drawn = self.with_unknown(&scene, rng);
                    return Drawn { town: town.name, weather: Some(weather), ..drawn };
                }
            }
            (Set::ThreeWheeler, _) => unusual::three_wheelers(rng, &mut scene),
            _ => {}
        }
        let mut drawn = self.finish(&scene, rng);
        if set == Set::ThreeWheeler {
            drawn
                .image
                .classes
                .iter_mut()
                .filter(|c| !matches!(c, Class::Car | Class::Unknown))
                .for_each(|c| *c = Class::Ignored);
        }
        Drawn { town: town.name, weather: Some(weather), ..drawn }
    }

    /// With unknown things, one of which at least can be seen.
    fn with_unknown(&self, scene: &Scene, rng: &mut Rng) -> Drawn {
        let mut place = || {
            let mut scene = scene.clone();
            unusual::unknown(rng, self.difficulty, &mut scene);
            self.finish(&scene, rng)
        };
        let is_seen = |drawn: &Drawn| drawn.image.classes.contains(&Class::Unknown);
        let mut drawn = place();
        for _ in 1..TRIES {
            if is_seen(&drawn) {
                break;
            }
            drawn = place();
        }
        drawn
    }

    fn finish(&self, scene: &Scene, rng: &mut Rng) -> Drawn {
        plain(draw(scene, self.width, self.height, rng))
    }
}

fn plain(image: Image) -> Drawn {
    Drawn { image, town: "", weather: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::things::pick;
    use offnominal_core::Rng;

    /// A recipe drawn from all, for tests.
    fn any(rng: &mut Rng) -> SceneRecipe {
        let set = pick(rng, &[Set::Road, Set::ThreeWheeler, Set::Indoor, Set::NormalNoise, Set::Perlin]);
        let difficulty = pick(rng, &[Difficulty::EASIEST, Difficulty::default(), Difficulty::HARDEST]);
        SceneRecipe { set, split: Split::Test, difficulty, width: 64, height: 32 }
    }

    fn recipe(split: Split, difficulty: Difficulty) -> SceneRecipe {
        SceneRecipe { set: Set::Road, split, difficulty, width: 128, height: 64 }
    }

    #[test]
    fn the_same_seed_and_number_give_the_same_bits_and_others_do_not() {
        let mut rng = Rng::new(1);
        for _ in 0..8 {
            let recipe = any(&mut rng);
            let (a, b) = (recipe.draw(Seed(3), 4), recipe.draw(Seed(3), 4));
            assert!(a == b, "{recipe:?}");
            assert!(a.image.rgb != recipe.draw(Seed(3), 6).image.rgb, "{recipe:?}");
        }
    }

    #[test]
    fn unknown_things_are_in_the_test_split_only() {
        let share = |split| {
            (0..20)
                .map(|i| recipe(split, Difficulty::default()).draw(Seed(1), i).image.share(Class::Unknown))
                .sum::<f64>()
                / 20.0
        };
        assert_eq!(share(Split::Train) + share(Split::Validation), 0.0);
        let found = share(Split::Test);
        // One large thing near the camera makes a hundredth of twenty images.
        assert!((0.002..0.06).contains(&found), "{found}");
    }

    #[test]
    fn nine_of_ten_test_images_show_something_unknown() {
        let shows = |&i: &usize| {
            recipe(Split::Test, Difficulty::HARDEST).draw(Seed(1), i).image.share(Class::Unknown) > 0.0
        };
        let found = (0..60).filter(shows).count();
        // 54 ± 2.3 are expected; before things were placed anew where others hide them, it was 46.
        assert!((50..60).contains(&found), "{found}");
    }

    #[test]
    fn what_is_said_of_the_things_fits_the_pixels() {
        for number in 0..6 {
            let image = recipe(Split::Test, Difficulty::EASIEST).draw(Seed(2), number).image;
            for thing in &image.visible {
                let mine = image.instances.iter().filter(|&&i| i == thing.instance).count();
                assert_eq!(mine, thing.pixels);
            }
            let unknown = image.classes.iter().zip(&image.instances).filter(|(c, _)| **c == Class::Unknown);
            let is_told =
                |i: u16| image.visible.iter().any(|v| v.instance == i && v.is_unknown && !v.kind.is_empty());
            assert!(unknown.into_iter().all(|(_, &i)| is_told(i)));
            let sky = image.classes.iter().zip(&image.depth_m).filter(|(c, _)| **c == Class::Sky);
            assert!(sky.into_iter().all(|(_, d)| d.is_infinite()));
        }
    }

    #[test]
    fn sets_label_what_they_are_about() {
        let draw = |set, number| {
            SceneRecipe { set, ..recipe(Split::Test, Difficulty::default()) }.draw(Seed(5), number).image
        };
        let wheels = draw(Set::ThreeWheeler, 0);
        assert!(wheels.classes.iter().all(|c| matches!(c, Class::Car | Class::Unknown | Class::Ignored)));
        let room = draw(Set::Indoor, 0);
        assert!(
            room.share(Class::Unknown) > 0.05 && room.share(Class::Ignored) > 0.2,
            "{}",
            room.share(Class::Unknown)
        );
        assert_eq!(draw(Set::Perlin, 0).share(Class::Unknown), 1.0);
        assert_eq!(draw(Set::NormalNoise, 1).share(Class::Unknown), 0.0);
    }
}

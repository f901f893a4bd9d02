//! Things that no training image shows. Each kind is drawn anew: sizes, colours and posture vary.

mod animals;
mod goods;
mod large;

use super::{pick, varied};
use crate::body::{Body, Part};
use crate::class::Class;
use crate::difficulty::Contrast;
use crate::material::{Material, srgb};
use offnominal_core::Rng;
use offnominal_core::vec3::Vec3;

/// A kind of unknown thing.
#[derive(Clone, Copy)]
pub struct UnknownKind {
    /// Its name in lists.
    pub name: &'static str,
    /// Colours that such a thing usually has.
    usual: &'static [[u8; 3]],
    parts: fn(&mut Rng, &Dress) -> Built,
}

/// The parts of a thing, and the width and length of the ground that it covers.
type Built = (Vec<Part>, [f32; 2]);

const fn kind(
    name: &'static str,
    usual: &'static [[u8; 3]],
    parts: fn(&mut Rng, &Dress) -> Built,
) -> UnknownKind {
    UnknownKind { name, usual, parts }
}

const WOOD: &[[u8; 3]] = &[[150, 112, 70], [120, 88, 58], [176, 144, 100]];
const METAL: &[[u8; 3]] = &[[40, 70, 130], [140, 60, 30], [90, 94, 98]];
const CLOTH: &[[u8; 3]] = &[[110, 60, 54], [84, 90, 100], [196, 188, 170], [70, 84, 60]];
const HIDE: &[[u8; 3]] = &[[140, 98, 60], [92, 66, 44], [60, 52, 46]];
const PAINT: &[[u8; 3]] = &[[200, 200, 196], [150, 34, 34], [40, 60, 90]];
const BRIGHT: &[[u8; 3]] = &[[200, 80, 50], [60, 120, 160], [210, 180, 60]];

/// Every kind.
pub const KINDS: [UnknownKind; 18] = [
    kind("crate", WOOD, goods::stack),
    kind("barrel", METAL, goods::barrel),
    kind("tyre", &[[28, 28, 30]], goods::tyre),
    kind("sofa", CLOTH, large::sofa),
    kind("boulder", &[[112, 106, 98], [86, 84, 82]], goods::boulder),
    kind("cow", &[[110, 70, 44], [220, 214, 204], [44, 38, 34]], animals::cow),
    kind("dog", HIDE, animals::dog),
    kind("deer", HIDE, animals::deer),
    kind("helicopter", PAINT, large::helicopter),
    kind("beach ball", BRIGHT, goods::beach_ball),
    kind("suitcase", &[[60, 50, 46], [110, 30, 40], [40, 60, 80]], goods::suitcase),
    kind("shopping cart", &[[150, 152, 156]], goods::shopping_cart),
    kind("mattress", CLOTH, large::mattress),
    kind("tent", &[[90, 110, 60], [200, 120, 40], [60, 80, 110]], large::tent),
    kind("wardrobe", WOOD, large::wardrobe),
    kind("parasol", BRIGHT, large::parasol),
    kind("boat", PAINT, large::boat),
    kind("pipe", METAL, goods::pipe),
];

impl UnknownKind {
    /// Draws one of this kind that stands on ground of a colour.
    pub fn build(self, rng: &mut Rng, contrast: Contrast, ground: Vec3) -> Body {
        let [r, g, b] = pick(rng, self.usual);
        let dress = Dress::new(varied(rng, srgb(r, g, b), 0.25), contrast, varied(rng, ground, 0.15));
        let (parts, footprint) = (self.parts)(rng, &dress);
        Body { class: Class::Unknown, parts, footprint }
    }
}

/// The materials of one thing: its main look, a second one, and dark details.
#[derive(Clone, Copy)]
struct Dress {
    main: Material,
    second: Material,
    dark: Material,
}

impl Dress {
    fn new(colour: Vec3, contrast: Contrast, ground: Vec3) -> Dress {
        let dark = Material::Plain(Vec3::all(0.02));
        match contrast {
            // No saturated colours: networks take those for signs and vehicles, and are sure of it.
            Contrast::High => {
                let (light, deep) = (colour.lerp(Vec3::all(0.8), 0.85), colour * 0.06);
                Dress { main: Material::Patches(light, deep, 0.4), second: Material::Plain(deep), dark }
            }
            Contrast::Usual => Dress {
                main: Material::Mottled(colour, 0.25, 3.0),
                second: Material::Plain(colour * 0.6),
                dark,
            },
            Contrast::Low => {
                let near = |share: f32| Material::Asphalt(ground * share);
                Dress { main: near(1.0), second: near(0.93), dark: near(0.8) }
            }
        }
    }

    /// The colour of bars and wires, which have no texture.
    fn wire(&self) -> Vec3 {
        match self.second {
            Material::Plain(c) | Material::Asphalt(c) => c,
            _ => Vec3::all(0.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_stands_on_the_ground() {
        for (number, kind) in KINDS.iter().enumerate() {
            for contrast in Contrast::ALL {
                for seed in 0..5 {
                    let body =
                        kind.build(&mut Rng::new(100 * number as u64 + seed), contrast, Vec3::all(0.14));
                    let lowest = body.parts.iter().map(Part::lowest).fold(f32::INFINITY, f32::min);
                    assert!((-0.35..0.08).contains(&lowest), "{}: {lowest}", kind.name);
                }
            }
        }
    }
}

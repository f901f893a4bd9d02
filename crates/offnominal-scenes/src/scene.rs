//! A scene before it is drawn: camera, light, ground, things.

use crate::body::{Body, Stand};
use crate::class::Class;
use crate::ground::Ground;
use crate::material::Material;
use crate::night::Lamp;
use crate::solid::Solid;
use crate::weather::Light;
use offnominal_core::vec3::Vec3;

/// A pinhole camera that looks along z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Height above the ground in metres.
    pub height_m: f32,
    /// Angle by which it looks up.
    pub pitch: f32,
    /// Focal length over the width of the image.
    pub focal: f32,
}

/// What a solid is part of.
#[derive(Debug, Clone, PartialEq)]
pub struct Thing {
    /// Its class.
    pub class: Class,
    /// What kind of unknown thing it is; empty for known ones.
    pub kind: &'static str,
    /// Middle of its footprint.
    pub at: Vec3,
    /// Half the width and length of its footprint.
    pub half: [f32; 2],
    /// Cosine and sine of its heading.
    pub heading: [f32; 2],
}

/// What is under the things.
#[derive(Debug, Clone, PartialEq)]
pub enum Floor {
    /// A street.
    Street(Box<Ground>),
    /// The floor of a room: its material, and its class.
    Room(Material, Class),
}

/// Everything that an image shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The camera.
    pub camera: Camera,
    /// The light.
    pub light: Light,
    /// The ground.
    pub floor: Floor,
    /// The solids.
    pub solids: Vec<Solid>,
    /// What they are part of.
    pub things: Vec<Thing>,
    /// How bright the image is taken.
    pub exposure: f32,
    /// Standard deviation of the sensor's noise, in grey levels.
    pub noise: f32,
}

impl Scene {
    /// Puts a body into the scene. Its lanterns light the scene.
    pub fn put(&mut self, body: &Body, stand: Stand, kind: &'static str) {
        let (sin, cos) = stand.yaw.sin_cos();
        let half = body.footprint.map(|side| 0.5 * side * stand.size);
        let thing = |class| Thing { class, kind, at: stand.at, half, heading: [cos, sin] };
        let solids = body.solids(stand, self.things.len());
        let lanterns = solids.iter().filter_map(|s| match s.material {
            Material::Lantern(colour) => Some(Lamp { at: s.centre, colour }),
            _ => None,
        });
        self.light.lamps.extend(lanterns);
        self.solids.extend(solids);
        self.things.push(thing(body.class));
        if let Some(class) = body.second_class() {
            self.things.push(thing(class));
        }
    }

    /// Height of the ground at a distance.
    #[inline]
    pub fn ground_height(&self, z: f32) -> f32 {
        match &self.floor {
            Floor::Street(ground) => ground.height(z),
            Floor::Room(..) => 0.0,
        }
    }

    /// Whether a circle on the ground is free of things.
    pub fn is_free(&self, x: f32, z: f32, radius: f32) -> bool {
        self.things.iter().all(|t| t.distance(x, z) > radius)
    }
}

impl Thing {
    /// Distance of a place on the ground from the footprint; 0 inside.
    #[inline]
    pub fn distance(&self, x: f32, z: f32) -> f32 {
        let (dx, dz) = (x - self.at.x, z - self.at.z);
        let [cos, sin] = self.heading;
        let (across, along) = (cos * dx - sin * dz, sin * dx + cos * dz);
        (across.abs() - self.half[0]).max(0.0).hypot((along.abs() - self.half[1]).max(0.0))
    }
}

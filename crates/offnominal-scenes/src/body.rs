//! Things made of solids, described from their own point of view and then set into the environment.

use crate::class::Class;
use crate::material::Material;
use crate::solid::{Shape, Solid, turned};
use offnominal_core::vec3::{Vec3, vec3};

/// A part of a body: its middle and half sizes in metres; x to the right, y up, z to the front of the body.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    shape: Shape,
    centre: Vec3,
    half: Vec3,
    tilt: [f32; 2],
    material: Material,
    class: Option<Class>,
}

/// A part of the given form.
pub fn part(shape: Shape, centre: [f32; 3], size: [f32; 3], material: Material) -> Part {
    Part { shape, centre: centre.into(), half: Vec3::from(size) * 0.5, tilt: [0.0; 2], material, class: None }
}

/// A box standing at a height, by its sizes.
pub fn block([x, y, z]: [f32; 3], size: [f32; 3], material: Material) -> Part {
    part(Shape::Box(0.0, 0.0), [x, y + 0.5 * size[1], z], size, material)
}

/// A ball or egg about its middle.
pub fn ball(at: [f32; 3], size: [f32; 3], material: Material) -> Part {
    part(Shape::Ellipsoid, at, size, material)
}

/// An upright cylinder standing at a height, by diameter and height.
pub fn post([x, y, z]: [f32; 3], diameter: f32, height: f32, material: Material) -> Part {
    part(Shape::Cylinder, [x, y + 0.5 * height, z], [diameter, height, diameter], material)
}

impl Part {
    /// The same, pitched forward and rolled by angles in radians.
    pub fn tilted(self, pitch: f32, roll: f32) -> Part {
        Part { tilt: [pitch, roll], ..self }
    }

    /// The same, as a thing of another class than the rest of its body.
    pub fn of(self, class: Class) -> Part {
        Part { class: Some(class), ..self }
    }
}

/// A wheel whose axle lies across the body.
pub fn wheel(at: [f32; 3], diameter: f32, width: f32) -> Part {
    let rubber = Material::Plain(Vec3::all(0.012));
    part(Shape::Cylinder, at, [diameter, width, diameter], rubber).tilted(0.0, std::f32::consts::FRAC_PI_2)
}

/// A body in its own space.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// What most of it is.
    pub class: Class,
    /// Its parts.
    pub parts: Vec<Part>,
    /// Width and length of the ground that it covers.
    pub footprint: [f32; 2],
}

/// Where a body stands: x, height of its underside, z, and its yaw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stand {
    /// Its place.
    pub at: Vec3,
    /// Its heading; 0 looks away from the camera.
    pub yaw: f32,
    /// How large it is against its nominal size.
    pub size: f32,
}

impl Stand {
    /// On the ground, in nominal size.
    pub fn on_ground(x: f32, z: f32, yaw: f32) -> Stand {
        Stand { at: vec3(x, 0.0, z), yaw, size: 1.0 }
    }
}

impl Body {
    /// Its solids in the environment; a part of another class belongs to the thing after it.
    pub fn solids(&self, stand: Stand, thing: usize) -> Vec<Solid> {
        let axes = turned(stand.yaw, 0.0, 0.0);
        let place = |part: &Part| {
            let offset = (0..3).map(|i| axes[i] * (part.centre[i] * stand.size));
            Solid {
                shape: part.shape,
                centre: offset.fold(stand.at, |sum, way| sum + way),
                half: part.half * stand.size,
                axes: turned(stand.yaw, part.tilt[0], part.tilt[1]),
                material: part.material,
                thing: thing + usize::from(part.class.is_some()),
            }
        };
        self.parts.iter().map(place).collect()
    }

    /// The class of its odd parts, if there are any.
    pub fn second_class(&self) -> Option<Class> {
        self.parts.iter().find_map(|p| p.class)
    }
}

impl Part {
    /// The same, in another size, about the body's origin.
    pub fn resized(self, size: f32) -> Part {
        Part { centre: self.centre * size, half: self.half * size, ..self }
    }
}

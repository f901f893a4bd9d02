//! What the rasteriser is given: shapes, a view, a light and a sky. Plain data, in metres and radians.

/// Everything that is in one image. Keep one and refill it: drawing it again then allocates nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scene {
    /// The solids and planes, in any order.
    pub shapes: Vec<Shape>,
    /// Where the camera is.
    pub view: View,
    /// How the scene is lit.
    pub light: Light,
    /// What is seen where nothing stands.
    pub sky: Sky,
}

/// The form of a shape in its own frame, and what the three entries of [`Shape::size`] mean for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeomType {
    /// The plane z = 0 seen from above; half extents in x and y, infinite where not positive; the third is unused.
    Plane,
    /// Radius in the first entry; the others are unused.
    Sphere,
    /// Radius in the first entry, half the length of the axis (along z, caps excluded) in the third.
    Capsule,
    /// The three half axes.
    Ellipsoid,
    /// Radius in the first entry, half the length (along z) in the third.
    Cylinder,
    /// The three half extents.
    Box,
}

/// What colours a surface besides its `rgba`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Texture {
    /// One colour.
    #[default]
    Plain,
    /// Squares in the shape's xy plane, alternating between `rgba` and a second colour. Only planes show it.
    Checker {
        /// The other colour.
        rgb: [f32; 3],
        /// Length of a square's side.
        side_m: f32,
    },
}

/// One solid or plane. A shape with an entry that is not finite, or without extent, is not drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Its form.
    pub kind: GeomType,
    /// Its extent, as [`GeomType`] says.
    pub size: [f32; 3],
    /// Its centre in the world.
    pub position: [f32; 3],
    /// The rotation `world_from_shape`, row by row.
    pub rotation: [f32; 9],
    /// Red, green, blue and opacity in 0..1, as displayed (not linear).
    pub rgba: [f32; 4],
    /// Id in the class mask. A shape less than half opaque leaves the mask as it is.
    pub class: u8,
    /// Pattern of the surface.
    pub texture: Texture,
}

impl Shape {
    /// A grey, opaque, unrotated shape at the origin.
    pub fn new(kind: GeomType, size: [f32; 3]) -> Shape {
        Shape {
            kind,
            size,
            position: [0.0; 3],
            rotation: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            rgba: [0.5, 0.5, 0.5, 1.0],
            class: 0,
            texture: Texture::Plain,
        }
    }

    /// The infinite floor z = 0 in light squares of one metre.
    pub fn floor(class: u8) -> Shape {
        Shape {
            rgba: [0.80, 0.83, 0.87, 1.0],
            class,
            texture: Texture::Checker { rgb: [0.68, 0.72, 0.78], side_m: 1.0 },
            ..Shape::new(GeomType::Plane, [0.0; 3])
        }
    }

    /// The same shape elsewhere.
    pub fn at(self, position: [f32; 3]) -> Shape {
        Shape { position, ..self }
    }

    /// The same shape in another colour and class.
    pub fn painted(self, rgba: [f32; 4], class: u8) -> Shape {
        Shape { rgba, class, ..self }
    }
}

offnominal_core::with_defaults! {
    /// A pinhole camera. `forward` and `up` need neither unit length nor a right angle between them.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct View {
        /// The pinhole in the world.
        pub position: [f32; 3] = [0.0, -4.0, 1.0],
        /// Where it looks.
        pub forward: [f32; 3] = [0.0, 1.0, 0.0],
        /// What is up in the image.
        pub up: [f32; 3] = [0.0, 0.0, 1.0],
        /// Vertical angle of view.
        pub fovy_rad: f32 = std::f32::consts::FRAC_PI_4,
        /// Distance along `forward` before which nothing is seen.
        pub near_m: f32 = 0.01,
        /// Distance along `forward` beyond which nothing is seen.
        pub far_m: f32 = 1000.0,
    }
}

impl View {
    /// A view from one point towards another, z upwards, 45° high.
    pub fn between(from: [f32; 3], to: [f32; 3]) -> View {
        let forward = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
        View { position: from, forward, ..View::default() }
    }
}

offnominal_core::with_defaults! {
    /// A sun that casts shadows, light from everywhere, and a lamp on the camera. Strengths are linear; they should add
    /// up to about one.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Light {
        /// Where the sun shines to.
        pub direction: [f32; 3] = [0.6, 0.15, -1.0],
        /// Strength of the sun.
        pub sun: f32 = 0.62,
        /// Strength of the light from everywhere.
        pub ambient: f32 = 0.38,
        /// Strength of the lamp on the camera.
        pub headlight: f32 = 0.12,
        /// Strength of the sun's highlight on solids.
        pub specular: f32 = 0.22,
    }
}

offnominal_core::with_defaults! {
    /// A gradient from horizon to zenith (+z), into which planes fade with distance.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Sky {
        /// Colour at and below the horizon, as displayed.
        pub horizon: [f32; 3] = [0.93, 0.95, 0.97],
        /// Colour overhead, as displayed.
        pub zenith: [f32; 3] = [0.42, 0.60, 0.82],
        /// Distance at which a plane is half lost in haze.
        pub haze_m: f32 = 25.0,
    }
}

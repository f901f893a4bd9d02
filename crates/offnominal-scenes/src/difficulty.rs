//! How hard unknown things are to find, by what differs: contrast with the ground, size, and distance.
//!
//! Each is set by itself. With the same seed and number, a scene shows the same kinds of things whatever is set.

use serde::{Deserialize, Serialize};

/// How an unknown thing looks against the ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Contrast {
    /// Far lighter than the road, with patches that are far darker.
    High,
    /// The colours that such a thing usually has.
    #[default]
    Usual,
    /// The colours and the texture of the road.
    Low,
}

/// How large an unknown thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// A third larger than such a thing is.
    Large,
    /// As large as such a thing is.
    #[default]
    Usual,
    /// Two thirds as large.
    Small,
}

/// How far away an unknown thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// 6 to 13 m.
    Near,
    /// 7 to 30 m.
    #[default]
    Usual,
    /// 20 to 45 m.
    Far,
}

impl Contrast {
    /// From the easiest to the hardest.
    pub const ALL: [Contrast; 3] = [Contrast::High, Contrast::Usual, Contrast::Low];
}

impl Size {
    /// From the easiest to the hardest.
    pub const ALL: [Size; 3] = [Size::Large, Size::Usual, Size::Small];

    /// Size against the usual one.
    pub fn factor(self) -> f32 {
        match self {
            Size::Large => 1.35,
            Size::Usual => 1.0,
            Size::Small => 0.67,
        }
    }
}

impl Distance {
    /// From the easiest to the hardest.
    pub const ALL: [Distance; 3] = [Distance::Near, Distance::Usual, Distance::Far];

    /// Nearest and farthest distance in metres.
    pub fn range_m(self) -> [f32; 2] {
        match self {
            Distance::Near => [6.0, 13.0],
            Distance::Usual => [7.0, 30.0],
            Distance::Far => [20.0, 45.0],
        }
    }

    /// The distance of a quantile; an octave of distances is as likely as any other.
    pub fn quantile(self, share: f32) -> f32 {
        let [near, far] = self.range_m();
        near * (far / near).powf(share)
    }
}

/// All three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Difficulty {
    /// Against the ground.
    pub contrast: Contrast,
    /// Against the usual size.
    pub size: Size,
    /// From the camera.
    pub distance: Distance,
}

impl Difficulty {
    /// All at their easiest: high contrast, large, near.
    pub const EASIEST: Difficulty =
        Difficulty { contrast: Contrast::High, size: Size::Large, distance: Distance::Near };
    /// All at their hardest: low contrast, small, far.
    pub const HARDEST: Difficulty =
        Difficulty { contrast: Contrast::Low, size: Size::Small, distance: Distance::Far };
}

//! A place on a solid, and what it looks like there.

use crate::noise::smooth;
use offnominal_core::vec3::Vec3;

/// Where on a solid.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Within [−1, 1]³.
    pub local: Vec3,
    /// Half the sizes of the solid in metres.
    pub half: Vec3,
    /// The axis of the solid to which the surface is nearest to perpendicular.
    pub face: usize,
    /// A number that is different for each solid.
    pub key: u32,
    /// Metres from sample to sample; finer patterns are not seen.
    pub grain_m: f32,
}

impl Place {
    /// The share to which a pattern of a size in metres is seen.
    pub fn detail(&self, metres: f32) -> f32 {
        smooth(1.0, 0.3, self.grain_m / metres)
    }
}

/// What a place looks like.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Surface {
    /// The share of incoming light that it sends back.
    pub colour: Vec3,
    /// The light that it gives by day and by night.
    pub glow: [Vec3; 2],
    /// The share of the sky that it mirrors.
    pub gloss: f32,
}

impl Surface {
    /// A surface that neither shines nor mirrors.
    pub fn matt(colour: Vec3) -> Surface {
        Surface { colour, ..Surface::default() }
    }
}

//! Light and air: where the sun stands, how strong it is, what the sky looks like, how far one sees.

use crate::night::{self, Lamp};
use crate::noise::{fractal, smooth};
use crate::things::between;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};
use serde::{Deserialize, Serialize};

/// A kind of weather.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weather {
    /// A high sun with hard shadows.
    Clear,
    /// A low, warm sun with long shadows.
    Evening,
    /// No sun, no shadows but under things.
    Overcast,
    /// Grey air that hides what is far.
    Fog,
    /// A wet road with puddles that mirror what is above them.
    Wet,
    /// Falling rain, a wet road that mirrors, little contrast.
    Rain,
    /// No light but that of lamps and windows.
    Night,
}

/// The light of a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct Light {
    /// Toward the sun.
    pub sun: Vec3,
    /// Its colour; black if it is hidden.
    pub sunlight: Vec3,
    /// What comes from the whole sky.
    pub skylight: Vec3,
    /// Colour of the sky at the horizon and above.
    pub sky: [Vec3; 2],
    /// Colour of clouds.
    pub cloud: Vec3,
    /// Share of the sky under clouds.
    pub clouds: f32,
    /// Distance at which 1 − 1/e of a colour is air, in metres.
    pub visibility_m: f32,
    /// Share of the road under water.
    pub puddles: f32,
    /// Which clouds and which puddles.
    pub key: u32,
    /// Whether lamps and windows are lit, and nothing else is.
    pub is_night: bool,
    /// How hard it rains; 1 is usual.
    pub rain: f32,
    /// How much lamps shine around themselves in the image.
    pub glare: f32,
    /// Street lamps.
    pub lamps: Vec<Lamp>,
}

impl Weather {
    /// Every kind.
    pub const ALL: [Weather; 7] = [
        Weather::Clear,
        Weather::Evening,
        Weather::Overcast,
        Weather::Fog,
        Weather::Wet,
        Weather::Rain,
        Weather::Night,
    ];

    /// Draws a kind: clear and overcast as often as two others.
    pub fn draw(rng: &mut Rng) -> Weather {
        let often = [Weather::Clear, Weather::Overcast];
        let number = rng.below(Weather::ALL.len() + often.len());
        Weather::ALL.get(number).copied().unwrap_or_else(|| often[number - Weather::ALL.len()])
    }

    /// Draws the light of this weather.
    pub fn light(self, rng: &mut Rng) -> Light {
        let (azimuth, low) = (between(rng, -3.1, 3.1), self == Weather::Evening);
        let height: f32 = if low { between(rng, 0.25, 0.45) } else { between(rng, 0.6, 1.2) };
        let sun = vec3(azimuth.sin() * height.cos(), height.sin(), azimuth.cos() * height.cos()).unit();
        let clear = Light {
            sun,
            clouds: between(rng, 0.1, 0.6),
            visibility_m: between(rng, 350.0, 900.0),
            key: rng.bits() as u32,
            ..Light::default()
        };
        let grey = Light {
            sunlight: Vec3::default(),
            skylight: vec3(0.84, 0.87, 0.92),
            sky: [vec3(0.62, 0.65, 0.68), vec3(0.5, 0.54, 0.6)],
            cloud: vec3(0.72, 0.74, 0.77),
            clouds: 0.9,
            visibility_m: between(rng, 200.0, 500.0),
            ..clear.clone()
        };
        match self {
            Weather::Clear => clear,
            Weather::Evening => Light {
                sunlight: vec3(1.35, 0.85, 0.5),
                skylight: vec3(0.4, 0.42, 0.52),
                sky: [vec3(0.8, 0.58, 0.4), vec3(0.24, 0.32, 0.52)],
                ..clear
            },
            Weather::Overcast => grey,
            Weather::Fog => {
                Light { visibility_m: between(rng, 35.0, 90.0), sky: [vec3(0.6, 0.62, 0.64); 2], ..grey }
            }
            Weather::Wet => {
                Light { puddles: between(rng, 0.15, 0.35), skylight: vec3(0.58, 0.61, 0.66), ..grey }
            }
            Weather::Rain => rain(rng, grey),
            Weather::Night => night(rng, grey),
        }
    }
}

fn rain(rng: &mut Rng, grey: Light) -> Light {
    let dark = between(rng, 0.55, 0.8);
    Light {
        puddles: between(rng, 0.35, 0.6),
        skylight: vec3(0.6, 0.63, 0.68) * dark,
        sky: [vec3(0.55, 0.58, 0.61) * dark, vec3(0.46, 0.49, 0.53) * dark],
        cloud: vec3(0.6, 0.62, 0.65) * dark,
        visibility_m: between(rng, 70.0, 160.0),
        rain: between(rng, 0.6, 1.6),
        glare: 0.3,
        ..grey
    }
}

fn night(rng: &mut Rng, grey: Light) -> Light {
    let is_wet = rng.uniform() < 0.4;
    Light {
        puddles: if is_wet { between(rng, 0.2, 0.5) } else { 0.0 },
        skylight: vec3(0.045, 0.05, 0.065),
        // The sky over a town is never black.
        sky: [vec3(0.03, 0.026, 0.026), vec3(0.006, 0.008, 0.016)],
        cloud: vec3(0.02, 0.018, 0.02),
        clouds: between(rng, 0.1, 0.9),
        is_night: true,
        glare: 1.0,
        ..grey
    }
}

impl Default for Light {
    fn default() -> Light {
        Light {
            sun: vec3(0.0, 1.0, 0.0),
            sunlight: vec3(1.0, 0.93, 0.82) * 1.5,
            skylight: vec3(0.42, 0.5, 0.62),
            sky: [vec3(0.55, 0.66, 0.78), vec3(0.16, 0.32, 0.62)],
            cloud: Vec3::all(0.95),
            clouds: 0.0,
            visibility_m: 1e4,
            puddles: 0.0,
            key: 0,
            is_night: false,
            rain: 0.0,
            glare: 0.0,
            lamps: Vec::new(),
        }
    }
}

impl Light {
    /// The sky in a direction.
    pub fn sky(&self, direction: Vec3) -> Vec3 {
        let d = direction.unit();
        let up = d.y.max(0.0);
        let base = self.sky[0].lerp(self.sky[1], up.powf(0.5));
        let (x, z) = (d.x / (up + 0.12), d.z / (up + 0.12));
        let cloud = smooth(
            0.5 - self.clouds,
            0.9 - 0.6 * self.clouds,
            0.5 * fractal(0.9 * x, 0.9 * z, 4, self.key) + 0.1,
        );
        let glow = d.dot(self.sun).max(0.0).powi(24);
        base.lerp(self.cloud, 0.75 * cloud * smooth(0.0, 0.25, up)) + self.sunlight * (0.4 * glow)
    }

    /// A colour seen through so many metres of air.
    #[inline]
    pub fn through_air(&self, colour: Vec3, metres: f32) -> Vec3 {
        self.sky[0].lerp(colour, (-metres / self.visibility_m).exp())
    }

    /// What a surface at a point sends back. `open` is the share of the sky above it that is not hidden.
    #[inline]
    pub fn on(&self, colour: Vec3, point: Vec3, normal: Vec3, is_sunny: bool, open: f32) -> Vec3 {
        let sky = open * (0.62 + 0.38 * normal.y);
        let sun = if is_sunny { normal.dot(self.sun).max(0.0) } else { 0.0 };
        let mut light = self.skylight * sky + self.sunlight * sun;
        if self.is_night {
            light = light + night::street(&self.lamps, point, normal) + night::headlight(point, normal);
        }
        colour.times(light)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_drawn() {
        let mut rng = Rng::new(1);
        let drawn: Vec<Weather> = (0..200).map(|_| Weather::draw(&mut rng)).collect();
        assert!(Weather::ALL.iter().all(|kind| drawn.contains(kind)));
    }
}

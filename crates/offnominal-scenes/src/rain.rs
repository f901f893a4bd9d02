//! Falling rain: drops that pass near the camera while the shutter is open are streaks.

use crate::things::between;
use crate::weather::Light;
use offnominal_core::Rng;
use offnominal_core::vec3::Vec3;

/// Adds streaks to the light of an image of so many pixels in a row.
pub fn fall(weather: &Light, light: &mut [Vec3], width: usize) {
    let mut rng = Rng::new(u64::from(weather.key));
    let height = light.len() / width;
    let slant = between(&mut rng, -0.25, 0.25);
    let drops = (weather.rain * light.len() as f32 / 160.0) as usize;
    let colour = weather.sky[0] * 1.1 + Vec3::all(0.05);
    for _ in 0..drops {
        let (x, y) = (between(&mut rng, 0.0, width as f32), between(&mut rng, 0.0, height as f32));
        // Near drops are long and faint.
        let length = between(&mut rng, 0.02, 0.09) * height as f32;
        let share = between(&mut rng, 0.04, 0.17);
        for step in 0..length as usize {
            let (column, row) = (x + slant * step as f32, y as usize + step);
            if row < height && (0.0..width as f32).contains(&column) {
                let pixel = &mut light[row * width + column as usize];
                *pixel = pixel.lerp(colour, share);
            }
        }
    }
}

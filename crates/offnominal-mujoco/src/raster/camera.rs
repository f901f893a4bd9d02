//! The pinhole: which ray belongs to a pixel, and where a point of the world lands.

use super::scene::View;
use offnominal_core::vec3::{Vec3, vec3};

/// Angles of view are kept inside this range, so that every ray has a direction.
const FOVY_RANGE_RAD: (f32, f32) = (1e-3, 3.1);

/// A view with an orthonormal basis and an image size.
#[derive(Debug, Clone, Copy)]
pub struct Camera {
    pub position: Vec3,
    pub near: f32,
    pub far: f32,
    forward: Vec3,
    right: Vec3,
    up: Vec3,
    /// Pixels per unit of tan(angle), the same in both directions.
    scale: f32,
    pub width: usize,
    pub height: usize,
}

impl Camera {
    /// The camera of a view; `None` if an entry is not finite or there is no direction to look into.
    pub fn new(view: &View, width: usize, height: usize) -> Option<Camera> {
        let (position, forward) = (Vec3::from(view.position), Vec3::from(view.forward).unit());
        let right = right_of(forward, view.up.into());
        let tan = (view.fovy_rad.clamp(FOVY_RANGE_RAD.0, FOVY_RANGE_RAD.1) * 0.5).tan();
        let is_sound =
            position.is_finite() && forward.length() > 0.5 && tan.is_finite() && view.far_m > view.near_m;
        is_sound.then(|| Camera {
            position,
            near: view.near_m.max(1e-4),
            far: view.far_m,
            forward,
            right,
            up: right.cross(forward),
            scale: height as f32 * 0.5 / tan,
            width,
            height,
        })
    }

    /// The rays through the same spot (0..1 right and down) of every pixel.
    pub fn rays(&self, spot: (f32, f32)) -> Rays {
        let per_pixel = 1.0 / self.scale;
        let column = (spot.0 - self.width as f32 * 0.5) * per_pixel;
        let row = (spot.1 - self.height as f32 * 0.5) * per_pixel;
        Rays {
            origin: self.position,
            corner: self.forward + self.right * column - self.up * row,
            per_column: self.right * per_pixel,
            per_row: -self.up * per_pixel,
        }
    }

    /// A point in the camera's own frame: right, up, forward.
    pub fn camera_from_world(&self, point: Vec3) -> Vec3 {
        let offset = point - self.position;
        vec3(offset.dot(self.right), offset.dot(self.up), offset.dot(self.forward))
    }

    /// Column of a tangent measured to the right of the optical axis.
    pub fn column(&self, tan_right: f32) -> f32 {
        self.width as f32 * 0.5 + tan_right * self.scale
    }

    /// Row of a tangent measured upwards from the optical axis.
    pub fn row(&self, tan_up: f32) -> f32 {
        self.height as f32 * 0.5 - tan_up * self.scale
    }
}

/// A unit vector to the right of `forward`; any horizontal-ish one if `up` does not tell.
fn right_of(forward: Vec3, up: Vec3) -> Vec3 {
    let candidates = [up, vec3(0.0, 0.0, 1.0), vec3(0.0, 1.0, 0.0)];
    let crossed = candidates.map(|up| forward.cross(up.unit()));
    crossed.into_iter().find(|right| right.length() > 1e-4).unwrap_or_default().unit()
}

/// Rays from one origin, linear in column and row. Their parameter is the depth along the camera's axis.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rays {
    pub origin: Vec3,
    corner: Vec3,
    pub per_column: Vec3,
    pub per_row: Vec3,
}

impl Rays {
    /// The direction of a pixel's ray; its component along the axis is one.
    pub fn direction(&self, column: usize, row: usize) -> Vec3 {
        self.corner + self.per_column * column as f32 + self.per_row * row as f32
    }

    /// The point at some depth on a pixel's ray.
    pub fn point(&self, column: usize, row: usize, depth: f32) -> Vec3 {
        self.origin + self.direction(column, row) * depth
    }

    /// The same rays after a linear map of directions and a given map of the origin.
    pub fn mapped(&self, origin: Vec3, f: impl Fn(Vec3) -> Vec3) -> Rays {
        Rays { origin, corner: f(self.corner), per_column: f(self.per_column), per_row: f(self.per_row) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_leads_back_to_its_own_pixel() {
        let view = View { forward: [0.3, 1.0, -0.4], ..View::default() };
        let camera = Camera::new(&view, 64, 48).unwrap();
        let point = camera.rays((0.5, 0.5)).point(11, 37, 5.0);
        let seen = camera.camera_from_world(point);
        assert!((seen.z - 5.0).abs() < 1e-5);
        assert!((camera.column(seen.x / seen.z) - 11.5).abs() < 1e-3);
        assert!((camera.row(seen.y / seen.z) - 37.5).abs() < 1e-3);
    }

    #[test]
    fn a_view_that_looks_nowhere_is_refused() {
        assert!(Camera::new(&View { forward: [0.0; 3], ..View::default() }, 8, 8).is_none());
        assert!(Camera::new(&View { position: [f32::NAN; 3], ..View::default() }, 8, 8).is_none());
        assert!(Camera::new(&View { far_m: f32::NAN, ..View::default() }, 8, 8).is_none());
    }

    #[test]
    fn looking_straight_down_still_has_a_right_hand() {
        let camera = Camera::new(&View { forward: [0.0, 0.0, -1.0], ..View::default() }, 8, 8).unwrap();
        assert!((camera.right.length() - 1.0).abs() < 1e-6 && (camera.up.length() - 1.0).abs() < 1e-6);
    }
}

//! Paints a scene: sky and grass, then what lies on the ground, then what stands on it, the nearest last.
//!
//! A pinhole camera with a horizontal angle of view of 90°. Boxes show the faces that are turned to the camera, each in a
//! shade of its own; everything fades with distance. The image is a function of the scene alone, and a scene knows no
//! clock.

use super::canvas::{Canvas, Sample};
use super::models::{GRASS, GRASS_COLOUR, Part, SKY_COLOUR};
use super::scene::{Camera, Scene, Thing};
use offnominal_core::frame::Frame;

/// Nearer than this nothing is shown, m.
const NEAR_M: f64 = 0.3;
/// Distance at which 1 − 1/e of a colour is haze, m.
const HAZE_M: f64 = 350.0;
/// Brightness of a box's faces: front, back, left, right, top, bottom.
const SHADES: [f64; 6] = [0.9, 0.8, 0.72, 0.62, 1.0, 0.4];
/// The corners of each of those faces; bit 0 of a corner is ahead, bit 1 left, bit 2 up.
const FACES: [[usize; 4]; 6] =
    [[1, 3, 7, 5], [0, 2, 6, 4], [2, 3, 7, 6], [0, 1, 5, 4], [4, 5, 7, 6], [0, 1, 3, 2]];

type Point = [f64; 3];

/// Paints the scene; what is to be painted first comes first afterwards.
pub fn draw(scene: &mut Scene, canvas: &mut Canvas, frame: &mut Frame) {
    canvas.fit(frame);
    let view = View::new(&scene.camera, canvas.size());
    canvas.split(
        view.horizon,
        Sample { colour: SKY_COLOUR, class: 0 },
        Sample { colour: GRASS_COLOUR, class: GRASS },
    );
    for patch in &scene.ground {
        let corners = patch.corners.map(|[x, y]| [x, y, 0.0]);
        view.fill(corners, Sample { colour: patch.colour, class: patch.class }, canvas);
    }
    scene.things.sort_unstable_by(|a, b| view.distance(b).total_cmp(&view.distance(a)));
    scene.things.iter().for_each(|thing| view.show(thing, canvas));
    canvas.resolve(frame);
}

/// From metres to samples.
struct View {
    position: Point,
    right: Point,
    up: Point,
    forward: Point,
    centre: [f64; 2],
    focal: f64,
    horizon: f64,
}

impl View {
    fn new(camera: &Camera, size: [f64; 2]) -> View {
        let (sin, cos) = camera.pose.heading.sin_cos();
        let (sine, cosine) = camera.pitch.sin_cos();
        // With 90° of view the focal length is half the width.
        let (centre, focal) = ([0.5 * size[0], 0.5 * size[1]], 0.5 * size[0]);
        View {
            position: [camera.pose.x, camera.pose.y, camera.height],
            right: [sin, -cos, 0.0],
            up: [-cos * sine, -sin * sine, cosine],
            forward: [cos * cosine, sin * cosine, sine],
            centre,
            focal,
            horizon: centre[1] + focal * sine / cosine,
        }
    }

    /// Distance of a thing in the plane, squared.
    fn distance(&self, thing: &Thing) -> f64 {
        (thing.pose.x - self.position[0]).powi(2) + (thing.pose.y - self.position[1]).powi(2)
    }

    /// Rightward, upward and forward of the camera.
    fn seen(&self, point: Point) -> Point {
        let offset: Point = std::array::from_fn(|i| point[i] - self.position[i]);
        [self.right, self.up, self.forward].map(|axis| dot(axis, offset))
    }

    fn show(&self, thing: &Thing, canvas: &mut Canvas) {
        for part in thing.parts {
            let corners: [Point; 8] = std::array::from_fn(|i| corner(thing, part, i));
            for (face, shade) in FACES.iter().zip(SHADES) {
                self.face(face.map(|i| corners[i]), &corners, thing, part, shade, canvas);
            }
        }
    }

    /// Paints a face of a box if it is turned to the camera.
    fn face(
        &self,
        face: [Point; 4],
        all: &[Point; 8],
        thing: &Thing,
        part: &Part,
        shade: f64,
        canvas: &mut Canvas,
    ) {
        let middle = |points: &[Point]| -> Point {
            std::array::from_fn(|i| points.iter().map(|p| p[i]).sum::<f64>() / points.len() as f64)
        };
        // From the middle of a box to that of a face is outward.
        let (outside, inside) = (middle(&face), middle(all));
        let outward: Point = std::array::from_fn(|i| outside[i] - inside[i]);
        let to_camera: Point = std::array::from_fn(|i| self.position[i] - outside[i]);
        if dot(outward, to_camera) > 0.0 {
            let colour = part.colour.unwrap_or(thing.colour).map(|c| (f64::from(c) * shade).round() as u8);
            self.fill(face, Sample { colour, class: thing.class }, canvas);
        }
    }

    /// Paints a flat quadrilateral, as far as it is in front of the camera.
    fn fill(&self, corners: [Point; 4], paint: Sample, canvas: &mut Canvas) {
        let seen = corners.map(|p| self.seen(p));
        let distance = seen.iter().map(|p| p[2]).sum::<f64>() / 4.0;
        let (points, n) = in_front(seen);
        let projected = points
            .map(|[x, y, z]| [self.centre[0] + self.focal * x / z, self.centre[1] - self.focal * y / z]);
        canvas.fill(&projected[..n], Sample { colour: faded(paint.colour, distance), class: paint.class });
    }
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// A corner of a box in the environment.
fn corner(thing: &Thing, part: &Part, i: usize) -> Point {
    let half =
        |axis: usize, bit: usize| if i & bit == 0 { -0.5 * part.size[axis] } else { 0.5 * part.size[axis] };
    let (ahead, left) = (part.ahead + half(0, 1), half(1, 2));
    let (sin, cos) = thing.pose.heading.sin_cos();
    let up = part.base + 0.5 * part.size[2] + half(2, 4);
    [thing.pose.x + ahead * cos - left * sin, thing.pose.y + ahead * sin + left * cos, up]
}

/// The part of a quadrilateral beyond the near plane: at most five corners, and their number.
fn in_front(corners: [Point; 4]) -> ([Point; 5], usize) {
    let (mut kept, mut n) = ([[0.0, 0.0, NEAR_M]; 5], 0);
    let mut keep = |point: Point| {
        kept[n] = point;
        n += 1;
    };
    for (i, a) in corners.into_iter().enumerate() {
        let b = corners[(i + 1) % 4];
        if a[2] >= NEAR_M {
            keep(a);
        }
        if (a[2] >= NEAR_M) != (b[2] >= NEAR_M) {
            let share = (NEAR_M - a[2]) / (b[2] - a[2]);
            keep([a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), NEAR_M]);
        }
    }
    (kept, n)
}

/// A colour seen through so many metres of air.
fn faded(colour: [u8; 3], distance: f64) -> [u8; 3] {
    let clear = (-distance.max(0.0) / HAZE_M).exp();
    std::array::from_fn(|i| {
        (f64::from(colour[i]) * clear + f64::from(SKY_COLOUR[i]) * (1.0 - clear)).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::super::models::{CLASSES, HATCHBACK, VEHICLE, WALL};
    use super::super::scene::Patch;
    use super::super::track::Pose;
    use super::*;

    const RED: [u8; 3] = [200, 20, 20];

    fn vehicle(x: f64, y: f64) -> Thing {
        Thing { pose: Pose { x, y, heading: 0.0 }, parts: HATCHBACK, class: VEHICLE, colour: RED }
    }

    /// 256 × 256 pixels, so a focal length of 128, seen eastward from a height of 1.5 m.
    fn image(pitch: f64, ground: Vec<Patch>, things: Vec<Thing>) -> Frame {
        let camera = Camera { pose: Pose::default(), height: 1.5, pitch };
        let mut frame = Frame::new(256, 256);
        draw(&mut Scene { camera, ground, things }, &mut Canvas::default(), &mut frame);
        frame
    }

    /// First and last column and row of a class, the ends included.
    fn extent(frame: &Frame, class: u8) -> Option<[usize; 4]> {
        let found = (0..frame.classes.len()).filter(|&at| frame.classes[at] == class);
        let bounds = |[l, r, t, b]: [usize; 4], at: usize| {
            let (column, row) = (at % frame.width, at / frame.width);
            [l.min(column), r.max(column), t.min(row), b.max(row)]
        };
        let all = found.fold([usize::MAX, 0, usize::MAX, 0], bounds);
        (all[0] != usize::MAX).then_some(all)
    }

    #[track_caller]
    fn near(found: [usize; 4], want: [f64; 4]) {
        let is_near = found.iter().zip(want).all(|(&f, w)| (f as f64 - w).abs() <= 1.0);
        assert!(is_near, "expected {want:?}, found {found:?}");
    }

    #[test]
    fn a_vehicle_has_the_size_and_place_of_a_pinhole_image() {
        // Its rear is 10 m away, 1.9 m wide and from 0.25 m above the ground; the wheels begin 10.4 m away.
        let ahead = image(0.0, vec![], vec![vehicle(12.3, 0.0)]);
        let rear = |y: f64| 128.0 - 128.0 * y / 10.0;
        near(
            extent(&ahead, VEHICLE).unwrap(),
            [rear(0.95), rear(-0.95) - 1.0, 128.6, 128.0 + 128.0 * 1.5 / 10.4],
        );
        let left = image(0.0, vec![], vec![vehicle(12.3, 3.5)]);
        assert_eq!(extent(&left, VEHICLE).unwrap()[0], rear(4.45) as usize);
    }

    #[test]
    fn the_horizon_is_where_the_pitch_puts_it() {
        for pitch in [0.0_f64, -0.2, 0.1] {
            let frame = image(pitch, vec![], vec![]);
            let want = (128.0 + 128.0 * pitch.tan()) / 256.0;
            assert!((frame.share(0) - want).abs() < 0.003, "{pitch}: {} of {want}", frame.share(0));
            assert!((frame.share(0) + frame.share(GRASS) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_nearer_thing_hides_the_farther_one_in_any_order() {
        let (near, far) = (vehicle(10.0, 0.0), Thing { class: 7, parts: WALL, ..vehicle(30.0, 0.0) });
        let one = image(0.0, vec![], vec![near, far]);
        assert!(one == image(0.0, vec![], vec![far, near]) && one.share(7) == 0.0);
        let apart = image(0.0, vec![], vec![near, Thing { class: 7, ..vehicle(30.0, 8.0) }]);
        assert!(apart.share(7) > 0.0 && apart.share(VEHICLE) > 5.0 * apart.share(7));
    }

    #[test]
    fn what_is_behind_is_not_seen_and_what_reaches_behind_is_cut() {
        let frame = image(0.0, vec![], vec![vehicle(-12.0, 0.0)]);
        assert_eq!(extent(&frame, VEHICLE), None);
        let corners = [[-20.0, -4.0], [20.0, -4.0], [20.0, 4.0], [-20.0, 4.0]];
        let frame = image(0.0, vec![Patch { corners, class: 3, colour: RED }], vec![]);
        // 20 m away the ground is 9.6 pixels below the horizon; the patch fills the image's lower edge.
        near(extent(&frame, 3).unwrap(), [0.0, 255.0, 137.6, 255.0]);
    }

    #[test]
    fn distance_fades_into_the_sky_and_faces_have_shades() {
        assert_eq!((faded(RED, 0.0), faded(RED, 1e9)), (RED, SKY_COLOUR));
        let frame = image(0.0, vec![], vec![vehicle(12.3, -5.0)]);
        let shades: std::collections::HashSet<&[u8]> = frame.rgb.chunks_exact(3).collect();
        assert!(shades.len() >= 6, "sky, grass, rear, side, glass and roof: {}", shades.len());
        assert_eq!(CLASSES[usize::from(VEHICLE)], "vehicle");
    }
}

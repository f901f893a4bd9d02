//! The two classic environments seen from the side: a few polygons on white, to scale.

use super::car::canvas::{Canvas, Sample};
use offnominal_core::frame::Frame;

/// Names of what is drawn in cartpole, by class id.
pub(super) const CARTPOLE: [&str; 4] = ["background", "track", "cart", "pole"];
/// The same in the pendulum.
pub(super) const PENDULUM: [&str; 3] = ["background", "rod", "hinge"];

const WHITE: Sample = Sample { colour: [255, 255, 255], class: 0 };
const TRACK: Sample = Sample { colour: [120, 120, 120], class: 1 };
const CART: Sample = Sample { colour: [40, 40, 46], class: 2 };
const POLE: Sample = Sample { colour: [202, 152, 101], class: 3 };
const ROD: Sample = Sample { colour: [204, 77, 77], class: 1 };
const HINGE: Sample = Sample { colour: [40, 40, 46], class: 2 };

/// Half the width that is seen, m.
const CARTPOLE_M: f64 = 3.0;
const PENDULUM_M: f64 = 1.5;

/// Draws a cart at `x` with a pole of the given length, tilted to the right by `theta`.
pub(super) fn cartpole(x: f64, theta: f64, length: f64, frame: &mut Frame) {
    let mut scene = Scene::new(frame, CARTPOLE_M, 0.7);
    scene.bar([-2.0 * CARTPOLE_M, 0.0], [2.0 * CARTPOLE_M, 0.0], 0.03, TRACK);
    scene.bar([x - 0.25, 0.0], [x + 0.25, 0.0], 0.3, CART);
    scene.bar([x, 0.0], [x + length * theta.sin(), length * theta.cos()], 0.1, POLE);
    scene.canvas.resolve(frame);
}

/// Draws a rod of the given length, turned to the left by `theta` from upright.
pub(super) fn pendulum(theta: f64, length: f64, frame: &mut Frame) {
    let mut scene = Scene::new(frame, PENDULUM_M, 0.5);
    scene.bar([0.0, 0.0], [-length * theta.sin(), length * theta.cos()], 0.2, ROD);
    scene.bar([-0.05, 0.0], [0.05, 0.0], 0.1, HINGE);
    scene.canvas.resolve(frame);
}

/// A canvas in metres: the origin is in the middle of a row, upwards is positive.
struct Scene {
    canvas: Canvas,
    origin: [f64; 2],
    samples_per_m: f64,
}

impl Scene {
    /// A white canvas that shows `half` metres to both sides; the origin is at a share of the height from the top.
    fn new(frame: &Frame, half: f64, share: f64) -> Scene {
        let mut canvas = Canvas::default();
        canvas.fit(frame);
        canvas.split(0.0, WHITE, WHITE);
        let [width, height] = canvas.size();
        Scene {
            canvas,
            origin: [width / 2.0, share * height],
            samples_per_m: width.min(height) / (2.0 * half),
        }
    }

    /// Paints a straight bar between two points, at least a pixel wide.
    fn bar(&mut self, from: [f64; 2], to: [f64; 2], width: f64, paint: Sample) {
        let along = [to[0] - from[0], to[1] - from[1]];
        let half = 0.5 * width.max(2.0 / self.samples_per_m) / along[0].hypot(along[1]).max(1e-9);
        let side = [-half * along[1], half * along[0]];
        let corner = |end: [f64; 2], s: f64| {
            let [x, y] = [end[0] + s * side[0], end[1] + s * side[1]];
            [self.origin[0] + x * self.samples_per_m, self.origin[1] - y * self.samples_per_m]
        };
        let corners = [corner(from, 1.0), corner(to, 1.0), corner(to, -1.0), corner(from, -1.0)];
        self.canvas.fill(&corners, paint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 60 pixels per metre with the track at row 252.
    fn cart(x: f64, theta: f64) -> Frame {
        let mut frame = Frame::new(360, 360);
        cartpole(x, theta, 1.0, &mut frame);
        frame
    }

    #[test]
    fn the_cart_is_where_it_is_and_the_pole_leans_to_the_right() {
        let (column, row) = cart(1.0, 0.2).centroid(CART.class).unwrap();
        assert!((column - 239.5).abs() < 2.0 && (row - 252.0).abs() < 4.0, "{column} {row}");
        let (column, row) = cart(0.0, 0.2).centroid(POLE.class).unwrap();
        let want = (179.5 + 30.0 * 0.2_f64.sin(), 251.5 - 30.0 * 0.2_f64.cos());
        assert!((column - want.0).abs() < 1.0 && (row - want.1).abs() < 1.0, "{column} {row}");
        let pixels = cart(0.0, 0.0).share(POLE.class) * 360.0 * 360.0;
        assert!((pixels - 360.0).abs() < 40.0, "6 by 60 pixels, found {pixels}");
    }

    #[test]
    fn the_rod_hangs_stands_and_turns_to_the_left() {
        let at = |theta| {
            let mut frame = Frame::new(300, 300);
            pendulum(theta, 1.0, &mut frame);
            frame.centroid(ROD.class).unwrap()
        };
        let quarter = std::f64::consts::FRAC_PI_2;
        assert!(at(0.0).1 < 110.0 && at(2.0 * quarter).1 > 190.0);
        assert!(at(quarter).0 < 110.0 && at(-quarter).0 > 190.0);
    }

    #[test]
    fn what_is_longer_than_the_image_is_cut() {
        let mut frame = Frame::new(64, 48);
        pendulum(0.3, 20.0, &mut frame);
        cartpole(40.0, 0.1, 10.0, &mut frame);
        assert_eq!(frame.share(CART.class), 0.0);
        assert!(frame.share(TRACK.class) > 0.0);
    }
}

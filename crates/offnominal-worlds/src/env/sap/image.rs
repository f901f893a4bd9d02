//! The particle environment seen from above: anti-aliased discs on white.
//!
//! Colours are those of the paper's figures. Nothing in the image tells the time or whether an anomaly is active.

use super::layout::{AGENT_RADIUS_M, GOAL_RADIUS_M, HAZARD_RADIUS_M, OBJECT_RADIUS_M};
use super::scene::Scene;
use crate::env::disc::{Style, View};
use crate::env::vec2::Vec2;
use offnominal_core::frame::Frame;

/// Half the side of the visible square, m.
const HALF_RANGE_M: f64 = 1.5;
const WHITE: [u8; 3] = [0xff, 0xff, 0xff];

const AGENT: Style = Style { class: 1, colour: [0xf3, 0x69, 0x66], radius_m: AGENT_RADIUS_M };
const GOAL: Style = Style { class: 2, colour: [0x47, 0xbb, 0xc8], radius_m: GOAL_RADIUS_M };
const OBJECT: Style = Style { class: 3, colour: [0x8f, 0x83, 0x6e], radius_m: OBJECT_RADIUS_M };
const HAZARD: Style = Style { class: 4, colour: [0xcd, 0x7c, 0xff], radius_m: HAZARD_RADIUS_M };

/// Draws the scene, the agent on top.
pub fn draw(scene: &Scene, frame: &mut Frame) {
    frame.clear(WHITE);
    let view = View::new(Vec2::ZERO, HALF_RANGE_M, true, frame);
    view.disc(scene.goal, &GOAL, frame);
    scene.hazards.iter().for_each(|h| view.disc(*h, &HAZARD, frame));
    scene.objects.iter().for_each(|o| view.disc(o.position, &OBJECT, frame));
    view.disc(scene.agent.position, &AGENT, frame);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Agent at (0.9, 0.6), goal at (−0.9, 0), object at (0, −0.75), hazard at (0.3, 0.9).
    fn image(width: usize, height: usize) -> Frame {
        let mut scene = Scene::new(1, 1);
        scene.arrange(&[0.9, 0.6, -0.9, 0.0, 0.0, -0.75, 0.3, 0.9]);
        let mut frame = Frame::new(width, height);
        draw(&scene, &mut frame);
        frame
    }

    #[track_caller]
    fn check(frame: &Frame, style: &Style, column: f64, row: f64, pixels_per_m: f64) {
        let (c, r) = frame.centroid(style.class).expect("the entity is in the image");
        assert!(
            (c - column).abs() < 0.6 && (r - row).abs() < 0.6,
            "expected ({column}, {row}), found ({c}, {r})"
        );
        let found = frame.share(style.class) * (frame.width * frame.height) as f64;
        let want = PI * (style.radius_m * pixels_per_m).powi(2);
        assert!((found - want).abs() < 0.12 * want, "expected {want} pixels, found {found}");
        let at = 3 * (row as usize * frame.width + column as usize);
        assert_eq!(frame.rgb[at..at + 3], style.colour);
    }

    #[test]
    fn things_are_where_they_should_be() {
        let frame = image(300, 300);
        check(&frame, &AGENT, 239.5, 89.5, 100.0);
        check(&frame, &GOAL, 59.5, 149.5, 100.0);
        check(&frame, &OBJECT, 149.5, 224.5, 100.0);
        check(&frame, &HAZARD, 179.5, 59.5, 100.0);
    }

    #[test]
    fn a_wide_image_keeps_circles_round() {
        check(&image(500, 300), &GOAL, 159.5, 149.5, 100.0);
    }

    #[test]
    fn the_rest_is_white_background() {
        let frame = image(128, 128);
        let is_white = |at: usize| frame.rgb[3 * at..3 * at + 3] == WHITE;
        assert_eq!(frame.classes[0], 0);
        // The corners are where a step counter or a label would be.
        assert!((0..128 * 128).filter(|at| at / 128 < 12 || at / 128 > 115).all(is_white));
    }

    #[test]
    fn rims_are_smooth() {
        let frame = image(128, 128);
        let shades: std::collections::HashSet<&[u8]> = frame.rgb.chunks_exact(3).collect();
        assert!(shades.len() > 20, "{} shades", shades.len());
    }

    #[test]
    fn the_agent_covers_what_is_below_and_far_things_are_left_out() {
        let mut scene = Scene::new(1, 0);
        scene.arrange(&[0.0, 0.0, 0.0, 0.0, 40.0, -40.0]);
        let mut frame = Frame::new(64, 64);
        draw(&scene, &mut frame);
        assert_eq!((frame.classes[32 * 64 + 32], frame.share(OBJECT.class)), (AGENT.class, 0.0));
        assert!(frame.share(GOAL.class) > 0.0);
    }
}

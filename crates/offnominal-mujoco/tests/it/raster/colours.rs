//! Which colours are seen, and that they agree with the classes.

use super::*;

#[test]
fn the_class_mask_agrees_with_the_colours() {
    let blue = ball(0.5, [0.7, 0.0, 1.0], 3).painted([0.1, 0.1, 0.9, 1.0], 3);
    let frame = image(&[Shape::floor(1), ball(0.5, [-0.7, 0.0, 1.0], 2), blue], 128);
    for (class, [red, _, blue]) in frame.classes.iter().zip(frame.rgb.as_chunks().0) {
        let (red, blue) = (i32::from(*red), i32::from(*blue));
        let (is_red, is_blue) = (red > blue + 60, blue > red + 60);
        let is_sky = *class == 0;
        assert_eq!((is_red, is_blue && !is_sky), (*class == 2, *class == 3), "class {class}");
    }
}

#[test]
fn a_translucent_ball_mixes_with_what_is_behind_it_in_linear_light() {
    let at = |opacity: f32| {
        let ball = ball(0.5, [0.0, 0.0, 1.0], 2).painted([0.9, 0.1, 0.1, opacity], 2);
        pixel(&image(&[ball], 65), 32, 32).map(|byte| (f64::from(byte) / 255.0).powi(2))
    };
    let (clear, half, full) = (at(0.0), at(0.5), at(1.0));
    for channel in 0..3 {
        let expected = (clear[channel] + full[channel]) / 2.0;
        assert!((half[channel] - expected).abs() < 0.006, "{clear:?} {half:?} {full:?}");
    }
}

#[test]
fn translucent_shapes_are_laid_over_one_another_from_far_to_near() {
    let near = ball(0.4, [0.0, -1.0, 1.0], 2).painted([1.0, 0.0, 0.0, 0.7], 2);
    let far = ball(0.4, [0.0, 1.0, 1.0], 3).painted([0.0, 0.0, 1.0, 0.7], 3);
    let one_way = image(&[near, far], 65);
    assert_eq!(one_way, image(&[far, near], 65));
    let [red, _, blue] = pixel(&one_way, 32, 32);
    assert!(red > blue, "the near one dominates");
}

#[test]
fn a_faint_shape_leaves_the_mask_as_it_is() {
    let ghost = |opacity| ball(0.5, [0.0, 0.0, 1.0], 2).painted([0.9, 0.1, 0.1, opacity], 2);
    assert_eq!(image(&[Shape::floor(1), ghost(0.4)], 64).share(2), 0.0);
    assert!(image(&[Shape::floor(1), ghost(0.6)], 64).share(2) > 0.0);
}

/// A level floor seen from straight above, with and without a small ball over its middle.
fn floor_from_above(shapes: Vec<Shape>) -> Frame {
    let mut scene = Scene { shapes, ..Scene::default() };
    scene.light.direction = [1.0, 0.0, -1.0];
    scene.view =
        View { position: [0.0, 0.0, 8.0], forward: [0.0, 0.0, -1.0], up: [0.0, 1.0, 0.0], ..scene.view };
    drawn(&scene, 129, Quality::Observation)
}

#[test]
fn a_shadow_falls_where_the_sun_throws_it_and_nowhere_else() {
    let floor = Shape { texture: Default::default(), ..Shape::floor(1) };
    let (bare, shaded) =
        (floor_from_above(vec![floor]), floor_from_above(vec![floor, ball(0.2, [0.0, 0.0, 1.0], 2)]));
    let (pixels_per_m, middle) = (scale(129) / 8.0, 64);
    let shadow = middle + (1.0 * pixels_per_m).round() as usize;
    assert!(pixel(&shaded, shadow, middle)[0] + 25 < pixel(&bare, shadow, middle)[0]);
    for (column, row) in [(middle - 20, middle), (shadow, middle + 12), (shadow + 12, middle)] {
        assert_eq!(pixel(&shaded, column, row), pixel(&bare, column, row), "{column}, {row}");
    }
}

#[test]
fn shapes_shade_one_another() {
    let receiver = Shape::new(GeomType::Box, [1.0, 1.0, 0.1]).painted([0.8, 0.8, 0.8, 1.0], 3);
    let (bare, shaded) =
        (floor_from_above(vec![receiver]), floor_from_above(vec![receiver, ball(0.2, [-0.5, 0.0, 1.0], 2)]));
    let at = 64 + (0.4 * scale(129) / 7.9).round() as usize;
    assert!(pixel(&shaded, at, 64)[0] + 25 < pixel(&bare, at, 64)[0]);
}

#[test]
fn a_distant_chequered_floor_is_one_even_colour() {
    let mut scene = Scene { shapes: vec![Shape::floor(1)], ..Scene::default() };
    scene.sky.haze_m = f32::MAX;
    scene.view.position[2] = 400.0;
    scene.view.forward[2] = -1.0;
    let frame = drawn(&scene, 64, Quality::Observation);
    let lightness: Vec<_> = (16..48).map(|column| pixel(&frame, column, 63)[0]).collect();
    let (low, high) = (lightness.iter().min().unwrap(), lightness.iter().max().unwrap());
    assert!(high - low < 8, "{lightness:?}");
}

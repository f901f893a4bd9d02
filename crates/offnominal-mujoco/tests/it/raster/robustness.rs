//! Laws under any input: no panic, the same bits again, one mask for all qualities.

use super::*;
use offnominal_mujoco::raster::{Light, Sky, Texture};
use proptest::prelude::*;

/// Mostly sane numbers, now and then one of those that break things.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        12 => -3.0_f32..3.0,
        1 => proptest::sample::select(vec![0.0, f32::NAN, f32::INFINITY, -f32::INFINITY, 1e30, -1e-30, f32::MAX]),
    ]
}

fn numbers<const N: usize>() -> impl Strategy<Value = [f32; N]> {
    proptest::collection::vec(number(), N).prop_map(|all| std::array::from_fn(|i| all[i]))
}

fn shape() -> impl Strategy<Value = Shape> {
    let kinds = [
        GeomType::Plane,
        GeomType::Sphere,
        GeomType::Capsule,
        GeomType::Ellipsoid,
        GeomType::Cylinder,
        GeomType::Box,
    ];
    let kind = proptest::sample::select(kinds.to_vec());
    (kind, numbers::<3>(), numbers::<3>(), numbers::<9>(), numbers::<4>(), number()).prop_map(
        |(kind, size, position, rotation, rgba, side_m)| Shape {
            position,
            rotation,
            rgba,
            texture: Texture::Checker { rgb: [0.1; 3], side_m },
            class: 1,
            ..Shape::new(kind, size)
        },
    )
}

fn scene() -> impl Strategy<Value = Scene> {
    let view = (numbers::<3>(), numbers::<3>(), numbers::<3>(), numbers::<3>());
    (proptest::collection::vec(shape(), 0..6), view, numbers::<3>(), number()).prop_map(
        |(shapes, (position, forward, up, [fovy_rad, near_m, far_m]), direction, haze_m)| Scene {
            shapes,
            view: View { position, forward, up, fovy_rad, near_m, far_m: far_m * 100.0 },
            light: Light { direction, ..Light::default() },
            sky: Sky { haze_m, ..Sky::default() },
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_scene_makes_it_panic_and_every_scene_gives_the_same_bits_again(scene in scene()) {
        let mut rasteriser = Rasteriser::new(Quality::Observation);
        let (mut once, mut again) = (Frame::new(23, 17), Frame::new(23, 17));
        rasteriser.draw(&scene, &mut once);
        rasteriser.draw(&Scene::default(), &mut Frame::new(5, 40));
        rasteriser.draw(&scene, &mut again);
        prop_assert_eq!(&once, &again);
        prop_assert_eq!(&once, &{ let mut fresh = Frame::new(23, 17);
            Rasteriser::new(Quality::Observation).draw(&scene, &mut fresh); fresh });
    }
}

#[test]
fn a_shape_that_is_not_finite_is_left_out_and_the_rest_is_drawn() {
    let sound = ball(0.5, [0.0, 0.0, 1.0], 2);
    for broken in [
        Shape { size: [f32::NAN; 3], ..sound },
        Shape { position: [f32::INFINITY, 0.0, 0.0], ..sound },
        Shape { rgba: [0.0, 0.0, 0.0, f32::NAN], ..sound },
        Shape { size: [0.0; 3], ..sound },
        Shape { size: [-1.0; 3], ..sound },
    ] {
        assert_eq!(image(&[broken, sound], 32), image(&[sound], 32), "{broken:?}");
    }
}

#[test]
fn the_mask_does_not_depend_on_the_quality_but_edges_do() {
    let shapes = vec![Shape::floor(1), ball(0.5, [0.2, 0.0, 0.8], 2)];
    let scene = Scene { shapes, ..Scene::default() };
    let [plain, video, still] =
        [Quality::Observation, Quality::Video, Quality::Still].map(|q| drawn(&scene, 48, q));
    assert_eq!((&plain.classes, &plain.classes), (&video.classes, &still.classes));
    assert!(plain.rgb != video.rgb && video.rgb != still.rgb);
}

#[test]
fn an_empty_frame_is_no_trouble() {
    drawn(&Scene::default(), 0, Quality::Still);
}

//! What every scene must obey.

use crate::body::{Body, Stand};
use crate::class::Class;
use crate::difficulty::{Contrast, Difficulty, Distance, Size};
use crate::draw::draw;
use crate::image::Image;
use crate::look::{is_hole, look};
use crate::material::Material;
use crate::ray::Ray;
use crate::scene::{Camera, Floor, Scene};
use crate::street::street;
use crate::things::people;
use crate::town::{Split, Town};
use crate::unusual::unknown;
use crate::view::View;
use crate::weather::{Light, Weather};
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};

fn scene(seed: u64, weather: Weather) -> Scene {
    let towns = Town::of(Split::Test);
    street(&mut Rng::new(seed), &towns[0], weather)
}

/// An empty plane under a grey sky.
fn plane() -> Scene {
    Scene {
        camera: Camera { height_m: 1.4, pitch: 0.0, focal: 0.95 },
        light: Light { sunlight: Vec3::default(), ..Light::default() },
        floor: Floor::Room(Material::Plain(Vec3::all(0.15)), Class::Road),
        solids: Vec::new(),
        things: Vec::new(),
        exposure: 1.0,
        noise: 0.0,
    }
}

/// What a ray meets, found by trying every solid: depth, and one more than the number of the solid.
fn met(scene: &Scene, view: &View, column: usize, row: usize, ground: f32) -> (f32, u32) {
    let hits = scene.solids.iter().enumerate().filter_map(|(number, solid)| {
        let ray = view.bundle(solid).ray(view.slant(column, row));
        let depth = solid.entry(ray)?;
        let local = ray.origin + ray.direction * depth;
        (!is_hole(solid, ray, local, number)).then_some((depth, number as u32 + 1))
    });
    hits.fold((ground, 0), |best, hit| if hit.0 < best.0 { hit } else { best })
}

#[test]
fn labels_and_depth_are_those_of_the_geometry() {
    for seed in 0..6 {
        let scene = scene(seed, Weather::Overcast);
        let view = View::new(scene.camera, 128, 64);
        let seen = look(&scene, &view);
        let Floor::Street(ground) = &scene.floor else { panic!("a street has no other floor") };
        for at in (0..seen.depth.len()).step_by(11) {
            let (column, row) = (at % 128, at / 128);
            let direction = view.direction(column, row);
            let depth = ground.profile().meeting(view.position.y, direction.y / direction.z);
            let ground_depth = depth.map_or(f32::INFINITY, |z| z / direction.z);
            assert_eq!((seen.depth[at], seen.solid[at]), met(&scene, &view, column, row, ground_depth));
            if seen.solid[at] == 0 && seen.depth[at] < 150.0 {
                let place = view.position + direction * seen.depth[at];
                assert!((place.y - ground.height(place.z)).abs() < 0.01, "{place:?}");
                if ground.lateral(place.x, place.z).abs() < ground.half_road - 0.01 {
                    assert_eq!(ground.at(place.x, place.z, 0.0).class, Class::Road);
                }
            }
        }
    }
}

/// Number of parts of the pixels of an instance that do not touch each other, not even at a corner.
fn components(image: &Image, instance: u16) -> usize {
    let (width, height) = (image.width as isize, image.height as isize);
    let mut left: Vec<bool> = image.instances.iter().map(|&i| i == instance).collect();
    let mut count = 0;
    while let Some(first) = left.iter().position(|&l| l) {
        count += 1;
        let mut open = vec![first];
        while let Some(at) = open.pop() {
            left[at] = false;
            let (x, y) = (at as isize % width, at as isize / width);
            for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
                let (x, y) = (x + dx, y + dy);
                let next = (y * width + x) as usize;
                if (0..width).contains(&x) && (0..height).contains(&y) && left[next] {
                    left[next] = false;
                    open.push(next);
                }
            }
        }
    }
    count
}

/// The rows of an image in which there are things, as text.
fn shown(image: &Image) -> String {
    let row = |row: &[u16]| row[100..156].iter().map(|&i| if i > 0 { '#' } else { '.' }).collect::<String>();
    let rows = image.instances.chunks_exact(image.width).filter(|r| r.iter().any(|&i| i > 0));
    rows.map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn persons_hang_together_near_and_far() {
    for seed in 0..40 {
        let rng = &mut Rng::new(seed);
        let body = people::person(rng);
        for distance in [3.5, 6.0, 12.0, 20.0, 30.0] {
            let mut scene = plane();
            scene.put(&body, Stand::level(0.3, distance, 0.7 * seed as f32), "");
            let image = draw(&scene, 256, 128, rng);
            assert_eq!(components(&image, 1), 1, "person {seed} at {distance} m:\n{}", shown(&image));
        }
    }
}

/// Height above the ground of the lowest corner of the boxes around the solids of a thing.
fn clearance(scene: &Scene, thing: usize) -> f32 {
    let solids = scene.solids.iter().filter(|s| s.thing == thing);
    let corners = solids.flat_map(|s| s.corners());
    corners.map(|c| c.y - scene.ground_height(c.z)).fold(f32::INFINITY, f32::min)
}

#[test]
fn unknown_things_touch_the_ground_on_slopes_too() {
    let mut found = 0;
    for seed in 0..60 {
        let mut scene = scene(seed, Weather::Overcast);
        unknown(&mut Rng::new(seed), Difficulty::default(), &mut scene);
        for thing in (0..scene.things.len()).filter(|&t| scene.things[t].class == Class::Unknown) {
            let gap = clearance(&scene, thing);
            assert!((-0.6..0.16).contains(&gap), "{} of scene {seed}: {gap}", scene.things[thing].kind);
            found += 1;
        }
    }
    assert!(found > 60, "{found}");
}

/// The same scenes with unknown things of a difficulty.
fn hundred(difficulty: Difficulty) -> impl Iterator<Item = Scene> {
    (0..100).map(move |seed| {
        let mut scene = scene(seed, Weather::Overcast);
        unknown(&mut Rng::new(seed), difficulty, &mut scene);
        scene
    })
}

fn mean(values: impl Iterator<Item = f32>) -> f32 {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
    sum / n
}

#[track_caller]
fn falls([a, b, c]: [f32; 3], by: f32) {
    assert!(a > by * b && b > by * c, "{a} {b} {c}");
}

#[test]
fn each_axis_changes_what_it_says() {
    let unknown = |scene: &Scene| -> Vec<crate::scene::Thing> {
        scene.things.iter().filter(|t| t.class == Class::Unknown).cloned().collect()
    };
    let measure = |difficulty: Difficulty, of: &dyn Fn(&crate::scene::Thing) -> f32| {
        mean(hundred(difficulty).flat_map(|scene| unknown(&scene)).map(|thing| of(&thing)))
    };
    let sizes = Size::ALL.map(|size| Difficulty { size, ..Difficulty::default() });
    falls(sizes.map(|d| measure(d, &|thing| thing.half[0] * thing.half[1])), 1.3);
    let distances = Distance::ALL.map(|distance| Difficulty { distance, ..Difficulty::default() });
    falls(distances.map(|d| measure(d, &|thing| 1.0 / thing.at.z)), 1.3);
}

/// Mean difference of brightness between pixels of unknown things and the ground below them in the image.
fn contrast(image: &Image) -> Option<f32> {
    let grey = |at: usize| image.rgb[3 * at..3 * at + 3].iter().map(|&v| f32::from(v)).sum::<f32>() / 3.0;
    let of = |is: &dyn Fn(Class) -> bool| {
        let all: Vec<usize> = (0..image.classes.len()).filter(|&at| is(image.classes[at])).collect();
        (all.len() > 12).then_some(all)
    };
    let ground = of(&|c| c == Class::Road)?;
    let level = mean(ground.into_iter().map(grey));
    Some(mean(of(&|c| c == Class::Unknown)?.into_iter().map(|at| (grey(at) - level).abs())))
}

#[test]
fn contrast_falls_from_high_to_low() {
    let measure = |contrast_level| {
        let difficulty =
            Difficulty { contrast: contrast_level, distance: Distance::Near, ..Difficulty::default() };
        let images = hundred(difficulty).map(|scene| draw(&scene, 64, 32, &mut Rng::new(1)));
        mean(images.filter_map(|image| contrast(&image)))
    };
    falls(Contrast::ALL.map(measure), 1.2);
}

fn brightness(image: &Image) -> f32 {
    mean(image.rgb.iter().map(|&v| f32::from(v)))
}

#[test]
fn nights_are_dark_and_their_lamps_are_lit() {
    for seed in 0..8 {
        let [day, rain, night] = [Weather::Overcast, Weather::Rain, Weather::Night]
            .map(|weather| draw(&scene(seed, weather), 64, 32, &mut Rng::new(1)));
        assert!(
            brightness(&night) < 0.7 * brightness(&day),
            "{seed}: {} {}",
            brightness(&night),
            brightness(&day)
        );
        assert!(brightness(&rain) < brightness(&day), "{seed}");
        assert!(night.rgb.iter().any(|&v| v > 200), "{seed}");
    }
}

#[test]
fn a_wet_road_mirrors_what_stands_behind_it() {
    let mut scene = scene(0, Weather::Rain);
    scene.floor = Floor::Street(Box::new(crate::ground::Ground::flat(&Town::default())));
    scene.solids.clear();
    scene.things.clear();
    let empty = draw(&scene, 64, 32, &mut Rng::new(1));
    let red = Material::Plain(vec3(0.9, 0.0, 0.0));
    let wall = crate::body::block([0.0; 3], [6.0, 4.0, 0.5], red);
    let body = Body { class: Class::Wall, parts: vec![wall], footprint: [6.0, 0.5] };
    scene.put(&body, Stand::level(0.0, 14.0, 0.0), "");
    let walled = draw(&scene, 64, 32, &mut Rng::new(1));
    let redness = |image: &Image| {
        let road = (0..image.classes.len())
            .filter(|&at| image.classes[at] == Class::Road && at % 64 > 24 && at % 64 < 40);
        mean(road.map(|at| f32::from(image.rgb[3 * at]) - f32::from(image.rgb[3 * at + 2])))
    };
    assert!(redness(&walled) > redness(&empty) + 8.0, "{} {}", redness(&walled), redness(&empty));
}

#[test]
fn a_shadow_on_a_slope_is_where_the_sun_is_hidden() {
    for seed in 0..4 {
        let scene = scene(seed, Weather::Clear);
        let view = View::new(scene.camera, 96, 48);
        let seen = look(&scene, &view);
        let shadows = crate::shadow::cast(&scene, &view, &seen);
        for at in (0..seen.depth.len()).step_by(7).filter(|&at| seen.solid[at] == 0 && seen.depth[at] < 40.0)
        {
            let place = view.position + view.direction(at % 96, at / 96) * seen.depth[at];
            let near = scene.solids.iter().filter(|s| s.centre.z < 70.0);
            let hides = |solid: &crate::solid::Solid| {
                let ray = Ray { origin: solid.local(place), direction: solid.inward(scene.light.sun) };
                solid.entry(ray).is_some_and(|t| t > 1e-3)
            };
            let hidden = near.filter(|s| hides(s)).count();
            assert!(shadows.ground[at] || hidden == 0, "{place:?} of scene {seed}");
        }
    }
}

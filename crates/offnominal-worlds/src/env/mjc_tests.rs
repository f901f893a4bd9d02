//! What is where in the images of the MuJoCo environments.

use super::catalogue;
use offnominal_core::prelude::*;
use std::f64::consts::PI;

const SIDE: usize = 128;

/// What an environment's first camera sees, with the names of the classes.
pub(super) struct Image {
    frame: Frame,
    classes: Vec<String>,
}

impl Image {
    /// An environment at an initial condition.
    pub(super) fn of(id: &str, x: &[f64]) -> Image {
        let mut environment = catalogue().build(id, &serde_json::json!({})).unwrap();
        environment.start(x, &mut Rng::new(0));
        Image::now(environment.as_mut())
    }

    pub(super) fn now(environment: &mut dyn Env) -> Image {
        let mut frame = Frame::new(SIDE, SIDE);
        environment.render(Camera(0), &mut frame);
        Image { frame, classes: environment.spec().classes.clone() }
    }

    fn class(&self, name: &str) -> u8 {
        self.classes.iter().position(|c| c == name).unwrap() as u8
    }

    pub(super) fn share(&self, name: &str) -> f64 {
        self.frame.share(self.class(name))
    }

    pub(super) fn centroid(&self, name: &str) -> (f64, f64) {
        self.frame.centroid(self.class(name)).unwrap_or_else(|| panic!("{name} is not in the image"))
    }
}

fn cartpole(x: f64, theta: f64) -> Image {
    Image::of("mjc-cartpole-swingup", &[x, theta, 0.0, 0.0])
}

/// The cheetah with its torso at (x, z), pitched.
fn cheetah(x: f64, z: f64, pitch: f64) -> Image {
    let mut state = [0.0; 18];
    state[..3].copy_from_slice(&[x, z, pitch]);
    Image::of("mjc-half-cheetah", &state)
}

/// Pixels whose class differs.
fn n_different(a: &Image, b: &Image) -> usize {
    a.frame.classes.iter().zip(&b.frame.classes).filter(|(a, b)| a != b).count()
}

#[test]
fn the_camera_follows_the_cart_and_the_marks_of_the_rail_pass_by() {
    let at = |x: f64| cartpole(x, 0.0);
    for x in [-2.5, 0.0, 1.3] {
        assert!((at(x).centroid("cart").0 - 63.5).abs() < 0.6, "{x}");
    }
    assert!(n_different(&at(0.0), &at(0.5)) < 10, "the marks are half a metre apart");
    assert!(n_different(&at(0.0), &at(0.25)) > 30, "between them the image is another one");
    assert!(at(2.5).centroid("rail").0 < 60.0, "at the right end the rail is on the left");
}

#[test]
fn the_pole_hangs_at_zero_stands_at_pi_and_leans_as_the_formula_says() {
    let pole_minus_cart = |theta: f64| {
        let image = cartpole(0.0, theta);
        let (pole, cart) = (image.centroid("pole"), image.centroid("cart"));
        (pole.0 - cart.0, pole.1 - cart.1)
    };
    let (hanging, upright, quarter) = (pole_minus_cart(0.0), pole_minus_cart(PI), pole_minus_cart(PI / 2.0));
    // Rows grow downwards.
    assert!(hanging.1 > 5.0 && hanging.0.abs() < 0.6, "{hanging:?}");
    assert!(upright.1 < -5.0 && upright.0.abs() < 0.6, "{upright:?}");
    assert!(quarter.0 < -5.0 && quarter.1.abs() < 0.6, "{quarter:?}");
}

#[test]
fn the_rail_reaches_across_and_every_class_has_its_share() {
    let image = cartpole(0.7, 2.0);
    assert!((image.centroid("rail").1 - 63.5).abs() < 1.0);
    for (class, least, most) in
        [("background", 0.8, 0.97), ("rail", 0.02, 0.07), ("cart", 0.015, 0.05), ("pole", 0.01, 0.05)]
    {
        assert!((least..most).contains(&image.share(class)), "{class}: {}", image.share(class));
    }
}

#[test]
fn the_camera_follows_the_cheetah() {
    let (here, far) = (cheetah(0.0, 0.0, 0.0), cheetah(120.5, 0.0, 0.0));
    let (a, b) = (here.centroid("torso"), far.centroid("torso"));
    assert!((a.0 - b.0).abs() < 0.1 && (a.1 - b.1).abs() < 0.1, "{a:?} {b:?}");
    assert!(here.frame.classes == far.frame.classes, "the masks are the same");
    assert!(here.frame.rgb != far.frame.rgb, "the squares of the floor have moved by half a square");
}

#[test]
fn the_cheetah_is_built_the_right_way_round() {
    let image = cheetah(0.0, 0.0, 0.0);
    let [head, torso, front, back, floor] =
        ["head", "torso", "front-leg", "back-leg", "floor"].map(|name| image.centroid(name));
    assert!(back.0 < torso.0 && torso.0 < front.0 && front.0 < head.0, "from back to front");
    assert!(head.1 < torso.1 && torso.1 < front.1.min(back.1), "from top to bottom");
    assert!(floor.1 > torso.1);
    for (class, least, most) in
        [("floor", 0.15, 0.6), ("torso", 0.005, 0.06), ("head", 0.003, 0.03), ("front-leg", 0.01, 0.1)]
    {
        assert!((least..most).contains(&image.share(class)), "{class}: {}", image.share(class));
    }
}

#[test]
fn pitching_the_cheetah_forward_lowers_its_head() {
    let head_minus_torso = |pitch: f64| {
        let image = cheetah(0.0, 0.5, pitch);
        image.centroid("head").1 - image.centroid("torso").1
    };
    assert!(head_minus_torso(0.5) > head_minus_torso(0.0) + 3.0);
}

#[test]
fn forks_have_the_same_future_in_other_threads() {
    let mut environment = catalogue().build("mjc-half-cheetah", &serde_json::json!({})).unwrap();
    let x = environment.draw(&mut Rng::new(5));
    environment.start(&x, &mut Rng::new(5));
    let future = |mut environment: Box<dyn Env>| -> Vec<f64> {
        (0..100).map(|t| environment.step(&[(0.7 * t as f32).cos(); 6], &mut Rng::new(6)).reward).collect()
    };
    let forks: Vec<_> = (0..4).map(|_| environment.fork().unwrap()).collect();
    let threads: Vec<_> = forks.into_iter().map(|fork| std::thread::spawn(move || future(fork))).collect();
    let alone = future(environment);
    assert!(threads.into_iter().all(|thread| thread.join().unwrap() == alone));
}

#[test]
fn looking_does_not_change_what_happens() {
    let run = |looks: bool| {
        let mut environment = catalogue().build("mjc-half-cheetah", &serde_json::json!({})).unwrap();
        let x = environment.draw(&mut Rng::new(1));
        environment.start(&x, &mut Rng::new(2));
        let mut obs = vec![0.0; 18];
        for t in 0..50 {
            environment.step(&[(t as f32).sin(); 6], &mut Rng::new(3));
            if looks {
                Image::now(environment.as_mut());
            }
        }
        environment.observe(&mut obs);
        obs
    };
    assert_eq!(run(true), run(false));
}

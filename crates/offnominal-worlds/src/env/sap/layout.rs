//! Where things stand when an episode begins.
//!
//! A layout lists the places of agent, goal, objects and hazards, in this order. Places are drawn by rejection; where
//! the things already placed leave too little room for the next one, the whole layout is drawn again.

use crate::env::vec2::Vec2;
use offnominal_core::Rng;

/// Radius of the agent, m.
pub const AGENT_RADIUS_M: f64 = 0.05;
/// Radius of an object, m.
pub const OBJECT_RADIUS_M: f64 = 0.1;
/// Radius of a hazard, m.
pub const HAZARD_RADIUS_M: f64 = 0.2;
/// Radius of the goal, m.
pub const GOAL_RADIUS_M: f64 = 0.2;
/// The goal is farther than this from the agent, m.
pub const GOAL_DISTANCE_M: f64 = 1.0;
/// Objects are farther than this from everything placed before, m.
pub const OBJECT_CLEARANCE_M: f64 = 0.3;
/// Hazards are farther than this from everything placed before, m.
pub const HAZARD_CLEARANCE_M: f64 = 0.4;
/// Objects are placed in a ring around the goal with these radii, m.
pub const RING_M: (f64, f64) = (0.3, 1.0);

/// Draws for one place before the layout is given up.
const MAX_DRAWS: usize = 1000;

/// Agent and goal in the western half of the arena, and one object half-way between them.
pub fn corridor(rng: &mut Rng) -> Vec<Vec2> {
    let mut west = || Vec2::new(rng.range(-1.0, 0.0), rng.range(-1.0, 1.0));
    loop {
        let (agent, goal) = (west(), west());
        if agent.distance(goal) > GOAL_DISTANCE_M {
            return vec![agent, goal, (agent + goal) * 0.5];
        }
    }
}

/// Agent and goal anywhere in the arena, objects in a ring around the goal, hazards anywhere.
pub fn ring(n_objects: usize, n_hazards: usize, rng: &mut Rng) -> Vec<Vec2> {
    loop {
        if let Some(places) = try_ring(n_objects, n_hazards, rng) {
            return places;
        }
    }
}

fn try_ring(n_objects: usize, n_hazards: usize, rng: &mut Rng) -> Option<Vec<Vec2>> {
    let mut places = Vec::with_capacity(2 + n_objects + n_hazards);
    places.push(in_arena(rng));
    place(&mut places, GOAL_DISTANCE_M, || in_arena(rng))?;
    let goal = places[1];
    for _ in 0..n_objects {
        place(&mut places, OBJECT_CLEARANCE_M, || goal + in_ring(rng))?;
    }
    for _ in 0..n_hazards {
        place(&mut places, HAZARD_CLEARANCE_M, || in_arena(rng))?;
    }
    Some(places)
}

/// Adds the first drawn place that keeps its distance from all earlier ones.
fn place(places: &mut Vec<Vec2>, clearance_m: f64, mut draw: impl FnMut() -> Vec2) -> Option<()> {
    let is_free = |p: &Vec2| places.iter().all(|q| p.distance(*q) > clearance_m);
    let found = (0..MAX_DRAWS).map(|_| draw()).find(is_free)?;
    places.push(found);
    Some(())
}

fn in_arena(rng: &mut Rng) -> Vec2 {
    Vec2::new(rng.range(-1.0, 1.0), rng.range(-1.0, 1.0))
}

/// Uniform by area.
fn in_ring(rng: &mut Rng) -> Vec2 {
    let (inner, outer) = RING_M;
    let radius = rng.range(inner * inner, outer * outer).sqrt();
    let (sin, cos) = rng.range(0.0, std::f64::consts::TAU).sin_cos();
    Vec2::new(radius * cos, radius * sin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layouts(draw: impl Fn(&mut Rng) -> Vec<Vec2>) -> Vec<Vec<Vec2>> {
        let mut rng = Rng::new(1);
        (0..400).map(|_| draw(&mut rng)).collect()
    }

    fn in_square(p: Vec2, x_high: f64) -> bool {
        (-1.0..=x_high).contains(&p.x) && (-1.0..=1.0).contains(&p.y)
    }

    #[test]
    fn the_corridor_keeps_its_distances() {
        for l in layouts(corridor) {
            assert!(in_square(l[0], 0.0) && in_square(l[1], 0.0));
            assert!(l[0].distance(l[1]) > GOAL_DISTANCE_M);
            assert!(l[2].distance((l[0] + l[1]) * 0.5) < 1e-12);
        }
    }

    #[test]
    fn the_ring_keeps_its_distances() {
        for (n_objects, n_hazards) in [(3, 1), (10, 3)] {
            for l in layouts(|rng| ring(n_objects, n_hazards, rng)) {
                assert_eq!(l.len(), 2 + n_objects + n_hazards);
                keeps_distances(&l, n_objects);
            }
        }
    }

    #[track_caller]
    fn keeps_distances(l: &[Vec2], n_objects: usize) {
        let clear = |i: usize, by: f64| l[..i].iter().all(|p| p.distance(l[i]) > by);
        assert!(clear(1, GOAL_DISTANCE_M));
        for i in 2..2 + n_objects {
            let d = l[i].distance(l[1]);
            assert!(clear(i, OBJECT_CLEARANCE_M) && (RING_M.0..=RING_M.1 + 1e-12).contains(&d));
        }
        assert!((2 + n_objects..l.len()).all(|i| clear(i, HAZARD_CLEARANCE_M) && in_square(l[i], 1.0)));
    }

    #[test]
    fn the_ring_is_uniform_by_area() {
        let mut rng = Rng::new(2);
        let n = 20_000;
        let inside = (0..n).filter(|_| in_ring(&mut rng).norm() < 0.7).count() as f64 / f64::from(n);
        // Area share of the ring 0.3–0.7 in 0.3–1; four binomial standard errors.
        let want = (0.49 - 0.09) / (1.0 - 0.09);
        assert!((inside - want).abs() < 4.0 * (want * (1.0 - want) / f64::from(n)).sqrt(), "{inside}");
    }

    #[test]
    fn a_full_arena_is_given_up() {
        let mut everywhere: Vec<Vec2> = (0..121)
            .map(|i| Vec2::new(f64::from(i % 11) * 0.2 - 1.0, f64::from(i / 11) * 0.2 - 1.0))
            .collect();
        let mut rng = Rng::new(3);
        assert_eq!(place(&mut everywhere, HAZARD_CLEARANCE_M, || in_arena(&mut rng)), None);
    }
}

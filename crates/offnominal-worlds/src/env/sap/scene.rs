//! The state of the particle environment, and how it moves.

use super::bodies::{Body, DAMPING, Inertia, push_apart};
use super::layout::{AGENT_RADIUS_M, GOAL_RADIUS_M, HAZARD_RADIUS_M, OBJECT_RADIUS_M};
use crate::env::vec2::Vec2;
use offnominal_core::Rng;

/// Force of a full action, N.
pub const ACTION_FORCE_N: f64 = 5.0;
const AGENT_MASS_KG: f64 = 1.0;
/// How an object moves, whatever is done to the agent.
const OBJECT: Inertia = Inertia { mass_kg: 1.0, damping: DAMPING, friction_n: 0.0 };

/// Everything that is somewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// What the policy drives.
    pub agent: Body,
    /// What can be pushed.
    pub objects: Vec<Body>,
    /// What must not be touched and does not resist.
    pub hazards: Vec<Vec2>,
    /// Where to go.
    pub goal: Vec2,
}

offnominal_core::with_defaults! {
    /// The physical quantities that can be changed; the default is the undisturbed environment.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Physics {
        /// Mass of the agent as a multiple of the nominal one.
        pub mass_factor: f64 = 1.0,
        /// Constant force (p, p) on the agent.
        pub force_n: f64 = 0.0,
        /// Bound of each component of the random force on each object.
        pub object_force_n: f64 = 0.0,
        /// Share of its velocity that the agent loses in each step.
        pub damping: f64 = DAMPING,
        /// Force on the agent against its motion.
        pub friction_n: f64 = 0.0,
    }
}

impl Scene {
    /// A scene at the origin, to be arranged before use.
    pub fn new(n_objects: usize, n_hazards: usize) -> Scene {
        Scene {
            agent: Body::at_rest(Vec2::ZERO, AGENT_RADIUS_M),
            objects: vec![Body::at_rest(Vec2::ZERO, OBJECT_RADIUS_M); n_objects],
            hazards: vec![Vec2::ZERO; n_hazards],
            goal: Vec2::ZERO,
        }
    }

    /// Puts everything at rest at the given coordinates: agent, goal, objects, hazards.
    pub fn arrange(&mut self, x: &[f64]) {
        let mut places = x.chunks_exact(2).map(|p| Vec2::new(p[0], p[1]));
        let mut next = || places.next().expect("two coordinates per entity");
        self.agent = Body::at_rest(next(), AGENT_RADIUS_M);
        self.goal = next();
        self.objects.iter_mut().for_each(|o| *o = Body::at_rest(next(), OBJECT_RADIUS_M));
        self.hazards.iter_mut().for_each(|h| *h = next());
    }

    /// Advances by one step under an action in [−1, 1]².
    pub fn advance(&mut self, action: Vec2, physics: &Physics, rng: &mut Rng) {
        self.stir(physics.object_force_n, rng);
        self.collide();
        self.agent.force += action * ACTION_FORCE_N + Vec2::new(physics.force_n, physics.force_n);
        let Physics { mass_factor, damping, friction_n, .. } = *physics;
        self.agent.advance(Inertia { mass_kg: AGENT_MASS_KG * mass_factor, damping, friction_n });
        self.objects.iter_mut().for_each(|o| o.advance(OBJECT));
    }

    fn stir(&mut self, bound_n: f64, rng: &mut Rng) {
        if bound_n == 0.0 {
            return;
        }
        for object in &mut self.objects {
            object.force += Vec2::new(rng.range(-bound_n, bound_n), rng.range(-bound_n, bound_n));
        }
    }

    fn collide(&mut self) {
        let mut rest = self.objects.as_mut_slice();
        while let Some((first, others)) = rest.split_first_mut() {
            push_apart(&mut self.agent, first);
            others.iter_mut().for_each(|other| push_apart(first, other));
            rest = others;
        }
    }

    /// Whether the agent overlaps an object or a hazard.
    pub fn touches(&self) -> bool {
        let at = self.agent.position;
        let near = |p: Vec2, radius: f64| (p - at).norm_squared() < (radius + AGENT_RADIUS_M).powi(2);
        self.objects.iter().any(|o| near(o.position, OBJECT_RADIUS_M))
            || self.hazards.iter().any(|h| near(*h, HAZARD_RADIUS_M))
    }

    /// From the agent to the goal.
    pub fn to_goal(&self) -> Vec2 {
        self.goal - self.agent.position
    }

    /// Whether the agent's centre is within the goal.
    pub fn at_goal(&self) -> bool {
        self.to_goal().norm_squared() < GOAL_RADIUS_M * GOAL_RADIUS_M
    }
}

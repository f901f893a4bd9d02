//! A body as it is simulated: compiled, measured, and put upon the ground.

use super::error::BodyError;
use super::ground;
use super::mjcf::{self, WATER};
use super::options::{Mass, Options};
use super::plan::{Form, Plan, Root};
use super::sizes::{self, Bone};
use offnominal_mujoco::{Model, Simulation};

/// The factors that change a body besides the sizes of its limbs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Factors {
    pub mass: f64,
    pub friction: f64,
    pub strength: f64,
}

/// A body as it is simulated.
#[derive(Clone)]
pub(super) struct Built {
    pub sim: Simulation,
    pub bones: Vec<Bone>,
    /// Height of the torso's centre at the start, in m.
    pub height_m: f64,
}

impl Built {
    /// Compiles a body, compares the model with what was asked for, and finds where it starts: `gap_m` above the ground.
    pub(super) fn new(
        plan: &'static Plan,
        options: &Options,
        numbers: &[f64],
        factors: Factors,
        gap_m: f64,
    ) -> Result<Built, BodyError> {
        let bones = sizes::limbs(plan, options.reading, numbers)?;
        let recipe = mjcf::BodyRecipe {
            bones: &bones,
            densities: &densities(plan).map(|d| d * factors.mass).collect::<Vec<_>>(),
            total_kg: (options.mass == Mass::FixedTotal).then(|| nominal_kg(plan) * factors.mass),
            friction: plan.friction * factors.friction,
            strength: factors.strength,
        };
        let mut sim = Simulation::new(Model::from_xml(&mjcf::text(plan, &recipe))?)?;
        check_sizes(plan, &sim, &bones)?;
        check_mass(&sim, recipe.total_kg.unwrap_or_else(|| mass_kg(plan, &bones, recipe.densities)))?;
        let height_m = gap_m + reach(&mut sim, plan, &bones);
        Ok(Built { sim, bones, height_m })
    }
}

/// Sets a body into its reference posture with the torso's centre at a height.
pub(super) fn pose(sim: &mut Simulation, plan: &Plan, height_m: f64, angles: impl Iterator<Item = f64>) {
    let from = root_width(plan.root);
    let qpos = sim.qpos_mut();
    qpos[height_at(plan.root)] = height_m;
    qpos[from..].iter_mut().zip(angles).for_each(|(q, angle)| *q = angle);
}

/// Where the height of the torso is among the positions.
pub(super) fn height_at(root: Root) -> usize {
    if root == Root::Planar { 1 } else { 2 }
}

/// How many positions the torso has.
pub(super) fn root_width(root: Root) -> usize {
    if root == Root::Planar { 3 } else { 7 }
}

/// How far the body reaches below the centre of its torso, in its reference posture.
fn reach(sim: &mut Simulation, plan: &Plan, bones: &[Bone]) -> f64 {
    pose(sim, plan, 0.0, plan.joints().map(|(_, joint)| joint.rest_rad));
    sim.refresh_poses();
    -ground::lowest(sim, plan, bones)
}

/// How far above the ground the nominal body starts.
pub(super) fn gap_m(plan: &'static Plan) -> Result<f64, BodyError> {
    let bones = nominal(plan);
    let densities: Vec<f64> = densities(plan).collect();
    let recipe = mjcf::BodyRecipe {
        bones: &bones,
        densities: &densities,
        total_kg: None,
        friction: 1.0,
        strength: 1.0,
    };
    let mut sim = Simulation::new(Model::from_xml(&mjcf::text(plan, &recipe))?)?;
    Ok(plan.height_m - reach(&mut sim, plan, &bones))
}

fn nominal(plan: &Plan) -> Vec<Bone> {
    let bone = |limb: &super::plan::Limb| Bone {
        length_m: limb.length_m,
        width_m: limb.width_m,
        centre_m: limb.centre_m,
        stretch: 1.0,
    };
    plan.limbs.iter().map(bone).collect()
}

/// kg/m³ of each limb: that of water, or what gives its own mass at nominal size.
fn densities(plan: &Plan) -> impl Iterator<Item = f64> {
    let bones = nominal(plan);
    plan.limbs.iter().zip(bones).map(|(l, b)| l.mass_kg.map_or(WATER, |kg| kg / b.volume_m3(l.form)))
}

fn mass_kg(plan: &Plan, bones: &[Bone], densities: &[f64]) -> f64 {
    let forms = plan.limbs.iter().map(|l| l.form);
    bones.iter().zip(forms).zip(densities).map(|((b, form), d)| d * b.volume_m3(form)).sum()
}

pub(super) fn nominal_kg(plan: &Plan) -> f64 {
    mass_kg(plan, &nominal(plan), &densities(plan).collect::<Vec<_>>())
}

/// Compares the sizes of the model's shapes, and the distances between limbs, with what was asked for.
fn check_sizes(plan: &'static Plan, sim: &Simulation, bones: &[Bone]) -> Result<(), BodyError> {
    let model = sim.model();
    for (i, (limb, bone)) in plan.limbs.iter().zip(bones).enumerate() {
        let size = &model.geom_size()[3 * (i + 1)..3 * (i + 2)];
        let (width, length) = match limb.form {
            Form::Capsule(_) => (size[0], 2.0 * size[1]),
            Form::Ellipsoid => (size[1], size[0]),
        };
        same(limb.name, "width", bone.width_m, width)?;
        same(limb.name, "length", bone.length_m, length)?;
        let wanted = if i == 0 { 0.0 } else { norm(limb.attach_m) * bones[limb.parent].stretch };
        let body = &model.body_pos()[3 * (i + 1)..3 * (i + 2)];
        same(
            limb.name,
            "distance from the limb that it hangs on",
            wanted,
            norm([body[0], body[1], body[2]]),
        )?;
    }
    Ok(())
}

fn check_mass(sim: &Simulation, expected: f64) -> Result<(), BodyError> {
    same("the body", "mass", expected, sim.model().body_mass().iter().sum())
}

fn same(limb: &'static str, what: &'static str, expected: f64, found: f64) -> Result<(), BodyError> {
    if (found - expected).abs() <= 1e-9 * expected.abs().max(1.0) {
        return Ok(());
    }
    Err(BodyError::NotApplied { limb, what, expected, found })
}

fn norm(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

//! A body as MJCF text.

use super::plan::{Form, Joint, Plan, Root};
use super::sizes::Bone;
use std::fmt::Write;

/// Kilograms per cubic metre, where a limb has no mass of its own.
pub(super) const WATER: f64 = 1000.0;
const TIMESTEP_SECS: f64 = 0.0165 / 4.0;
/// Simulation steps in a step of the environment, which is roboschool's.
pub(super) const SUBSTEPS: usize = 4;
/// Seconds of a step.
pub(super) const DT_SECS: f64 = SUBSTEPS as f64 * TIMESTEP_SECS;

/// What the text is made of besides the plan.
pub(super) struct BodyRecipe<'a> {
    pub bones: &'a [Bone],
    /// kg/m³ of each limb.
    pub densities: &'a [f64],
    /// What all masses are scaled to, in kg.
    pub total_kg: Option<f64>,
    /// Friction between body and ground.
    pub friction: f64,
    /// Factor on the torques.
    pub strength: f64,
}

/// The model of a body. Limbs have the names of the plan; the first geom is the floor.
pub(super) fn text(plan: &Plan, recipe: &BodyRecipe<'_>) -> String {
    let mut xml = head(plan, recipe);
    limb(&mut xml, plan, recipe, 0);
    xml += "</worldbody><actuator>";
    for (limb, joint) in plan.joints() {
        let gear = joint.torque_nm * recipe.strength;
        let _ = write!(xml, r#"<motor name="{0}" joint="{0}" gear="{gear}"/>"#, limb.name);
    }
    xml + "</actuator></mujoco>"
}

/// Everything before the torso. The ground itself is slippery, so that the friction is that of the limbs.
fn head(plan: &Plan, recipe: &BodyRecipe<'_>) -> String {
    let total = recipe.total_kg.map_or(String::new(), |kg| format!(r#" settotalmass="{kg}""#));
    format!(
        r#"<mujoco model="{}">
<compiler angle="radian" inertiafromgeom="true"{total}/>
<option timestep="{TIMESTEP_SECS}" gravity="0 0 -9.8"/>
<size memory="1M"/>
<visual><headlight ambient="0.4 0.4 0.4" diffuse="0.6 0.6 0.6" specular="0 0 0"/><map znear="0.02"/></visual>
<default>
<joint type="hinge" limited="true" damping="0.1" armature="0.01"/>
<geom contype="1" conaffinity="0" condim="3" priority="1" friction="{} 0.1 0.1"/>
<motor ctrllimited="true" ctrlrange="-1 1"/>
</default>
<worldbody>
<light name="sun" type="directional" dir="0.35 0.55 -1"/>
<geom name="floor" type="plane" size="0 0 1" contype="0" conaffinity="1" priority="0" friction="0 0 0"
 rgba="0.80 0.83 0.85 1"/>"#,
        plan.id, recipe.friction
    )
}

/// A limb with everything that hangs on it.
fn limb(xml: &mut String, plan: &Plan, recipe: &BodyRecipe<'_>, i: usize) {
    let limb = &plan.limbs[i];
    let at = if i == 0 { [0.0; 3] } else { limb.attach_m.map(|m| m * recipe.bones[limb.parent].stretch) };
    let _ = write!(xml, r#"<body name="{}" pos="{}">"#, limb.name, spaced(at));
    if i == 0 {
        *xml += root(plan.root);
    }
    if let Some(found) = &limb.joint {
        joint(xml, limb.name, found);
    }
    shape(xml, plan, recipe, i);
    for child in (i + 1..plan.limbs.len()).filter(|&c| plan.limbs[c].parent == i) {
        self::limb(xml, plan, recipe, child);
    }
    *xml += "</body>";
}

/// The torso's freedom, and the camera that follows it.
fn root(root: Root) -> &'static str {
    match root {
        Root::Planar => {
            r#"<camera name="side" mode="trackcom" pos="0 -3 0.3" xyaxes="1 0 0 0 0.1 1" fovy="45"/>
<joint name="x" type="slide" axis="1 0 0" limited="false" damping="0" armature="0"/>
<joint name="z" type="slide" axis="0 0 1" limited="false" damping="0" armature="0"/>
<joint name="pitch" type="hinge" axis="0 1 0" limited="false" damping="0" armature="0"/>"#
        }
        Root::Free => {
            r#"<camera name="side" mode="trackcom" pos="0 -3.2 1.6" xyaxes="1 0 0 0 0.45 0.9" fovy="45"/>
<freejoint name="root"/>"#
        }
    }
}

fn joint(xml: &mut String, name: &str, joint: &Joint) {
    let (axis, low, high) = (spaced(joint.axis), joint.low_rad, joint.high_rad);
    let _ = write!(xml, r#"<joint name="{name}" axis="{axis}" range="{low} {high}"/>"#);
}

fn shape(xml: &mut String, plan: &Plan, recipe: &BodyRecipe<'_>, i: usize) {
    let (limb, bone, density) = (&plan.limbs[i], recipe.bones[i], recipe.densities[i]);
    let (w, rgba) = (bone.width_m, colour(limb.class));
    let form = match limb.form {
        Form::Ellipsoid => {
            format!(r#"type="ellipsoid" size="{} {w} {w}" pos="{}""#, bone.length_m, spaced(bone.centre_m))
        }
        Form::Capsule(along) => {
            let end = |side: f64| {
                spaced(std::array::from_fn(|k| bone.centre_m[k] + side * along[k] * bone.length_m))
            };
            format!(r#"type="capsule" size="{w}" fromto="{} {}""#, end(-0.5), end(0.5))
        }
    };
    let _ = write!(xml, r#"<geom name="{}" {form} density="{density}" rgba="{rgba}"/>"#, limb.name);
}

fn colour(class: &str) -> &'static str {
    match class {
        "torso" => "0.85 0.65 0.35 1",
        "head" => "0.93 0.80 0.45 1",
        "left-leg" | "back-leg" => "0.72 0.35 0.20 1",
        "foot" => "0.55 0.30 0.45 1",
        _ => "0.20 0.52 0.48 1",
    }
}

fn spaced([x, y, z]: [f64; 3]) -> String {
    format!("{x} {y} {z}")
}

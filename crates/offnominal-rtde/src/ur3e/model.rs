//! The UR3e with a gripper before a table, as a model for MuJoCo, and the names and places in it.
//!
//! The text is in `models/ur3e.xml`. The frame of each link is that of Denavit and Hartenberg, so what
//! [`frames`](super::frames) computes is where MuJoCo puts the bodies.

use super::{Pose, forward, kinematics::Joints};

/// The arm, its gripper and its table.
const ARM: &str = include_str!("../../models/ur3e.xml");

/// The bodies of the six links, from the shoulder to the flange.
pub const LINKS: [&str; 6] = ["link1", "link2", "link3", "link4", "link5", "link6"];

/// The joints, in the order of [`Joints`]; they are the first six degrees of freedom of the model.
pub const JOINTS: [&str; 6] = ["shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"];

/// From the flange to the tool's centre, the middle between the fingers' pads, in m.
pub const TOOL_M: f64 = 0.15;

/// How the base of the controller stands in the world of the model: half a turn about the vertical.
pub const WORLD_FROM_BASE: Pose =
    Pose { position_m: [0.0; 3], rotation: [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]] };

/// The pose `world_from_tool` for given joint angles.
pub fn tool(q: &Joints) -> Pose {
    let flange_from_tool = Pose { position_m: [0.0, 0.0, TOOL_M], ..Pose::IDENTITY };
    WORLD_FROM_BASE.then(&forward(q)).then(&flange_from_tool)
}

/// The model of the arm alone.
pub fn mjcf() -> String {
    ARM.into()
}

/// The model of the arm with everything that another model contains.
///
/// # Panics
/// If the other text has no `<mujoco>` element.
pub fn mjcf_with(addition: &str) -> String {
    let (_, opened) = addition.split_once("<mujoco").expect("expected a <mujoco> element");
    let (_, inner) = opened.split_once('>').expect("expected the <mujoco> element to be opened");
    let (inner, _) = inner.rsplit_once("</mujoco>").expect("expected the <mujoco> element to be closed");
    ARM.replace("</mujoco>", &format!("{inner}</mujoco>"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ur3e::{frames, kinematics::HOME};
    use offnominal_core::Rng;
    use offnominal_mujoco::{Model, ObjectType, Simulation};
    use std::f64::consts::PI;

    fn posed(q: &Joints) -> Simulation {
        let mut sim = Simulation::new(Model::from_xml(&mjcf()).unwrap()).unwrap();
        sim.qpos_mut()[..6].copy_from_slice(q);
        sim.forward().unwrap();
        sim
    }

    fn body(sim: &Simulation, name: &str) -> Pose {
        let id = sim.model().id(ObjectType::Body, name).unwrap();
        Pose {
            position_m: std::array::from_fn(|i| sim.xpos()[3 * id + i]),
            rotation: std::array::from_fn(|i| std::array::from_fn(|j| sim.xmat()[9 * id + 3 * i + j])),
        }
    }

    #[test]
    fn the_model_is_built_as_the_table_of_denavit_and_hartenberg_says() {
        let mut rng = Rng::new(3);
        for _ in 0..50 {
            let q: Joints = std::array::from_fn(|_| rng.range(-PI, PI));
            let sim = posed(&q);
            for (name, base_from_link) in LINKS.iter().zip(frames(&q)) {
                let off = body(&sim, name).distance(&WORLD_FROM_BASE.then(&base_from_link));
                assert!(off < 1e-9, "{name} is off by {off}");
            }
        }
    }

    #[test]
    fn the_tool_begins_where_it_is_commanded_to_be() {
        let sim = posed(&HOME);
        let tool = tool(&HOME);
        let command = body(&sim, "command");
        assert!(command.distance(&tool) < 1e-9, "{command:?} instead of {tool:?}");
        let site = 3 * sim.model().id(ObjectType::Site, "tcp").unwrap();
        assert!((0..3).all(|i| (sim.site_xpos()[site + i] - tool.position_m[i]).abs() < 1e-9));
    }

    #[test]
    fn the_joints_come_first_and_links_weigh_what_is_published() {
        let sim = posed(&HOME);
        let model = sim.model();
        assert!((0..6).all(|i| model.name(ObjectType::Joint, i) == Some(JOINTS[i])));
        let masses = LINKS.map(|link| model.body_mass()[model.id(ObjectType::Body, link).unwrap()]);
        assert!(
            masses.iter().zip([1.98, 3.4445, 1.437, 0.871, 0.805, 0.261]).all(|(m, w)| (m - w).abs() < 1e-9)
        );
    }

    #[test]
    #[should_panic(expected = "expected a <mujoco> element")]
    fn what_is_no_model_cannot_be_added() {
        mjcf_with("<body/>");
    }
}

//! What a camera of a simulation sees, as the plain scene that the rasteriser draws.
//!
//! MuJoCo's abstract scene (`mjvScene`) resolves poses, colours and lights; it is copied into
//! [`raster::Scene`](crate::raster::Scene). Only solids and planes are shown: no meshes, no sites, no decoration.

use crate::bindings::{
    Api, mjCAT_DYNAMIC, mjCAT_STATIC, mjGEOM_BOX, mjGEOM_CAPSULE, mjGEOM_CYLINDER, mjGEOM_ELLIPSOID,
    mjGEOM_PLANE, mjGEOM_SPHERE, mjLIGHT_DIRECTIONAL, mjOBJ_GEOM, mjvCamera, mjvGeom, mjvOption, mjvPerturb,
    mjvScene,
};
use crate::engine_log::guard;
use crate::model::size;
use crate::raster::{GeomType, Scene, Shape, Texture, View};
use crate::{Model, MujocoError, Simulation};
use std::mem::MaybeUninit;

/// How a geom of the model shows in images, apart from its colour.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Look {
    /// Id in the class mask.
    pub class: u8,
    /// Pattern of the surface.
    pub texture: Texture,
}

/// Looks at simulations of one model. Its buffers are kept: from the second look on, nothing is allocated.
pub struct Viewer {
    api: &'static Api,
    gathered: Box<mjvScene>,
    options: mjvOption,
    perturbation: mjvPerturb,
    camera: mjvCamera,
    scene: Scene,
}

// SAFETY: the buffers are owned and MuJoCo keeps no thread-local state about them.
unsafe impl Send for Viewer {}
// SAFETY: nothing is reachable through a shared reference.
unsafe impl Sync for Viewer {}

impl Viewer {
    /// A viewer with room for the geoms of a model.
    ///
    /// # Errors
    /// If MuJoCo raises an error.
    pub fn new(model: &Model) -> Result<Viewer, MujocoError> {
        let api = model.api;
        // SAFETY: each function fills in the whole structure that it is given.
        let (mut gathered, options, perturbation, camera) = unsafe {
            let gathered = Box::new(filled(api.mjv_defaultScene));
            (
                gathered,
                filled(api.mjv_defaultOption),
                filled(api.mjv_defaultPerturb),
                filled(api.mjv_defaultCamera),
            )
        };
        let room = i32::try_from(model.raw().ngeom).unwrap_or(i32::MAX - 1) + 1;
        // SAFETY: the model is valid, and the scene was filled in above.
        guard(|| unsafe { (api.mjv_makeScene)(model.raw.as_ptr(), &mut *gathered, room) })?;
        Ok(Viewer { api, gathered, options, perturbation, camera, scene: Scene::default() })
    }

    /// What a camera sees now. `looks` has one entry for each geom of the model.
    ///
    /// The future of the simulation does not depend on whether it is looked at.
    ///
    /// # Panics
    /// If the camera does not exist, or `looks` is not as long as the model has geoms.
    pub fn look(&mut self, sim: &mut Simulation, camera: usize, looks: &[Look]) -> &Scene {
        assert_eq!(looks.len(), size(sim.model().raw().ngeom), "expected a look for each geom");
        assert!(
            camera < size(sim.model().raw().ncam),
            "expected one of the model's cameras, found number {camera}"
        );
        sim.refresh_poses();
        self.gather(sim);
        self.scene.view = view(sim, camera);
        self.scene.shapes.clear();
        self.scene.shapes.extend(geoms(&self.gathered).iter().filter_map(|g| shape(g, sim, looks)));
        if let Some(direction) = self.sun() {
            self.scene.light.direction = direction;
        }
        &self.scene
    }

    /// Fills MuJoCo's abstract scene; should MuJoCo raise an error, nothing is seen.
    fn gather(&mut self, sim: &mut Simulation) {
        let Viewer { api, gathered, options, perturbation, camera, .. } = self;
        let categories = (mjCAT_STATIC | mjCAT_DYNAMIC) as i32;
        let (model, data) = (sim.model().raw.as_ptr(), sim.data());
        // SAFETY: model and data belong together and are borrowed exclusively; the rest is owned by `self`.
        let done = guard(|| unsafe {
            (api.mjv_updateScene)(model, data, options, perturbation, camera, categories, &mut **gathered)
        });
        if done.is_err() {
            gathered.ngeom = 0;
        }
    }

    /// Where the first directional light of the model shines to.
    fn sun(&self) -> Option<[f32; 3]> {
        let count = usize::try_from(self.gathered.nlight).unwrap_or(0);
        let mut lights = self.gathered.lights.iter().take(count);
        lights.find(|l| l.headlight == 0 && l.type_ == mjLIGHT_DIRECTIONAL as i32).map(|l| l.dir)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        // SAFETY: the scene was made by `mjv_makeScene`, and this is its last use.
        unsafe { (self.api.mjv_freeScene)(&mut *self.gathered) };
    }
}

fn geoms(gathered: &mjvScene) -> &[mjvGeom] {
    let count = usize::try_from(gathered.ngeom).unwrap_or(0);
    // SAFETY: MuJoCo filled in that many elements of the buffer.
    unsafe { std::slice::from_raw_parts(gathered.geoms, count) }
}

/// A structure filled in by one of MuJoCo's `mjv_default…` functions.
///
/// # Safety
/// The function must write every field that is read later.
unsafe fn filled<T>(fill: unsafe extern "C-unwind" fn(*mut T)) -> T {
    let mut value = MaybeUninit::zeroed();
    // SAFETY: zero is a valid value of every field of these C structures, and the caller vouches for the function.
    unsafe {
        fill(value.as_mut_ptr());
        value.assume_init()
    }
}

/// The pinhole of one of the model's cameras; its distances are in units of the model's extent.
fn view(sim: &Simulation, camera: usize) -> View {
    let model = sim.model().raw();
    let axes = &sim.cam_xmat()[9 * camera..];
    let column = |i: usize| [axes[i] as f32, axes[3 + i] as f32, axes[6 + i] as f32];
    let reach_m = model.stat.extent as f32;
    View {
        position: triple(sim.cam_xpos(), camera),
        forward: column(2).map(|backward| -backward),
        up: column(1),
        fovy_rad: (sim.model().cam_fovy()[camera] as f32).to_radians(),
        near_m: model.vis.map.znear * reach_m,
        far_m: model.vis.map.zfar * reach_m,
    }
}

/// The three numbers of one thing.
fn triple(numbers: &[f64], id: usize) -> [f32; 3] {
    std::array::from_fn(|i| numbers[3 * id + i] as f32)
}

/// One geom for the rasteriser; `None` for what it does not draw.
fn shape(geom: &mjvGeom, sim: &Simulation, looks: &[Look]) -> Option<Shape> {
    if geom.objtype != mjOBJ_GEOM as i32 {
        return None;
    }
    let id = usize::try_from(geom.objid).ok()?;
    let (kind, look) = (kind(geom.type_)?, looks.get(id)?);
    // MuJoCo lets an infinite plane wander with the camera; here its pattern must stay where it is.
    let (position, size) = match kind {
        GeomType::Plane => (triple(sim.geom_xpos(), id), triple(sim.model().geom_size(), id)),
        _ => (geom.pos, geom.size),
    };
    let Look { class, texture } = *look;
    Some(Shape { kind, size, position, rotation: geom.mat, rgba: geom.rgba, class, texture })
}

fn kind(code: i32) -> Option<GeomType> {
    const KINDS: [(u32, GeomType); 6] = [
        (mjGEOM_PLANE, GeomType::Plane),
        (mjGEOM_SPHERE, GeomType::Sphere),
        (mjGEOM_CAPSULE, GeomType::Capsule),
        (mjGEOM_ELLIPSOID, GeomType::Ellipsoid),
        (mjGEOM_CYLINDER, GeomType::Cylinder),
        (mjGEOM_BOX, GeomType::Box),
    ];
    KINDS.iter().find(|(known, _)| *known as i32 == code).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::{Quality, Rasteriser};
    use offnominal_core::frame::Frame;

    /// A ball at (1, 0, 0.5) on a slide along x, seen along y; an upright capsule to the left of it; a floor.
    const STILL: &str = r#"<mujoco><worldbody>
        <light type="directional" dir="0 1 -1"/><camera name="side" pos="0 -4 1" xyaxes="1 0 0 0 0 1" fovy="60"/>
        <geom type="plane" size="0 0 1"/><geom type="capsule" fromto="-1 0 0.3 -1 0 0.8" size="0.2" rgba="0 1 0 1"/>
        <body pos="1 0 0.5"><joint type="slide" axis="1 0 0"/><geom size="0.3" rgba="1 0 0 1"/></body>
        <site size="5"/></worldbody></mujoco>"#;

    fn looks() -> [Look; 3] {
        [1, 2, 3].map(|class| Look { class, ..Look::default() })
    }

    fn image(sim: &mut Simulation) -> Frame {
        let mut viewer = Viewer::new(sim.model()).unwrap();
        let mut frame = Frame::new(101, 101);
        Rasteriser::new(Quality::Observation).draw(viewer.look(sim, 0, &looks()), &mut frame);
        frame
    }

    fn still() -> Simulation {
        Simulation::new(Model::from_xml(STILL).unwrap()).unwrap()
    }

    #[test]
    fn shapes_are_where_the_pinhole_projects_them() {
        let frame = image(&mut still());
        // A pixel is tan 30° / 50.5 wide at unit depth; everything is 4 m away.
        let pixels = |m: f64| m / 4.0 / 30.0_f64.to_radians().tan() * 50.5;
        let (column, row) = frame.centroid(3).unwrap();
        assert!((column - (50.0 + pixels(1.0))).abs() < 0.5 && (row - (50.0 + pixels(0.5))).abs() < 0.5);
        let (column, row) = frame.centroid(2).unwrap();
        assert!((column - (50.0 - pixels(1.0))).abs() < 0.5 && (row - (50.0 + pixels(0.45))).abs() < 0.5);
        let disc = std::f64::consts::PI * pixels(0.3).powi(2) / 101.0_f64.powi(2);
        assert!((frame.share(3) / disc - 1.0).abs() < 0.05, "{} of {disc}", frame.share(3));
        // The horizon is at half height, and nothing reaches above it.
        assert!((frame.share(0) - 0.5).abs() < 0.01, "{}", frame.share(0));
        assert!((frame.share(1) + frame.share(2) + frame.share(3) - 0.5).abs() < 0.01);
    }

    #[test]
    fn colours_are_those_of_the_model() {
        let frame = image(&mut still());
        for (class, strong) in [(3, 0), (2, 1)] {
            let at = frame.classes.iter().position(|&c| c == class).unwrap();
            let pixel = &frame.rgb[3 * at..3 * at + 3];
            assert!((0..3).all(|i| i == strong || pixel[i] < pixel[strong]), "class {class} is {pixel:?}");
        }
    }

    #[test]
    fn light_and_pose_are_those_of_the_simulation() {
        let mut sim = still();
        let mut viewer = Viewer::new(sim.model()).unwrap();
        let half = 0.5_f32.sqrt();
        let scene = viewer.look(&mut sim, 0, &looks());
        assert!((scene.light.direction[1] - half).abs() < 1e-6 && scene.light.direction[0] == 0.0);
        sim.qpos_mut()[0] = -0.25;
        let ball = viewer.look(&mut sim, 0, &looks()).shapes.iter().find(|s| s.class == 3).unwrap();
        assert_eq!((ball.kind, ball.position), (GeomType::Sphere, [0.75, 0.0, 0.5]));
    }

    #[test]
    #[should_panic(expected = "found number 1")]
    fn a_camera_that_does_not_exist_is_refused() {
        let mut sim = still();
        Viewer::new(sim.model()).unwrap().look(&mut sim, 1, &looks());
    }
}

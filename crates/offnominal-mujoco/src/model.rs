//! A compiled model: sizes, names, and the physical quantities that may be edited.

use crate::bindings::{
    Api, mjModel, mjOBJ_ACTUATOR, mjOBJ_BODY, mjOBJ_CAMERA, mjOBJ_GEOM, mjOBJ_JOINT, mjOBJ_SITE, mjSpec,
    mjtObj,
};
use crate::engine_log::guard;
use crate::{MujocoError, Simulation, library};
use std::ffi::{CStr, CString};
use std::fmt;
use std::ptr::{self, NonNull};

/// What a name in a model belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectType {
    /// A rigid body.
    Body,
    /// A joint.
    Joint,
    /// A shape.
    Geom,
    /// A marker.
    Site,
    /// An actuator.
    Actuator,
    /// A camera.
    Camera,
}

impl ObjectType {
    fn code(self) -> mjtObj {
        match self {
            ObjectType::Body => mjOBJ_BODY,
            ObjectType::Joint => mjOBJ_JOINT,
            ObjectType::Geom => mjOBJ_GEOM,
            ObjectType::Site => mjOBJ_SITE,
            ObjectType::Actuator => mjOBJ_ACTUATOR,
            ObjectType::Camera => mjOBJ_CAMERA,
        }
    }
}

impl fmt::Display for ObjectType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// A compiled model. Cloning copies it.
pub struct Model {
    pub(crate) api: &'static Api,
    pub(crate) raw: NonNull<mjModel>,
}

// SAFETY: the model owns its memory, and MuJoCo has no thread-local state about it.
unsafe impl Send for Model {}
// SAFETY: through a shared reference the model is only read; MuJoCo's functions take it as `const` and keep every
// intermediate result in the data of the simulation.
unsafe impl Sync for Model {}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nbody = self.raw().nbody;
        f.debug_struct("Model").field("nbody", &nbody).finish_non_exhaustive()
    }
}

/// Declares access to arrays whose length is a size of the model, to be read and perhaps also to be changed.
macro_rules! arrays {
    ($($(#[$doc:meta])* $name:ident $(, $name_mut:ident)?: $count:ident * $width:literal;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self) -> &[f64] {
            // SAFETY: MuJoCo allocates that many numbers there.
            unsafe { std::slice::from_raw_parts(self.raw().$name, $width * size(self.sizes().$count)) }
        }

        $(
            #[doc = concat!("The same as [`Self::", stringify!($name), "`], to be changed.")]
            pub fn $name_mut(&mut self) -> &mut [f64] {
                let length = $width * size(self.sizes().$count);
                // SAFETY: as above, and `self` is borrowed exclusively.
                unsafe { std::slice::from_raw_parts_mut(self.raw().$name, length) }
            }
        )?
    )*};
}
pub(crate) use arrays;

impl Model {
    /// Compiles a model from MJCF text; loads the library first if that was not done yet.
    ///
    /// # Errors
    /// If the library cannot be had, or the text is not a valid model.
    pub fn from_xml(xml: &str) -> Result<Model, MujocoError> {
        let api = library::api(&mut |_| ())?;
        let text = CString::new(xml).map_err(|e| MujocoError::InvalidModel(e.to_string()))?;
        guard(|| {
            let spec = parse(api, &text)?;
            let model = compile(api, spec);
            // SAFETY: `parse` made the specification, and it is not used after this.
            unsafe { (api.mj_deleteSpec)(spec) };
            model
        })?
    }

    pub(crate) fn raw(&self) -> &mjModel {
        // SAFETY: the pointer is valid until `drop`, and changed only through `&mut self`.
        unsafe { self.raw.as_ref() }
    }

    fn sizes(&self) -> &mjModel {
        self.raw()
    }

    /// The index of the thing of that kind and name.
    ///
    /// # Errors
    /// If there is none, with the nearest name that exists.
    pub fn id(&self, kind: ObjectType, name: &str) -> Result<usize, MujocoError> {
        let text = CString::new(name).unwrap_or_default();
        // SAFETY: the model and the text are valid during the call, which only reads them.
        let id = unsafe { (self.api.mj_name2id)(self.raw.as_ptr(), kind.code() as i32, text.as_ptr()) };
        usize::try_from(id).map_err(|_| MujocoError::UnknownName {
            kind,
            name: name.into(),
            nearest: offnominal_core::suggest::nearest(name, self.names(kind).into_iter()),
        })
    }

    /// The name of the thing of that kind and index; `None` if it has no name or does not exist.
    pub fn name(&self, kind: ObjectType, id: usize) -> Option<&str> {
        let id = i32::try_from(id).ok()?;
        // SAFETY: the model is valid, and MuJoCo checks the index.
        let name = unsafe { (self.api.mj_id2name)(self.raw.as_ptr(), kind.code() as i32, id) };
        // SAFETY: a name that is not null is a C string inside the model, so it lives as long as `self`.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_str().ok()).flatten()
    }

    /// How many things of that kind there are.
    pub fn count(&self, kind: ObjectType) -> usize {
        let m = self.raw();
        let count = match kind {
            ObjectType::Body => m.nbody,
            ObjectType::Joint => m.njnt,
            ObjectType::Geom => m.ngeom,
            ObjectType::Site => m.nsite,
            ObjectType::Actuator => m.nu,
            ObjectType::Camera => m.ncam,
        };
        size(count)
    }

    fn names(&self, kind: ObjectType) -> Vec<&str> {
        (0..self.count(kind)).filter_map(|id| self.name(kind, id)).collect()
    }

    /// Seconds of one simulation step.
    pub fn timestep_secs(&self) -> f64 {
        self.raw().opt.timestep
    }

    arrays! {
        /// Positions of the reference configuration.
        qpos0: nq * 1;
        /// Mass of each body in kg; the first one is the world. After a change [`Model::recompute_constants`] must follow.
        body_mass, body_mass_mut: nbody * 1;
        /// Where each body is in the frame of the one that it hangs on, in m, `[nbody, 3]`.
        body_pos: nbody * 3;
        /// Dry friction of each degree of freedom, in N or N m.
        dof_frictionloss, dof_frictionloss_mut: nv * 1;
        /// Viscous damping of each degree of freedom, in N s/m or N m s/rad.
        dof_damping, dof_damping_mut: nv * 1;
        /// Lower and upper limit of each joint in rad or m, `[njnt, 2]`; zeros where it has none.
        jnt_range: njnt * 2;
        /// Extent of each geom, `[ngeom, 3]`; the meaning depends on its form.
        geom_size: ngeom * 3;
        /// Vertical angle of view of each camera, in degrees.
        cam_fovy: ncam * 1;
    }

    /// Brings what MuJoCo derives from masses and geometry (subtree masses, inverse weights) up to date.
    ///
    /// # Errors
    /// If MuJoCo raises an error; the model should then not be used.
    pub fn recompute_constants(&mut self) -> Result<(), MujocoError> {
        // `mj_setConst` overwrites the state of the data it works on, so it gets data of its own.
        let scratch = Simulation::data_of(self)?;
        // SAFETY: both pointers are valid, and the data was made for this model.
        let result = guard(|| unsafe { (self.api.mj_setConst)(self.raw.as_ptr(), scratch.as_ptr()) });
        // SAFETY: the data was made above and is not used after this.
        unsafe { (self.api.mj_deleteData)(scratch.as_ptr()) };
        result
    }
}

impl Clone for Model {
    fn clone(&self) -> Model {
        // SAFETY: the source is valid; a null destination asks for a new copy.
        let copy = unsafe { (self.api.mj_copyModel)(ptr::null_mut(), self.raw.as_ptr()) };
        Model { api: self.api, raw: NonNull::new(copy).expect("memory for a copy of the model") }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: the model is owned, and this is its last use.
        unsafe { (self.api.mj_deleteModel)(self.raw.as_ptr()) };
    }
}

/// A size of a model, which MuJoCo keeps as a signed number.
pub(crate) fn size(count: i64) -> usize {
    usize::try_from(count).expect("MuJoCo's sizes are not negative")
}

fn parse(api: &Api, text: &CStr) -> Result<*mut mjSpec, MujocoError> {
    let mut reason = [0; 1024];
    // SAFETY: the text is a C string, the buffer is as long as told, and no virtual file system is used.
    let spec = unsafe {
        (api.mj_parseXMLString)(text.as_ptr(), ptr::null(), reason.as_mut_ptr(), reason.len() as i32)
    };
    if spec.is_null() {
        // SAFETY: MuJoCo ends what it writes into the buffer with a zero.
        let reason = unsafe { CStr::from_ptr(reason.as_ptr()) };
        return Err(MujocoError::InvalidModel(reason.to_string_lossy().into_owned()));
    }
    Ok(spec)
}

fn compile(api: &'static Api, spec: *mut mjSpec) -> Result<Model, MujocoError> {
    // SAFETY: the specification is valid; no virtual file system is used.
    let raw = unsafe { (api.mj_compile)(spec, ptr::null()) };
    let model = NonNull::new(raw).map(|raw| Model { api, raw });
    model.ok_or_else(|| {
        // SAFETY: the message belongs to the specification, which is still valid.
        let reason = unsafe { CStr::from_ptr((api.mjs_getError)(spec)) };
        MujocoError::InvalidModel(reason.to_string_lossy().into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BALL: &str = r#"<mujoco><worldbody><body name="ball"><joint name="fall" type="slide" axis="0 0 1"/>
        <geom name="skin" size="0.1" mass="2"/></body></worldbody></mujoco>"#;

    #[test]
    fn names_and_ids_belong_together() {
        let model = Model::from_xml(BALL).unwrap();
        assert_eq!(model.id(ObjectType::Body, "ball").unwrap(), 1);
        assert_eq!(model.name(ObjectType::Joint, 0), Some("fall"));
        assert_eq!(model.name(ObjectType::Joint, 7), None);
        let message = model.id(ObjectType::Geom, "skn").unwrap_err().to_string();
        assert_eq!(message, "the model has no geom called \"skn\"; did you mean \"skin\"?");
    }

    #[test]
    fn invalid_models_are_errors_with_mujocos_reason() {
        let reason = |xml: &str| Model::from_xml(xml).unwrap_err().to_string();
        assert!(reason("<mujoco").contains("XML"), "{}", reason("<mujoco"));
        let sizeless = "<mujoco><worldbody><geom/></worldbody></mujoco>";
        assert!(reason(sizeless).contains("size"), "{}", reason(sizeless));
        assert!(reason("a\0b").contains("nul byte"), "{}", reason("a\0b"));
    }

    #[test]
    fn a_clone_is_edited_alone() {
        let model = Model::from_xml(BALL).unwrap();
        let mut heavy = model.clone();
        heavy.body_mass_mut()[1] = 3.0;
        heavy.recompute_constants().unwrap();
        assert_eq!((model.body_mass()[1], heavy.body_mass()[1]), (2.0, 3.0));
    }
}

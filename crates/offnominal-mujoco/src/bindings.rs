//! The part of the C interface of MuJoCo 3.17.0 that this crate uses. Generated: see the README of the crate.

pub type mjtNum = f64;
pub type mjtByte = ::core::ffi::c_uchar;
pub type mjtBool = bool;
pub type mjtSize = i64;
pub type mjtGeom = ::core::ffi::c_uint;
pub type mjtLightType = ::core::ffi::c_uint;
pub type mjtObj = ::core::ffi::c_uint;
pub type mjtWarning = ::core::ffi::c_uint;
pub type mjtLogLevel = ::core::ffi::c_uint;
pub type mjLogMessage = mjLogMessage_;
pub type mjfLogHandler = ::core::option::Option<unsafe extern "C-unwind" fn(arg1: *const mjLogMessage)>;
pub type mjVFS = __BindgenOpaqueArray8<[u8; 8usize]>;
pub type mjOption = mjOption_;
pub type mjVisual = mjVisual_;
pub type mjStatistic = mjStatistic_;
pub type mjModel = mjModel_;
pub type mjContact = mjContact_;
pub type mjWarningStat = mjWarningStat_;
pub type mjTimerStat = __BindgenOpaqueArray8<[u8; 16usize]>;
pub type mjSolverStat = __BindgenOpaqueArray8<[u8; 40usize]>;
pub type mjData = mjData_;
pub type mjSpec = __BindgenOpaqueArray8<[u8; 1352usize]>;
pub type mjtCatBit_ = ::core::ffi::c_uint;
pub type mjtCamera_ = ::core::ffi::c_uint;
pub type mjvPerturb = mjvPerturb_;
pub type mjvCamera = mjvCamera_;
pub type mjvGLCamera = mjvGLCamera_;
pub type mjvGeom = mjvGeom_;
pub type mjvLight = mjvLight_;
pub type mjvOption = mjvOption_;
pub type mjvScene = mjvScene_;
#[derive(PartialEq, Eq, Copy, Clone, Debug, Hash)]
#[repr(C, align(8))]
pub struct __BindgenOpaqueArray8<T>(pub T);
#[repr(C)]
pub struct mjLogMessage_ {
    pub level: ::core::ffi::c_int,
    unread1: [::core::ffi::c_int; 1usize],
    pub subject: [::core::ffi::c_char; 1024usize],
    unread3: [*mut ::core::ffi::c_void; 3usize],
    unread4: [::core::ffi::c_int; 1usize],
    unread5: [mjtBool; 1usize],
}
#[repr(C)]
pub struct mjOption_ {
    pub timestep: mjtNum,
    unread1: [mjtNum; 30usize],
    unread2: [::core::ffi::c_int; 13usize],
}
#[repr(C)]
pub struct mjVisual_ {
    pub global: mjVisual___bindgen_ty_1,
    pub quality: mjVisual___bindgen_ty_2,
    pub headlight: mjVisual___bindgen_ty_3,
    pub map: mjVisual___bindgen_ty_4,
    pub scale: mjVisual___bindgen_ty_5,
    pub rgba: mjVisual___bindgen_ty_6,
}
#[repr(C)]
pub struct mjVisual___bindgen_ty_1 {
    unread0: [::core::ffi::c_int; 2usize],
    unread1: [f32; 7usize],
    unread2: [::core::ffi::c_int; 4usize],
}
#[repr(C)]
pub struct mjVisual___bindgen_ty_2 {
    unread0: [::core::ffi::c_int; 5usize],
}
#[repr(C)]
pub struct mjVisual___bindgen_ty_3 {
    pub ambient: [f32; 3usize],
    unread1: [f32; 3usize],
    pub specular: [f32; 3usize],
    unread3: [::core::ffi::c_int; 1usize],
}
#[repr(C)]
pub struct mjVisual___bindgen_ty_4 {
    unread0: [f32; 7usize],
    pub znear: f32,
    pub zfar: f32,
    unread3: [f32; 4usize],
}
#[repr(C)]
pub struct mjVisual___bindgen_ty_5 {
    unread0: [f32; 6usize],
    pub light: f32,
    unread2: [f32; 10usize],
}
#[repr(C)]
pub struct mjVisual___bindgen_ty_6 {
    unread0: [f32; 40usize],
    pub light: [f32; 4usize],
    unread2: [f32; 56usize],
}
#[repr(C)]
pub struct mjStatistic_ {
    unread0: [mjtNum; 3usize],
    pub extent: mjtNum,
    unread2: [mjtNum; 3usize],
}
#[repr(C)]
pub struct mjModel_ {
    pub nq: mjtSize,
    pub nv: mjtSize,
    pub nu: mjtSize,
    unread3: [mjtSize; 3usize],
    pub nbody: mjtSize,
    unread5: [mjtSize; 4usize],
    pub njnt: mjtSize,
    unread7: [mjtSize; 5usize],
    pub ngeom: mjtSize,
    pub nsite: mjtSize,
    pub ncam: mjtSize,
    pub nlight: mjtSize,
    unread12: [mjtSize; 50usize],
    pub nmocap: mjtSize,
    unread14: [mjtSize; 21usize],
    pub nsensordata: mjtSize,
    unread16: [mjtSize; 4usize],
    unread17: [mjtBool; 3usize],
    pub opt: mjOption,
    pub vis: mjVisual,
    pub stat: mjStatistic,
    unread21: [*mut ::core::ffi::c_void; 1usize],
    pub qpos0: *mut mjtNum,
    unread23: [*mut ::core::ffi::c_void; 14usize],
    pub body_pos: *mut mjtNum,
    unread25: [*mut ::core::ffi::c_void; 3usize],
    pub body_mass: *mut mjtNum,
    unread27: [*mut ::core::ffi::c_void; 34usize],
    pub jnt_range: *mut mjtNum,
    unread29: [*mut ::core::ffi::c_void; 11usize],
    pub dof_frictionloss: *mut mjtNum,
    unread31: [*mut ::core::ffi::c_void; 1usize],
    pub dof_damping: *mut mjtNum,
    unread33: [*mut ::core::ffi::c_void; 23usize],
    pub geom_size: *mut mjtNum,
    unread35: [*mut ::core::ffi::c_void; 32usize],
    pub cam_fovy: *mut mjtNum,
    unread37: [*mut ::core::ffi::c_void; 343usize],
    pub names: *mut ::core::ffi::c_char,
    unread39: [*mut ::core::ffi::c_void; 15usize],
    unread40: [u64; 1usize],
}
#[repr(C)]
pub struct mjContact_ {
    unread0: [mjtNum; 1usize],
    pub pos: [mjtNum; 3usize],
    unread2: [mjtNum; 62usize],
    unread3: [::core::ffi::c_int; 3usize],
    pub geom: [::core::ffi::c_int; 2usize],
    unread5: [::core::ffi::c_int; 8usize],
}
#[repr(C)]
pub struct mjWarningStat_ {
    unread0: [::core::ffi::c_int; 1usize],
    pub number: ::core::ffi::c_int,
}
#[repr(C)]
pub struct mjData_ {
    unread0: [mjtSize; 2usize],
    unread1: [::core::ffi::c_int; 1usize],
    unread2: [usize; 4usize],
    unread3: [mjtBool; 1usize],
    unread4: [mjtSize; 2usize],
    unread5: [::core::ffi::c_int; 2usize],
    pub solver: [mjSolverStat; 4000usize],
    unread7: [::core::ffi::c_int; 40usize],
    unread8: [mjtNum; 2usize],
    pub warning: [mjWarningStat; 7usize],
    pub timer: [mjTimerStat; 15usize],
    pub ncon: ::core::ffi::c_int,
    unread12: [::core::ffi::c_int; 20usize],
    unread13: [mjtBool; 4usize],
    pub time: mjtNum,
    unread15: [mjtNum; 2usize],
    unread16: [*mut ::core::ffi::c_void; 2usize],
    pub qpos: *mut mjtNum,
    pub qvel: *mut mjtNum,
    unread19: [*mut ::core::ffi::c_void; 4usize],
    pub ctrl: *mut mjtNum,
    pub qfrc_applied: *mut mjtNum,
    pub xfrc_applied: *mut mjtNum,
    unread23: [*mut ::core::ffi::c_void; 1usize],
    pub mocap_pos: *mut mjtNum,
    unread25: [*mut ::core::ffi::c_void; 1usize],
    pub qacc: *mut mjtNum,
    unread27: [*mut ::core::ffi::c_void; 2usize],
    pub sensordata: *mut mjtNum,
    unread29: [*mut ::core::ffi::c_void; 3usize],
    pub xpos: *mut mjtNum,
    unread31: [*mut ::core::ffi::c_void; 1usize],
    pub xmat: *mut mjtNum,
    pub xipos: *mut mjtNum,
    unread34: [*mut ::core::ffi::c_void; 3usize],
    pub geom_xpos: *mut mjtNum,
    pub geom_xmat: *mut mjtNum,
    pub site_xpos: *mut mjtNum,
    unread38: [*mut ::core::ffi::c_void; 1usize],
    pub cam_xpos: *mut mjtNum,
    pub cam_xmat: *mut mjtNum,
    unread41: [*mut ::core::ffi::c_void; 66usize],
    pub contact: *mut mjContact,
    unread43: [*mut ::core::ffi::c_void; 77usize],
    unread44: [u64; 1usize],
}
#[repr(C)]
pub struct mjvPerturb_ {
    unread0: [::core::ffi::c_int; 5usize],
    unread1: [mjtNum; 14usize],
    pub scale: mjtNum,
}
#[repr(C)]
pub struct mjvCamera_ {
    pub type_: ::core::ffi::c_int,
    unread1: [::core::ffi::c_int; 2usize],
    unread2: [mjtNum; 6usize],
    unread3: [::core::ffi::c_int; 1usize],
}
#[repr(C)]
pub struct mjvGLCamera_ {
    pub pos: [f32; 3usize],
    pub forward: [f32; 3usize],
    pub up: [f32; 3usize],
    unread3: [f32; 6usize],
    unread4: [::core::ffi::c_int; 1usize],
}
#[repr(C)]
pub struct mjvGeom_ {
    pub type_: ::core::ffi::c_int,
    unread1: [::core::ffi::c_int; 1usize],
    pub objtype: ::core::ffi::c_int,
    pub objid: ::core::ffi::c_int,
    unread4: [::core::ffi::c_int; 6usize],
    pub size: [f32; 3usize],
    pub pos: [f32; 3usize],
    pub mat: [f32; 9usize],
    pub rgba: [f32; 4usize],
    unread9: [f32; 1usize],
    pub specular: f32,
    unread11: [f32; 4usize],
    unread12: [::core::ffi::c_char; 100usize],
    unread13: [f32; 2usize],
    unread14: [mjtByte; 1usize],
}
#[repr(C)]
pub struct mjvLight_ {
    pub id: ::core::ffi::c_int,
    pub pos: [f32; 3usize],
    pub dir: [f32; 3usize],
    pub type_: ::core::ffi::c_int,
    unread4: [::core::ffi::c_int; 1usize],
    unread5: [f32; 5usize],
    pub ambient: [f32; 3usize],
    unread7: [f32; 3usize],
    pub specular: [f32; 3usize],
    pub headlight: mjtByte,
    unread10: [mjtByte; 1usize],
    unread11: [f32; 4usize],
}
#[repr(C)]
pub struct mjvOption_ {
    unread0: [::core::ffi::c_int; 2usize],
    unread1: [mjtByte; 73usize],
    unread2: [::core::ffi::c_int; 2usize],
}
#[repr(C)]
pub struct mjvScene_ {
    unread0: [::core::ffi::c_int; 1usize],
    pub ngeom: ::core::ffi::c_int,
    pub geoms: *mut mjvGeom,
    unread3: [*mut ::core::ffi::c_void; 1usize],
    unread4: [::core::ffi::c_int; 1usize],
    unread5: [*mut ::core::ffi::c_void; 12usize],
    unread6: [mjtByte; 4usize],
    unread7: [::core::ffi::c_int; 1usize],
    unread8: [*mut ::core::ffi::c_void; 5usize],
    pub nlight: ::core::ffi::c_int,
    pub lights: [mjvLight; 100usize],
    pub camera: [mjvGLCamera; 2usize],
    unread12: [mjtByte; 1usize],
    unread13: [f32; 7usize],
    pub scale: f32,
    unread15: [::core::ffi::c_int; 1usize],
    unread16: [mjtByte; 11usize],
    unread17: [::core::ffi::c_int; 1usize],
    unread18: [f32; 3usize],
    pub status: ::core::ffi::c_int,
}
pub struct Api {
    __library: ::libloading::Library,
    pub mj_parseXMLString: unsafe extern "C-unwind" fn(
        xml: *const ::core::ffi::c_char,
        vfs: *const mjVFS,
        error: *mut ::core::ffi::c_char,
        error_sz: ::core::ffi::c_int,
    ) -> *mut mjSpec,
    pub mj_compile: unsafe extern "C-unwind" fn(s: *mut mjSpec, vfs: *const mjVFS) -> *mut mjModel,
    pub mj_step: unsafe extern "C-unwind" fn(m: *const mjModel, d: *mut mjData),
    pub mj_forward: unsafe extern "C-unwind" fn(m: *const mjModel, d: *mut mjData),
    pub mj_copyModel: unsafe extern "C-unwind" fn(dest: *mut mjModel, src: *const mjModel) -> *mut mjModel,
    pub mj_deleteModel: unsafe extern "C-unwind" fn(m: *mut mjModel),
    pub mj_makeData: unsafe extern "C-unwind" fn(m: *const mjModel) -> *mut mjData,
    pub mj_copyData:
        unsafe extern "C-unwind" fn(dest: *mut mjData, m: *const mjModel, src: *const mjData) -> *mut mjData,
    pub mj_resetData: unsafe extern "C-unwind" fn(m: *const mjModel, d: *mut mjData),
    pub mj_deleteData: unsafe extern "C-unwind" fn(d: *mut mjData),
    pub mj_setConst: unsafe extern "C-unwind" fn(m: *mut mjModel, d: *mut mjData),
    pub mj_deleteSpec: unsafe extern "C-unwind" fn(s: *mut mjSpec),
    pub mj_kinematics: unsafe extern "C-unwind" fn(m: *const mjModel, d: *mut mjData),
    pub mj_comPos: unsafe extern "C-unwind" fn(m: *const mjModel, d: *mut mjData),
    pub mj_camlight: unsafe extern "C-unwind" fn(m: *const mjModel, d: *mut mjData),
    pub mj_name2id: unsafe extern "C-unwind" fn(
        m: *const mjModel,
        type_: ::core::ffi::c_int,
        name: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int,
    pub mj_id2name: unsafe extern "C-unwind" fn(
        m: *const mjModel,
        type_: ::core::ffi::c_int,
        id: ::core::ffi::c_int,
    ) -> *const ::core::ffi::c_char,
    pub mjv_defaultCamera: unsafe extern "C-unwind" fn(cam: *mut mjvCamera),
    pub mjv_defaultPerturb: unsafe extern "C-unwind" fn(pert: *mut mjvPerturb),
    pub mjv_defaultOption: unsafe extern "C-unwind" fn(opt: *mut mjvOption),
    pub mjv_defaultScene: unsafe extern "C-unwind" fn(scn: *mut mjvScene),
    pub mjv_makeScene:
        unsafe extern "C-unwind" fn(m: *const mjModel, scn: *mut mjvScene, maxgeom: ::core::ffi::c_int),
    pub mjv_freeScene: unsafe extern "C-unwind" fn(scn: *mut mjvScene),
    pub mjv_updateScene: unsafe extern "C-unwind" fn(
        m: *const mjModel,
        d: *mut mjData,
        opt: *const mjvOption,
        pert: *const mjvPerturb,
        cam: *mut mjvCamera,
        catmask: ::core::ffi::c_int,
        scn: *mut mjvScene,
    ),
    pub mju_setLogHandler: unsafe extern "C-unwind" fn(handler: mjfLogHandler) -> mjfLogHandler,
    pub mjs_getError: unsafe extern "C-unwind" fn(s: *mut mjSpec) -> *const ::core::ffi::c_char,
}
pub const mjVERSION_HEADER: u32 = 3017000;
pub const mjGEOM_PLANE: mjtGeom = 0;
pub const mjGEOM_SPHERE: mjtGeom = 2;
pub const mjGEOM_CAPSULE: mjtGeom = 3;
pub const mjGEOM_ELLIPSOID: mjtGeom = 4;
pub const mjGEOM_CYLINDER: mjtGeom = 5;
pub const mjGEOM_BOX: mjtGeom = 6;
pub const mjLIGHT_DIRECTIONAL: mjtLightType = 1;
pub const mjOBJ_BODY: mjtObj = 1;
pub const mjOBJ_JOINT: mjtObj = 3;
pub const mjOBJ_GEOM: mjtObj = 5;
pub const mjOBJ_SITE: mjtObj = 6;
pub const mjOBJ_CAMERA: mjtObj = 7;
pub const mjOBJ_ACTUATOR: mjtObj = 19;
pub const mjWARN_BADQPOS: mjtWarning = 3;
pub const mjWARN_BADCTRL: mjtWarning = 6;
pub const mjLOG_ERROR: mjtLogLevel = 3;
pub const mjCAT_STATIC: mjtCatBit_ = 1;
pub const mjCAT_DYNAMIC: mjtCatBit_ = 2;
impl Api {
    pub unsafe fn from_library<L>(library: L) -> Result<Self, ::libloading::Error>
    where
        L: Into<::libloading::Library>,
    {
        let __library = library.into();
        Ok(Api {
            mj_parseXMLString: __library.get(b"mj_parseXMLString\0").map(|sym| *sym)?,
            mj_compile: __library.get(b"mj_compile\0").map(|sym| *sym)?,
            mj_step: __library.get(b"mj_step\0").map(|sym| *sym)?,
            mj_forward: __library.get(b"mj_forward\0").map(|sym| *sym)?,
            mj_copyModel: __library.get(b"mj_copyModel\0").map(|sym| *sym)?,
            mj_deleteModel: __library.get(b"mj_deleteModel\0").map(|sym| *sym)?,
            mj_makeData: __library.get(b"mj_makeData\0").map(|sym| *sym)?,
            mj_copyData: __library.get(b"mj_copyData\0").map(|sym| *sym)?,
            mj_resetData: __library.get(b"mj_resetData\0").map(|sym| *sym)?,
            mj_deleteData: __library.get(b"mj_deleteData\0").map(|sym| *sym)?,
            mj_setConst: __library.get(b"mj_setConst\0").map(|sym| *sym)?,
            mj_deleteSpec: __library.get(b"mj_deleteSpec\0").map(|sym| *sym)?,
            mj_kinematics: __library.get(b"mj_kinematics\0").map(|sym| *sym)?,
            mj_comPos: __library.get(b"mj_comPos\0").map(|sym| *sym)?,
            mj_camlight: __library.get(b"mj_camlight\0").map(|sym| *sym)?,
            mj_name2id: __library.get(b"mj_name2id\0").map(|sym| *sym)?,
            mj_id2name: __library.get(b"mj_id2name\0").map(|sym| *sym)?,
            mjv_defaultCamera: __library.get(b"mjv_defaultCamera\0").map(|sym| *sym)?,
            mjv_defaultPerturb: __library.get(b"mjv_defaultPerturb\0").map(|sym| *sym)?,
            mjv_defaultOption: __library.get(b"mjv_defaultOption\0").map(|sym| *sym)?,
            mjv_defaultScene: __library.get(b"mjv_defaultScene\0").map(|sym| *sym)?,
            mjv_makeScene: __library.get(b"mjv_makeScene\0").map(|sym| *sym)?,
            mjv_freeScene: __library.get(b"mjv_freeScene\0").map(|sym| *sym)?,
            mjv_updateScene: __library.get(b"mjv_updateScene\0").map(|sym| *sym)?,
            mju_setLogHandler: __library.get(b"mju_setLogHandler\0").map(|sym| *sym)?,
            mjs_getError: __library.get(b"mjs_getError\0").map(|sym| *sym)?,
            __library,
        })
    }
}

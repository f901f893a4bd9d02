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
    pub topic: ::core::ffi::c_int,
    pub subject: [::core::ffi::c_char; 1024usize],
    pub body: *const ::core::ffi::c_char,
    pub func: *const ::core::ffi::c_char,
    pub file: *const ::core::ffi::c_char,
    pub line: ::core::ffi::c_int,
    pub timestamp: mjtBool,
}
#[repr(C)]
pub struct mjOption_ {
    pub timestep: mjtNum,
    pub impratio: mjtNum,
    pub tolerance: mjtNum,
    pub ls_tolerance: mjtNum,
    pub noslip_tolerance: mjtNum,
    pub ccd_tolerance: mjtNum,
    pub sleep_tolerance: mjtNum,
    pub gravity: [mjtNum; 3usize],
    pub wind: [mjtNum; 3usize],
    pub magnetic: [mjtNum; 3usize],
    pub density: mjtNum,
    pub viscosity: mjtNum,
    pub o_margin: mjtNum,
    pub o_solref: [mjtNum; 2usize],
    pub o_solimp: [mjtNum; 5usize],
    pub o_friction: [mjtNum; 5usize],
    pub integrator: ::core::ffi::c_int,
    pub cone: ::core::ffi::c_int,
    pub jacobian: ::core::ffi::c_int,
    pub solver: ::core::ffi::c_int,
    pub iterations: ::core::ffi::c_int,
    pub ls_iterations: ::core::ffi::c_int,
    pub noslip_iterations: ::core::ffi::c_int,
    pub ccd_iterations: ::core::ffi::c_int,
    pub disableflags: ::core::ffi::c_int,
    pub enableflags: ::core::ffi::c_int,
    pub disableactuator: ::core::ffi::c_int,
    pub sdf_initpoints: ::core::ffi::c_int,
    pub sdf_iterations: ::core::ffi::c_int,
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
    pub cameraid: ::core::ffi::c_int,
    pub orthographic: ::core::ffi::c_int,
    pub fovy: f32,
    pub ipd: f32,
    pub azimuth: f32,
    pub elevation: f32,
    pub linewidth: f32,
    pub glow: f32,
    pub realtime: f32,
    pub offwidth: ::core::ffi::c_int,
    pub offheight: ::core::ffi::c_int,
    pub ellipsoidinertia: ::core::ffi::c_int,
    pub bvactive: ::core::ffi::c_int,
}
#[repr(C)]
pub struct mjVisual___bindgen_ty_2 {
    pub shadowsize: ::core::ffi::c_int,
    pub offsamples: ::core::ffi::c_int,
    pub numslices: ::core::ffi::c_int,
    pub numstacks: ::core::ffi::c_int,
    pub numquads: ::core::ffi::c_int,
}
#[repr(C)]
pub struct mjVisual___bindgen_ty_3 {
    pub ambient: [f32; 3usize],
    pub diffuse: [f32; 3usize],
    pub specular: [f32; 3usize],
    pub active: ::core::ffi::c_int,
}
#[repr(C)]
pub struct mjVisual___bindgen_ty_4 {
    pub stiffness: f32,
    pub stiffnessrot: f32,
    pub force: f32,
    pub torque: f32,
    pub alpha: f32,
    pub fogstart: f32,
    pub fogend: f32,
    pub znear: f32,
    pub zfar: f32,
    pub haze: f32,
    pub shadowclip: f32,
    pub shadowscale: f32,
    pub actuatortendon: f32,
}
#[repr(C)]
pub struct mjVisual___bindgen_ty_5 {
    pub forcewidth: f32,
    pub contactwidth: f32,
    pub contactheight: f32,
    pub connect: f32,
    pub com: f32,
    pub camera: f32,
    pub light: f32,
    pub selectpoint: f32,
    pub jointlength: f32,
    pub jointwidth: f32,
    pub actuatorlength: f32,
    pub actuatorwidth: f32,
    pub framelength: f32,
    pub framewidth: f32,
    pub constraint: f32,
    pub slidercrank: f32,
    pub frustum: f32,
}
#[repr(C)]
pub struct mjVisual___bindgen_ty_6 {
    pub fog: [f32; 4usize],
    pub haze: [f32; 4usize],
    pub force: [f32; 4usize],
    pub inertia: [f32; 4usize],
    pub joint: [f32; 4usize],
    pub actuator: [f32; 4usize],
    pub actuatornegative: [f32; 4usize],
    pub actuatorpositive: [f32; 4usize],
    pub com: [f32; 4usize],
    pub camera: [f32; 4usize],
    pub light: [f32; 4usize],
    pub selectpoint: [f32; 4usize],
    pub connect: [f32; 4usize],
    pub contactpoint: [f32; 4usize],
    pub contactforce: [f32; 4usize],
    pub contactfriction: [f32; 4usize],
    pub contacttorque: [f32; 4usize],
    pub contactgap: [f32; 4usize],
    pub rangefinder: [f32; 4usize],
    pub constraint: [f32; 4usize],
    pub slidercrank: [f32; 4usize],
    pub crankbroken: [f32; 4usize],
    pub frustum: [f32; 4usize],
    pub bv: [f32; 4usize],
    pub bvactive: [f32; 4usize],
}
#[repr(C)]
pub struct mjStatistic_ {
    pub meaninertia: mjtNum,
    pub meanmass: mjtNum,
    pub meansize: mjtNum,
    pub extent: mjtNum,
    pub center: [mjtNum; 3usize],
}
#[repr(C)]
pub struct mjModel_ {
    pub nq: mjtSize,
    pub nv: mjtSize,
    pub nu: mjtSize,
    pub nactuator: mjtSize,
    pub nout: mjtSize,
    pub na: mjtSize,
    pub nbody: mjtSize,
    pub nbvh: mjtSize,
    pub nbvhstatic: mjtSize,
    pub nbvhdynamic: mjtSize,
    pub noct: mjtSize,
    pub njnt: mjtSize,
    pub ntree: mjtSize,
    pub nM: mjtSize,
    pub nB: mjtSize,
    pub nC: mjtSize,
    pub nD: mjtSize,
    pub ngeom: mjtSize,
    pub nsite: mjtSize,
    pub ncam: mjtSize,
    pub nlight: mjtSize,
    pub nflex: mjtSize,
    pub nflexnode: mjtSize,
    pub nflexvert: mjtSize,
    pub nflexedge: mjtSize,
    pub nflexelem: mjtSize,
    pub nflexelemdata: mjtSize,
    pub nflexstiffness: mjtSize,
    pub nflexbending: mjtSize,
    pub nefm0dof: mjtSize,
    pub nefm0L: mjtSize,
    pub nefmCvert: mjtSize,
    pub nflexelemedge: mjtSize,
    pub nflexshelldata: mjtSize,
    pub nflextexcoord: mjtSize,
    pub nJfe: mjtSize,
    pub nJfv: mjtSize,
    pub nmesh: mjtSize,
    pub nmeshvert: mjtSize,
    pub nmeshnormal: mjtSize,
    pub nmeshtexcoord: mjtSize,
    pub nmeshface: mjtSize,
    pub nmeshgraph: mjtSize,
    pub nmeshpoly: mjtSize,
    pub nmeshpolyvert: mjtSize,
    pub nmeshpolymap: mjtSize,
    pub nskin: mjtSize,
    pub nskinvert: mjtSize,
    pub nskintexvert: mjtSize,
    pub nskinface: mjtSize,
    pub nskinbone: mjtSize,
    pub nskinbonevert: mjtSize,
    pub nhfield: mjtSize,
    pub nhfielddata: mjtSize,
    pub ntex: mjtSize,
    pub ntexdata: mjtSize,
    pub nmat: mjtSize,
    pub npair: mjtSize,
    pub nexclude: mjtSize,
    pub neq: mjtSize,
    pub ntendon: mjtSize,
    pub nJten: mjtSize,
    pub nwrap: mjtSize,
    pub nsensor: mjtSize,
    pub nnumeric: mjtSize,
    pub nnumericdata: mjtSize,
    pub ntext: mjtSize,
    pub ntextdata: mjtSize,
    pub ntuple: mjtSize,
    pub ntupledata: mjtSize,
    pub nkey: mjtSize,
    pub nmocap: mjtSize,
    pub nplugin: mjtSize,
    pub npluginattr: mjtSize,
    pub nuser_body: mjtSize,
    pub nuser_jnt: mjtSize,
    pub nuser_geom: mjtSize,
    pub nuser_site: mjtSize,
    pub nuser_cam: mjtSize,
    pub nuser_tendon: mjtSize,
    pub nuser_actuator: mjtSize,
    pub nuser_sensor: mjtSize,
    pub nnames: mjtSize,
    pub npaths: mjtSize,
    pub nnames_map: mjtSize,
    pub nJmom: mjtSize,
    pub ngravcomp: mjtSize,
    pub nemax: mjtSize,
    pub njmax: mjtSize,
    pub nconmax: mjtSize,
    pub npolygonmax: mjtSize,
    pub nmeshdegmax: mjtSize,
    pub nuserdata: mjtSize,
    pub nsensordata: mjtSize,
    pub npluginstate: mjtSize,
    pub nhistory: mjtSize,
    pub narena: mjtSize,
    pub nbuffer: mjtSize,
    pub flg_gravcomp: mjtBool,
    pub flg_surfacevel: mjtBool,
    pub flg_adhesion: mjtBool,
    pub opt: mjOption,
    pub vis: mjVisual,
    pub stat: mjStatistic,
    pub buffer: *mut ::core::ffi::c_void,
    pub qpos0: *mut mjtNum,
    pub qpos_spring: *mut mjtNum,
    pub body_parentid: *mut ::core::ffi::c_int,
    pub body_rootid: *mut ::core::ffi::c_int,
    pub body_weldid: *mut ::core::ffi::c_int,
    pub body_mocapid: *mut ::core::ffi::c_int,
    pub body_jntnum: *mut ::core::ffi::c_int,
    pub body_jntadr: *mut ::core::ffi::c_int,
    pub body_dofnum: *mut ::core::ffi::c_int,
    pub body_dofadr: *mut ::core::ffi::c_int,
    pub body_treeid: *mut ::core::ffi::c_int,
    pub body_geomnum: *mut ::core::ffi::c_int,
    pub body_geomadr: *mut ::core::ffi::c_int,
    pub body_simple: *mut mjtByte,
    pub body_sameframe: *mut mjtByte,
    pub body_pos: *mut mjtNum,
    pub body_quat: *mut mjtNum,
    pub body_ipos: *mut mjtNum,
    pub body_iquat: *mut mjtNum,
    pub body_mass: *mut mjtNum,
    pub body_subtreemass: *mut mjtNum,
    pub body_inertia: *mut mjtNum,
    pub body_invweight0: *mut mjtNum,
    pub body_gravcomp: *mut mjtNum,
    pub body_margin: *mut mjtNum,
    pub body_user: *mut mjtNum,
    pub body_plugin: *mut ::core::ffi::c_int,
    pub body_contype: *mut ::core::ffi::c_int,
    pub body_conaffinity: *mut ::core::ffi::c_int,
    pub body_bvhadr: *mut ::core::ffi::c_int,
    pub body_bvhnum: *mut ::core::ffi::c_int,
    pub bvh_depth: *mut ::core::ffi::c_int,
    pub bvh_child: *mut ::core::ffi::c_int,
    pub bvh_nodeid: *mut ::core::ffi::c_int,
    pub bvh_aabb: *mut mjtNum,
    pub oct_depth: *mut ::core::ffi::c_int,
    pub oct_child: *mut ::core::ffi::c_int,
    pub oct_aabb: *mut mjtNum,
    pub oct_coeff: *mut mjtNum,
    pub jnt_type: *mut ::core::ffi::c_int,
    pub jnt_qposadr: *mut ::core::ffi::c_int,
    pub jnt_dofadr: *mut ::core::ffi::c_int,
    pub jnt_bodyid: *mut ::core::ffi::c_int,
    pub jnt_actuatorid: *mut ::core::ffi::c_int,
    pub jnt_group: *mut ::core::ffi::c_int,
    pub jnt_limited: *mut mjtBool,
    pub jnt_actfrclimited: *mut mjtBool,
    pub jnt_actgravcomp: *mut mjtBool,
    pub jnt_solref: *mut mjtNum,
    pub jnt_solimp: *mut mjtNum,
    pub jnt_pos: *mut mjtNum,
    pub jnt_axis: *mut mjtNum,
    pub jnt_stiffness: *mut mjtNum,
    pub jnt_stiffnesspoly: *mut mjtNum,
    pub jnt_range: *mut mjtNum,
    pub jnt_actfrcrange: *mut mjtNum,
    pub jnt_margin: *mut mjtNum,
    pub jnt_user: *mut mjtNum,
    pub dof_bodyid: *mut ::core::ffi::c_int,
    pub dof_jntid: *mut ::core::ffi::c_int,
    pub dof_parentid: *mut ::core::ffi::c_int,
    pub dof_treeid: *mut ::core::ffi::c_int,
    pub dof_Madr: *mut ::core::ffi::c_int,
    pub dof_simplenum: *mut ::core::ffi::c_int,
    pub dof_solref: *mut mjtNum,
    pub dof_solimp: *mut mjtNum,
    pub dof_frictionloss: *mut mjtNum,
    pub dof_armature: *mut mjtNum,
    pub dof_damping: *mut mjtNum,
    pub dof_dampingpoly: *mut mjtNum,
    pub dof_invweight0: *mut mjtNum,
    pub dof_M0: *mut mjtNum,
    pub dof_length: *mut mjtNum,
    pub tree_bodyadr: *mut ::core::ffi::c_int,
    pub tree_bodynum: *mut ::core::ffi::c_int,
    pub tree_dofadr: *mut ::core::ffi::c_int,
    pub tree_dofnum: *mut ::core::ffi::c_int,
    pub tree_sleep_policy: *mut ::core::ffi::c_int,
    pub geom_type: *mut ::core::ffi::c_int,
    pub geom_contype: *mut ::core::ffi::c_int,
    pub geom_conaffinity: *mut ::core::ffi::c_int,
    pub geom_condim: *mut ::core::ffi::c_int,
    pub geom_bodyid: *mut ::core::ffi::c_int,
    pub geom_dataid: *mut ::core::ffi::c_int,
    pub geom_matid: *mut ::core::ffi::c_int,
    pub geom_group: *mut ::core::ffi::c_int,
    pub geom_priority: *mut ::core::ffi::c_int,
    pub geom_plugin: *mut ::core::ffi::c_int,
    pub geom_sameframe: *mut mjtByte,
    pub geom_solmix: *mut mjtNum,
    pub geom_solref: *mut mjtNum,
    pub geom_solimp: *mut mjtNum,
    pub geom_size: *mut mjtNum,
    pub geom_aabb: *mut mjtNum,
    pub geom_rbound: *mut mjtNum,
    pub geom_pos: *mut mjtNum,
    pub geom_quat: *mut mjtNum,
    pub geom_friction: *mut mjtNum,
    pub geom_margin: *mut mjtNum,
    pub geom_gap: *mut mjtNum,
    pub geom_surfacevel: *mut mjtNum,
    pub geom_adhesion: *mut mjtNum,
    pub geom_fluid: *mut mjtNum,
    pub geom_user: *mut mjtNum,
    pub geom_rgba: *mut f32,
    pub site_type: *mut ::core::ffi::c_int,
    pub site_bodyid: *mut ::core::ffi::c_int,
    pub site_dataid: *mut ::core::ffi::c_int,
    pub site_matid: *mut ::core::ffi::c_int,
    pub site_group: *mut ::core::ffi::c_int,
    pub site_sameframe: *mut mjtByte,
    pub site_size: *mut mjtNum,
    pub site_pos: *mut mjtNum,
    pub site_quat: *mut mjtNum,
    pub site_user: *mut mjtNum,
    pub site_rgba: *mut f32,
    pub cam_mode: *mut ::core::ffi::c_int,
    pub cam_bodyid: *mut ::core::ffi::c_int,
    pub cam_targetbodyid: *mut ::core::ffi::c_int,
    pub cam_pos: *mut mjtNum,
    pub cam_quat: *mut mjtNum,
    pub cam_poscom0: *mut mjtNum,
    pub cam_pos0: *mut mjtNum,
    pub cam_mat0: *mut mjtNum,
    pub cam_projection: *mut ::core::ffi::c_int,
    pub cam_fovy: *mut mjtNum,
    pub cam_ipd: *mut mjtNum,
    pub cam_resolution: *mut ::core::ffi::c_int,
    pub cam_output: *mut ::core::ffi::c_int,
    pub cam_sensorsize: *mut f32,
    pub cam_intrinsic: *mut f32,
    pub cam_user: *mut mjtNum,
    pub light_mode: *mut ::core::ffi::c_int,
    pub light_bodyid: *mut ::core::ffi::c_int,
    pub light_targetbodyid: *mut ::core::ffi::c_int,
    pub light_type: *mut ::core::ffi::c_int,
    pub light_texid: *mut ::core::ffi::c_int,
    pub light_castshadow: *mut mjtBool,
    pub light_bulbradius: *mut f32,
    pub light_intensity: *mut f32,
    pub light_range: *mut f32,
    pub light_active: *mut mjtBool,
    pub light_pos: *mut mjtNum,
    pub light_dir: *mut mjtNum,
    pub light_poscom0: *mut mjtNum,
    pub light_pos0: *mut mjtNum,
    pub light_dir0: *mut mjtNum,
    pub light_attenuation: *mut f32,
    pub light_cutoff: *mut f32,
    pub light_softness: *mut f32,
    pub light_exponent: *mut f32,
    pub light_ambient: *mut f32,
    pub light_diffuse: *mut f32,
    pub light_specular: *mut f32,
    pub flex_contype: *mut ::core::ffi::c_int,
    pub flex_conaffinity: *mut ::core::ffi::c_int,
    pub flex_condim: *mut ::core::ffi::c_int,
    pub flex_priority: *mut ::core::ffi::c_int,
    pub flex_solmix: *mut mjtNum,
    pub flex_solref: *mut mjtNum,
    pub flex_solimp: *mut mjtNum,
    pub flex_friction: *mut mjtNum,
    pub flex_margin: *mut mjtNum,
    pub flex_gap: *mut mjtNum,
    pub flex_selfcollide: *mut ::core::ffi::c_int,
    pub flex_activelayers: *mut ::core::ffi::c_int,
    pub flex_passive: *mut ::core::ffi::c_int,
    pub flex_dim: *mut ::core::ffi::c_int,
    pub flex_matid: *mut ::core::ffi::c_int,
    pub flex_group: *mut ::core::ffi::c_int,
    pub flex_interp: *mut ::core::ffi::c_int,
    pub flex_cellnum: *mut ::core::ffi::c_int,
    pub flex_nodeadr: *mut ::core::ffi::c_int,
    pub flex_nodenum: *mut ::core::ffi::c_int,
    pub flex_vertadr: *mut ::core::ffi::c_int,
    pub flex_vertnum: *mut ::core::ffi::c_int,
    pub flex_edgeadr: *mut ::core::ffi::c_int,
    pub flex_edgenum: *mut ::core::ffi::c_int,
    pub flex_elemadr: *mut ::core::ffi::c_int,
    pub flex_elemnum: *mut ::core::ffi::c_int,
    pub flex_elemdataadr: *mut ::core::ffi::c_int,
    pub flex_stiffnessadr: *mut ::core::ffi::c_int,
    pub flex_elemedgeadr: *mut ::core::ffi::c_int,
    pub flex_bendingadr: *mut ::core::ffi::c_int,
    pub flex_shellnum: *mut ::core::ffi::c_int,
    pub flex_shelldataadr: *mut ::core::ffi::c_int,
    pub flex_texcoordadr: *mut ::core::ffi::c_int,
    pub flex_nodebodyid: *mut ::core::ffi::c_int,
    pub flex_vertbodyid: *mut ::core::ffi::c_int,
    pub flex_vertedgeadr: *mut ::core::ffi::c_int,
    pub flex_vertedgenum: *mut ::core::ffi::c_int,
    pub flex_vertedge: *mut ::core::ffi::c_int,
    pub flex_edge: *mut ::core::ffi::c_int,
    pub flex_edgeflap: *mut ::core::ffi::c_int,
    pub flex_elem: *mut ::core::ffi::c_int,
    pub flex_elemtexcoord: *mut ::core::ffi::c_int,
    pub flex_elemedge: *mut ::core::ffi::c_int,
    pub flex_elemlayer: *mut ::core::ffi::c_int,
    pub flex_shell: *mut ::core::ffi::c_int,
    pub flex_vert: *mut mjtNum,
    pub flex_vert0: *mut mjtNum,
    pub flex_vertmetric: *mut mjtNum,
    pub flex_node: *mut mjtNum,
    pub flex_node0: *mut mjtNum,
    pub flexedge_length0: *mut mjtNum,
    pub flexedge_invweight0: *mut mjtNum,
    pub flex_radius: *mut mjtNum,
    pub flex_size: *mut mjtNum,
    pub flex_stiffness: *mut mjtNum,
    pub flex_bending: *mut mjtNum,
    pub efm0_dofid: *mut ::core::ffi::c_int,
    pub efm0_L_rownnz: *mut ::core::ffi::c_int,
    pub efm0_L_rowadr: *mut ::core::ffi::c_int,
    pub efm0_L_colind: *mut ::core::ffi::c_int,
    pub efm0_L: *mut mjtNum,
    pub efmC_perm: *mut ::core::ffi::c_int,
    pub flex_damping: *mut mjtNum,
    pub flex_edgestiffness: *mut mjtNum,
    pub flex_edgedamping: *mut mjtNum,
    pub flex_edgeequality: *mut ::core::ffi::c_int,
    pub flex_rigid: *mut mjtBool,
    pub flexedge_rigid: *mut mjtBool,
    pub flex_centered: *mut mjtBool,
    pub flex_flatskin: *mut mjtBool,
    pub flex_bvhadr: *mut ::core::ffi::c_int,
    pub flex_bvhnum: *mut ::core::ffi::c_int,
    pub flexedge_J_rownnz: *mut ::core::ffi::c_int,
    pub flexedge_J_rowadr: *mut ::core::ffi::c_int,
    pub flexedge_J_colind: *mut ::core::ffi::c_int,
    pub flexvert_J_rownnz: *mut ::core::ffi::c_int,
    pub flexvert_J_rowadr: *mut ::core::ffi::c_int,
    pub flexvert_J_colind: *mut ::core::ffi::c_int,
    pub flex_rgba: *mut f32,
    pub flex_texcoord: *mut f32,
    pub mesh_vertadr: *mut ::core::ffi::c_int,
    pub mesh_vertnum: *mut ::core::ffi::c_int,
    pub mesh_faceadr: *mut ::core::ffi::c_int,
    pub mesh_facenum: *mut ::core::ffi::c_int,
    pub mesh_bvhadr: *mut ::core::ffi::c_int,
    pub mesh_bvhnum: *mut ::core::ffi::c_int,
    pub mesh_octadr: *mut ::core::ffi::c_int,
    pub mesh_octnum: *mut ::core::ffi::c_int,
    pub mesh_normaladr: *mut ::core::ffi::c_int,
    pub mesh_normalnum: *mut ::core::ffi::c_int,
    pub mesh_texcoordadr: *mut ::core::ffi::c_int,
    pub mesh_texcoordnum: *mut ::core::ffi::c_int,
    pub mesh_graphadr: *mut ::core::ffi::c_int,
    pub mesh_extrema: *mut ::core::ffi::c_int,
    pub mesh_vert: *mut f32,
    pub mesh_normal: *mut f32,
    pub mesh_texcoord: *mut f32,
    pub mesh_face: *mut ::core::ffi::c_int,
    pub mesh_facenormal: *mut ::core::ffi::c_int,
    pub mesh_facetexcoord: *mut ::core::ffi::c_int,
    pub mesh_graph: *mut ::core::ffi::c_int,
    pub mesh_scale: *mut mjtNum,
    pub mesh_pos: *mut mjtNum,
    pub mesh_quat: *mut mjtNum,
    pub mesh_pathadr: *mut ::core::ffi::c_int,
    pub mesh_polynum: *mut ::core::ffi::c_int,
    pub mesh_polyadr: *mut ::core::ffi::c_int,
    pub mesh_polynormal: *mut mjtNum,
    pub mesh_polyvertadr: *mut ::core::ffi::c_int,
    pub mesh_polyvertnum: *mut ::core::ffi::c_int,
    pub mesh_polyvert: *mut ::core::ffi::c_int,
    pub mesh_polymapadr: *mut ::core::ffi::c_int,
    pub mesh_polymapnum: *mut ::core::ffi::c_int,
    pub mesh_polymap: *mut ::core::ffi::c_int,
    pub skin_matid: *mut ::core::ffi::c_int,
    pub skin_group: *mut ::core::ffi::c_int,
    pub skin_rgba: *mut f32,
    pub skin_inflate: *mut f32,
    pub skin_vertadr: *mut ::core::ffi::c_int,
    pub skin_vertnum: *mut ::core::ffi::c_int,
    pub skin_texcoordadr: *mut ::core::ffi::c_int,
    pub skin_faceadr: *mut ::core::ffi::c_int,
    pub skin_facenum: *mut ::core::ffi::c_int,
    pub skin_boneadr: *mut ::core::ffi::c_int,
    pub skin_bonenum: *mut ::core::ffi::c_int,
    pub skin_vert: *mut f32,
    pub skin_texcoord: *mut f32,
    pub skin_face: *mut ::core::ffi::c_int,
    pub skin_bonevertadr: *mut ::core::ffi::c_int,
    pub skin_bonevertnum: *mut ::core::ffi::c_int,
    pub skin_bonebindpos: *mut f32,
    pub skin_bonebindquat: *mut f32,
    pub skin_bonebodyid: *mut ::core::ffi::c_int,
    pub skin_bonevertid: *mut ::core::ffi::c_int,
    pub skin_bonevertweight: *mut f32,
    pub skin_pathadr: *mut ::core::ffi::c_int,
    pub hfield_size: *mut mjtNum,
    pub hfield_nrow: *mut ::core::ffi::c_int,
    pub hfield_ncol: *mut ::core::ffi::c_int,
    pub hfield_adr: *mut ::core::ffi::c_int,
    pub hfield_data: *mut f32,
    pub hfield_pathadr: *mut ::core::ffi::c_int,
    pub tex_type: *mut ::core::ffi::c_int,
    pub tex_colorspace: *mut ::core::ffi::c_int,
    pub tex_height: *mut ::core::ffi::c_int,
    pub tex_width: *mut ::core::ffi::c_int,
    pub tex_nchannel: *mut ::core::ffi::c_int,
    pub tex_adr: *mut mjtSize,
    pub tex_data: *mut mjtByte,
    pub tex_pathadr: *mut ::core::ffi::c_int,
    pub tex_contenttypeadr: *mut ::core::ffi::c_int,
    pub mat_texid: *mut ::core::ffi::c_int,
    pub mat_texuniform: *mut mjtBool,
    pub mat_texrepeat: *mut f32,
    pub mat_emission: *mut f32,
    pub mat_specular: *mut f32,
    pub mat_shininess: *mut f32,
    pub mat_reflectance: *mut f32,
    pub mat_metallic: *mut f32,
    pub mat_roughness: *mut f32,
    pub mat_rgba: *mut f32,
    pub pair_dim: *mut ::core::ffi::c_int,
    pub pair_geom1: *mut ::core::ffi::c_int,
    pub pair_geom2: *mut ::core::ffi::c_int,
    pub pair_signature: *mut ::core::ffi::c_int,
    pub pair_solref: *mut mjtNum,
    pub pair_solreffriction: *mut mjtNum,
    pub pair_solimp: *mut mjtNum,
    pub pair_margin: *mut mjtNum,
    pub pair_gap: *mut mjtNum,
    pub pair_adhesion: *mut mjtNum,
    pub pair_friction: *mut mjtNum,
    pub exclude_signature: *mut ::core::ffi::c_int,
    pub eq_type: *mut ::core::ffi::c_int,
    pub eq_obj1id: *mut ::core::ffi::c_int,
    pub eq_obj2id: *mut ::core::ffi::c_int,
    pub eq_objtype: *mut ::core::ffi::c_int,
    pub eq_active0: *mut mjtBool,
    pub eq_solref: *mut mjtNum,
    pub eq_solimp: *mut mjtNum,
    pub eq_data: *mut mjtNum,
    pub tendon_adr: *mut ::core::ffi::c_int,
    pub tendon_num: *mut ::core::ffi::c_int,
    pub tendon_matid: *mut ::core::ffi::c_int,
    pub tendon_actuatorid: *mut ::core::ffi::c_int,
    pub tendon_group: *mut ::core::ffi::c_int,
    pub tendon_treenum: *mut ::core::ffi::c_int,
    pub tendon_treeid: *mut ::core::ffi::c_int,
    pub ten_J_rownnz: *mut ::core::ffi::c_int,
    pub ten_J_rowadr: *mut ::core::ffi::c_int,
    pub ten_J_colind: *mut ::core::ffi::c_int,
    pub tendon_limited: *mut mjtBool,
    pub tendon_actfrclimited: *mut mjtBool,
    pub tendon_width: *mut mjtNum,
    pub tendon_solref_lim: *mut mjtNum,
    pub tendon_solimp_lim: *mut mjtNum,
    pub tendon_solref_fri: *mut mjtNum,
    pub tendon_solimp_fri: *mut mjtNum,
    pub tendon_range: *mut mjtNum,
    pub tendon_actfrcrange: *mut mjtNum,
    pub tendon_margin: *mut mjtNum,
    pub tendon_stiffness: *mut mjtNum,
    pub tendon_stiffnesspoly: *mut mjtNum,
    pub tendon_damping: *mut mjtNum,
    pub tendon_dampingpoly: *mut mjtNum,
    pub tendon_armature: *mut mjtNum,
    pub tendon_frictionloss: *mut mjtNum,
    pub tendon_lengthspring: *mut mjtNum,
    pub tendon_length0: *mut mjtNum,
    pub tendon_invweight0: *mut mjtNum,
    pub tendon_user: *mut mjtNum,
    pub tendon_rgba: *mut f32,
    pub wrap_type: *mut ::core::ffi::c_int,
    pub wrap_objid: *mut ::core::ffi::c_int,
    pub wrap_prm: *mut mjtNum,
    pub actuator_trntype: *mut ::core::ffi::c_int,
    pub actuator_dyntype: *mut ::core::ffi::c_int,
    pub actuator_gaintype: *mut ::core::ffi::c_int,
    pub actuator_biastype: *mut ::core::ffi::c_int,
    pub actuator_ctrladr: *mut ::core::ffi::c_int,
    pub actuator_ctrlnum: *mut ::core::ffi::c_int,
    pub actuator_ctrlspec: *mut ::core::ffi::c_int,
    pub actuator_outadr: *mut ::core::ffi::c_int,
    pub actuator_outnum: *mut ::core::ffi::c_int,
    pub actuator_actadr: *mut ::core::ffi::c_int,
    pub actuator_actnum: *mut ::core::ffi::c_int,
    pub actuator_trnid: *mut ::core::ffi::c_int,
    pub actuator_cranklength: *mut mjtNum,
    pub actuator_dynprm: *mut mjtNum,
    pub actuator_gainprm: *mut mjtNum,
    pub actuator_biasprm: *mut mjtNum,
    pub actuator_actlimited: *mut mjtBool,
    pub actuator_actrange: *mut mjtNum,
    pub actuator_actearly: *mut mjtBool,
    pub actuator_history: *mut ::core::ffi::c_int,
    pub actuator_historyadr: *mut ::core::ffi::c_int,
    pub actuator_delay: *mut mjtNum,
    pub actuator_damping: *mut mjtNum,
    pub actuator_dampingpoly: *mut mjtNum,
    pub actuator_armature: *mut mjtNum,
    pub actuator_group: *mut ::core::ffi::c_int,
    pub actuator_user: *mut mjtNum,
    pub actuator_plugin: *mut ::core::ffi::c_int,
    pub actuator_forcelimited: *mut mjtBool,
    pub actuator_forcerange: *mut mjtNum,
    pub actuator_ctrllimited: *mut mjtBool,
    pub actuator_ctrlrange: *mut mjtNum,
    pub actuator_gear: *mut mjtNum,
    pub actuator_acc0: *mut mjtNum,
    pub actuator_length0: *mut mjtNum,
    pub actuator_lengthrange: *mut mjtNum,
    pub sensor_type: *mut ::core::ffi::c_int,
    pub sensor_datatype: *mut ::core::ffi::c_int,
    pub sensor_needstage: *mut ::core::ffi::c_int,
    pub sensor_objtype: *mut ::core::ffi::c_int,
    pub sensor_objid: *mut ::core::ffi::c_int,
    pub sensor_reftype: *mut ::core::ffi::c_int,
    pub sensor_refid: *mut ::core::ffi::c_int,
    pub sensor_intprm: *mut ::core::ffi::c_int,
    pub sensor_dim: *mut ::core::ffi::c_int,
    pub sensor_adr: *mut ::core::ffi::c_int,
    pub sensor_cutoff: *mut mjtNum,
    pub sensor_noise: *mut mjtNum,
    pub sensor_history: *mut ::core::ffi::c_int,
    pub sensor_historyadr: *mut ::core::ffi::c_int,
    pub sensor_delay: *mut mjtNum,
    pub sensor_interval: *mut mjtNum,
    pub sensor_user: *mut mjtNum,
    pub sensor_plugin: *mut ::core::ffi::c_int,
    pub plugin: *mut ::core::ffi::c_int,
    pub plugin_stateadr: *mut ::core::ffi::c_int,
    pub plugin_statenum: *mut ::core::ffi::c_int,
    pub plugin_attr: *mut ::core::ffi::c_char,
    pub plugin_attradr: *mut ::core::ffi::c_int,
    pub numeric_adr: *mut ::core::ffi::c_int,
    pub numeric_size: *mut ::core::ffi::c_int,
    pub numeric_data: *mut mjtNum,
    pub text_adr: *mut ::core::ffi::c_int,
    pub text_size: *mut ::core::ffi::c_int,
    pub text_data: *mut ::core::ffi::c_char,
    pub tuple_adr: *mut ::core::ffi::c_int,
    pub tuple_size: *mut ::core::ffi::c_int,
    pub tuple_objtype: *mut ::core::ffi::c_int,
    pub tuple_objid: *mut ::core::ffi::c_int,
    pub tuple_objprm: *mut mjtNum,
    pub key_time: *mut mjtNum,
    pub key_qpos: *mut mjtNum,
    pub key_qvel: *mut mjtNum,
    pub key_act: *mut mjtNum,
    pub key_mpos: *mut mjtNum,
    pub key_mquat: *mut mjtNum,
    pub key_ctrl: *mut mjtNum,
    pub name_bodyadr: *mut ::core::ffi::c_int,
    pub name_jntadr: *mut ::core::ffi::c_int,
    pub name_geomadr: *mut ::core::ffi::c_int,
    pub name_siteadr: *mut ::core::ffi::c_int,
    pub name_camadr: *mut ::core::ffi::c_int,
    pub name_lightadr: *mut ::core::ffi::c_int,
    pub name_flexadr: *mut ::core::ffi::c_int,
    pub name_meshadr: *mut ::core::ffi::c_int,
    pub name_skinadr: *mut ::core::ffi::c_int,
    pub name_hfieldadr: *mut ::core::ffi::c_int,
    pub name_texadr: *mut ::core::ffi::c_int,
    pub name_matadr: *mut ::core::ffi::c_int,
    pub name_pairadr: *mut ::core::ffi::c_int,
    pub name_excludeadr: *mut ::core::ffi::c_int,
    pub name_eqadr: *mut ::core::ffi::c_int,
    pub name_tendonadr: *mut ::core::ffi::c_int,
    pub name_actuatoradr: *mut ::core::ffi::c_int,
    pub name_sensoradr: *mut ::core::ffi::c_int,
    pub name_numericadr: *mut ::core::ffi::c_int,
    pub name_textadr: *mut ::core::ffi::c_int,
    pub name_tupleadr: *mut ::core::ffi::c_int,
    pub name_keyadr: *mut ::core::ffi::c_int,
    pub name_pluginadr: *mut ::core::ffi::c_int,
    pub names: *mut ::core::ffi::c_char,
    pub names_map: *mut ::core::ffi::c_int,
    pub paths: *mut ::core::ffi::c_char,
    pub B_rownnz: *mut ::core::ffi::c_int,
    pub B_rowadr: *mut ::core::ffi::c_int,
    pub B_colind: *mut ::core::ffi::c_int,
    pub M_rownnz: *mut ::core::ffi::c_int,
    pub M_rowadr: *mut ::core::ffi::c_int,
    pub M_colind: *mut ::core::ffi::c_int,
    pub mapM2M: *mut ::core::ffi::c_int,
    pub D_rownnz: *mut ::core::ffi::c_int,
    pub D_rowadr: *mut ::core::ffi::c_int,
    pub D_diag: *mut ::core::ffi::c_int,
    pub D_colind: *mut ::core::ffi::c_int,
    pub mapM2D: *mut ::core::ffi::c_int,
    pub mapD2M: *mut ::core::ffi::c_int,
    pub signature: u64,
}
#[repr(C)]
pub struct mjContact_ {
    pub dist: mjtNum,
    pub pos: [mjtNum; 3usize],
    pub frame: [mjtNum; 9usize],
    pub includemargin: mjtNum,
    pub friction: [mjtNum; 5usize],
    pub solref: [mjtNum; 2usize],
    pub solreffriction: [mjtNum; 2usize],
    pub solimp: [mjtNum; 5usize],
    pub adhesion: mjtNum,
    pub mu: mjtNum,
    pub H: [mjtNum; 36usize],
    pub dim: ::core::ffi::c_int,
    pub geom1: ::core::ffi::c_int,
    pub geom2: ::core::ffi::c_int,
    pub geom: [::core::ffi::c_int; 2usize],
    pub flex: [::core::ffi::c_int; 2usize],
    pub elem: [::core::ffi::c_int; 2usize],
    pub vert: [::core::ffi::c_int; 2usize],
    pub exclude: ::core::ffi::c_int,
    pub efc_address: ::core::ffi::c_int,
}
#[repr(C)]
pub struct mjWarningStat_ {
    pub lastinfo: ::core::ffi::c_int,
    pub number: ::core::ffi::c_int,
}
#[repr(C)]
pub struct mjData_ {
    pub narena: mjtSize,
    pub nbuffer: mjtSize,
    pub nplugin: ::core::ffi::c_int,
    pub pstack: usize,
    pub pbase: usize,
    pub parena: usize,
    pub threadpool: usize,
    pub threadlock: mjtBool,
    pub maxuse_stack: mjtSize,
    pub maxuse_arena: mjtSize,
    pub maxuse_con: ::core::ffi::c_int,
    pub maxuse_efc: ::core::ffi::c_int,
    pub solver: [mjSolverStat; 4000usize],
    pub solver_niter: [::core::ffi::c_int; 20usize],
    pub solver_nnz: [::core::ffi::c_int; 20usize],
    pub solver_fwdinv: [mjtNum; 2usize],
    pub warning: [mjWarningStat; 7usize],
    pub timer: [mjTimerStat; 15usize],
    pub ncon: ::core::ffi::c_int,
    pub ne: ::core::ffi::c_int,
    pub nf: ::core::ffi::c_int,
    pub nl: ::core::ffi::c_int,
    pub nefc: ::core::ffi::c_int,
    pub nJ: ::core::ffi::c_int,
    pub efm_active: ::core::ffi::c_int,
    pub nefmK: ::core::ffi::c_int,
    pub nefmcon: ::core::ffi::c_int,
    pub nefmT: ::core::ffi::c_int,
    pub nefmA: ::core::ffi::c_int,
    pub nefmdof: ::core::ffi::c_int,
    pub nefmL: ::core::ffi::c_int,
    pub nY: ::core::ffi::c_int,
    pub nA: ::core::ffi::c_int,
    pub nisland: ::core::ffi::c_int,
    pub nidof: ::core::ffi::c_int,
    pub ntree_awake: ::core::ffi::c_int,
    pub nbody_awake: ::core::ffi::c_int,
    pub nparent_awake: ::core::ffi::c_int,
    pub nv_awake: ::core::ffi::c_int,
    pub flg_energypos: mjtBool,
    pub flg_energyvel: mjtBool,
    pub flg_subtreevel: mjtBool,
    pub flg_rnepost: mjtBool,
    pub time: mjtNum,
    pub energy: [mjtNum; 2usize],
    pub buffer: *mut ::core::ffi::c_void,
    pub arena: *mut ::core::ffi::c_void,
    pub qpos: *mut mjtNum,
    pub qvel: *mut mjtNum,
    pub act: *mut mjtNum,
    pub history: *mut mjtNum,
    pub qacc_warmstart: *mut mjtNum,
    pub plugin_state: *mut mjtNum,
    pub ctrl: *mut mjtNum,
    pub qfrc_applied: *mut mjtNum,
    pub xfrc_applied: *mut mjtNum,
    pub eq_active: *mut mjtBool,
    pub mocap_pos: *mut mjtNum,
    pub mocap_quat: *mut mjtNum,
    pub qacc: *mut mjtNum,
    pub act_dot: *mut mjtNum,
    pub userdata: *mut mjtNum,
    pub sensordata: *mut mjtNum,
    pub tree_asleep: *mut ::core::ffi::c_int,
    pub plugin: *mut ::core::ffi::c_int,
    pub plugin_data: *mut usize,
    pub xpos: *mut mjtNum,
    pub xquat: *mut mjtNum,
    pub xmat: *mut mjtNum,
    pub xipos: *mut mjtNum,
    pub ximat: *mut mjtNum,
    pub xanchor: *mut mjtNum,
    pub xaxis: *mut mjtNum,
    pub geom_xpos: *mut mjtNum,
    pub geom_xmat: *mut mjtNum,
    pub site_xpos: *mut mjtNum,
    pub site_xmat: *mut mjtNum,
    pub cam_xpos: *mut mjtNum,
    pub cam_xmat: *mut mjtNum,
    pub light_xpos: *mut mjtNum,
    pub light_xdir: *mut mjtNum,
    pub subtree_com: *mut mjtNum,
    pub cdof: *mut mjtNum,
    pub cinert: *mut mjtNum,
    pub flexvert_xpos: *mut mjtNum,
    pub flexelem_aabb: *mut mjtNum,
    pub flexelem_krot: *mut mjtNum,
    pub flex_hessian_valid: *mut mjtBool,
    pub flexvert_hessian: *mut mjtNum,
    pub flexedge_hessian: *mut mjtNum,
    pub flexedge_J: *mut mjtNum,
    pub flexedge_length: *mut mjtNum,
    pub flexvert_J: *mut mjtNum,
    pub flexvert_length: *mut mjtNum,
    pub bvh_aabb_dyn: *mut mjtNum,
    pub flexvert_lambda: *mut mjtNum,
    pub flexvert_conage: *mut ::core::ffi::c_int,
    pub ten_wrapadr: *mut ::core::ffi::c_int,
    pub ten_wrapnum: *mut ::core::ffi::c_int,
    pub ten_J: *mut mjtNum,
    pub ten_length: *mut mjtNum,
    pub wrap_obj: *mut ::core::ffi::c_int,
    pub wrap_xpos: *mut mjtNum,
    pub actuator_length: *mut mjtNum,
    pub moment_rownnz: *mut ::core::ffi::c_int,
    pub moment_rowadr: *mut ::core::ffi::c_int,
    pub moment_colind: *mut ::core::ffi::c_int,
    pub actuator_moment: *mut mjtNum,
    pub crb: *mut mjtNum,
    pub M: *mut mjtNum,
    pub qLD: *mut mjtNum,
    pub qLDiagInv: *mut mjtNum,
    pub bvh_active: *mut mjtBool,
    pub tree_awake: *mut ::core::ffi::c_int,
    pub body_awake: *mut ::core::ffi::c_int,
    pub body_awake_ind: *mut ::core::ffi::c_int,
    pub parent_awake_ind: *mut ::core::ffi::c_int,
    pub dof_awake_ind: *mut ::core::ffi::c_int,
    pub flexedge_velocity: *mut mjtNum,
    pub ten_velocity: *mut mjtNum,
    pub actuator_velocity: *mut mjtNum,
    pub cvel: *mut mjtNum,
    pub cdof_dot: *mut mjtNum,
    pub qfrc_bias: *mut mjtNum,
    pub qfrc_spring: *mut mjtNum,
    pub qfrc_damper: *mut mjtNum,
    pub qfrc_gravcomp: *mut mjtNum,
    pub qfrc_fluid: *mut mjtNum,
    pub qfrc_adhesion: *mut mjtNum,
    pub qfrc_passive: *mut mjtNum,
    pub subtree_linvel: *mut mjtNum,
    pub subtree_angmom: *mut mjtNum,
    pub qH: *mut mjtNum,
    pub qHDiagInv: *mut mjtNum,
    pub qDeriv: *mut mjtNum,
    pub qLU: *mut mjtNum,
    pub actuator_force: *mut mjtNum,
    pub qfrc_actuator: *mut mjtNum,
    pub qfrc_smooth: *mut mjtNum,
    pub qacc_smooth: *mut mjtNum,
    pub qfrc_constraint: *mut mjtNum,
    pub qfrc_inverse: *mut mjtNum,
    pub cacc: *mut mjtNum,
    pub cfrc_int: *mut mjtNum,
    pub cfrc_ext: *mut mjtNum,
    pub contact: *mut mjContact,
    pub efc_type: *mut ::core::ffi::c_int,
    pub efc_id: *mut ::core::ffi::c_int,
    pub efc_J_rownnz: *mut ::core::ffi::c_int,
    pub efc_J_rowadr: *mut ::core::ffi::c_int,
    pub efc_J_rowsuper: *mut ::core::ffi::c_int,
    pub efc_J_colind: *mut ::core::ffi::c_int,
    pub efc_J: *mut mjtNum,
    pub efc_pos: *mut mjtNum,
    pub efc_margin: *mut mjtNum,
    pub efc_frictionloss: *mut mjtNum,
    pub efc_diagA: *mut mjtNum,
    pub efc_KBIP: *mut mjtNum,
    pub efc_D: *mut mjtNum,
    pub efc_R: *mut mjtNum,
    pub tendon_efcadr: *mut ::core::ffi::c_int,
    pub tree_island: *mut ::core::ffi::c_int,
    pub island_ntree: *mut ::core::ffi::c_int,
    pub island_itreeadr: *mut ::core::ffi::c_int,
    pub map_itree2tree: *mut ::core::ffi::c_int,
    pub dof_island: *mut ::core::ffi::c_int,
    pub island_nv: *mut ::core::ffi::c_int,
    pub island_idofadr: *mut ::core::ffi::c_int,
    pub island_dofadr: *mut ::core::ffi::c_int,
    pub map_dof2idof: *mut ::core::ffi::c_int,
    pub map_idof2dof: *mut ::core::ffi::c_int,
    pub ifrc_smooth: *mut mjtNum,
    pub iacc_smooth: *mut mjtNum,
    pub iacc: *mut mjtNum,
    pub efc_island: *mut ::core::ffi::c_int,
    pub island_ne: *mut ::core::ffi::c_int,
    pub island_nf: *mut ::core::ffi::c_int,
    pub island_nefc: *mut ::core::ffi::c_int,
    pub island_iefcadr: *mut ::core::ffi::c_int,
    pub map_efc2iefc: *mut ::core::ffi::c_int,
    pub map_iefc2efc: *mut ::core::ffi::c_int,
    pub iefc_type: *mut ::core::ffi::c_int,
    pub iefc_id: *mut ::core::ffi::c_int,
    pub iefc_frictionloss: *mut mjtNum,
    pub iefc_D: *mut mjtNum,
    pub iefc_R: *mut mjtNum,
    pub efc_Y_rownnz: *mut ::core::ffi::c_int,
    pub efc_Y_rowadr: *mut ::core::ffi::c_int,
    pub efc_Y_colind: *mut ::core::ffi::c_int,
    pub efc_Y: *mut mjtNum,
    pub efc_AR_rownnz: *mut ::core::ffi::c_int,
    pub efc_AR_rowadr: *mut ::core::ffi::c_int,
    pub efc_AR_colind: *mut ::core::ffi::c_int,
    pub efc_AR: *mut mjtNum,
    pub efc_vel: *mut mjtNum,
    pub efc_aref: *mut mjtNum,
    pub efm_c: *mut mjtNum,
    pub efm_diag: *mut mjtNum,
    pub efm_ck: *mut mjtNum,
    pub efm_sdiag: *mut mjtNum,
    pub efm_fluid: *mut mjtNum,
    pub efm_tid: *mut ::core::ffi::c_int,
    pub efm_ts: *mut mjtNum,
    pub efm_tk: *mut mjtNum,
    pub efm_aid: *mut ::core::ffi::c_int,
    pub efm_as: *mut mjtNum,
    pub efm_ak: *mut mjtNum,
    pub efm_ca: *mut mjtNum,
    pub efm_K_rownnz: *mut ::core::ffi::c_int,
    pub efm_K_rowadr: *mut ::core::ffi::c_int,
    pub efm_K_colind: *mut ::core::ffi::c_int,
    pub efm_K_val: *mut mjtNum,
    pub efm_dofid: *mut ::core::ffi::c_int,
    pub efm_con_ind: *mut ::core::ffi::c_int,
    pub efm_con_val: *mut mjtNum,
    pub efm_L: *mut mjtNum,
    pub efc_b: *mut mjtNum,
    pub iefc_aref: *mut mjtNum,
    pub iefc_state: *mut ::core::ffi::c_int,
    pub iefc_force: *mut mjtNum,
    pub efc_state: *mut ::core::ffi::c_int,
    pub efc_force: *mut mjtNum,
    pub ifrc_constraint: *mut mjtNum,
    pub signature: u64,
}
#[repr(C)]
pub struct mjvPerturb_ {
    pub select: ::core::ffi::c_int,
    pub flexselect: ::core::ffi::c_int,
    pub skinselect: ::core::ffi::c_int,
    pub active: ::core::ffi::c_int,
    pub active2: ::core::ffi::c_int,
    pub refpos: [mjtNum; 3usize],
    pub refquat: [mjtNum; 4usize],
    pub refselpos: [mjtNum; 3usize],
    pub localpos: [mjtNum; 3usize],
    pub localmass: mjtNum,
    pub scale: mjtNum,
}
#[repr(C)]
pub struct mjvCamera_ {
    pub type_: ::core::ffi::c_int,
    pub fixedcamid: ::core::ffi::c_int,
    pub trackbodyid: ::core::ffi::c_int,
    pub lookat: [mjtNum; 3usize],
    pub distance: mjtNum,
    pub azimuth: mjtNum,
    pub elevation: mjtNum,
    pub orthographic: ::core::ffi::c_int,
}
#[repr(C)]
pub struct mjvGLCamera_ {
    pub pos: [f32; 3usize],
    pub forward: [f32; 3usize],
    pub up: [f32; 3usize],
    pub frustum_center: f32,
    pub frustum_width: f32,
    pub frustum_bottom: f32,
    pub frustum_top: f32,
    pub frustum_near: f32,
    pub frustum_far: f32,
    pub orthographic: ::core::ffi::c_int,
}
#[repr(C)]
pub struct mjvGeom_ {
    pub type_: ::core::ffi::c_int,
    pub dataid: ::core::ffi::c_int,
    pub objtype: ::core::ffi::c_int,
    pub objid: ::core::ffi::c_int,
    pub category: ::core::ffi::c_int,
    pub matid: ::core::ffi::c_int,
    pub texid: ::core::ffi::c_int,
    pub texuniform: ::core::ffi::c_int,
    pub texcoord: ::core::ffi::c_int,
    pub segid: ::core::ffi::c_int,
    pub size: [f32; 3usize],
    pub pos: [f32; 3usize],
    pub mat: [f32; 9usize],
    pub rgba: [f32; 4usize],
    pub emission: f32,
    pub specular: f32,
    pub shininess: f32,
    pub reflectance: f32,
    pub texrepeat: [f32; 2usize],
    pub label: [::core::ffi::c_char; 100usize],
    pub camdist: f32,
    pub modelrbound: f32,
    pub transparent: mjtByte,
}
#[repr(C)]
pub struct mjvLight_ {
    pub id: ::core::ffi::c_int,
    pub pos: [f32; 3usize],
    pub dir: [f32; 3usize],
    pub type_: ::core::ffi::c_int,
    pub texid: ::core::ffi::c_int,
    pub attenuation: [f32; 3usize],
    pub cutoff: f32,
    pub exponent: f32,
    pub ambient: [f32; 3usize],
    pub diffuse: [f32; 3usize],
    pub specular: [f32; 3usize],
    pub headlight: mjtByte,
    pub castshadow: mjtByte,
    pub bulbradius: f32,
    pub intensity: f32,
    pub range: f32,
    pub softness: f32,
}
#[repr(C)]
pub struct mjvOption_ {
    pub label: ::core::ffi::c_int,
    pub frame: ::core::ffi::c_int,
    pub geomgroup: [mjtByte; 6usize],
    pub sitegroup: [mjtByte; 6usize],
    pub jointgroup: [mjtByte; 6usize],
    pub tendongroup: [mjtByte; 6usize],
    pub actuatorgroup: [mjtByte; 6usize],
    pub flexgroup: [mjtByte; 6usize],
    pub skingroup: [mjtByte; 6usize],
    pub flags: [mjtByte; 31usize],
    pub bvh_depth: ::core::ffi::c_int,
    pub flex_layer: ::core::ffi::c_int,
}
#[repr(C)]
pub struct mjvScene_ {
    pub maxgeom: ::core::ffi::c_int,
    pub ngeom: ::core::ffi::c_int,
    pub geoms: *mut mjvGeom,
    pub geomorder: *mut ::core::ffi::c_int,
    pub nflex: ::core::ffi::c_int,
    pub flexedgeadr: *mut ::core::ffi::c_int,
    pub flexedgenum: *mut ::core::ffi::c_int,
    pub flexvertadr: *mut ::core::ffi::c_int,
    pub flexvertnum: *mut ::core::ffi::c_int,
    pub flexfaceadr: *mut ::core::ffi::c_int,
    pub flexfacenum: *mut ::core::ffi::c_int,
    pub flexfaceused: *mut ::core::ffi::c_int,
    pub flexedge: *mut ::core::ffi::c_int,
    pub flexvert: *mut f32,
    pub flexface: *mut f32,
    pub flexnormal: *mut f32,
    pub flextexcoord: *mut f32,
    pub flexvertopt: mjtByte,
    pub flexedgeopt: mjtByte,
    pub flexfaceopt: mjtByte,
    pub flexskinopt: mjtByte,
    pub nskin: ::core::ffi::c_int,
    pub skinfacenum: *mut ::core::ffi::c_int,
    pub skinvertadr: *mut ::core::ffi::c_int,
    pub skinvertnum: *mut ::core::ffi::c_int,
    pub skinvert: *mut f32,
    pub skinnormal: *mut f32,
    pub nlight: ::core::ffi::c_int,
    pub lights: [mjvLight; 100usize],
    pub camera: [mjvGLCamera; 2usize],
    pub enabletransform: mjtByte,
    pub translate: [f32; 3usize],
    pub rotate: [f32; 4usize],
    pub scale: f32,
    pub stereo: ::core::ffi::c_int,
    pub flags: [mjtByte; 11usize],
    pub framewidth: ::core::ffi::c_int,
    pub framergb: [f32; 3usize],
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
    pub mj_version: unsafe extern "C-unwind" fn() -> ::core::ffi::c_int,
    pub mj_versionString: unsafe extern "C-unwind" fn() -> *const ::core::ffi::c_char,
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
pub const mjGEOM_HFIELD: mjtGeom = 1;
pub const mjGEOM_SPHERE: mjtGeom = 2;
pub const mjGEOM_CAPSULE: mjtGeom = 3;
pub const mjGEOM_ELLIPSOID: mjtGeom = 4;
pub const mjGEOM_CYLINDER: mjtGeom = 5;
pub const mjGEOM_BOX: mjtGeom = 6;
pub const mjGEOM_MESH: mjtGeom = 7;
pub const mjGEOM_SDF: mjtGeom = 8;
pub const mjNGEOMTYPES: mjtGeom = 9;
pub const mjGEOM_ARROW: mjtGeom = 100;
pub const mjGEOM_ARROW1: mjtGeom = 101;
pub const mjGEOM_ARROW2: mjtGeom = 102;
pub const mjGEOM_LINE: mjtGeom = 103;
pub const mjGEOM_LINEBOX: mjtGeom = 104;
pub const mjGEOM_FLEX: mjtGeom = 105;
pub const mjGEOM_SKIN: mjtGeom = 106;
pub const mjGEOM_LABEL: mjtGeom = 107;
pub const mjGEOM_TRIANGLE: mjtGeom = 108;
pub const mjGEOM_NONE: mjtGeom = 1001;
pub const mjLIGHT_SPOT: mjtLightType = 0;
pub const mjLIGHT_DIRECTIONAL: mjtLightType = 1;
pub const mjLIGHT_POINT: mjtLightType = 2;
pub const mjLIGHT_IMAGE: mjtLightType = 3;
pub const mjOBJ_UNKNOWN: mjtObj = 0;
pub const mjOBJ_BODY: mjtObj = 1;
pub const mjOBJ_XBODY: mjtObj = 2;
pub const mjOBJ_JOINT: mjtObj = 3;
pub const mjOBJ_DOF: mjtObj = 4;
pub const mjOBJ_GEOM: mjtObj = 5;
pub const mjOBJ_SITE: mjtObj = 6;
pub const mjOBJ_CAMERA: mjtObj = 7;
pub const mjOBJ_LIGHT: mjtObj = 8;
pub const mjOBJ_FLEX: mjtObj = 9;
pub const mjOBJ_MESH: mjtObj = 10;
pub const mjOBJ_SKIN: mjtObj = 11;
pub const mjOBJ_HFIELD: mjtObj = 12;
pub const mjOBJ_TEXTURE: mjtObj = 13;
pub const mjOBJ_MATERIAL: mjtObj = 14;
pub const mjOBJ_PAIR: mjtObj = 15;
pub const mjOBJ_EXCLUDE: mjtObj = 16;
pub const mjOBJ_EQUALITY: mjtObj = 17;
pub const mjOBJ_TENDON: mjtObj = 18;
pub const mjOBJ_ACTUATOR: mjtObj = 19;
pub const mjOBJ_SENSOR: mjtObj = 20;
pub const mjOBJ_NUMERIC: mjtObj = 21;
pub const mjOBJ_TEXT: mjtObj = 22;
pub const mjOBJ_TUPLE: mjtObj = 23;
pub const mjOBJ_KEY: mjtObj = 24;
pub const mjOBJ_PLUGIN: mjtObj = 25;
pub const mjNOBJECT: mjtObj = 26;
pub const mjOBJ_FRAME: mjtObj = 100;
pub const mjOBJ_DEFAULT: mjtObj = 101;
pub const mjOBJ_MODEL: mjtObj = 102;
pub const mjWARN_INERTIA: mjtWarning = 0;
pub const mjWARN_CONTACTFULL: mjtWarning = 1;
pub const mjWARN_CNSTRFULL: mjtWarning = 2;
pub const mjWARN_BADQPOS: mjtWarning = 3;
pub const mjWARN_BADQVEL: mjtWarning = 4;
pub const mjWARN_BADQACC: mjtWarning = 5;
pub const mjWARN_BADCTRL: mjtWarning = 6;
pub const mjNWARNING: mjtWarning = 7;
pub const mjLOG_DEBUG: mjtLogLevel = 0;
pub const mjLOG_INFO: mjtLogLevel = 1;
pub const mjLOG_WARNING: mjtLogLevel = 2;
pub const mjLOG_ERROR: mjtLogLevel = 3;
pub const mjCAT_STATIC: mjtCatBit_ = 1;
pub const mjCAT_DYNAMIC: mjtCatBit_ = 2;
pub const mjCAT_DECOR: mjtCatBit_ = 4;
pub const mjCAT_ALL: mjtCatBit_ = 7;
pub const mjCAMERA_FREE: mjtCamera_ = 0;
pub const mjCAMERA_TRACKING: mjtCamera_ = 1;
pub const mjCAMERA_FIXED: mjtCamera_ = 2;
pub const mjCAMERA_USER: mjtCamera_ = 3;
impl<T: Copy + Default, const N: usize> Default for __BindgenOpaqueArray8<[T; N]> {
    fn default() -> Self {
        Self([<T as Default>::default(); N])
    }
}
impl Api {
    pub unsafe fn new<P>(path: P) -> Result<Self, ::libloading::Error>
    where
        P: AsRef<::std::ffi::OsStr>,
    {
        let path = path.as_ref();
        let library = ::libloading::Library::new(path)?;
        Self::from_library(library)
    }
    pub unsafe fn from_library<L>(library: L) -> Result<Self, ::libloading::Error>
    where
        L: Into<::libloading::Library>,
    {
        let __library = library.into();
        let mj_parseXMLString = __library.get(b"mj_parseXMLString\0").map(|sym| *sym)?;
        let mj_compile = __library.get(b"mj_compile\0").map(|sym| *sym)?;
        let mj_step = __library.get(b"mj_step\0").map(|sym| *sym)?;
        let mj_forward = __library.get(b"mj_forward\0").map(|sym| *sym)?;
        let mj_copyModel = __library.get(b"mj_copyModel\0").map(|sym| *sym)?;
        let mj_deleteModel = __library.get(b"mj_deleteModel\0").map(|sym| *sym)?;
        let mj_makeData = __library.get(b"mj_makeData\0").map(|sym| *sym)?;
        let mj_copyData = __library.get(b"mj_copyData\0").map(|sym| *sym)?;
        let mj_resetData = __library.get(b"mj_resetData\0").map(|sym| *sym)?;
        let mj_deleteData = __library.get(b"mj_deleteData\0").map(|sym| *sym)?;
        let mj_setConst = __library.get(b"mj_setConst\0").map(|sym| *sym)?;
        let mj_deleteSpec = __library.get(b"mj_deleteSpec\0").map(|sym| *sym)?;
        let mj_kinematics = __library.get(b"mj_kinematics\0").map(|sym| *sym)?;
        let mj_comPos = __library.get(b"mj_comPos\0").map(|sym| *sym)?;
        let mj_camlight = __library.get(b"mj_camlight\0").map(|sym| *sym)?;
        let mj_name2id = __library.get(b"mj_name2id\0").map(|sym| *sym)?;
        let mj_id2name = __library.get(b"mj_id2name\0").map(|sym| *sym)?;
        let mj_version = __library.get(b"mj_version\0").map(|sym| *sym)?;
        let mj_versionString = __library.get(b"mj_versionString\0").map(|sym| *sym)?;
        let mjv_defaultCamera = __library.get(b"mjv_defaultCamera\0").map(|sym| *sym)?;
        let mjv_defaultPerturb = __library.get(b"mjv_defaultPerturb\0").map(|sym| *sym)?;
        let mjv_defaultOption = __library.get(b"mjv_defaultOption\0").map(|sym| *sym)?;
        let mjv_defaultScene = __library.get(b"mjv_defaultScene\0").map(|sym| *sym)?;
        let mjv_makeScene = __library.get(b"mjv_makeScene\0").map(|sym| *sym)?;
        let mjv_freeScene = __library.get(b"mjv_freeScene\0").map(|sym| *sym)?;
        let mjv_updateScene = __library.get(b"mjv_updateScene\0").map(|sym| *sym)?;
        let mju_setLogHandler = __library.get(b"mju_setLogHandler\0").map(|sym| *sym)?;
        let mjs_getError = __library.get(b"mjs_getError\0").map(|sym| *sym)?;
        Ok(Api {
            __library,
            mj_parseXMLString,
            mj_compile,
            mj_step,
            mj_forward,
            mj_copyModel,
            mj_deleteModel,
            mj_makeData,
            mj_copyData,
            mj_resetData,
            mj_deleteData,
            mj_setConst,
            mj_deleteSpec,
            mj_kinematics,
            mj_comPos,
            mj_camlight,
            mj_name2id,
            mj_id2name,
            mj_version,
            mj_versionString,
            mjv_defaultCamera,
            mjv_defaultPerturb,
            mjv_defaultOption,
            mjv_defaultScene,
            mjv_makeScene,
            mjv_freeScene,
            mjv_updateScene,
            mju_setLogHandler,
            mjs_getError,
        })
    }
    pub unsafe fn mj_parseXMLString(
        &self,
        xml: *const ::core::ffi::c_char,
        vfs: *const mjVFS,
        error: *mut ::core::ffi::c_char,
        error_sz: ::core::ffi::c_int,
    ) -> *mut mjSpec {
        (self.mj_parseXMLString)(xml, vfs, error, error_sz)
    }
    pub unsafe fn mj_compile(&self, s: *mut mjSpec, vfs: *const mjVFS) -> *mut mjModel {
        (self.mj_compile)(s, vfs)
    }
    pub unsafe fn mj_step(&self, m: *const mjModel, d: *mut mjData) {
        (self.mj_step)(m, d)
    }
    pub unsafe fn mj_forward(&self, m: *const mjModel, d: *mut mjData) {
        (self.mj_forward)(m, d)
    }
    pub unsafe fn mj_copyModel(&self, dest: *mut mjModel, src: *const mjModel) -> *mut mjModel {
        (self.mj_copyModel)(dest, src)
    }
    pub unsafe fn mj_deleteModel(&self, m: *mut mjModel) {
        (self.mj_deleteModel)(m)
    }
    pub unsafe fn mj_makeData(&self, m: *const mjModel) -> *mut mjData {
        (self.mj_makeData)(m)
    }
    pub unsafe fn mj_copyData(
        &self,
        dest: *mut mjData,
        m: *const mjModel,
        src: *const mjData,
    ) -> *mut mjData {
        (self.mj_copyData)(dest, m, src)
    }
    pub unsafe fn mj_resetData(&self, m: *const mjModel, d: *mut mjData) {
        (self.mj_resetData)(m, d)
    }
    pub unsafe fn mj_deleteData(&self, d: *mut mjData) {
        (self.mj_deleteData)(d)
    }
    pub unsafe fn mj_setConst(&self, m: *mut mjModel, d: *mut mjData) {
        (self.mj_setConst)(m, d)
    }
    pub unsafe fn mj_deleteSpec(&self, s: *mut mjSpec) {
        (self.mj_deleteSpec)(s)
    }
    pub unsafe fn mj_kinematics(&self, m: *const mjModel, d: *mut mjData) {
        (self.mj_kinematics)(m, d)
    }
    pub unsafe fn mj_comPos(&self, m: *const mjModel, d: *mut mjData) {
        (self.mj_comPos)(m, d)
    }
    pub unsafe fn mj_camlight(&self, m: *const mjModel, d: *mut mjData) {
        (self.mj_camlight)(m, d)
    }
    pub unsafe fn mj_name2id(
        &self,
        m: *const mjModel,
        type_: ::core::ffi::c_int,
        name: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int {
        (self.mj_name2id)(m, type_, name)
    }
    pub unsafe fn mj_id2name(
        &self,
        m: *const mjModel,
        type_: ::core::ffi::c_int,
        id: ::core::ffi::c_int,
    ) -> *const ::core::ffi::c_char {
        (self.mj_id2name)(m, type_, id)
    }
    pub unsafe fn mj_version(&self) -> ::core::ffi::c_int {
        (self.mj_version)()
    }
    pub unsafe fn mj_versionString(&self) -> *const ::core::ffi::c_char {
        (self.mj_versionString)()
    }
    pub unsafe fn mjv_defaultCamera(&self, cam: *mut mjvCamera) {
        (self.mjv_defaultCamera)(cam)
    }
    pub unsafe fn mjv_defaultPerturb(&self, pert: *mut mjvPerturb) {
        (self.mjv_defaultPerturb)(pert)
    }
    pub unsafe fn mjv_defaultOption(&self, opt: *mut mjvOption) {
        (self.mjv_defaultOption)(opt)
    }
    pub unsafe fn mjv_defaultScene(&self, scn: *mut mjvScene) {
        (self.mjv_defaultScene)(scn)
    }
    pub unsafe fn mjv_makeScene(&self, m: *const mjModel, scn: *mut mjvScene, maxgeom: ::core::ffi::c_int) {
        (self.mjv_makeScene)(m, scn, maxgeom)
    }
    pub unsafe fn mjv_freeScene(&self, scn: *mut mjvScene) {
        (self.mjv_freeScene)(scn)
    }
    pub unsafe fn mjv_updateScene(
        &self,
        m: *const mjModel,
        d: *mut mjData,
        opt: *const mjvOption,
        pert: *const mjvPerturb,
        cam: *mut mjvCamera,
        catmask: ::core::ffi::c_int,
        scn: *mut mjvScene,
    ) {
        (self.mjv_updateScene)(m, d, opt, pert, cam, catmask, scn)
    }
    pub unsafe fn mju_setLogHandler(&self, handler: mjfLogHandler) -> mjfLogHandler {
        (self.mju_setLogHandler)(handler)
    }
    pub unsafe fn mjs_getError(&self, s: *mut mjSpec) -> *const ::core::ffi::c_char {
        (self.mjs_getError)(s)
    }
}
pub use self::mjtCamera_ as mjtCamera;
pub use self::mjtCatBit_ as mjtCatBit;

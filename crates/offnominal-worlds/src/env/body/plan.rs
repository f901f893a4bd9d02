//! What a body is made of, as data.

/// A body before its limbs get their sizes.
#[derive(Debug)]
pub(super) struct Plan {
    pub id: &'static str,
    pub summary: &'static str,
    pub root: Root,
    /// The torso first; every limb after the one that it hangs on.
    pub limbs: &'static [Limb],
    /// What the numbers of the publication's table are, if taken as they stand.
    pub table: Table,
    /// Height of the torso's centre at the start, in m, of the nominal body.
    pub height_m: f64,
    /// Friction between body and ground.
    pub friction: f64,
    /// When the body has fallen.
    pub fallen: Fallen,
    /// Limbs whose contact with the ground is observed.
    pub feet: &'static [usize],
    /// Of these, the ones that must not touch the ground: while one does, the body does not count as alive.
    pub knees: &'static [usize],
}

/// How the torso moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// In the plane y = 0.
    Planar,
    /// Freely.
    Free,
}

/// A limb, or the torso.
#[derive(Debug)]
pub(super) struct Limb {
    pub name: &'static str,
    /// The limb that it hangs on; itself for the torso.
    pub parent: usize,
    /// Where on that limb, in its frame, in m, at nominal length.
    pub attach_m: [f64; 3],
    /// Centre of the shape in the limb's own frame, in m, at nominal length.
    pub centre_m: [f64; 3],
    pub form: Form,
    pub length_m: f64,
    pub width_m: f64,
    /// The number that the publication's table gives as length.
    pub table: f64,
    /// Mass at nominal size, where it is not that of water.
    pub mass_kg: Option<f64>,
    pub joint: Option<Joint>,
    /// Class in images.
    pub class: &'static str,
    /// The limb of the other side, if the table has one row for both.
    pub twin: Option<usize>,
}

impl Limb {
    /// An upright torso: what other limbs differ from.
    pub(super) const TORSO: Limb = Limb {
        name: "torso",
        parent: 0,
        attach_m: [0.0; 3],
        centre_m: [0.0; 3],
        form: Form::Capsule([0.0, 0.0, -1.0]),
        length_m: 0.4,
        width_m: 0.05,
        table: 1.45,
        mass_kg: None,
        joint: None,
        class: "torso",
        twin: None,
    };
}

/// The shape of a limb.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// A capsule along a direction of length one.
    Capsule([f64; 3]),
    /// An ellipsoid whose half axis along x is the length, and whose others are the width.
    Ellipsoid,
}

/// A hinge with its motor.
#[derive(Debug)]
pub(super) struct Joint {
    pub axis: [f64; 3],
    pub low_rad: f64,
    pub high_rad: f64,
    /// The angle around which episodes start.
    pub rest_rad: f64,
    /// Torque at full action.
    pub torque_nm: f64,
}

/// What the numbers of the table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    /// Heights above the ground at which limbs begin; a limb ends where the next one begins. The foot's is where its
    /// tip is.
    Heights,
    /// Half lengths of capsules; what hangs on them stays where it was.
    HalfLengths,
    /// Components of the length along x and along y.
    Components,
}

/// When a body has fallen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fallen {
    /// Its torso is lower than this, or pitched by more than this.
    Torso { low_m: f64, pitch_rad: f64 },
    /// The torso's centre is lower than this; relative to a body, the torso's lowest point that much lower.
    Belly { low_m: f64 },
    /// Never. A torso pitched by more does not count as alive.
    Never { pitch_rad: f64 },
}

impl Plan {
    /// The joints in order, each with its limb.
    pub(super) fn joints(&self) -> impl Iterator<Item = (&'static Limb, &'static Joint)> {
        self.limbs.iter().filter_map(|limb| limb.joint.as_ref().map(|joint| (limb, joint)))
    }

    pub(super) fn n_joints(&self) -> usize {
        self.joints().count()
    }
}

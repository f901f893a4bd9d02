//! The lengths and widths of a body's limbs: their names, their ranges, and what they are in metres.

use super::error::BodyError;
use super::options::Reading;
use super::plan::{Form, Limb, Plan, Table};
use offnominal_core::spec::Parameter;
use std::f64::consts::PI;

/// The shortest limb that is made, in m.
const LEAST_M: f64 = 0.02;
/// Smallest and largest size, as multiples of the nominal one.
const RANGE: (f64, f64) = (0.2, 3.0);

/// A length or a width.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// The name of the parameter, such as `thigh-length`.
    pub name: String,
    /// The limb.
    pub limb: &'static str,
    /// Which of the two.
    pub span: Span,
    /// The number of the nominal body.
    pub nominal: f64,
    /// The quantity of the other side, where the publication's table has one number for both.
    pub twin: Option<usize>,
}

/// Which size of a limb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// How long it is.
    Length,
    /// Its radius.
    Width,
}

/// The quantities of a body: for each limb its length and its width.
pub(super) fn quantities(plan: &Plan, reading: Reading) -> Vec<Quantity> {
    let of = |limb: &Limb| {
        let length = match reading {
            Reading::True => limb.length_m,
            Reading::PaperLiteral => limb.table,
        };
        [(Span::Length, "length", length, 0), (Span::Width, "width", limb.width_m, 1)].map(
            |(span, word, nominal, at)| Quantity {
                name: format!("{}-{word}", limb.name),
                limb: limb.name,
                span,
                nominal,
                twin: limb.twin.map(|twin| 2 * twin + at),
            },
        )
    };
    plan.limbs.iter().flat_map(of).collect()
}

/// The parameters of an environment that are sizes of limbs.
pub(super) fn parameters(plan: &Plan, reading: Reading) -> Vec<Parameter> {
    let of = |q: &Quantity| {
        let limb = q.limb.replace('-', " ");
        let meaning = match q.span {
            Span::Length => length_means(plan, reading, q.limb, &limb),
            Span::Width if is_ellipsoid(plan, q.limb) => format!("half axes of the {limb} across"),
            Span::Width => format!("radius of the {limb}"),
        };
        let [low, high] = [RANGE.0, RANGE.1].map(|times| rounded(times * q.nominal));
        Parameter::new(&q.name, &meaning, "m", q.nominal, low, high)
    };
    quantities(plan, reading).iter().map(of).collect()
}

/// To a tenth of a millimetre, so that cards can be read.
fn rounded(metres: f64) -> f64 {
    (metres * 1e4).round() / 1e4
}

fn is_ellipsoid(plan: &Plan, name: &str) -> bool {
    plan.limbs.iter().any(|l| l.name == name && matches!(l.form, Form::Ellipsoid))
}

fn length_means(plan: &Plan, reading: Reading, name: &str, limb: &str) -> String {
    match (reading, plan.table) {
        _ if is_ellipsoid(plan, name) => format!("half axis of the {limb} along its x"),
        (Reading::True, _) => format!("length of the {limb} between the centres of its caps"),
        (_, Table::Heights) if limb.ends_with("foot") => format!("where the tip of the {limb} is, along x"),
        (_, Table::Heights) => format!("height at which the {limb} begins in the nominal stance"),
        (_, Table::HalfLengths) => format!("half length of the {limb}"),
        (_, Table::Components) => format!("length of the {limb} along each of x and y"),
    }
}

/// A limb as it is built.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bone {
    pub length_m: f64,
    pub width_m: f64,
    /// Centre of the shape in the limb's frame, in m.
    pub centre_m: [f64; 3],
    /// What the places where other limbs hang are multiplied by.
    pub stretch: f64,
}

impl Bone {
    pub(super) fn volume_m3(&self, form: Form) -> f64 {
        let (l, w) = (self.length_m, self.width_m);
        match form {
            Form::Capsule(_) => PI * w * w * l + 4.0 / 3.0 * PI * w.powi(3),
            Form::Ellipsoid => 4.0 / 3.0 * PI * l * w * w,
        }
    }
}

/// The limbs of a body for its numbers, two for each limb.
pub(super) fn limbs(plan: &'static Plan, reading: Reading, numbers: &[f64]) -> Result<Vec<Bone>, BodyError> {
    assert_eq!(numbers.len(), 2 * plan.limbs.len(), "a length and a width for each limb of {}", plan.id);
    (0..plan.limbs.len()).map(|i| sized(plan, reading, numbers, i)).collect()
}

fn sized(plan: &'static Plan, reading: Reading, numbers: &[f64], i: usize) -> Result<Bone, BodyError> {
    let (limb, number) = (&plan.limbs[i], numbers[2 * i]);
    let (length_m, centre_m, stretch) = match (reading, plan.table) {
        (Reading::True, _) => grown(limb, number),
        (_, Table::Components) => grown(limb, number * limb.length_m / limb.table),
        (_, Table::HalfLengths) => (2.0 * number, limb.centre_m, 1.0),
        (_, Table::Heights) => between(plan, numbers, i),
    };
    if length_m < LEAST_M {
        let why = "limbs reach from the height at which they begin to where the next one begins";
        return Err(BodyError::NoRoom {
            body: plan.id,
            limb: limb.name,
            least: LEAST_M,
            found: length_m,
            why,
        });
    }
    Ok(Bone { length_m, width_m: numbers[2 * i + 1], centre_m, stretch })
}

/// A limb of true length: everything in its frame moves in proportion.
fn grown(limb: &Limb, length_m: f64) -> (f64, [f64; 3], f64) {
    let stretch = length_m / limb.length_m;
    (length_m, limb.centre_m.map(|c| c * stretch), stretch)
}

/// A limb between two heights; of a foot, the heel stays and the tip moves.
fn between(plan: &Plan, numbers: &[f64], i: usize) -> (f64, [f64; 3], f64) {
    let limb = &plan.limbs[i];
    if is_foot(limb) {
        let longer = numbers[2 * i] - limb.table;
        let [x, y, z] = limb.centre_m;
        return (limb.length_m + longer, [x + 0.5 * longer, y, z], 1.0);
    }
    let next = (i + 1..plan.limbs.len()).find(|&n| plan.limbs[n].parent == i && !is_foot(&plan.limbs[n]));
    let end = next.map_or(limb.table - limb.length_m, |n| numbers[2 * n]);
    grown(limb, numbers[2 * i] - end)
}

/// Whether a limb lies along the ground.
fn is_foot(limb: &Limb) -> bool {
    matches!(limb.form, Form::Capsule([_, _, z]) if z == 0.0)
}

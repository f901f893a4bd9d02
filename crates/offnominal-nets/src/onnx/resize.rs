//! Images and other values in another size, axis by axis: the nearest number, or a mixture of two.

use super::OnnxError;
use super::arithmetic::{MISFIT, MISSING};
use super::budget::{Budget, MOST_AXES, Use};
use super::node::{Inputs, Written};
use super::tensor::Tensor;

/// Where in the value a place of the result lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coordinates {
    /// Pixel centres lie at half integers.
    HalfPixel,
    /// The same, but a single pixel lies at zero.
    PytorchHalfPixel,
    /// The first and the last lie on the first and the last.
    AlignCorners,
    /// Pixels begin at integers.
    Asymmetric,
}

/// Which of two numbers is the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nearest {
    HalfDown,
    HalfUp,
    Floor,
    Ceil,
}

/// How a node brings a value to another size.
#[derive(Debug, Clone)]
pub(super) struct Resize {
    /// None if two numbers are mixed.
    nearest: Option<Nearest>,
    coordinates: Coordinates,
    axes: Vec<i64>,
    /// Before version 10.
    scales: Vec<f32>,
    /// The input with scales.
    scaled_by: usize,
}

/// The two numbers that a place is made of, and the share of the second.
type Mixture = (usize, usize, f32);

impl Resize {
    pub(super) fn read(node: &Written) -> Result<Resize, OnnxError> {
        let is_set = |name: &str, usual: &str| ["", usual].contains(&node.text(name));
        let plain = node.number("antialias", 0) == 0
            && node.number("exclude_outside", 0) == 0
            && is_set("keep_aspect_ratio_policy", "stretch");
        if !plain {
            return Err(node.unsupported("a plain resize", "antialias, exclude_outside or a kept ratio"));
        }
        let is_old = node.operator == "Upsample" || node.opset < 11;
        let coordinates = match node.text("coordinate_transformation_mode") {
            "" if is_old => Coordinates::Asymmetric,
            "" | "half_pixel" => Coordinates::HalfPixel,
            "pytorch_half_pixel" => Coordinates::PytorchHalfPixel,
            "align_corners" => Coordinates::AlignCorners,
            "asymmetric" => Coordinates::Asymmetric,
            other => return Err(node.unsupported("half_pixel, align_corners or asymmetric", other)),
        };
        let nearest = match (node.text("mode"), node.text("nearest_mode")) {
            ("linear" | "bilinear", _) => None,
            ("" | "nearest", "") if is_old => Some(Nearest::Floor),
            ("" | "nearest", "" | "round_prefer_floor") => Some(Nearest::HalfDown),
            ("" | "nearest", "round_prefer_ceil") => Some(Nearest::HalfUp),
            ("" | "nearest", "floor") => Some(Nearest::Floor),
            ("" | "nearest", "ceil") => Some(Nearest::Ceil),
            (other, _) => return Err(node.unsupported("the mode nearest or linear", other)),
        };
        let scales = node.attributes.get("scales").map_or(vec![], |scales| scales.floats.clone());
        let scaled_by = if is_old { 1 } else { 2 };
        Ok(Resize { nearest, coordinates, axes: node.numbers("axes"), scales, scaled_by })
    }

    /// Brings a value to the size that further inputs say, or attributes of old versions.
    pub(super) fn run(
        &self,
        inputs: Inputs<'_>,
        out: &mut Tensor,
        budget: &mut Budget,
    ) -> Result<(), OnnxError> {
        let from = inputs.get(0).ok_or(MISSING)?;
        let rank = from.shape.len();
        let some = |i: usize| inputs.get(i).map(|t| &t.data[..]).filter(|data| !data.is_empty());
        let (scales, sizes) = (some(self.scaled_by), if self.scaled_by == 2 { some(3) } else { None });
        let scales = scales.or(Some(&self.scales[..])).filter(|scales| !scales.is_empty());
        let given = sizes.or(scales).ok_or(MISSING)?;
        let n = if self.axes.is_empty() { rank } else { self.axes.len() };
        (given.len() == n).then_some(()).ok_or(MISFIT)?;
        let (mut shape, mut by) = ([1; MOST_AXES], [1.0; MOST_AXES]);
        shape[..rank].copy_from_slice(&from.shape);
        for (k, &number) in given.iter().enumerate() {
            let i = self.axes.get(k).map_or(Ok(k), |&at| super::index::axis(at, rank))?;
            let length = from.shape[i] as f64;
            let wanted =
                if sizes.is_some() { f64::from(number) } else { (f64::from(number) * length).floor() };
            (1.0..1e9).contains(&wanted).then_some(()).ok_or(MISFIT)?;
            shape[i] = wanted as usize;
            by[i] = if sizes.is_some() { wanted / length } else { f64::from(number) };
        }
        self.to(from, &shape[..rank], &by, out, budget)
    }

    /// Brings a value to a shape by these scales.
    fn to(
        &self,
        from: &Tensor,
        shape: &[usize],
        by: &[f64],
        out: &mut Tensor,
        budget: &mut Budget,
    ) -> Result<(), OnnxError> {
        (!from.data.is_empty()).then_some(()).ok_or(MISFIT)?;
        // From the last axis to the first, so that rows are mixed as a whole.
        let axes = || (0..shape.len()).rev().filter(|&i| by[i] != 1.0 || shape[i] != from.shape[i]);
        let mut between = from.shape.clone();
        let largest = axes().map(|i| {
            between[i] = shape[i];
            between.iter().try_fold(1_usize, |n, &length| n.checked_mul(length)).unwrap_or(usize::MAX)
        });
        let largest = largest.max().unwrap_or(0);
        out.become_empty(shape, 4 * shape.len().max(1), budget)?;
        budget.lend(largest.checked_mul(2))?;
        let mut now = from.shape.clone();
        let mut last: Option<Vec<f32>> = None;
        for i in axes() {
            let mut next = budget.memory(largest);
            next.clear();
            let places: Vec<Mixture> =
                (0..shape[i]).map(|at| self.mixture(at, now[i], shape[i], by[i])).collect();
            along(last.as_ref().unwrap_or(&from.data), &now, i, &places, &mut next);
            now[i] = shape[i];
            if let Some(mut before) = last.replace(next) {
                budget.keep(&mut before);
            }
        }
        match last {
            Some(mut made) => {
                std::mem::swap(&mut out.data, &mut made);
                budget.keep(&mut made);
            }
            None => out.data.extend_from_slice(&from.data),
        }
        Ok(())
    }

    /// What a place is made of.
    fn mixture(&self, at: usize, from: usize, to: usize, by: f64) -> Mixture {
        let at = at as f64;
        let place = match self.coordinates {
            Coordinates::PytorchHalfPixel if to == 1 => 0.0,
            Coordinates::HalfPixel | Coordinates::PytorchHalfPixel => (at + 0.5) / by - 0.5,
            Coordinates::AlignCorners if to == 1 => 0.0,
            Coordinates::AlignCorners => at * (from as f64 - 1.0) / (from as f64 * by - 1.0),
            Coordinates::Asymmetric => at / by,
        };
        let last = from.saturating_sub(1);
        let within = |place: f64| (place.max(0.0) as usize).min(last);
        match self.nearest {
            None => {
                let place = place.clamp(0.0, last as f64);
                (within(place), (within(place) + 1).min(last), place.fract() as f32)
            }
            Some(Nearest::HalfDown) => (within((place - 0.5).ceil()), 0, 0.0),
            Some(Nearest::HalfUp) => (within((place + 0.5).floor()), 0, 0.0),
            Some(Nearest::Floor) => (within(place.floor()), 0, 0.0),
            Some(Nearest::Ceil) => (within(place.ceil()), 0, 0.0),
        }
    }
}

/// Appends numbers whose places along an axis are mixtures.
fn along(from: &[f32], shape: &[usize], axis: usize, places: &[Mixture], out: &mut Vec<f32>) {
    let behind: usize = shape[axis + 1..].iter().product();
    for block in from.chunks_exact((shape[axis] * behind).max(1)) {
        let row = |i: usize| &block[i * behind..][..behind];
        for &(low, high, share) in places {
            match (share, behind) {
                (0.0, 1) => out.push(block[low]),
                (0.0, _) => out.extend_from_slice(row(low)),
                (_, 1) => out.push(mixed(block[low], block[high], share)),
                _ => out.extend(row(low).iter().zip(row(high)).map(|(&a, &b)| mixed(a, b, share))),
            }
        }
    }
}

fn mixed(a: f32, b: f32, share: f32) -> f32 {
    (1.0 - share) * a + share * b
}

/// Images `[images, planes, rows, columns]` in another size, bilinearly, with pixel centres at half integers.
///
/// # Errors
/// If they have other axes, or are too large.
pub fn bilinear(from: &Tensor, to: [usize; 2]) -> Result<Tensor, OnnxError> {
    let (mut out, shape) = (Tensor::default(), vec![1, 1, to[0], to[1]]);
    like(from, &Tensor { shape, ..Tensor::default() }, &mut out, &mut Budget::of(Use::Image))?;
    Ok(out)
}

/// An image in the size of another one, bilinearly, with pixel centres at half integers.
pub(super) fn like(
    from: &Tensor,
    other: &Tensor,
    out: &mut Tensor,
    budget: &mut Budget,
) -> Result<(), OnnxError> {
    let ([images, planes, height, width], [.., rows, columns]) = (&from.shape[..], &other.shape[..]) else {
        return Err(MISFIT);
    };
    let by = [1.0, 1.0, *rows as f64 / *height as f64, *columns as f64 / *width as f64];
    let coordinates = Coordinates::HalfPixel;
    let resize = Resize { nearest: None, coordinates, axes: vec![], scales: vec![], scaled_by: 2 };
    resize.to(from, &[*images, *planes, *rows, *columns], &by, out, budget)
}

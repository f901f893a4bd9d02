//! Functions between the layers, with their derivatives.

use crate::math::{exp, simd, tanh};
use serde::{Deserialize, Serialize};

/// A function applied to every number of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// z
    Identity,
    /// max(z, 0)
    Relu,
    /// max(z, 0.01 z)
    LeakyRelu,
    /// tanh z
    Tanh,
    /// z where positive, else eᶻ − 1
    Elu,
}

impl Activation {
    /// The piecewise linear ones are max(z, slope·z), which the matrix product applies while it stores its result.
    pub(crate) fn slope(self) -> f32 {
        match self {
            Activation::Relu => 0.0,
            Activation::LeakyRelu => 0.01,
            Activation::Identity | Activation::Tanh | Activation::Elu => 1.0,
        }
    }

    /// Whether something remains to be done after the product.
    pub(crate) fn is_curved(self) -> bool {
        matches!(self, Activation::Tanh | Activation::Elu)
    }

    /// Applies a curved activation in place.
    pub(crate) fn apply(self, z: &mut [f32]) {
        match self {
            Activation::Tanh => map(z, tanh),
            Activation::Elu => map(z, |z| if z > 0.0 { z } else { exp(z) - 1.0 }),
            Activation::Identity | Activation::Relu | Activation::LeakyRelu => {}
        }
    }

    /// Multiplies `delta` by the derivative, which follows from the values.
    pub(crate) fn chain(self, delta: &mut [f32], from: &[f32]) {
        let slope = self.slope();
        match self {
            Activation::Identity => {}
            Activation::Relu | Activation::LeakyRelu => {
                scale(delta, from, |y| if y > 0.0 { 1.0 } else { slope });
            }
            Activation::Tanh => scale(delta, from, |y| 1.0 - y * y),
            Activation::Elu => scale(delta, from, |y| if y > 0.0 { 1.0 } else { y + 1.0 }),
        }
    }
}

#[inline(always)]
fn map(values: &mut [f32], f: impl Fn(f32) -> f32) {
    simd(
        #[inline(always)]
        || values.iter_mut().for_each(|v| *v = f(*v)),
    );
}

#[inline(always)]
fn scale(delta: &mut [f32], from: &[f32], derivative: impl Fn(f32) -> f32) {
    simd(
        #[inline(always)]
        || delta.iter_mut().zip(from).for_each(|(d, &v)| *d *= derivative(v)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Activation; 5] =
        [Activation::Identity, Activation::Relu, Activation::LeakyRelu, Activation::Tanh, Activation::Elu];

    fn value(f: Activation, z: f64) -> f64 {
        match f {
            Activation::Identity => z,
            Activation::Relu => z.max(0.0),
            Activation::LeakyRelu => z.max(0.01 * z),
            Activation::Tanh => z.tanh(),
            Activation::Elu => z.max(z.exp().min(1.0) - 1.0),
        }
    }

    fn applied(f: Activation, z: f32) -> f32 {
        let mut y = [z.max(f.slope() * z)];
        f.apply(&mut y);
        y[0]
    }

    #[test]
    fn values_and_derivatives_agree_with_the_definitions() {
        for f in ALL {
            for z in [-9.0, -2.5, -0.7, -0.1, 0.2, 0.9, 3.0, 20.0_f32] {
                let (y, exact) = (applied(f, z), f64::from(z));
                assert!((f64::from(y) - value(f, exact)).abs() < 1e-6, "{f:?}({z}) = {y}");
                let mut delta = [1.0];
                f.chain(&mut delta, &[y]);
                let want = (value(f, exact + 1e-6) - value(f, exact - 1e-6)) / 2e-6;
                assert!((f64::from(delta[0]) - want).abs() < 2e-6, "{f:?}'({z}): {want} {delta:?}");
            }
        }
    }
}

//! Functions of each output of a layer, by the names of `torch.nn`.

use offnominal_nets::{exp, sigmoid, softplus, tanh};
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_1_SQRT_2;

/// A function of each output of a layer, with the constants that are PyTorch's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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
    /// 1 / (1 + e⁻ᶻ)
    Sigmoid,
    /// z where positive, else eᶻ − 1
    Elu,
    /// ELU, scaled so that it keeps mean and variance
    Selu,
    /// z Φ(z), Φ the normal distribution function
    Gelu,
    /// z / (1 + e⁻ᶻ)
    Silu,
    /// z tanh(ln(1 + eᶻ))
    Mish,
    /// ln(1 + eᶻ)
    Softplus,
    /// z / (1 + |z|)
    Softsign,
    /// z cut at ± a limit
    Cut(f32),
}

/// What may stand in files that name a class of `torch.nn`; other names are not understood.
const NAMES: &[(&str, Activation)] = &[
    ("Identity", Activation::Identity),
    ("ReLU", Activation::Relu),
    ("LeakyReLU", Activation::LeakyRelu),
    ("Tanh", Activation::Tanh),
    ("Sigmoid", Activation::Sigmoid),
    ("ELU", Activation::Elu),
    ("SELU", Activation::Selu),
    ("GELU", Activation::Gelu),
    ("SiLU", Activation::Silu),
    ("Mish", Activation::Mish),
    ("Softplus", Activation::Softplus),
    ("Softsign", Activation::Softsign),
];

impl Activation {
    /// The function of that class of `torch.nn`.
    pub fn named(class: &str) -> Option<Activation> {
        NAMES.iter().find(|(name, _)| *name == class).map(|(_, activation)| *activation)
    }

    /// The classes that are known.
    pub fn names() -> String {
        NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// Applies it in place.
    pub(super) fn apply(self, z: &mut [f32]) {
        match self {
            Activation::Identity => {}
            Activation::Relu => map(z, |z| if z < 0.0 { 0.0 } else { z }),
            Activation::LeakyRelu => map(z, |z| if z < 0.0 { 0.01 * z } else { z }),
            Activation::Tanh => map(z, tanh),
            Activation::Sigmoid => map(z, sigmoid),
            Activation::Elu => map(z, elu),
            Activation::Selu => map(z, selu),
            Activation::Gelu => map(z, gelu),
            Activation::Silu => map(z, |z| z * sigmoid(z)),
            Activation::Mish => map(z, |z| z * tanh(softplus(z))),
            Activation::Softplus => map(z, softplus),
            Activation::Softsign => map(z, |z| z / (1.0 + z.abs())),
            Activation::Cut(limit) => map(z, |z| z.clamp(-limit, limit)),
        }
    }
}

fn map(z: &mut [f32], activation: impl Fn(f32) -> f32) {
    z.iter_mut().for_each(|z| *z = activation(*z));
}

fn elu(z: f32) -> f32 {
    if z > 0.0 { z } else { exp(z) - 1.0 }
}

fn selu(z: f32) -> f32 {
    const SCALE: f32 = 1.050_701;
    const ALPHA: f32 = 1.673_263_2;
    if z > 0.0 { SCALE * z } else { SCALE * ALPHA * (exp(z) - 1.0) }
}

fn gelu(z: f32) -> f32 {
    let z = f64::from(z);
    (0.5 * z * (1.0 + erf(z * FRAC_1_SQRT_2))) as f32
}

/// The error function to 1.5e-7 (Abramowitz and Stegun 1964, 7.1.26).
fn erf(x: f64) -> f64 {
    const TERMS: [f64; 5] = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let series = TERMS.iter().fold(0.0, |sum, term| (sum + term) * t);
    (1.0 - series * (-x * x).exp()).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of PyTorch 2.15 at −2, −0.5, 0 and 1.5.
    #[test]
    fn values_are_those_of_pytorch() {
        let expected = [
            ("ELU", [-0.864_664_73, -0.393_469_34, 0.0, 1.5]),
            ("SELU", [-1.520_166_9, -0.691_758_2, 0.0, 1.576_051_5]),
            ("GELU", [-0.045_500_263, -0.154_268_78, 0.0, 1.399_789_2]),
            ("SiLU", [-0.238_405_85, -0.188_770_34, 0.0, 1.226_361_8]),
            ("Mish", [-0.252_501_5, -0.220_743_8, 0.0, 1.403_378_2]),
            ("Softplus", [0.126_928_01, 0.474_077, std::f32::consts::LN_2, 1.701_413_3]),
            ("Softsign", [-0.666_666_7, -0.333_333_34, 0.0, 0.6]),
            ("LeakyReLU", [-0.02, -0.005, 0.0, 1.5]),
        ];
        for (name, want) in expected {
            let mut found = [-2.0, -0.5, 0.0, 1.5];
            Activation::named(name).unwrap().apply(&mut found);
            let close = found.iter().zip(want).all(|(a, b): (&f32, f32)| (a - b).abs() < 2e-6);
            assert!(close, "{name}: {found:?}, expected {want:?}");
        }
        assert_eq!(Activation::named("eval"), None);
    }

    #[test]
    fn not_a_number_stays_one() {
        for &(name, activation) in NAMES {
            let mut found = [f32::NAN];
            activation.apply(&mut found);
            assert!(found[0].is_nan(), "{name}");
        }
    }
}

//! Elementary functions that the compiler turns into vector instructions, and the dispatch to the widest of them.
//!
//! They use only fused multiply-adds and bit operations, so their bits are the same on every machine.

use pulp::Arch;

/// Runs a closure compiled for the widest vector instructions of this machine.
///
/// What the closure calls must be inlined (`#[inline(always)]`) to profit.
#[inline(always)]
pub fn simd<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// eˣ to 2 units in the last place; saturates at e^±87 instead of overflowing.
///
/// x = n ln 2 + r with |r| ≤ ln 2 / 2; eʳ by its Taylor polynomial of degree 7 (remainder 5e-9), 2ⁿ by its exponent bits.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Adding 1.5·2²³ rounds to an integer and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN2_HIGH: f32 = 0.693_145_75;
    const LN2_LOW: f32 = 1.428_606_8e-6;
    let x = x.clamp(-87.0, 87.0);
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x));
    let mut sum = 1.0 / 5040.0;
    for factorial in [720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        sum = r.mul_add(sum, 1.0 / factorial);
    }
    let exponent = (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32).wrapping_add(127);
    sum * f32::from_bits((exponent as u32) << 23)
}

/// 1 / (1 + e⁻ˣ).
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The hyperbolic tangent, to 1e-6 relative.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    // Near zero 1 − 2/(e²ˣ + 1) cancels; there its Taylor polynomial takes over.
    let square = x * x;
    let mut series = 62.0 / 2835.0;
    for coefficient in [-17.0 / 315.0, 2.0 / 15.0, -1.0 / 3.0, 1.0] {
        series = square.mul_add(series, coefficient);
    }
    let quotient = 1.0 - 2.0 / (exp(2.0 * x) + 1.0);
    if square < 0.09 { x * series } else { quotient }
}

/// ln(1 + eˣ) without overflow.
#[inline(always)]
pub fn softplus(x: f32) -> f32 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: fn(f32) -> f32, want: fn(f64) -> f64, range: (f32, f32), relative: f64) {
        for i in 0..=20_000 {
            let x = range.0 + (range.1 - range.0) * i as f32 / 20_000.0;
            let (found, want) = (f64::from(found(x)), want(f64::from(x)));
            assert!((found - want).abs() <= relative * want.abs(), "f({x}): expected {want}, found {found}");
        }
    }

    #[test]
    fn functions_agree_with_the_library() {
        check(exp, f64::exp, (-86.9, 86.9), 2.5e-7);
        check(tanh, f64::tanh, (-12.0, 12.0), 1e-6);
        check(tanh, f64::tanh, (-0.4, 0.4), 1e-6);
        check(sigmoid, |x| 1.0 / (1.0 + (-x).exp()), (-30.0, 30.0), 5e-7);
        check(softplus, |x| x.exp().ln_1p(), (-80.0, 80.0), 1e-6);
    }

    #[test]
    fn extremes_stay_finite_and_nan_stays_nan() {
        assert_eq!((tanh(1e30), tanh(-1e30), sigmoid(f32::NEG_INFINITY) < 1e-37), (1.0, -1.0, true));
        assert!(exp(1e9).is_finite() && exp(-1e9) > 0.0);
        assert!(exp(f32::NAN).is_nan() && tanh(f32::NAN).is_nan());
    }
}

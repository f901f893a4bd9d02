//! What kind: the features of a stretch of residuals by which kinds of faults differ.
//!
//! With z_t the residuals of d channels, w_t = L⁻¹ z_t whitened, B the effect of an action and G that of an observation
//! on the next one, both from the ensemble's linear part:
//!
//! | feature | what it is                                                                  |
//! |---------|-----------------------------------------------------------------------------|
//! | 0, 1    | ln mean square of w and of z                                                |
//! | 2       | ln of the number of steps                                                   |
//! | 3       | share of w that the best change of the action explains                     |
//! | 4, 5    | bias of that change, and its correlation with the action                   |
//! | 6       | how much of z_{t−1} is taken back in z_t: −Σ z_t·G z_{t−1} / Σ \|G z_{t−1}\|² |
//! | 7       | how much the first step exceeds the others                                  |
//! | 8 …     | for each channel its share of z, its bias, its correlation from step to step |

use crate::shared::cholesky::{Cholesky, dot};
use crate::shared::residual::Residual;
use crate::shared::whiten::Whitener;

/// Added to sums of squares before they divide or are taken the logarithm of.
const QUIET: f64 = 1e-6;
/// Features that do not belong to a channel.
const N_COMMON: usize = 8;
/// Part of the squared effect of an action that is added so that it can be inverted.
const RIDGE: f64 = 1e-3;
/// The largest residual that counts, in nominal standard deviations.
const MOST: f64 = 1e3;

/// The maps that turn residuals into features.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Signature {
    whitener: Whitener,
    n_commands: usize,
    /// Effect of each action on whitened residuals, `[actions, d]`.
    effects: Vec<f64>,
    /// Actions by effects, as a system of equations.
    gram: Cholesky,
    /// Effect of a residual on the next one if it was an error of observation, `[d, d]`.
    returns: Vec<f64>,
}

/// What a pass needs; allocated once.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Scratch {
    w: Vec<f64>,
    reached: Vec<f64>,
    change: Vec<f64>,
    returned: Vec<f64>,
    /// Sums over steps, `[3, actions]`.
    sums: Vec<f64>,
}

impl Scratch {
    /// Mean square of the whitened residual.
    pub fn length(&mut self, whitener: &Whitener, z: &[f64]) -> f64 {
        self.w.copy_from_slice(z);
        whitener.mean_square(&mut self.w)
    }
}

impl Signature {
    /// The maps of an ensemble; `None` if its numbers, which may come from outside, leave nothing to solve.
    pub fn new(residual: &Residual, whitener: &Whitener) -> Option<Signature> {
        let slopes = residual.slopes();
        Signature::assemble(whitener, slopes.action, slopes.observation)
    }

    /// `effects` of the actions and `returns` of errors of observation, in the units of residuals.
    fn assemble(whitener: &Whitener, mut effects: Vec<f64>, returns: Vec<f64>) -> Option<Signature> {
        let d = whitener.deviations.len();
        let n_commands = effects.len() / d;
        effects.chunks_exact_mut(d).for_each(|row| whitener.whiten(row));
        let size = (effects.iter().map(|e| e * e).sum::<f64>() / n_commands.max(1) as f64).max(QUIET);
        let mut gram = vec![0.0; n_commands * n_commands];
        for (i, row) in gram.chunks_exact_mut(n_commands.max(1)).enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = dot(&effects[i * d..(i + 1) * d], &effects[j * d..(j + 1) * d]);
            }
            row[i] += RIDGE * size;
        }
        Some(Signature {
            whitener: whitener.clone(),
            n_commands,
            effects,
            gram: Cholesky::checked(gram, n_commands)?,
            returns,
        })
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        N_COMMON + 3 * self.d()
    }

    pub fn scratch(&self) -> Scratch {
        let d = self.d();
        Scratch {
            w: vec![0.0; d],
            reached: vec![0.0; self.n_commands],
            change: vec![0.0; self.n_commands],
            returned: vec![0.0; d],
            sums: vec![0.0; 3 * self.n_commands],
        }
    }

    fn d(&self) -> usize {
        self.whitener.deviations.len()
    }

    /// Writes the features of the residuals `[n, d]` of steps with the actions `[n, actions]`.
    pub fn of(&self, z: &[f64], commands: &[f64], out: &mut [f32], scratch: &mut Scratch) {
        let d = self.d();
        let n = (z.len() / d) as f64;
        let plain = z.iter().map(|z| limited(*z).powi(2)).sum::<f64>() / z.len() as f64;
        let (whitened, explained) = self.explained(z, commands, scratch);
        out[0] = ln(whitened / z.len() as f64);
        out[1] = ln(plain);
        out[2] = n.ln() as f32;
        out[3] = (explained / (whitened + QUIET)) as f32;
        let (squares, rest) = scratch.sums.split_at(self.n_commands);
        let (means, products) = rest.split_at(self.n_commands);
        let total: f64 = squares.iter().sum::<f64>() + QUIET;
        out[4] = (means.iter().map(|m| m * m).sum::<f64>() / n / total).sqrt() as f32;
        let size: f64 = commands.iter().map(|c| c * c).sum::<f64>() + QUIET;
        out[5] = (products.iter().sum::<f64>() / (total * size).sqrt()) as f32;
        out[6] = self.taken_back(z, &mut scratch.returned);
        let first = z[..d].iter().map(|z| limited(*z).powi(2)).sum::<f64>() / d as f64;
        out[7] = ln(first) - ln(plain);
        self.channels(z, plain, &mut out[N_COMMON..]);
    }

    /// Sum of squares of w, and of that part of it which changes of the action explain. The sums of the squares of these
    /// changes, of the changes, and of their products with the actions are left in the scratch.
    fn explained(&self, z: &[f64], commands: &[f64], scratch: &mut Scratch) -> (f64, f64) {
        let Scratch { w, reached, change, sums, .. } = scratch;
        let (d, k) = (self.d(), self.n_commands);
        let (mut all, mut explained) = (0.0, 0.0);
        sums.fill(0.0);
        for (t, z) in z.chunks_exact(d).enumerate() {
            w.iter_mut().zip(z).for_each(|(w, z)| *w = limited(*z));
            self.whitener.whiten(w);
            reached.iter_mut().zip(self.effects.chunks_exact(d)).for_each(|(c, effect)| *c = dot(effect, w));
            change.copy_from_slice(reached);
            self.gram.solve(change);
            all += dot(w, w);
            explained += dot(reached, change);
            for (i, x) in change.iter().enumerate() {
                sums[i] += x * x;
                sums[k + i] += x;
                sums[2 * k + i] += x * commands[t * k + i];
            }
        }
        (all, explained)
    }

    /// Feature 6.
    fn taken_back(&self, z: &[f64], returned: &mut [f64]) -> f32 {
        let d = self.d();
        let (mut along, mut square) = (0.0, QUIET);
        for (before, after) in z.chunks_exact(d).zip(z.chunks_exact(d).skip(1)) {
            for (j, returned) in returned.iter_mut().enumerate() {
                let effects = self.returns.iter().skip(j).step_by(d);
                *returned = effects.zip(before).map(|(g, z)| g * limited(*z)).sum();
            }
            along -= returned.iter().zip(after).map(|(r, z)| r * limited(*z)).sum::<f64>();
            square += dot(returned, returned);
        }
        (along / square) as f32
    }

    /// Share, bias and correlation of each channel.
    fn channels(&self, z: &[f64], plain: f64, out: &mut [f32]) {
        let (d, n) = (self.d(), (z.len() / self.d()) as f64);
        for j in 0..d {
            let column = || z.iter().skip(j).step_by(d).map(|z| limited(*z));
            let square: f64 = column().map(|z| z * z).sum::<f64>() + QUIET;
            let product: f64 = column().zip(column().skip(1)).map(|(a, b)| a * b).sum();
            out[3 * j] = ln(square / n) - ln(plain);
            out[3 * j + 1] = (column().sum::<f64>().abs() / (n * square).sqrt()) as f32;
            out[3 * j + 2] = (product / square) as f32;
        }
    }
}

fn limited(z: f64) -> f64 {
    z.clamp(-MOST, MOST)
}

fn ln(square: f64) -> f32 {
    (square + QUIET).ln() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two channels of unit variance; an action moves the first by two, and an error of observation is returned whole.
    fn signature() -> Signature {
        let rows = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
        let whitener = Whitener::fit(rows.iter().map(|r| &r[..]), 2);
        Signature::assemble(&whitener, vec![2.0, 0.0], vec![1.0, 0.0, 0.0, 1.0]).unwrap()
    }

    fn features(z: &[f64], commands: &[f64]) -> Vec<f32> {
        let signature = signature();
        let (mut out, mut scratch) = (vec![f32::NAN; signature.n_features()], signature.scratch());
        signature.of(z, commands, &mut out, &mut scratch);
        out
    }

    fn near(found: f32, want: f32) {
        assert!((found - want).abs() < 2e-3, "expected {want}, found {found}");
    }

    #[test]
    fn a_command_explains_its_own_channel_and_no_other() {
        let along = features(&[3.0, 0.0, -3.0, 0.0], &[1.0, -1.0]);
        near(along[3], 1.0);
        near(along[4], 0.0);
        near(along[5], 1.0);
        near(features(&[0.0, 3.0, 0.0, -3.0], &[1.0, -1.0])[3], 0.0);
        let bias = features(&[3.0, 0.0, 3.0, 0.0], &[1.0, -1.0]);
        near(bias[4], 1.0);
        near(bias[5], 0.0);
    }

    #[test]
    fn what_is_taken_back_is_seen_and_what_stays_is_not() {
        near(features(&[2.0, 0.0, -2.0, 0.0], &[0.0; 2])[6], 1.0);
        near(features(&[2.0, 0.0, 2.0, 0.0], &[0.0; 2])[6], -1.0);
    }

    #[test]
    fn channels_say_their_share_bias_and_correlation() {
        let found = features(&[1.0, 2.0, 1.0, -2.0], &[0.0; 2]);
        near(found[1], 2.5_f32.ln());
        near(found[N_COMMON], 0.4_f32.ln());
        near(found[N_COMMON + 1], 1.0);
        near(found[N_COMMON + 4], 0.0);
        near(found[N_COMMON + 5], -0.5);
    }
}

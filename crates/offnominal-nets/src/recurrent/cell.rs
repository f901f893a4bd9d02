//! The equations of one step, element by element, and their derivatives.
//!
//! Forward, `u` goes in as the gates' share of the input and comes out as the values of the gates. Backward, `u` and `v`
//! go in as the forward step left them and come out as derivatives. Derivatives by the hidden state go in as those
//! after the step and come out as those before it, without what flows through v.

use crate::math::{sigmoid, tanh};
use crate::simd;

/// LSTM: `old` and `new` are the memory s before and after, `after` is h.
pub(super) fn lstm(u: &mut [f32], v: &[f32], old: &[f32], new: &mut [f32], after: &mut [f32], n: usize) {
    let rows = u.chunks_exact_mut(4 * n).zip(v.chunks_exact(4 * n)).zip(old.chunks_exact(n));
    let rows = rows.zip(new.chunks_exact_mut(n).zip(after.chunks_exact_mut(n)));
    simd(
        #[inline(always)]
        || {
            for (((u, v), old), (new, after)) in rows {
                u.iter_mut().zip(v).for_each(|(u, v)| *u += v);
                let (i, f, g, o) = four(u, n);
                for j in 0..n {
                    (i[j], f[j], g[j], o[j]) = (sigmoid(i[j]), sigmoid(f[j]), tanh(g[j]), sigmoid(o[j]));
                    new[j] = f[j] * old[j] + i[j] * g[j];
                    after[j] = o[j] * tanh(new[j]);
                }
            }
        },
    );
}

/// Backward of [`lstm`].
pub(super) fn lstm_back(
    u: &mut [f32],
    v: &mut [f32],
    old: &[f32],
    new: &[f32],
    d_hidden: &mut [f32],
    d_memory: &mut [f32],
    n: usize,
) {
    let rows = u.chunks_exact_mut(4 * n).zip(old.chunks_exact(n).zip(new.chunks_exact(n)));
    let rows = rows.zip(d_hidden.chunks_exact_mut(n).zip(d_memory.chunks_exact_mut(n)));
    simd(
        #[inline(always)]
        || {
            for ((u, (old, new)), (d_hidden, d_memory)) in rows {
                let (i, f, g, o) = four(u, n);
                for j in 0..n {
                    let out = tanh(new[j]);
                    let d_s = d_memory[j] + d_hidden[j] * o[j] * (1.0 - out * out);
                    d_memory[j] = d_s * f[j];
                    o[j] = d_hidden[j] * out * o[j] * (1.0 - o[j]);
                    f[j] = d_s * old[j] * f[j] * (1.0 - f[j]);
                    (i[j], g[j]) = (d_s * g[j] * i[j] * (1.0 - i[j]), d_s * i[j] * (1.0 - g[j] * g[j]));
                }
                d_hidden.fill(0.0);
            }
        },
    );
    v.copy_from_slice(u);
}

/// GRU: `before` and `after` are h.
pub(super) fn gru(u: &mut [f32], v: &[f32], before: &[f32], after: &mut [f32], n: usize) {
    let rows = u.chunks_exact_mut(3 * n).zip(v.chunks_exact(3 * n));
    let rows = rows.zip(before.chunks_exact(n).zip(after.chunks_exact_mut(n)));
    simd(
        #[inline(always)]
        || {
            for ((u, v), (before, after)) in rows {
                let (r, z, m) = three(u, n);
                for j in 0..n {
                    (r[j], z[j]) = (sigmoid(r[j] + v[j]), sigmoid(z[j] + v[n + j]));
                    m[j] = tanh(m[j] + r[j] * v[2 * n + j]);
                    after[j] = (1.0 - z[j]) * m[j] + z[j] * before[j];
                }
            }
        },
    );
}

/// Backward of [`gru`].
pub(super) fn gru_back(u: &mut [f32], v: &mut [f32], before: &[f32], d_hidden: &mut [f32], n: usize) {
    let rows = u.chunks_exact_mut(3 * n).zip(v.chunks_exact_mut(3 * n));
    let rows = rows.zip(before.chunks_exact(n).zip(d_hidden.chunks_exact_mut(n)));
    simd(
        #[inline(always)]
        || {
            for ((u, v), (before, d_hidden)) in rows {
                let (r, z, m) = three(u, n);
                let (v_r, v_z, v_m) = three(v, n);
                for j in 0..n {
                    let d_m = d_hidden[j] * (1.0 - z[j]) * (1.0 - m[j] * m[j]);
                    let d_r = d_m * v_m[j] * r[j] * (1.0 - r[j]);
                    let d_z = d_hidden[j] * (before[j] - m[j]) * z[j] * (1.0 - z[j]);
                    d_hidden[j] *= z[j];
                    (v_r[j], v_z[j], v_m[j]) = (d_r, d_z, d_m * r[j]);
                    (r[j], z[j], m[j]) = (d_r, d_z, d_m);
                }
            }
        },
    );
}

#[inline(always)]
fn four(u: &mut [f32], n: usize) -> (&mut [f32], &mut [f32], &mut [f32], &mut [f32]) {
    let (first, second) = u.split_at_mut(2 * n);
    let ((a, b), (c, d)) = (first.split_at_mut(n), second.split_at_mut(n));
    (a, b, c, d)
}

#[inline(always)]
fn three(u: &mut [f32], n: usize) -> (&mut [f32], &mut [f32], &mut [f32]) {
    let (a, rest) = u.split_at_mut(n);
    let (b, c) = rest.split_at_mut(n);
    (a, b, c)
}

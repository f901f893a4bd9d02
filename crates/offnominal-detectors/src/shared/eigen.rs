//! Eigenvectors of a symmetric matrix by Jacobi's rotations.

/// Eigenvalues in descending order, and the eigenvectors as rows, of a symmetric matrix `[n, n]`.
pub(crate) fn symmetric(mut a: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut v: Vec<f64> = (0..n * n).map(|i| f64::from(u8::from(i / n == i % n))).collect();
    let norm: f64 = a.iter().map(|x| x * x).sum();
    for _ in 0..60 {
        let off: f64 = (0..n * n).filter(|i| i / n != i % n).map(|i| a[i] * a[i]).sum();
        if off <= 1e-22 * norm {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut v, n, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j * n + j].total_cmp(&a[i * n + i]));
    let vectors = order.iter().flat_map(|&i| v[i * n..(i + 1) * n].to_vec()).collect();
    (order.iter().map(|&i| a[i * n + i]).collect(), vectors)
}

/// Makes the entry (p, q) zero.
fn rotate(a: &mut [f64], v: &mut [f64], n: usize, p: usize, q: usize) {
    let apq = a[p * n + q];
    if apq == 0.0 {
        return;
    }
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let t = if theta == 0.0 { 1.0 } else { t };
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    let turn = |x: &mut f64, y: &mut f64| (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    for k in 0..n {
        let (mut x, mut y) = (a[k * n + p], a[k * n + q]);
        turn(&mut x, &mut y);
        (a[k * n + p], a[k * n + q]) = (x, y);
    }
    for matrix in [a, v] {
        for k in 0..n {
            let (mut x, mut y) = (matrix[p * n + k], matrix[q * n + k]);
            turn(&mut x, &mut y);
            (matrix[p * n + k], matrix[q * n + k]) = (x, y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn values_and_vectors_rebuild_the_matrix() {
        let (n, mut rng) = (7, Rng::new(1));
        let raw: Vec<f64> = (0..n * n).map(|_| rng.normal()).collect();
        let a: Vec<f64> = (0..n * n).map(|i| raw[i] + raw[i % n * n + i / n]).collect();
        let (values, vectors) = symmetric(a.clone(), n);
        assert!(values.is_sorted_by(|x, y| x >= y));
        for i in 0..n * n {
            let sum: f64 = (0..n).map(|k| values[k] * vectors[k * n + i / n] * vectors[k * n + i % n]).sum();
            assert!((sum - a[i]).abs() < 1e-9, "{sum} {}", a[i]);
        }
    }
}

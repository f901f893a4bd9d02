//! A conditional density of d numbers, learned by flow matching.
//!
//! On the way y_θ = cos θ ε + sin θ x, θ ∈ [0, π/2], noise ε ~ N(0, I) becomes an x of the data. A network u(y, θ, c) learns
//! the mean of the velocity −sin θ ε + cos θ x at y. Following ẏ = u from the data back to θ = 0, where it arrives at y₀,
//!
//! −2 ln p(x | c) = |y₀|² + 2 ∫₀^{π/2} div u dθ + d ln 2π.
//!
//! Where x ~ N(0, I) the mean velocity is zero, so the network learns in what the data are not normal, and no network at all
//! is the normal density. It has two layers of tanh units, W₁, W₂ and W₃ being its weights, for which the divergence is exact
//! at the cost of a forward pass: Σ_mk a_m b_k Q_mk with the slopes a, b of the units and Q_mk = W₂_mk Σ_j W₁_jm W₃_kj.
//!
//! Reference: Lipman et al., ICLR 2023 (flow matching); Albergo and Vanden-Eijnden, ICLR 2023 (the trigonometric way); Chen et
//! al., NeurIPS 2018 (the density along a flow).

use super::one_step::Rows;
use super::prelude::*;
use super::ranges::{Hidden, TooLarge};
use super::saved;
use super::training::{Model, Training};
use offnominal_nets::loss::mse;
use offnominal_nets::{Activation, Gradients, Init, Mlp, Workspace};
use std::f64::consts::FRAC_PI_2;

/// Steps of the midpoint rule from the data to the noise.
const STEPS: usize = 8;
/// The largest condition, in standard deviations: what a broken sensor delivers drives the units no further.
const MOST: f32 = 5.0;

/// A density, and the buffers of one question. Forks share the network.
#[derive(Clone)]
pub(crate) struct Flow {
    shared: Arc<Weights>,
    /// What the condition adds to the first layer.
    base: Vec<f64>,
    units: [Vec<f64>; 2],
    y: Vec<f64>,
    middle: Vec<f64>,
    u: Vec<f64>,
}

struct Weights {
    params: Vec<f32>,
    /// `[d + 2 + n, h]` with the rows of y, cos θ, sin θ and c; `[h]`; `[h, h]`; `[h]`; `[h, d]`; `[d]`.
    layers: [(Vec<f64>, Vec<f64>); 3],
    /// Q, `[h, h]`.
    traces: Vec<f64>,
    d: usize,
}

/// The widths of the network for d numbers given n.
fn sizes(units: NonZeroUsize, n: usize, d: usize) -> Result<Vec<usize>, TooLarge> {
    Hidden::two(units).sizes(1, d + 2 + n, d)
}

impl Flow {
    /// Learns from rows whose targets are the data, given their inputs; others tell when to stop.
    pub fn fit(
        [rows, validation]: &[Rows; 2],
        (n, d): (usize, usize),
        units: NonZeroUsize,
        training: &Training,
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Flow, FitError> {
        let sizes = sizes(units, n, d)?;
        let mut model = Interpolant::new(&sizes, training.batch);
        let mut params = model.net.first_params(Init::Uniform, rng);
        let mut sample: Vec<u32> = (0..(rows.targets.len() / d) as u32).collect();
        training.run(&mut model, &mut params, (rows, &mut sample), validation, rng, progress)?;
        Ok(Flow::new(&sizes, params))
    }

    fn new(sizes: &[usize], params: Vec<f32>) -> Flow {
        let (h, d) = (sizes[1], sizes[3]);
        let mut rest = params.iter().map(|&w| f64::from(w));
        let mut take = |n: usize| rest.by_ref().take(n).collect::<Vec<f64>>();
        let layers = [0, 1, 2].map(|l| (take(sizes[l] * sizes[l + 1]), take(sizes[l + 1])));
        let [(first, _), (second, _), (last, _)] = &layers;
        let product = |m: usize, k: usize| (0..d).map(|j| first[j * h + m] * last[k * d + j]).sum::<f64>();
        let traces = (0..h * h).map(|at| second[at] * product(at / h, at % h)).collect();
        let [base, one, two] = [(); 3].map(|()| vec![0.0; h]);
        let [y, middle, u] = [(); 3].map(|()| vec![0.0; d]);
        let shared = Arc::new(Weights { params, layers, traces, d });
        Flow { shared, base, units: [one, two], y, middle, u }
    }

    /// Writes the network.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("params", &self.shared.params);
    }

    /// Reads a network for d numbers given n.
    pub fn load(
        from: &Reader<'_>,
        (n, d): (usize, usize),
        units: NonZeroUsize,
    ) -> Result<Flow, ArchiveError> {
        let sizes = saved::widths(from, sizes(units, n, d))?;
        let params = saved::params(from, &Mlp::new(&sizes, Activation::Tanh))?;
        Ok(Flow::new(&sizes, params))
    }

    /// −2 ln p(x | c) − d ln 2π, which is |x|² if the data are standard normal.
    pub fn self_information(&mut self, x: &[f64], condition: &[f32]) -> f64 {
        self.condition(condition);
        self.y.copy_from_slice(x);
        let step = FRAC_PI_2 / STEPS as f64;
        let mut divergence = 0.0;
        for i in (0..STEPS).rev() {
            let end = step * (i + 1) as f64;
            std::mem::swap(&mut self.middle, &mut self.y);
            self.ask(end);
            // `middle` holds y, and `y` becomes the middle.
            for ((y, from), u) in self.y.iter_mut().zip(&self.middle).zip(&self.u) {
                *y = from - 0.5 * step * u;
            }
            std::mem::swap(&mut self.middle, &mut self.y);
            divergence += self.ask(end - 0.5 * step);
            self.y.iter_mut().zip(&self.u).for_each(|(y, u)| *y -= step * u);
        }
        self.y.iter().map(|y| y * y).sum::<f64>() + 2.0 * step * divergence
    }

    fn condition(&mut self, condition: &[f32]) {
        let (weights, bias) = &self.shared.layers[0];
        self.base.copy_from_slice(bias);
        let rows = weights.chunks_exact(self.base.len()).skip(self.shared.d + 2);
        for (c, row) in condition.iter().zip(rows) {
            add(&mut self.base, f64::from(held(*c)), row);
        }
    }

    /// Writes the velocity at `middle`; returns its divergence.
    fn ask(&mut self, angle: f64) -> f64 {
        let Weights { layers: [(first, _), (second, second_bias), (last, last_bias)], traces, .. } =
            &*self.shared;
        let [one, two] = &mut self.units;
        let h = one.len();
        one.copy_from_slice(&self.base);
        let inputs = self.middle.iter().copied().chain([libm::cos(angle), libm::sin(angle)]);
        inputs.zip(first.chunks_exact(h)).for_each(|(x, row)| add(one, x, row));
        one.iter_mut().for_each(|x| *x = libm::tanh(*x));
        two.copy_from_slice(second_bias);
        one.iter().zip(second.chunks_exact(h)).for_each(|(x, row)| add(two, *x, row));
        two.iter_mut().for_each(|x| *x = libm::tanh(*x));
        self.u.copy_from_slice(last_bias);
        two.iter().zip(last.chunks_exact(self.u.len())).for_each(|(x, row)| add(&mut self.u, *x, row));
        two.iter_mut().for_each(|x| *x = 1.0 - *x * *x);
        let of_row = |row: &[f64]| row.iter().zip(&*two).map(|(q, b)| q * b).sum::<f64>();
        one.iter().zip(traces.chunks_exact(h)).map(|(x, row)| (1.0 - x * x) * of_row(row)).sum()
    }
}

/// Adds a multiple of a row.
fn add(sums: &mut [f64], x: f64, row: &[f64]) {
    sums.iter_mut().zip(row).for_each(|(sum, w)| *sum += x * w);
}

/// A condition within what the network is asked about.
fn held(c: f32) -> f32 {
    c.clamp(-MOST, MOST)
}

/// The network in training: inputs are conditions, targets are data; noise and angle are drawn.
struct Interpolant {
    net: Mlp,
    work: Workspace,
    inputs: Vec<f32>,
    velocities: Vec<f32>,
    slope: Vec<f32>,
}

impl Interpolant {
    fn new(sizes: &[usize], batch: NonZeroUsize) -> Interpolant {
        let net = Mlp::new(sizes, Activation::Tanh);
        let work = net.workspace(batch.get());
        Interpolant { net, work, inputs: vec![], velocities: vec![], slope: vec![] }
    }

    fn draw(&mut self, conditions: &[f32], data: &[f32], rng: &mut Rng) {
        let (d, n) = (self.net.outputs(), self.net.inputs() - self.net.outputs() - 2);
        self.inputs.clear();
        self.velocities.clear();
        for (condition, data) in conditions.chunks_exact(n).zip(data.chunks_exact(d)) {
            let (sin, cos) = libm::sincos(rng.range(0.0, FRAC_PI_2));
            for x in data.iter().map(|&x| f64::from(x)) {
                let noise = rng.normal();
                self.inputs.push((cos * noise + sin * x) as f32);
                self.velocities.push((cos * x - sin * noise) as f32);
            }
            self.inputs.extend([cos as f32, sin as f32]);
            self.inputs.extend(condition.iter().map(|&c| held(c)));
        }
    }

    fn loss_of_drawn(&mut self, params: &[f32]) -> f64 {
        self.slope.resize(self.velocities.len(), 0.0);
        mse(self.net.forward(params, &self.inputs, &mut self.work), &self.velocities, &mut self.slope)
    }
}

impl Model for Interpolant {
    fn gradient(
        &mut self,
        params: &[f32],
        conditions: &[f32],
        data: &[f32],
        grad: &mut [f32],
        rng: &mut Rng,
    ) -> f64 {
        self.draw(conditions, data, rng);
        let loss = self.loss_of_drawn(params);
        self.net.backward(params, &self.inputs, &mut self.work, &self.slope, Gradients::params(grad));
        loss
    }

    /// With the same noise each time.
    fn loss(&mut self, params: &[f32], conditions: &[f32], data: &[f32]) -> f64 {
        self.draw(conditions, data, &mut Rng::new(0));
        self.loss_of_drawn(params)
    }

    fn widths(&self) -> (usize, usize) {
        (self.net.inputs() - self.net.outputs() - 2, self.net.outputs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any network with weights of such a size.
    fn any(n: usize, d: usize, size: f32) -> Flow {
        let sizes = sizes(count(6), n, d).unwrap();
        let mut params = vec![0.0; Mlp::new(&sizes, Activation::Tanh).n_params()];
        Rng::new(4).fill_normal(&mut params);
        params.iter_mut().for_each(|w| *w *= size);
        Flow::new(&sizes, params)
    }

    #[test]
    fn no_network_is_the_normal_density() {
        assert_eq!(any(2, 3, 0.0).self_information(&[1.0, -2.0, 0.5], &[0.0, 9.0]), 5.25);
    }

    #[test]
    fn the_divergence_is_that_of_finite_differences() {
        let mut flow = any(2, 3, 0.7);
        flow.condition(&[0.3, -0.8]);
        flow.middle.copy_from_slice(&[0.4, -1.0, 0.2]);
        let found = flow.ask(0.6);
        let mut slope = |j: usize| {
            let mut side = |by: f64| {
                flow.middle[j] += by;
                flow.ask(0.6);
                flow.middle[j] -= by;
                flow.u[j]
            };
            (side(1e-5) - side(-1e-5)) / 2e-5
        };
        let want: f64 = (0..3).map(&mut slope).sum();
        assert!((found - want).abs() < 1e-8, "{found} {want}");
    }

    #[test]
    fn any_density_has_mass_one() {
        let (mut flow, step) = (any(1, 1, 0.8), 0.01);
        let density =
            |flow: &mut Flow, x: f64| (-0.5 * flow.self_information(&[x], &[0.5])).exp() / 2.506_628;
        let mass: f64 = (-1500..1500).map(|i| density(&mut flow, step * f64::from(i)) * step).sum();
        assert!((mass - 1.0).abs() < 0.01, "{mass}");
    }

    #[test]
    fn a_density_with_two_modes_that_the_condition_chooses_is_learned() {
        // x = ±1 with deviation 0.4 where c = 1, standard normal where c = −1.
        let (n, mut rng) = (4000_u32, Rng::new(1));
        let inputs: Vec<f32> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let mut draw = |c: f32| {
            let side = if rng.uniform() < 0.5 { -1.0 } else { 1.0 };
            if c > 0.0 { side + 0.4 * rng.normal() } else { rng.normal() }
        };
        let targets = inputs.iter().map(|&c| draw(c) as f32).collect();
        let rows = Rows { inputs, targets, episodes: std::iter::once(0..n).collect() };
        let (rows, training) = ([rows.clone(), rows], Training::brief());
        let mut flow =
            Flow::fit(&rows, (1, 1), count(32), &training, &mut rng, FitProgress::unseen()).unwrap();
        let mut at = |x: f64, c: f32| flow.self_information(&[x], &[c]);
        // −2 ln(½ N(1; 1, 0.4)) − ln 2π = 2 ln 2 + 2 ln 0.4 at a mode.
        let mode = 2.0 * 2.0_f64.ln() + 2.0 * 0.4_f64.ln();
        for x in [-1.0, 1.0] {
            assert!((at(x, 1.0) - mode).abs() < 0.9, "{} {mode}", at(x, 1.0));
        }
        assert!(at(0.0, 1.0) > mode + 4.0 && at(0.0, -1.0).abs() < 0.5, "{} {}", at(0.0, 1.0), at(0.0, -1.0));
    }
}

//! f as a weighted vote of the nearest remembered examples: a differentiable neural dictionary.
//!
//! A network φ embeds rows; of the K nearest examples with embeddings φᵢ and outcomes yᵢ ∈ {0, 1}, and with the weights
//! wᵢ = exp(−‖φ − φᵢ‖² / 2),
//!
//! f = (b + Σ cᵢ wᵢ yᵢ) / (2 b + Σ cᵢ wᵢ), where the pseudo-count b = exp β is learned with φ, and cᵢ says how many
//! examples the i-th stands for: 1, unless there were more than a memory holds (the file `memory`).
//!
//! Far from all examples f goes to ½ and not to 0: what is unknown may be dangerous, and a chance near 0 where failures
//! are would make importance weights explode.
//!
//! Training draws queries from all examples, embeds each query and its nearest remembered examples, found by slightly
//! older embeddings, anew, and follows the gradient of the cross-entropy through both. An example is never its own
//! neighbour.
//!
//! Reference: Uesato et al. (2018), appendix D, after Pritzel et al., "Neural episodic control", ICML 2017. Deviates: the
//! paper's expression for f is not public; this one has the behaviour that it describes.
//! Cost: a prediction reads the whole memory. As that is bounded, so is a gradient step, and so is a look at the later
//! examples, of which no more than a memory holds are looked at; only reading the examples is linear in their number.

use crate::examples::Examples;
use crate::memory::{self, MOST, Memory, Near};
use offnominal_core::Rng;
use offnominal_nets::{Activation, Adam, AdamState, Gradients, Init, Mlp, Workspace};

/// The embedding and what it remembers.
#[derive(Debug, Clone, PartialEq)]
pub struct Dictionary {
    pub(crate) net: Mlp,
    pub(crate) params: Vec<f32>,
    /// ln b
    pub(crate) beta: f32,
    pub(crate) neighbours: usize,
    pub(crate) memory: Memory,
}

/// Width of an embedding.
const EMBEDDING: usize = 16;
/// Queries per gradient step.
const BATCH: usize = 32;
/// Gradient steps between embeddings of all examples, and looks at the later ones.
const REFRESH_EVERY: usize = 50;
const ADAM: Adam = Adam { lr: 2e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 1e-2 };

impl Dictionary {
    /// Trains for up to `steps` gradient steps, and keeps the embedding as it was when it foresaw `later` best; also
    /// says when that was.
    pub(crate) fn fit(
        hidden: &[usize],
        neighbours: usize,
        train: &Examples,
        later: Option<&Examples>,
        steps: usize,
        rng: &mut Rng,
    ) -> (Dictionary, usize) {
        let mut run = Run::new(hidden, neighbours, train, rng);
        let looked_at = later.map(|later| later.at_most(MOST));
        let mut best = (f64::INFINITY, 0, run.found.clone());
        for step in 1..=steps {
            run.step(train, rng);
            if step % REFRESH_EVERY > 0 && step < steps {
                continue;
            }
            run.remember(train);
            let Some(later) = &looked_at else { continue };
            let loss = later.cross_entropy(&run.found.predict_all(later));
            if loss < best.0 {
                best = (loss, step, run.found.clone());
            }
        }
        if later.is_some() { (best.2, best.1) } else { (run.found, steps) }
    }

    /// The chance to fail of one row.
    pub(crate) fn predict(&self, row: &[f32], work: &mut Workspace, near: &mut Near) -> f64 {
        let query = self.net.forward(&self.params, row, work);
        self.memory.nearest(query, None, self.neighbours, near);
        let (outcomes, stands_for) = (self.memory.outcomes(), self.memory.stands_for());
        let vote = |(all, bad): (f32, f32), (squared, i): (f32, usize)| {
            let weight = (-0.5 * squared).exp() * stands_for[outcomes[i] as usize];
            (all + weight, bad + weight * outcomes[i])
        };
        let (all, bad) = near.found().fold((0.0, 0.0), vote);
        let b = self.beta.exp();
        f64::from((b + bad) / (2.0 * b + all))
    }

    /// The chances of all examples.
    pub(crate) fn predict_all(&self, examples: &Examples) -> Vec<f64> {
        let (mut work, mut near) = (self.net.workspace(1), Near::default());
        let rows = examples.rows().chunks_exact(examples.row_width());
        rows.map(|row| self.predict(row, &mut work, &mut near)).collect()
    }
}

/// The memory of some of the examples.
fn remember(net: &Mlp, params: &[f32], examples: &Examples, kept: &[usize], stands_for: [f32; 2]) -> Memory {
    let mut work = net.workspace(1);
    let embed = |&i: &usize| net.forward(params, examples.rows_of(i), &mut work).to_vec();
    let keys: Vec<f32> = kept.iter().flat_map(embed).collect();
    Memory::new(&keys, kept.iter().map(|&i| examples.failed()[i]).collect(), stands_for)
}

/// A dictionary in training.
struct Run {
    found: Dictionary,
    /// The examples that are remembered, and how many an example that did not fail and one that failed stand for.
    kept: Vec<usize>,
    stands_for: [f32; 2],
    adam: AdamState,
    /// Of β alone.
    adam_beta: AdamState,
    grad: Vec<f32>,
    work: Workspace,
    single: Workspace,
    near: Near,
    /// Queries, then the neighbours of each.
    which: Vec<usize>,
    batch: Examples,
    delta: Vec<f32>,
}

impl Run {
    fn new(hidden: &[usize], neighbours: usize, train: &Examples, rng: &mut Rng) -> Run {
        let net = Mlp::new(&[&[train.row_width()], hidden, &[EMBEDDING]].concat(), Activation::Relu);
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, rng);
        let (kept, stands_for) = memory::choose(train, MOST, rng);
        let neighbours = neighbours.min(kept.len() - 1);
        let rows = BATCH * (1 + neighbours);
        let (adam, grad) = (AdamState::new(params.len()), vec![0.0; params.len()]);
        let (work, single) = (net.workspace(rows), net.workspace(1));
        // Where no neighbour failed, f is at first the share of failures: b / (2 b + K).
        let share = (train.failures() as f32 / train.len() as f32).clamp(1e-4, 0.4);
        let beta = (neighbours as f32 * stands_for[0] * share / (1.0 - 2.0 * share)).ln();
        let memory = remember(&net, &params, train, &kept, stands_for);
        let found = Dictionary { net, params, beta, neighbours, memory };
        Run {
            delta: vec![0.0; rows * EMBEDDING],
            adam_beta: AdamState::new(1),
            batch: train.batch(),
            near: Near::default(),
            which: Vec::new(),
            found,
            kept,
            stands_for,
            adam,
            grad,
            work,
            single,
        }
    }

    /// Embeds what is remembered anew.
    fn remember(&mut self, train: &Examples) {
        let Dictionary { net, params, .. } = &self.found;
        self.found.memory = remember(net, params, train, &self.kept, self.stands_for);
    }

    fn step(&mut self, train: &Examples, rng: &mut Rng) {
        self.choose(train, rng);
        train.gather(&self.which, &mut self.batch);
        self.found.net.forward(&self.found.params, self.batch.rows(), &mut self.work);
        let (beta, k) = (self.found.beta, self.found.neighbours);
        let (_, d_beta) = vote_gradient(
            self.work.output(),
            self.batch.failed(),
            (BATCH, k),
            (beta, self.stands_for),
            &mut self.delta,
        );
        let wanted = Gradients::params(&mut self.grad);
        self.found.net.backward(&self.found.params, self.batch.rows(), &mut self.work, &self.delta, wanted);
        ADAM.step(&mut self.found.params, &self.grad, &mut self.adam);
        let mut beta = [self.found.beta];
        Adam { lr: 1e-2, weight_decay: 0.0, ..ADAM }.step(&mut beta, &[d_beta], &mut self.adam_beta);
        self.found.beta = beta[0];
    }

    /// Draws the queries, and finds the neighbours of each.
    fn choose(&mut self, train: &Examples, rng: &mut Rng) {
        self.which.resize(BATCH, 0);
        train.sample(&mut self.which, rng);
        for query in 0..BATCH {
            let own = self.which[query];
            let Dictionary { net, params, memory, neighbours, .. } = &self.found;
            let embedded = net.forward(params, train.rows_of(own), &mut self.single);
            memory.nearest(embedded, self.kept.binary_search(&own).ok(), *neighbours, &mut self.near);
            self.which.extend(self.near.found().map(|(_, i)| self.kept[i]));
        }
    }
}

/// Mean cross-entropy of the votes of `n` queries on `k` neighbours each, its derivative by β, and those by all
/// embeddings: of the queries, then of the neighbours of each.
fn vote_gradient(
    embedded: &[f32],
    outcomes: &[f32],
    (n, k): (usize, usize),
    (beta, stands_for): (f32, [f32; 2]),
    delta: &mut [f32],
) -> (f64, f32) {
    let d = embedded.len() / outcomes.len();
    let (b, mut loss, mut d_beta) = (beta.exp(), 0.0, 0.0);
    let (queries, keys) = embedded.split_at(n * d);
    let (d_queries, d_keys) = delta.split_at_mut(n * d);
    d_queries.fill(0.0);
    let mut weights = vec![0.0; k];
    for q in 0..n {
        let (query, y) = (&queries[q * d..][..d], outcomes[q]);
        let labels = &outcomes[n + q * k..][..k];
        for ((w, key), label) in weights.iter_mut().zip(keys[q * k * d..].chunks_exact(d)).zip(labels) {
            let squared = query.iter().zip(key).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
            *w = (-0.5 * squared).exp() * stands_for[*label as usize];
        }
        let all = 2.0 * b + weights.iter().sum::<f32>();
        let p = (b + weights.iter().zip(labels).map(|(w, y)| w * y).sum::<f32>()) / all;
        loss -= f64::from(if y > 0.5 { p } else { 1.0 - p }).ln() / n as f64;
        let d_p = (p - y) / (p * (1.0 - p)) / n as f32;
        d_beta += d_p * (1.0 - 2.0 * p) / all * b;
        for (i, (w, label)) in weights.iter().zip(labels).enumerate() {
            // ∂w / ∂φ = −w (φ − φᵢ), and the opposite by φᵢ.
            let factor = d_p * (label - p) / all * w;
            let at = (q * k + i) * d;
            for j in 0..d {
                let pull = factor * (query[j] - keys[at + j]);
                d_queries[q * d + j] -= pull;
                d_keys[at + j] = pull;
            }
        }
    }
    (loss, d_beta)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Theta;

    #[test]
    fn the_gradient_of_the_vote_passes_a_check() {
        let (n, k, d) = (3, 4, 2);
        let mut embedded = vec![0.0; (n + n * k) * d];
        Rng::new(1).fill_normal(&mut embedded);
        let outcomes: Vec<f32> = (0..n + n * k).map(|i| (i % 3 / 2) as f32).collect();
        let mut delta = vec![f32::NAN; embedded.len()];
        let stands_for = [3.0, 1.5];
        let (_, d_beta) = vote_gradient(&embedded, &outcomes, (n, k), (-1.0, stands_for), &mut delta);
        let mut unused = delta.clone();
        let mut loss =
            |e: &[f32], beta: f32| vote_gradient(e, &outcomes, (n, k), (beta, stands_for), &mut unused).0;
        let step = 1e-2;
        for i in 0..embedded.len() {
            let mut at = |shift: f32| {
                let mut moved = embedded.clone();
                moved[i] += shift;
                loss(&moved, -1.0)
            };
            let slope = (at(step) - at(-step)) / (2.0 * f64::from(step));
            assert!((f64::from(delta[i]) - slope).abs() < 2e-4, "{i}: expected {slope}, found {}", delta[i]);
        }
        let slope = (loss(&embedded, -1.0 + step) - loss(&embedded, -1.0 - step)) / (2.0 * f64::from(step));
        assert!((f64::from(d_beta) - slope).abs() < 2e-4, "β: expected {slope}, found {d_beta}");
    }

    #[test]
    fn far_from_everything_the_chance_is_a_half_and_near_examples_it_is_theirs() {
        let net = Mlp::new(&[3, 3], Activation::Relu);
        let mut params = vec![0.0; net.n_params()];
        (0..3).for_each(|i| params[i * 4] = 1.0); // the identity
        let mut examples = Examples::new(1);
        let theta = Theta { iteration: 0.0, noise: 0.0 };
        (0..5).for_each(|_| examples.push(&[0.0], theta, false));
        (0..5).for_each(|_| examples.push(&[1.0], theta, true));
        let memory = remember(&net, &params, &examples, &(0..10).collect::<Vec<_>>(), [1.0; 2]);
        let known = Dictionary { net, params, beta: -5.0, neighbours: 5, memory };
        let (mut work, mut near) = (known.net.workspace(1), Near::default());
        let mut at = |x: f32| known.predict(&[x, 0.0, 0.0], &mut work, &mut near);
        assert!(at(-0.1) < 0.01 && at(1.1) > 0.99, "{} {}", at(-0.1), at(1.1));
        assert!((at(100.0) - 0.5).abs() < 1e-3 && (at(-100.0) - 0.5).abs() < 1e-3, "{}", at(100.0));
    }

    #[test]
    fn a_history_longer_than_a_memory_costs_no_more_and_chances_stay_those_of_all() {
        let (mut rng, mut all) = (Rng::new(7), Examples::new(1));
        let theta = Theta { iteration: 0.5, noise: 0.0 };
        for _ in 0..5 * MOST {
            let x = rng.uniform();
            all.push(&[x], theta, rng.uniform() < 0.1 * x);
        }
        let (mut found, _) = Dictionary::fit(&[8], 32, &all, None, 1, &mut rng);
        assert_eq!(found.memory.len(), MOST);
        let failed = found.memory.outcomes().iter().filter(|&&y| y > 0.5).count();
        assert_eq!(failed, all.failures().min(MOST / 2), "few failures are all remembered");
        // Votes alone, as what is learned later is how much the prior counts beside them.
        found.beta = -10.0;
        let predicted = found.predict_all(&all.at_most(2000));
        let (mean, share) =
            (predicted.iter().sum::<f64>() / 2000.0, all.failures() as f64 / all.len() as f64);
        assert!((mean / share - 1.0).abs() < 0.1, "expected about {share}, found {mean}");
    }
}

//! Extremely randomised trees: from features to how likely each class is, and how large its members usually are.
//!
//! At each node some features are drawn, and for each a cut at random between the smallest and the largest value there;
//! the cut with the largest decrease of the Gini impurity is kept, and where a node holds one class, the one with the
//! largest decrease of the variance of sizes, until there are too few examples. All trees see all examples. Classes weigh
//! the same, however many examples they have.
//!
//! Reference: Geurts, Ernst, Wehenkel, Extremely randomized trees, Machine Learning 2006.

mod kept;

use crate::shared::forest::Table;
use offnominal_core::Rng;
use offnominal_core::fit_progress::{FitProgress, Stopped};

/// Number of trees.
const TREES: usize = 60;
/// The fewest examples of a leaf,
const LEAST: usize = 3;
/// and where a node of one class was cut.
const LEAST_OF_ONE: usize = 6;

/// What an example is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Label {
    pub class: usize,
    /// How large it is.
    pub size: f64,
}

/// How likely a class is, and how large its members of that kind are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Vote {
    pub probability: f64,
    pub size: f64,
}

/// Trees over rows of equal width.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trees {
    nodes: Vec<Node>,
    roots: Vec<u32>,
    /// Where the shares of each leaf begin; one more than there are leaves.
    starts: Vec<u32>,
    shares: Vec<Share>,
}

/// A split, which sends rows with `row[channel] <= value` left; or a leaf, if `left` is zero, whose number is `channel`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    value: f32,
    channel: u32,
    /// The left child; the right one follows it.
    left: u32,
}

/// What part of a leaf a class is, and the mean size of its examples there.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Share {
    class: u32,
    part: f32,
    size: f32,
}

impl Trees {
    /// Grows trees over the rows of a table, each with its label, of so many classes.
    ///
    /// # Errors
    /// If it was asked to stop.
    pub fn grow(
        table: Table<'_>,
        labels: &[Label],
        n_classes: usize,
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Trees, Stopped> {
        let trees = Trees { nodes: vec![], roots: vec![], starts: vec![0], shares: vec![] };
        let mut grower = Grower { trees, table, labels, weights: weights(labels, n_classes), rng };
        let mut points: Vec<u32> = (0..labels.len() as u32).collect();
        for tree in 0..TREES {
            progress.at(tree, TREES)?;
            let root = grower.trees.nodes.len();
            grower.trees.roots.push(root as u32);
            grower.trees.nodes.push(BLANK);
            grower.split(root, &mut points);
        }
        Ok(grower.trees)
    }

    /// What the trees say of a row, class by class.
    pub fn votes(&self, row: &[f32], votes: &mut [Vote]) {
        votes.fill(Vote::default());
        let each = 1.0 / self.roots.len() as f64;
        for share in self.roots.iter().flat_map(|&root| self.leaf(root, row)) {
            let (vote, part) = (&mut votes[share.class as usize], each * f64::from(share.part));
            vote.probability += part;
            vote.size += part * f64::from(share.size);
        }
        votes.iter_mut().filter(|v| v.probability > 0.0).for_each(|v| v.size /= v.probability);
    }

    fn leaf(&self, root: u32, row: &[f32]) -> &[Share] {
        let mut node = self.nodes[root as usize];
        while node.left != 0 {
            let goes_right = row[node.channel as usize] > node.value;
            node = self.nodes[node.left as usize + usize::from(goes_right)];
        }
        let [from, to] = [0, 1].map(|next| self.starts[node.channel as usize + next] as usize);
        &self.shares[from..to]
    }
}

/// A node before it is split.
const BLANK: Node = Node { value: 0.0, channel: 0, left: 0 };

/// The weight of an example of each class.
fn weights(labels: &[Label], n_classes: usize) -> Vec<f64> {
    let mut counts = vec![0.0; n_classes];
    labels.iter().for_each(|label| counts[label.class] += 1.0);
    counts.iter().map(|n| 1.0 / f64::max(*n, 1.0)).collect()
}

struct Grower<'a> {
    trees: Trees,
    table: Table<'a>,
    labels: &'a [Label],
    weights: Vec<f64>,
    rng: &'a mut Rng,
}

impl Grower<'_> {
    fn split(&mut self, node: usize, points: &mut [u32]) {
        let Some((channel, value)) = self.best(points) else { return self.end(node, points) };
        let table = self.table;
        points.sort_unstable_by_key(|&p| table.at(p, channel) > value);
        let n_left = points.partition_point(|&p| table.at(p, channel) <= value);
        let left = self.trees.nodes.len();
        self.trees.nodes[node] = Node { value, channel: channel as u32, left: left as u32 };
        self.trees.nodes.extend([BLANK; 2]);
        let (low, high) = points.split_at_mut(n_left);
        self.split(left, low);
        self.split(left + 1, high);
    }

    /// The best of some random cuts; `None` if nothing is to be cut.
    fn best(&mut self, points: &[u32]) -> Option<(usize, f32)> {
        let first = self.labels[*points.first()? as usize].class;
        let is_pure = points.iter().all(|&p| self.labels[p as usize].class == first);
        let least = if is_pure { LEAST_OF_ONE } else { LEAST };
        if points.len() < 2 * least {
            return None;
        }
        let tries = (self.table.width as f64).sqrt().ceil() as usize;
        let mut best: Option<(f64, usize, f32)> = None;
        for _ in 0..tries {
            let channel = self.rng.below(self.table.width);
            let Some((low, high)) = self.table.extremes(points, channel) else { continue };
            let value = low + (high - low) * self.rng.uniform() as f32;
            let is_left = |&&p: &&u32| self.table.at(p, channel) <= value;
            let (left, right): (Vec<&u32>, Vec<&u32>) = points.iter().partition(is_left);
            if left.len().min(right.len()) < least {
                continue;
            }
            let gain =
                [left, right].map(|side| if is_pure { self.likeness(&side) } else { self.purity(&side) });
            let gain = gain[0] + gain[1];
            if best.is_none_or(|(before, ..)| gain > before) {
                best = Some((gain, channel, value));
            }
        }
        best.map(|(_, channel, value)| (channel, value))
    }

    /// Σ_k W_k² / Σ_k W_k with the weights of the classes: summed over two sides, it grows as the Gini impurity falls.
    fn purity(&self, points: &[&u32]) -> f64 {
        let mut sums = vec![0.0; self.weights.len()];
        for class in points.iter().map(|&&p| self.labels[p as usize].class) {
            sums[class] += self.weights[class];
        }
        sums.iter().map(|w| w * w).sum::<f64>() / sums.iter().sum::<f64>()
    }

    /// n m² with the mean size m: summed over two sides, it grows as the variance within them falls.
    fn likeness(&self, points: &[&u32]) -> f64 {
        points.iter().map(|&&p| self.labels[p as usize].size).sum::<f64>().powi(2) / points.len() as f64
    }

    /// Makes a leaf.
    fn end(&mut self, node: usize, points: &[u32]) {
        let mut sums = vec![(0.0, 0.0); self.weights.len()];
        for label in points.iter().map(|&p| self.labels[p as usize]) {
            sums[label.class].0 += 1.0;
            sums[label.class].1 += label.size;
        }
        let total: f64 = sums.iter().zip(&self.weights).map(|((n, _), w)| n * w).sum();
        let leaf = self.trees.starts.len() - 1;
        self.trees.nodes[node] = Node { value: 0.0, channel: leaf as u32, left: 0 };
        let present = (0..).zip(&sums).zip(&self.weights).filter(|((_, (n, _)), _)| *n > 0.0);
        self.trees.shares.extend(present.map(|((class, (n, size)), weight)| Share {
            class,
            part: (n * weight / total) as f32,
            size: (size / n) as f32,
        }));
        self.trees.starts.push(self.trees.shares.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two features and one that says nothing: class 0 left below, 1 right, 2 above; of class 1 the size is the height.
    pub(super) fn grown(n: usize) -> Trees {
        let mut rng = Rng::new(1);
        let (mut points, mut labels) = (vec![], vec![]);
        for i in 0..n {
            let class = i % 3;
            let [x, y] = [[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]][class];
            let row = [x + 0.5 * rng.normal(), y + 0.5 * rng.normal(), rng.normal()];
            points.extend(row.map(|v| v as f32));
            labels.push(Label { class, size: if class == 1 { row[1] } else { 7.0 } });
        }
        let table = Table { points: &points, width: 3, n_points: n };
        Trees::grow(table, &labels, 4, &mut rng, FitProgress::unseen()).unwrap()
    }

    fn said(trees: &Trees, row: [f32; 3]) -> [Vote; 4] {
        let mut votes = [Vote::default(); 4];
        trees.votes(&row, &mut votes);
        votes
    }

    #[test]
    fn classes_and_sizes_are_told() {
        let trees = grown(600);
        for (class, row) in [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]].into_iter().enumerate() {
            let votes = said(&trees, row);
            assert!(votes[class].probability > 0.9, "{votes:?}");
            assert!((votes.iter().map(|v| v.probability).sum::<f64>() - 1.0).abs() < 1e-6);
        }
        let [low, high] = [-0.5, 0.5].map(|y| said(&trees, [3.0, y, 0.0])[1].size);
        assert!(high - low > 0.4, "{low} {high}");
        assert_eq!(said(&trees, [0.0, 0.0, 0.0])[3], Vote::default());
        let votes = said(&trees, [1.5, 1.5, 0.0]);
        assert!(votes.iter().all(|v| v.probability < 0.9), "{votes:?}");
    }

    #[test]
    fn a_single_example_is_no_error() {
        let vote = said(&grown(1), [9.0; 3])[0];
        assert!((vote.probability - 1.0).abs() < 1e-9 && (vote.size - 7.0).abs() < 1e-9, "{vote:?}");
    }
}

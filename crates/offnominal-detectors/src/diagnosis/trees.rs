//! Extremely randomised trees: from features to how likely each class is, and how large its members usually are.
//!
//! At each node some features are drawn, and for each a cut at random between the smallest and the largest value there;
//! the cut with the largest decrease of the Gini impurity is kept, and where a node holds one class, the one with the
//! largest decrease of the variance of sizes, until there are too few examples. All trees see all examples. Classes weigh
//! the same, however many examples they have.
//!
//! Reference: Geurts, Ernst, Wehenkel, Extremely randomized trees, Machine Learning 2006.

use crate::shared::forest::Table;
use offnominal_core::Rng;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
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

    /// Writes the trees, each node before its left part and that before its right part, so that places need not be written: of
    /// each node 0 for a leaf, else the channel that it splits by, counted from 1.
    pub fn save(&self, to: &mut Writer<'_>) {
        let (mut channels, mut values) = (Vec::with_capacity(self.nodes.len()), Vec::new());
        let mut open = Vec::new();
        for &root in &self.roots {
            open.push(root);
            while let Some(node) = open.pop().map(|at| self.nodes[at as usize]) {
                if node.left == 0 {
                    channels.push(0);
                } else {
                    channels.push(u64::from(node.channel) + 1);
                    values.push(node.value);
                    open.extend([node.left + 1, node.left]);
                }
            }
        }
        to.put("channel", &channels);
        to.put("value", &values);
        to.put("leaf", &self.starts.windows(2).map(|pair| u64::from(pair[1] - pair[0])).collect::<Vec<_>>());
        to.put("class", &self.shares.iter().map(|s| u64::from(s.class)).collect::<Vec<_>>());
        to.put("part", &self.shares.iter().map(|s| s.part).collect::<Vec<_>>());
        to.put("size", &self.shares.iter().map(|s| s.size).collect::<Vec<_>>());
    }

    /// Reads trees over rows of `width` numbers, with so many classes.
    pub fn load(from: &Reader<'_>, width: usize, n_classes: usize) -> Result<Trees, ArchiveError> {
        let (nodes, roots) = nodes(from, width)?;
        let shares = shares(from, n_classes)?;
        let n_leaves = nodes.iter().filter(|node| node.left == 0).count();
        Ok(Trees { starts: starts(from, n_leaves, shares.len())?, nodes, roots, shares })
    }
}

/// Where the shares of each leaf begin; one more than there are leaves.
fn starts(from: &Reader<'_>, n_leaves: usize, n_shares: usize) -> Result<Vec<u32>, ArchiveError> {
    let (mut starts, mut sum) = (Vec::with_capacity(n_leaves + 1), 0_u64);
    starts.push(0);
    for &n in from.exactly::<u64>("leaf", n_leaves)? {
        sum = sum.saturating_add(n);
        from.require(sum <= n_shares as u64, "leaf", format_args!("{n_shares} shares in all"), sum)?;
        starts.push(sum as u32);
    }
    from.require(sum == n_shares as u64, "leaf", format_args!("{n_shares} shares in all"), sum)?;
    Ok(starts)
}

fn shares(from: &Reader<'_>, n_classes: usize) -> Result<Vec<Share>, ArchiveError> {
    let classes = indices(from, "class", n_classes)?;
    let parts = from.exactly::<f32>("part", classes.len())?;
    let sizes = from.exactly::<f32>("size", classes.len())?;
    let rows = classes.iter().zip(parts).zip(sizes);
    Ok(rows.map(|((&class, &part), &size)| Share { class: class as u32, part, size }).collect())
}

/// A list of numbers below another, of a length that a `u32` counts twice.
fn indices<'a>(from: &Reader<'a>, name: &str, below: usize) -> Result<&'a [u64], ArchiveError> {
    const MOST: usize = u32::MAX as usize / 2;
    let list = from.list::<u64>(name)?;
    from.require(list.len() <= MOST, name, format_args!("{MOST} numbers or fewer"), list.len())?;
    let bad = list.iter().find(|&&i| i >= below as u64);
    from.require(bad.is_none(), name, format_args!("numbers below {below}"), bad.unwrap_or(&0))?;
    Ok(list)
}

/// The nodes in the places that the grower gives them, and the roots.
fn nodes(from: &Reader<'_>, width: usize) -> Result<(Vec<Node>, Vec<u32>), ArchiveError> {
    let channels = indices(from, "channel", width + 1)?;
    let n_splits = channels.iter().filter(|&&channel| channel > 0).count();
    let mut values = from.exactly::<f32>("value", n_splits)?.iter();
    let (mut nodes, mut roots, mut open) = (Vec::with_capacity(channels.len()), vec![], vec![]);
    let mut leaves = 0..;
    for &channel in channels {
        let at = open.pop().unwrap_or_else(|| {
            roots.push(nodes.len() as u32);
            nodes.push(BLANK);
            nodes.len() - 1
        });
        nodes[at] = match channel.checked_sub(1) {
            None => Node { channel: leaves.next().unwrap_or(0), ..BLANK },
            Some(channel) => {
                let left = nodes.len();
                nodes.extend([BLANK; 2]);
                open.extend([left + 1, left]);
                Node { value: *values.next().unwrap_or(&0.0), channel: channel as u32, left: left as u32 }
            }
        };
    }
    from.require(open.is_empty() && !roots.is_empty(), "channel", "whole trees, one or more", "others")?;
    Ok((nodes, roots))
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
    use offnominal_core::archive::{Archive, Numbers};

    /// Two features and one that says nothing: class 0 left below, 1 right, 2 above; of class 1 the size is the height.
    fn grown(n: usize) -> Trees {
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

    fn shorter(list: &Numbers) -> Numbers {
        match list {
            Numbers::F32(list) => Numbers::F32(list[1..].to_vec()),
            Numbers::F64(list) => Numbers::F64(list[1..].to_vec()),
            Numbers::U64(list) => Numbers::U64(list[1..].to_vec()),
        }
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
    fn kept_trees_say_the_same_and_a_single_example_is_no_error() {
        let trees = grown(60);
        let mut archive = Archive::default();
        trees.save(&mut archive.writer());
        assert_eq!(Trees::load(&archive.reader(1, 1), 3, 4).unwrap(), trees);
        assert!(Trees::load(&archive.reader(1, 1), 3, 2).is_err());
        assert!(Trees::load(&archive.reader(1, 1), 1, 4).is_err());
        for name in ["channel", "value", "leaf", "class"] {
            let mut cut = archive.clone();
            cut.lists.insert(name.into(), shorter(&archive.lists[name]));
            assert!(Trees::load(&cut.reader(1, 1), 3, 4).is_err(), "{name} lacks its first number");
        }
        let vote = said(&grown(1), [9.0; 3])[0];
        assert!((vote.probability - 1.0).abs() < 1e-9 && (vote.size - 7.0).abs() < 1e-9, "{vote:?}");
    }
}

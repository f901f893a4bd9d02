//! Isolation trees, flattened into one array of nodes each.

use offnominal_core::Rng;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_core::fit_progress::{FitProgress, Stopped};

/// Rows of equal width; there may be rows even where the width is zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    /// `[n_points, width]`.
    pub points: &'a [f32],
    /// Numbers per row.
    pub width: usize,
    /// Number of rows.
    pub n_points: usize,
}

impl Table<'_> {
    pub fn at(&self, point: u32, channel: usize) -> f32 {
        self.points[point as usize * self.width + channel]
    }

    /// The smallest and largest value of a channel among some points, where they differ.
    pub fn extremes(&self, points: &[u32], channel: usize) -> Option<(f32, f32)> {
        let column = points.iter().map(|&p| self.at(p, channel));
        let low = column.clone().fold(f32::INFINITY, f32::min);
        let high = column.fold(f32::NEG_INFINITY, f32::max);
        (low < high).then_some((low, high))
    }
}

/// A forest of isolation trees over rows of equal width.
#[derive(Debug, PartialEq)]
pub(crate) struct Forest {
    /// All nodes of all trees.
    nodes: Vec<Node>,
    /// Where each tree's root is in `nodes`.
    roots: Vec<u32>,
    /// c(ψ): the expected path length in a tree of ψ points, by which path lengths are divided.
    typical_path: f64,
}

/// A split, or a leaf when `left` is zero (no child is at position 0, which is the first root).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    /// Split: goes left when `row[channel] <= value`. Leaf: `value` is the path length to it.
    value: f32,
    channel: u32,
    /// The left child; the right one follows it.
    left: u32,
}

impl Forest {
    /// Grows `n_trees` trees, each on `subsample` of the rows drawn without replacement (fewer, if there are fewer).
    pub fn grow(
        table: Table<'_>,
        n_trees: usize,
        subsample: usize,
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Forest, Stopped> {
        let subsample = subsample.min(table.n_points);
        // A single point has a path of zero and c(1) = 0; any divisor will do, and from two points on c is at least 1.
        let typical_path = expected_path(subsample).max(1.0);
        let mut forest = Forest { nodes: Vec::new(), roots: Vec::new(), typical_path };
        let mut order: Vec<u32> = (0..table.n_points as u32).collect();
        let height_limit = (subsample.max(2) as f64).log2().ceil() as u32;
        for tree in 0..n_trees {
            progress.at(tree, n_trees)?;
            draw_to_front(&mut order, subsample, rng);
            let root = forest.nodes.len();
            forest.roots.push(root as u32);
            forest.nodes.push(LEAF);
            Grower { forest: &mut forest, table, height_limit, rng }.split(root, &mut order[..subsample], 0);
        }
        Ok(forest)
    }

    /// Writes the trees.
    pub fn save(&self, to: &mut Writer<'_>) {
        let list = |of: fn(&Node) -> u32| self.nodes.iter().map(|n| u64::from(of(n))).collect::<Vec<_>>();
        to.put("value", &self.nodes.iter().map(|n| n.value).collect::<Vec<_>>());
        to.put("channel", &list(|n| n.channel));
        to.put("left", &list(|n| n.left));
        to.put("roots", &self.roots.iter().map(|&r| u64::from(r)).collect::<Vec<_>>());
        to.put("typical-path", &[self.typical_path]);
    }

    /// Reads trees over rows of `width` numbers, of which there are `n_trees`.
    pub fn load(from: &Reader<'_>, width: usize, n_trees: usize) -> Result<Forest, ArchiveError> {
        let values = from.list::<f32>("value")?;
        let channels = from.exactly::<u64>("channel", values.len())?;
        let left = from.exactly::<u64>("left", values.len())?;
        let roots = from.exactly::<u64>("roots", n_trees)?;
        from.require(values.len() <= u32::MAX as usize, "value", "fewer nodes", values.len())?;
        let mut nodes = Vec::with_capacity(values.len());
        for (i, ((&value, &channel), &left)) in values.iter().zip(channels).zip(left).enumerate() {
            // Children lie after their parent, so that every path ends.
            let last = values.len() as u64 - 1;
            let is_split = left > i as u64 && left < last && channel < width as u64;
            from.require(left == 0 || is_split, "left", format_args!("a child after node {i}"), left)?;
            nodes.push(Node { value, channel: channel as u32, left: left as u32 });
        }
        let lost = roots.iter().find(|&&root| root >= nodes.len() as u64);
        from.require(lost.is_none(), "roots", "trees among the nodes", lost.unwrap_or(&0))?;
        let typical_path = from.one::<f64>("typical-path")?;
        from.require(typical_path > 0.0, "typical-path", "a number above zero", typical_path)?;
        Ok(Forest { nodes, roots: roots.iter().map(|&r| r as u32).collect(), typical_path })
    }

    /// 2^(−mean path length / c(ψ)), in (0, 1].
    pub fn score(&self, row: &[f32]) -> f64 {
        let total: f64 = self.roots.iter().map(|&root| f64::from(self.path(root, row))).sum();
        libm::exp2(-total / self.roots.len() as f64 / self.typical_path)
    }

    fn path(&self, root: u32, row: &[f32]) -> f32 {
        let mut node = &self.nodes[root as usize];
        while node.left != 0 {
            let goes_right = row[node.channel as usize] > node.value;
            node = &self.nodes[node.left as usize + usize::from(goes_right)];
        }
        node.value
    }
}

/// A node before it is split.
const LEAF: Node = Node { value: 0.0, channel: 0, left: 0 };

/// Puts a uniform draw of `n` distinct items at the front.
fn draw_to_front(items: &mut [u32], n: usize, rng: &mut Rng) {
    for i in 0..n {
        let other = i + rng.below(items.len() - i);
        items.swap(i, other);
    }
}

/// c(n): the average path length of an unsuccessful search in a binary search tree of n points (equation 1).
///
/// The harmonic number is summed, not approximated: c(2) is 1, where the usual formula gives 0.15.
pub(crate) fn expected_path(n: usize) -> f64 {
    if n < 2 {
        return 0.0;
    }
    let harmonic: f64 = (1..n).map(|i| 1.0 / i as f64).sum();
    2.0 * harmonic - 2.0 * (n - 1) as f64 / n as f64
}

struct Grower<'a> {
    forest: &'a mut Forest,
    table: Table<'a>,
    height_limit: u32,
    rng: &'a mut Rng,
}

impl Grower<'_> {
    /// Turns `node` into the subtree of the given points.
    fn split(&mut self, node: usize, points: &mut [u32], depth: u32) {
        let chosen =
            (depth < self.height_limit && points.len() > 1).then(|| self.draw_split(points)).flatten();
        let Some((channel, value)) = chosen else {
            self.forest.nodes[node].value = (f64::from(depth) + expected_path(points.len())) as f32;
            return;
        };
        let left = self.forest.nodes.len();
        self.forest.nodes[node] = Node { value, channel: channel as u32, left: left as u32 };
        self.forest.nodes.extend([LEAF; 2]);
        let table = self.table;
        let middle = partition(points, |&p| table.at(p, channel) <= value);
        let (low, high) = points.split_at_mut(middle);
        self.split(left, low, depth + 1);
        self.split(left + 1, high, depth + 1);
    }

    /// A channel drawn from those that vary among the points, and a value between its extremes; `None` if none varies.
    fn draw_split(&mut self, points: &[u32]) -> Option<(usize, f32)> {
        let table = self.table;
        let varying = |c: usize| Some((c, table.extremes(points, c)?));
        let n_varying = (0..table.width).filter_map(varying).count();
        if n_varying == 0 {
            return None;
        }
        let drawn = self.rng.below(n_varying);
        let (channel, (low, high)) = (0..table.width).filter_map(varying).nth(drawn)?;
        let value = self.rng.range(f64::from(low), f64::from(high)) as f32;
        // Rounding to f32 may reach the upper end, which would leave the right side empty.
        Some((channel, if value < high { value } else { low }))
    }
}

/// Moves the items that satisfy the predicate to the front and counts them.
fn partition<T>(items: &mut [T], keep: impl Fn(&T) -> bool) -> usize {
    let mut kept = 0;
    for i in 0..items.len() {
        if keep(&items[i]) {
            items.swap(kept, i);
            kept += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_paths_are_those_of_binary_search_trees() {
        // By hand: c(2) = 2·1 − 1, c(3) = 2·1.5 − 4/3.
        for (n, want) in [(0, 0.0), (1, 0.0), (2, 1.0), (3, 5.0 / 3.0)] {
            assert!((expected_path(n) - want).abs() < 1e-12, "{n}");
        }
        // The approximation by ln and Euler's constant is good for many points.
        let euler = 0.577_215_664_901_532_9;
        let usual = 2.0 * (255.0_f64.ln() + euler) - 2.0 * 255.0 / 256.0;
        assert!((expected_path(256) - usual).abs() < 0.005);
    }

    fn grown(points: &[f32], n_trees: usize, seed: u64) -> Forest {
        let table = Table { points, width: 1, n_points: points.len() };
        Forest::grow(table, n_trees, 256, &mut Rng::new(seed), FitProgress::unseen()).unwrap()
    }

    #[test]
    fn two_points_are_isolated_by_one_split() {
        let forest = grown(&[0.0, 1.0], 10, 1);
        // One split, so the path is 1 = c(2) and the score one half, on both sides.
        assert_eq!(forest.score(&[-5.0]), 0.5);
        assert_eq!(forest.score(&[5.0]), 0.5);
    }

    #[test]
    fn a_lone_point_is_isolated_sooner() {
        let mut points: Vec<f32> = (0..255).map(|i| i as f32 / 255.0).collect();
        points.push(50.0);
        let forest = grown(&points, 100, 2);
        assert!(forest.score(&[50.0]) > 0.75, "{}", forest.score(&[50.0]));
        assert!(forest.score(&[0.5]) < 0.5);
    }
}

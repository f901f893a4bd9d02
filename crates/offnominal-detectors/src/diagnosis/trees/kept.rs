//! Trees in the file of a monitor.
//!
//! Nodes are written in the order of a walk: each before its left part, and that before its right part. So neither the places of
//! children and leaves nor those of roots have to be written; reading puts them where the grower did.

use super::{BLANK, Node, Share, Trees};
use offnominal_core::archive::{ArchiveError, Reader, Writer};

impl Trees {
    /// Writes the trees: of each node 0 for a leaf, else the channel that it splits by, counted from 1.
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

#[cfg(test)]
mod tests {
    use super::super::tests::grown;
    use super::*;
    use offnominal_core::archive::{Archive, Numbers};

    fn shorter(list: &Numbers) -> Numbers {
        match list {
            Numbers::F32(list) => Numbers::F32(list[1..].to_vec()),
            Numbers::F64(list) => Numbers::F64(list[1..].to_vec()),
            Numbers::U64(list) => Numbers::U64(list[1..].to_vec()),
        }
    }

    #[test]
    fn kept_trees_are_the_same_and_shorter_lists_are_refused() {
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
    }
}

//! Connected sets of pixels.

/// Connected sets of pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// 0 outside, else 1 and up.
    pub labels: Vec<u32>,
    /// Pixels of each component; 0 if it was dropped.
    pub sizes: Vec<usize>,
}

impl Components {
    /// Of the pixels that are inside, in rows of some width.
    pub fn of(inside: &[bool], width: usize) -> Components {
        let mut found = Components { labels: vec![0; inside.len()], sizes: Vec::new() };
        let mut open = Vec::new();
        for start in 0..inside.len() {
            if inside[start] && found.labels[start] == 0 {
                found.sizes.push(0);
                found.labels[start] = found.sizes.len() as u32;
                open.push(start);
                found.flood(inside, width, &mut open);
            }
        }
        found
    }

    /// Labels everything that is connected with the open pixels like the latest component.
    fn flood(&mut self, inside: &[bool], width: usize, open: &mut Vec<usize>) {
        let label = self.sizes.len() as u32;
        while let Some(at) = open.pop() {
            self.sizes[label as usize - 1] += 1;
            let (row, column, height) = (at / width, at % width, inside.len() / width);
            for r in row.saturating_sub(1)..(row + 2).min(height) {
                for c in column.saturating_sub(1)..(column + 2).min(width) {
                    let next = r * width + c;
                    if inside[next] && self.labels[next] == 0 {
                        self.labels[next] = label;
                        open.push(next);
                    }
                }
            }
        }
    }

    /// Pixels of a component.
    ///
    /// # Panics
    /// If there is none of that label.
    pub fn size(&self, label: u32) -> usize {
        self.sizes[label as usize - 1]
    }

    /// The largest component that others cover by less than half; the first of equal ones.
    pub(super) fn largest_outside(&self, others: &Components) -> Option<u32> {
        let mut covered = vec![0; self.sizes.len() + 1];
        for (&label, &other) in self.labels.iter().zip(&others.labels) {
            covered[label as usize] += usize::from(other > 0);
        }
        let labels = (1..=self.sizes.len() as u32).rev();
        labels.filter(|&l| 2 * covered[l as usize] < self.size(l)).max_by_key(|&l| self.size(l))
    }

    /// Drops the components of fewer pixels.
    pub(super) fn drop_below(&mut self, least: usize) {
        for label in &mut self.labels {
            if *label > 0 && self.sizes[*label as usize - 1] < least {
                *label = 0;
            }
        }
        self.sizes.iter_mut().filter(|s| **s < least).for_each(|s| *s = 0);
    }
}

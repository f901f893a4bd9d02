//! How much memory a fit takes, known before it starts.

use std::fmt;

/// Copies of every weight: itself, its gradient, two means of the optimiser, the best so far, and one in between.
const COPIES: usize = 6;

/// Numbers per activation: before and after it was cut, its gradient, and the padded copy that a convolution reads.
const PER_ACTIVATION: usize = 4;

/// Bytes that a fit takes, by what they are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// Weights and what the optimiser remembers of them.
    pub weights: u64,
    /// What is kept of a batch until the derivatives are taken.
    pub batch: u64,
    /// Images in the network's size, where that is not the videos' own.
    pub images: u64,
}

impl Need {
    /// Of so many weights, activations at once, and bytes of images.
    pub fn new(weights: usize, activations: usize, images: usize) -> Need {
        let floats = |n: usize| 4 * n as u64;
        Need {
            weights: floats(COPIES * weights),
            batch: floats(PER_ACTIVATION * activations),
            images: images as u64,
        }
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.weights + self.batch + self.images
    }

    /// Why it cannot be had, if so many bytes are there.
    pub fn refusal(&self, found: Option<u64>) -> Option<String> {
        let found = found.filter(|&found| found < self.total())?;
        Some(format!(
            "expected {self} of free memory, found {}: choose a smaller preset, side or batch",
            gibibytes(found)
        ))
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [weights, batch, images] = [self.weights, self.batch, self.images].map(gibibytes);
        let total = gibibytes(self.total());
        write!(f, "{total} (weights {weights}, a batch {batch}, images {images})")
    }
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.2} GiB", bytes as f64 / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_its_parts() {
        let need = Need::new(1 << 20, 1 << 26, 1 << 30);
        assert_eq!(need.to_string(), "2.02 GiB (weights 0.02 GiB, a batch 1.00 GiB, images 1.00 GiB)");
        assert_eq!((need.refusal(None), need.refusal(Some(3 << 30))), (None, None));
        let refusal = need.refusal(Some(1 << 30)).unwrap();
        assert!(refusal.starts_with("expected 2.02 GiB") && refusal.contains("found 1.00 GiB"), "{refusal}");
    }
}

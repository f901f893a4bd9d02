//! PSPNet: what a place shows is judged with means over regions of four sizes.
//!
//! Reference: Zhao et al., CVPR 2017. The pyramid's bins are 1, 2, 3 and 6.

use crate::layer::{ConvNorm, Kernel};
use crate::pass::Pass;
use crate::resize::{pool, resize};
use crate::trunk::Maps;
use crate::weights::Plan;
use burn_tensor::Tensor;

const BINS: [usize; 4] = [1, 2, 3, 6];

/// The head.
#[derive(Debug, Clone)]
pub struct Pyramid {
    levels: Vec<ConvNorm>,
    merge: ConvNorm,
}

impl Pyramid {
    /// Of a map with so many channels: `level` for each size of region, `merged` in the end.
    pub fn new(plan: &mut Plan, from: usize, level: usize, merged: usize) -> Pyramid {
        let levels =
            BINS.map(|bins| ConvNorm::new(plan, &format!("head.level.{bins}"), [from, level], Kernel::of(1)));
        let all = from + BINS.len() * level;
        Pyramid {
            levels: levels.into(),
            merge: ConvNorm::new(plan, "head.merge", [all, merged], Kernel::of(3)),
        }
    }

    /// Features at the size of the coarse map.
    pub fn forward(&self, maps: Maps, pass: &mut Pass) -> Tensor<4> {
        let [_, _, height, width] = maps.high.dims();
        let mut all = vec![maps.high.clone()];
        for (layer, bins) in self.levels.iter().zip(BINS) {
            let region = layer.relu(pool(maps.high.clone(), bins), pass);
            all.push(resize(region, [height, width]));
        }
        self.merge.relu(Tensor::cat(all, 1), pass)
    }
}

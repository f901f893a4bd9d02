//! Rectified dense layers in the order of a policy that is trained here.

use crate::chain::Chain;
use crate::network::{Activation, Kind};
use offnominal_nets::Mlp;

/// Most actions of a policy whose output is cut: the cut takes twice their square of weights.
const MOST_CUT: usize = 4096;

/// The network of these layers, if all of them are dense and rectified, and the last one is linear or cut.
pub(super) fn rectified(chain: &Chain) -> Option<(Mlp, Vec<f32>)> {
    let (last, hidden) = chain.layers.split_last()?;
    if hidden.iter().any(|layer| layer.activation != Activation::Relu) {
        return None;
    }
    let mut sizes = Vec::new();
    for layer in &chain.layers {
        let Kind::Dense { inputs, .. } = layer.kind else { return None };
        sizes.push(inputs);
    }
    let outputs = last.kind.outputs()?;
    let mut params = chain.params.concat();
    match last.activation {
        Activation::Identity => sizes.push(outputs),
        Activation::Cut(limit) if outputs <= MOST_CUT => {
            let of_last = chain.params.last()?;
            params.truncate(params.len() - of_last.len());
            params.extend(cut(of_last, outputs, limit));
            sizes.extend([2 * outputs, outputs]);
        }
        _ => return None,
    }
    Some((Mlp::new(&sizes, offnominal_nets::Activation::Relu), params))
}

/// The numbers of two layers that cut the output of one at ±`limit`: y ↦ max(0, y + l) − max(0, y − l) − l.
fn cut(params: &[f32], n: usize, limit: f32) -> Vec<f32> {
    let (weights, bias) = params.split_at(params.len() - n);
    let mut all: Vec<f32> = weights.chunks_exact(n).flat_map(|row| [row, row].concat()).collect();
    all.extend(bias.iter().map(|b| b + limit).chain(bias.iter().map(|b| b - limit)));
    let mut back = vec![0.0; 2 * n * n];
    for i in 0..n {
        (back[i * n + i], back[(n + i) * n + i]) = (1.0, -1.0);
    }
    all.extend(back);
    all.extend(vec![-limit; n]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Layer;

    #[test]
    fn a_cut_output_is_exact() {
        let layer = Layer { kind: Kind::Dense { inputs: 1, outputs: 2 }, activation: Activation::Cut(2.0) };
        let chain = Chain { layers: vec![layer], params: vec![vec![1.0, -3.0, 0.25, 0.0]] };
        let (net, params) = rectified(&chain).unwrap();
        let mut work = net.workspace(1);
        for (x, want) in [(0.5, [0.75, -1.5]), (4.0, [2.0, -2.0]), (-1.0, [-0.75, 2.0])] {
            net.forward(&params, &[x], &mut work);
            assert_eq!(work.output(), want);
        }
    }
}

//! Vision transformers: patches as words, each of which looks at all others.
//!
//! Two families of checkpoints are read. Those of timm and of DINO (`cls_token`, `pos_embed`, `patch_embed.proj.*`,
//! `blocks.<i>.*`, `norm.*`), whose features are the words after the last norm; and CLIP's image side as transformers
//! has it (`vision_model.*`, `visual_projection.weight`), whose feature of the whole is projected as its texts are.
//!
//! An image is brought to `side` × `side` by area averaging; where that gives another grid than the checkpoint was
//! trained with, its places are interpolated linearly.
//!
//! Reference: Dosovitskiy et al., ICLR 2021; Caron et al., ICCV 2021 (DINO); Radford et al., ICML 2021 (CLIP).

use super::linear::{Bell, Linear, Norm, softmax};
use super::resize::Resize;
use super::{Backbone, Encoder, Features, Normal};
use crate::matmul::{self, Pack};
use crate::{TensorError, Tensors};
use std::sync::Arc;

/// Numbers of a word that a head looks at.
const HEAD: usize = 64;

/// A transformer with its weights.
#[derive(Debug)]
pub struct Transformer {
    /// Pixels on a side of the images that it looks at.
    side: usize,
    patch: usize,
    width: usize,
    normal: Normal,
    embed: Linear,
    class: Vec<f32>,
    /// One place for the class word, then those of the grid.
    places: Vec<f32>,
    before: Option<Norm>,
    blocks: Vec<Block>,
    after: Norm,
    projection: Option<Linear>,
    bell: Bell,
}

#[derive(Debug)]
struct Block {
    norms: [Norm; 2],
    /// Queries, keys and values side by side.
    qkv: Linear,
    out: Linear,
    mlp: [Linear; 2],
}

impl Transformer {
    /// Reads a checkpoint of timm or DINO.
    ///
    /// # Errors
    /// If a tensor is missing or has another shape.
    pub fn timm(from: &Tensors, side: usize) -> Result<Transformer, TensorError> {
        let (width, patch) = shape_of(from, "patch_embed.proj.weight")?;
        let grid = from.get("pos_embed")?.0.get(1).copied().unwrap_or(0);
        let mut blocks = Vec::new();
        while from.get(&format!("blocks.{}.norm1.weight", blocks.len())).is_ok() {
            blocks.push(Block::timm(from, &format!("blocks.{}", blocks.len()), width)?);
        }
        Ok(Transformer {
            side,
            patch,
            width,
            normal: Normal::IMAGENET,
            embed: embedding(from, "patch_embed.proj", width, patch, true)?,
            class: from.expect("cls_token", &[1, 1, width])?.to_vec(),
            places: from.expect("pos_embed", &[1, grid, width])?.to_vec(),
            before: None,
            blocks,
            after: Norm::read(from, "norm", width, 1e-6)?,
            projection: None,
            bell: Bell::Exact,
        })
    }

    /// Reads the image side of a checkpoint of CLIP.
    ///
    /// # Errors
    /// If a tensor is missing or has another shape.
    pub fn clip(from: &Tensors, side: usize) -> Result<Transformer, TensorError> {
        const MODEL: &str = "vision_model";
        let name = |what: &str| format!("{MODEL}.{what}");
        let (width, patch) = shape_of(from, &name("embeddings.patch_embedding.weight"))?;
        let places = name("embeddings.position_embedding.weight");
        let grid = from.get(&places)?.0.first().copied().unwrap_or(0);
        let projected = from.get("visual_projection.weight")?.0.first().copied().unwrap_or(0);
        let mut blocks = Vec::new();
        while from.get(&name(&format!("encoder.layers.{}.layer_norm1.weight", blocks.len()))).is_ok() {
            blocks.push(Block::clip(from, &name(&format!("encoder.layers.{}", blocks.len())), width)?);
        }
        Ok(Transformer {
            side,
            patch,
            width,
            normal: Normal::CLIP,
            embed: embedding(from, &name("embeddings.patch_embedding"), width, patch, false)?,
            class: from.expect(&name("embeddings.class_embedding"), &[width])?.to_vec(),
            places: from.expect(&places, &[grid, width])?.to_vec(),
            before: Some(Norm::read(from, &name("pre_layrnorm"), width, 1e-5)?),
            blocks,
            after: Norm::read(from, &name("post_layernorm"), width, 1e-5)?,
            projection: Some(Linear::read(from, "visual_projection", [projected, width], false)?),
            bell: Bell::Quick,
        })
    }

    /// Whether images of that many pixels on a side fall into whole patches.
    pub fn divides(&self, side: usize) -> bool {
        side >= self.patch && side.is_multiple_of(self.patch)
    }

    /// Pixels on a side of a patch.
    pub fn patch(&self) -> usize {
        self.patch
    }

    fn grid(&self) -> usize {
        self.side / self.patch
    }

    /// Words of a normalised image `[side, side, 3]`, the class word first.
    fn words(&self, pixels: &[f32], places: &[f32], pack: &mut Pack) -> Vec<f32> {
        let (grid, patch) = (self.grid(), self.patch);
        let mut rows = Vec::with_capacity(pixels.len());
        for at in 0..grid * grid {
            for line in 0..patch {
                let from = ((at / grid * patch + line) * self.side + at % grid * patch) * 3;
                rows.extend_from_slice(&pixels[from..from + patch * 3]);
            }
        }
        let mut words = self.class.clone();
        words.extend(self.embed.apply(&rows, pack));
        words.iter_mut().zip(places).for_each(|(w, p)| *w += p);
        words = self.before.as_ref().map_or(words.clone(), |norm| norm.apply(&words));
        self.blocks.iter().for_each(|block| block.apply(&mut words, self.width, self.bell, pack));
        words
    }

    /// The places of a grid of that many patches on a side, the class word's first.
    fn placed(&self, grid: usize) -> Vec<f32> {
        let (w, own) = (self.width, ((self.places.len() / self.width - 1) as f64).sqrt() as usize);
        let mut out = self.places[..w].to_vec();
        let at = |i: usize| {
            let middle = ((i as f64 + 0.5) * own as f64 / grid as f64 - 0.5).clamp(0.0, (own - 1) as f64);
            let low = (middle as usize).min(own - 1);
            (low, (low + 1).min(own - 1), (middle - low as f64) as f32)
        };
        for row in 0..grid {
            for column in 0..grid {
                let ((top, bottom, y), (left, right, x)) = (at(row), at(column));
                let place = |r: usize, c: usize, j: usize| self.places[(1 + r * own + c) * w + j];
                out.extend((0..w).map(|j| {
                    let upper = place(top, left, j) * (1.0 - x) + place(top, right, j) * x;
                    let lower = place(bottom, left, j) * (1.0 - x) + place(bottom, right, j) * x;
                    upper * (1.0 - y) + lower * y
                }));
            }
        }
        out
    }
}

/// Width and patch of a checkpoint, from the shape `[width, 3, patch, patch]` of its first layer.
fn shape_of(from: &Tensors, name: &str) -> Result<(usize, usize), TensorError> {
    let (shape, _) = from.get(name)?;
    match *shape {
        [width, 3, patch, other] if patch == other && width.is_multiple_of(HEAD) && patch > 0 => {
            Ok((width, patch))
        }
        _ => Err(TensorError::Shape {
            name: name.into(),
            expected: vec![384, 3, 16, 16],
            found: shape.to_vec(),
        }),
    }
}

/// The first layer, its inputs in the order of pixels with their colours side by side.
fn embedding(
    from: &Tensors,
    name: &str,
    width: usize,
    patch: usize,
    biased: bool,
) -> Result<Linear, TensorError> {
    let weights = from.expect(&format!("{name}.weight"), &[width, 3, patch, patch])?;
    let biases = match biased {
        true => from.expect(&format!("{name}.bias"), &[width])?.to_vec(),
        false => vec![0.0; width],
    };
    Ok(Linear::new(&super::convolution::interleaved(weights, width, 3), biases))
}

impl Block {
    fn timm(from: &Tensors, name: &str, width: usize) -> Result<Block, TensorError> {
        let norm = |what: &str| Norm::read(from, &format!("{name}.{what}"), width, 1e-6);
        let dense = |what: &str, shape| Linear::read(from, &format!("{name}.{what}"), shape, true);
        Ok(Block {
            norms: [norm("norm1")?, norm("norm2")?],
            qkv: dense("attn.qkv", [3 * width, width])?,
            out: dense("attn.proj", [width, width])?,
            mlp: [dense("mlp.fc1", [4 * width, width])?, dense("mlp.fc2", [width, 4 * width])?],
        })
    }

    fn clip(from: &Tensors, name: &str, width: usize) -> Result<Block, TensorError> {
        let norm = |what: &str| Norm::read(from, &format!("{name}.{what}"), width, 1e-5);
        let dense = |what: &str, shape| Linear::read(from, &format!("{name}.{what}"), shape, true);
        let names = ["q", "k", "v"].map(|part| format!("{name}.self_attn.{part}_proj"));
        Ok(Block {
            norms: [norm("layer_norm1")?, norm("layer_norm2")?],
            qkv: Linear::joined(from, &names, [width, width])?,
            out: dense("self_attn.out_proj", [width, width])?,
            mlp: [dense("mlp.fc1", [4 * width, width])?, dense("mlp.fc2", [width, 4 * width])?],
        })
    }

    fn apply(&self, words: &mut [f32], width: usize, bell: Bell, pack: &mut Pack) {
        let add = |words: &mut [f32], more: Vec<f32>| words.iter_mut().zip(more).for_each(|(w, m)| *w += m);
        let qkv = self.qkv.apply(&self.norms[0].apply(words), pack);
        add(words, self.out.apply(&attention(&qkv, width, pack), pack));
        let mut hidden = self.mlp[0].apply(&self.norms[1].apply(words), pack);
        bell.apply(&mut hidden);
        add(words, self.mlp[1].apply(&hidden, pack));
    }
}

/// Each head: softmax(Q Kᵀ / √64) V.
fn attention(qkv: &[f32], width: usize, pack: &mut Pack) -> Vec<f32> {
    let n = qkv.len() / (3 * width);
    let mut out = vec![0.0; n * width];
    let (mut scores, mut mixed) = (vec![0.0; n * n], vec![0.0; n * HEAD]);
    for head in 0..width / HEAD {
        let part = |which: usize| {
            let from = which * width + head * HEAD;
            qkv.chunks_exact(3 * width).flat_map(|row| &row[from..from + HEAD]).copied().collect::<Vec<f32>>()
        };
        let (mut q, k, v) = (part(0), part(1), part(2));
        q.iter_mut().for_each(|q| *q *= 1.0 / (HEAD as f32).sqrt());
        matmul::to_input(&q, &k, HEAD, &mut scores, pack);
        scores.chunks_exact_mut(n).for_each(softmax);
        matmul::forward(&scores, &v, &[0.0; HEAD], 1.0, &mut mixed, pack);
        for (out, mixed) in out.chunks_exact_mut(width).zip(mixed.chunks_exact(HEAD)) {
            out[head * HEAD..(head + 1) * HEAD].copy_from_slice(mixed);
        }
    }
    out
}

impl Backbone for Arc<Transformer> {
    fn at(&self, height: usize, width: usize) -> Box<dyn Encoder> {
        let resize = Resize::new((height, width), (self.side, self.side));
        let places = self.placed(self.grid());
        Box::new(TransformerEncoder {
            net: self.clone(),
            resize,
            places,
            pack: Pack::default(),
            features: Features::default(),
        })
    }
}

#[derive(Clone)]
struct TransformerEncoder {
    net: Arc<Transformer>,
    resize: Resize,
    places: Vec<f32>,
    pack: Pack,
    features: Features,
}

impl Encoder for TransformerEncoder {
    fn encode(&mut self, image: &[u8]) -> &Features {
        let net = &self.net;
        let pixels = net.normal.apply(self.resize.of(image));
        let words = net.words(&pixels, &self.places, &mut self.pack);
        let (grid, width) = (net.grid(), net.width);
        let (whole, patches) = match &net.projection {
            // CLIP's last norm is for the class word alone.
            Some(projection) => {
                let class = net.after.apply(&words[..width]);
                (projection.apply(&class, &mut self.pack), words[width..].to_vec())
            }
            None => {
                let words = net.after.apply(&words);
                (words[..width].to_vec(), words[width..].to_vec())
            }
        };
        self.features = Features { rows: grid, columns: grid, width, patches, whole };
        &self.features
    }

    fn fork(&self) -> Box<dyn Encoder> {
        Box::new(self.clone())
    }
}

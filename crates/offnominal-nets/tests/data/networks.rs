//! Checkpoints whose numbers a formula gives, as in `formula.py`; for tests and benchmarks, which import `Tensors`.

use super::Tensors;

/// Numbers in [0, 1): the finaliser of SplitMix64 of digest + index, its upper 24 bits.
pub fn uniform(name: &str, n: usize) -> impl Iterator<Item = f64> {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let digest = name.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    (0..n as u64).map(move |i| {
        let mut z = digest.wrapping_add(i);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f64 / f64::from(1 << 24)
    })
}

/// Adds a tensor of that shape.
pub fn put(tensors: &mut Tensors, name: &str, shape: &[usize]) {
    let fan_in = shape[1..].iter().product::<usize>() as f64;
    let is_scale = name.ends_with("running_var") || (name.ends_with("weight") && shape.len() == 1);
    let value = |u: f64| match shape.len() {
        2 | 4 if !name.contains("position") => (2.0 * u - 1.0) * (1.5 / fan_in).sqrt(),
        _ if is_scale => 0.5 + u,
        _ => 0.2 * (2.0 * u - 1.0),
    };
    let values: Vec<f32> = uniform(name, shape.iter().product()).map(|u| value(u) as f32).collect();
    tensors.insert(name, shape, &values);
}

fn norm(tensors: &mut Tensors, name: &str, width: usize) {
    ["weight", "bias"].iter().for_each(|what| put(tensors, &format!("{name}.{what}"), &[width]));
}

fn dense(tensors: &mut Tensors, name: &str, shape: [usize; 2]) {
    put(tensors, &format!("{name}.weight"), &shape);
    put(tensors, &format!("{name}.bias"), &shape[..1]);
}

/// A ResNet-18.
pub fn resnet() -> Tensors {
    let mut t = Tensors::default();
    let mut layer = |conv: String, norm: String, shape: &[usize]| {
        put(&mut t, &format!("{conv}.weight"), shape);
        for what in ["weight", "bias", "running_mean", "running_var"] {
            put(&mut t, &format!("{norm}.{what}"), &shape[..1]);
        }
    };
    layer("conv1".into(), "bn1".into(), &[64, 3, 7, 7]);
    let mut planes = 64;
    for (group, width) in [64, 128, 256, 512].into_iter().enumerate() {
        for block in 0..2 {
            let name = |what: &str| format!("layer{}.{block}.{what}", group + 1);
            layer(name("conv1"), name("bn1"), &[width, planes, 3, 3]);
            layer(name("conv2"), name("bn2"), &[width, width, 3, 3]);
            if width != planes {
                layer(name("downsample.0"), name("downsample.1"), &[width, planes, 1, 1]);
            }
            planes = width;
        }
    }
    t
}

/// A ViT-S/16 for 224 pixels.
pub fn vit() -> Tensors {
    let (mut t, width) = (Tensors::default(), 384);
    put(&mut t, "cls_token", &[1, 1, width]);
    put(&mut t, "pos_embed", &[1, 197, width]);
    put(&mut t, "patch_embed.proj.weight", &[width, 3, 16, 16]);
    put(&mut t, "patch_embed.proj.bias", &[width]);
    for i in 0..12 {
        let name = |what: &str| format!("blocks.{i}.{what}");
        ["norm1", "norm2"].iter().for_each(|n| norm(&mut t, &name(n), width));
        dense(&mut t, &name("attn.qkv"), [3 * width, width]);
        dense(&mut t, &name("attn.proj"), [width, width]);
        dense(&mut t, &name("mlp.fc1"), [4 * width, width]);
        dense(&mut t, &name("mlp.fc2"), [width, 4 * width]);
    }
    norm(&mut t, "norm", width);
    t
}

/// The image side of CLIP ViT-B/32.
pub fn clip() -> Tensors {
    let (mut t, width) = (Tensors::default(), 768);
    let model = |what: &str| format!("vision_model.{what}");
    put(&mut t, &model("embeddings.class_embedding"), &[width]);
    put(&mut t, &model("embeddings.patch_embedding.weight"), &[width, 3, 32, 32]);
    put(&mut t, &model("embeddings.position_embedding.weight"), &[50, width]);
    norm(&mut t, &model("pre_layrnorm"), width);
    for i in 0..12 {
        let name = |what: &str| model(&format!("encoder.layers.{i}.{what}"));
        ["layer_norm1", "layer_norm2"].iter().for_each(|n| norm(&mut t, &name(n), width));
        for part in ["q", "k", "v", "out"] {
            dense(&mut t, &name(&format!("self_attn.{part}_proj")), [width, width]);
        }
        dense(&mut t, &name("mlp.fc1"), [4 * width, width]);
        dense(&mut t, &name("mlp.fc2"), [width, 4 * width]);
    }
    norm(&mut t, &model("post_layernorm"), width);
    put(&mut t, "visual_projection.weight", &[512, width]);
    t
}

/// An EfficientNet-Lite with the planes and the number of blocks of each stage, with the counters of a checkpoint left out.
pub fn efficientnet(planes: [usize; 7], blocks: [usize; 7]) -> Tensors {
    const KERNELS: [usize; 7] = [3, 3, 5, 3, 5, 5, 3];
    let mut t = Tensors::default();
    let mut layer = |conv: &str, norm: &str, shape: &[usize]| {
        put(&mut t, &format!("{conv}.weight"), shape);
        for what in ["weight", "bias", "running_mean", "running_var"] {
            put(&mut t, &format!("{norm}.{what}"), &shape[..1]);
        }
    };
    layer("_conv_stem", "_bn0", &[32, 3, 3, 3]);
    let (mut inputs, mut i) = (32, 0);
    for (stage, (planes, n)) in planes.into_iter().zip(blocks).enumerate() {
        for _ in 0..n {
            let name = |what: &str| format!("_blocks.{i}.{what}");
            let (between, kernel) = (if i == 0 { inputs } else { 6 * inputs }, KERNELS[stage]);
            if i > 0 {
                layer(&name("_expand_conv"), &name("_bn0"), &[between, inputs, 1, 1]);
            }
            layer(&name("_depthwise_conv"), &name("_bn1"), &[between, 1, kernel, kernel]);
            layer(&name("_project_conv"), &name("_bn2"), &[planes, between, 1, 1]);
            (inputs, i) = (planes, i + 1);
        }
    }
    layer("_conv_head", "_bn1", &[1280, inputs, 1, 1]);
    dense(&mut t, "_fc", [1000, 1280]);
    t
}

/// EfficientNet-Lite 0, 1 or 2.
pub fn lite(number: usize) -> Tensors {
    let planes = [[16, 24, 40, 80, 112, 192, 320], [16, 24, 48, 88, 120, 208, 352]];
    let blocks = [[1, 2, 2, 3, 3, 4, 1], [1, 3, 3, 4, 4, 5, 1]];
    efficientnet(planes[number / 2], blocks[number.min(1)])
}

//! The tensors of each form. What comes from outside is validated here.

use crate::dictionary::Dictionary;
use crate::hazard::Hazards;
use crate::learn::{Form, Model};
use crate::margin::{Margins, Unit};
use crate::memory::Memory;
use crate::network::Networks;
use offnominal_nets::{Activation, Mlp, SequenceLayer, SequenceNet, TensorError, Tensors};

/// Writes the tensors of what was learned.
pub(super) fn put(model: &Model, file: &mut Tensors) {
    match model {
        Model::Networks(model) => put_networks(model, file),
        Model::Dictionary(model) => put_dictionary(model, file),
        Model::Hazards(model) => put_hazards(model, file),
        Model::Margins(model) => put_margins(model, file),
    }
}

/// Reads them; rows have so many numbers.
pub(super) fn read(file: &Tensors, form: Form, width: usize) -> Result<Model, TensorError> {
    Ok(match form {
        Form::Mlp => Model::Networks(read_networks(file, network(file, width)?)?),
        Form::Dictionary => Model::Dictionary(read_dictionary(file, network(file, width)?)?),
        Form::Hazard => Model::Hazards(read_hazards(file, width)?),
        Form::Margin => Model::Margins(read_margins(file, network(file, width)?)?),
    })
}

/// The shape of a network, as the tensor of its widths tells.
pub(crate) fn network(file: &Tensors, inputs: usize) -> Result<Mlp, TensorError> {
    let (_, widths) = file.get("widths")?;
    let holds = widths.len() >= 2 && widths.iter().all(|w| (1.0..=4096.0).contains(w) && w.fract() == 0.0);
    TensorError::require(holds, "widths", "two or more counts up to 4096", format!("{widths:?}"))?;
    let sizes: Vec<usize> = widths.iter().map(|&w| w as usize).collect();
    TensorError::require(sizes[0] == inputs, "inputs", &inputs.to_string(), sizes[0])?;
    Ok(Mlp::new(&sizes, Activation::Relu))
}

fn put_widths(net: &Mlp, file: &mut Tensors) {
    let widths: Vec<f32> = net.sizes().iter().map(|&s| s as f32).collect();
    file.put("widths", &widths);
}

fn put_networks(model: &Networks, file: &mut Tensors) {
    put_widths(&model.net, file);
    put_members(&model.params, file);
}

fn read_networks(file: &Tensors, net: Mlp) -> Result<Networks, TensorError> {
    TensorError::require(net.outputs() == 1, "outputs", "1", net.outputs())?;
    Ok(Networks { params: read_members(file, net.n_params())?, net })
}

fn put_margins(model: &Margins, file: &mut Tensors) {
    let Unit { mean, sd, spread, most } = model.unit;
    put_widths(&model.net, file);
    put_members(&model.params, file);
    file.put("unit", &[mean, sd, spread, most]);
}

fn read_margins(file: &Tensors, net: Mlp) -> Result<Margins, TensorError> {
    TensorError::require(net.outputs() == 2, "outputs", "2", net.outputs())?;
    let unit = file.expect("unit", &[4])?;
    let (mean, sd, spread, most) = (unit[0], unit[1], unit[2], unit[3]);
    let expected = "a mean, a scale above 0, a factor above 0 and a limit";
    TensorError::require(sd > 0.0 && spread > 0.0, "unit", expected, format!("{unit:?}"))?;
    let unit = Unit { mean, sd, spread, most };
    Ok(Margins { params: read_members(file, net.n_params())?, net, unit })
}

/// The parameters of networks of one shape.
fn put_members(params: &[Vec<f32>], file: &mut Tensors) {
    file.insert("parameters", &[params.len(), params[0].len()], &params.concat());
}

fn read_members(file: &Tensors, n_params: usize) -> Result<Vec<Vec<f32>>, TensorError> {
    let members = file.get("parameters")?.0.first().copied().unwrap_or(0);
    let holds = (1..=1000).contains(&members);
    TensorError::require(holds, "members", "1 to 1000", members)?;
    let params = file.expect("parameters", &[members, n_params])?;
    Ok(params.chunks_exact(n_params).map(<[f32]>::to_vec).collect())
}

fn put_dictionary(model: &Dictionary, file: &mut Tensors) {
    put_widths(&model.net, file);
    let memory = &model.memory;
    file.put("parameters", &model.params);
    file.insert("keys", &[memory.len(), model.net.outputs()], &memory.keys());
    file.put("outcomes", memory.outcomes());
    file.put("stands_for", &memory.stands_for());
    file.put("vote", &[model.beta, model.neighbours as f32]);
}

fn read_dictionary(file: &Tensors, net: Mlp) -> Result<Dictionary, TensorError> {
    let n = file.get("outcomes")?.1.len();
    let outcomes = file.expect("outcomes", &[n])?.to_vec();
    let holds = n > 0 && outcomes.iter().all(|&y| y == 0.0 || y == 1.0);
    TensorError::require(holds, "outcomes", "0 or 1, at least one", "something else")?;
    let vote = file.expect("vote", &[2])?;
    let holds = (1.0..=n as f32).contains(&vote[1]) && vote[1].fract() == 0.0 && vote[0].abs() < 80.0;
    TensorError::require(holds, "vote", &format!("a small number and 1 to {n}"), format!("{vote:?}"))?;
    let keys = file.expect("keys", &[n, net.outputs()])?;
    let memory = Memory::new(keys, outcomes, stands_for(file)?);
    let params = file.expect("parameters", &[net.n_params()])?.to_vec();
    Ok(Dictionary { net, params, beta: vote[0], neighbours: vote[1] as usize, memory })
}

/// How many examples a remembered one of each outcome stands for; one in files that remember all.
fn stands_for(file: &Tensors) -> Result<[f32; 2], TensorError> {
    if file.shapes().all(|(name, _)| name != "stands_for") {
        return Ok([1.0; 2]);
    }
    let found = file.expect("stands_for", &[2])?;
    let holds = found.iter().all(|c| c.is_finite() && *c >= 1.0);
    TensorError::require(holds, "stands_for", "numbers of at least 1", format!("{found:?}"))?;
    Ok([found[0], found[1]])
}

fn put_hazards(model: &Hazards, file: &mut Tensors) {
    let taps = model.net.layers().iter().flat_map(|l| [l.width, l.dilation, l.count]);
    let taps: Vec<f32> = taps.map(|n| n as f32).collect();
    file.insert("taps", &[taps.len() / 3, 3], &taps);
    put_members(&model.params, file);
}

fn read_hazards(file: &Tensors, channels: usize) -> Result<Hazards, TensorError> {
    let (_, numbers) = file.get("taps")?;
    let is_count = |n: &f32| (1.0..=4096.0).contains(n) && n.fract() == 0.0;
    let layer = |n: &[f32]| SequenceLayer::padded(n[0] as usize, n[1] as usize, n[2] as usize);
    let layers: Vec<SequenceLayer> = numbers.chunks_exact(3).map(layer).collect();
    let holds = numbers.len().is_multiple_of(3)
        && numbers.iter().all(is_count)
        && layers.last().is_some_and(|last| last.count == 1)
        && layers.len() <= 16
        && layers.iter().all(|l| l.width % 2 == 1 && l.width * l.count <= 1 << 16);
    let rule = "up to 16 layers of odd width, spacing and count, the last of one filter";
    TensorError::require(holds, "taps", rule, format!("{numbers:?}"))?;
    let net = SequenceNet::new(channels, &layers);
    Ok(Hazards { params: read_members(file, net.n_params())?, net })
}

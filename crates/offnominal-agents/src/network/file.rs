//! The file of a policy of layers.
//!
//! A safetensors file whose header has `format`, `env`, `algorithm`, `bounds` of the actions, and `design`, the parts as
//! JSON. Its tensors are `<layer>.weight` and `<layer>.bias` as [`Kind::shapes`](super::Kind::shapes) says and, if
//! observations are normalised, `observation.mean` and `observation.scale`.

use super::{Design, Network, NetworkError, Normalised};
use crate::normaliser::Normalisation;
use offnominal_core::spec::EnvSpec;
use offnominal_nets::Tensors;

/// Value of the entry `format` of the header.
const FORMAT: &str = "offnominal-network-1";

impl Network {
    /// The file of this policy.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = Tensors::default();
        for (i, (layer, numbers)) in self.design.layers.iter().zip(&self.params).enumerate() {
            let mut rest = &numbers[..];
            for (name, shape) in layer.kind.shapes() {
                let (these, others) = rest.split_at(shape.iter().product());
                file.insert(&format!("{i}.{name}"), &shape, these);
                rest = others;
            }
        }
        if let Some(map) = &self.normalisation {
            file.put("observation.mean", &map.mean);
            file.put("observation.scale", &map.scale);
        }
        file.put_entry("format", FORMAT);
        file.put_entry("env", &self.env);
        file.put_entry("algorithm", &self.algorithm);
        file.put_entry("bounds", self.command.bounds());
        file.put_json("design", &self.design);
        file.to_bytes()
    }

    /// Whether bytes are the file of a policy of layers.
    pub fn is_in(bytes: &[u8]) -> bool {
        Tensors::from_bytes(bytes).is_ok_and(|file| file.entry("format") == FORMAT)
    }

    /// Reads a file for the given environment.
    ///
    /// # Errors
    /// If the file is malformed, or was made for another environment.
    pub fn from_bytes(bytes: &[u8], spec: &EnvSpec) -> Result<Network, NetworkError> {
        let file = Tensors::from_bytes(bytes)?;
        file.expect_entry("format", FORMAT)?;
        file.expect_entry("env", &spec.id)?;
        let design: Design = file.json("design")?;
        design.check()?;
        let params = (0..design.layers.len()).map(|i| numbers(&file, &design, i));
        let params = params.collect::<Result<Vec<_>, NetworkError>>()?;
        let map = normalisation(&file, &design)?;
        let network = Network::new(spec, file.entry("algorithm"), design, params, map)?;
        file.expect_entry("bounds", &network.command.bounds())?;
        Ok(network)
    }
}

fn numbers(file: &Tensors, design: &Design, i: usize) -> Result<Vec<f32>, NetworkError> {
    let mut all = Vec::new();
    for (name, shape) in design.layers[i].kind.shapes() {
        all.extend_from_slice(file.expect(&format!("{i}.{name}"), &shape)?);
    }
    Ok(all)
}

fn normalisation(file: &Tensors, design: &Design) -> Result<Option<Normalisation>, NetworkError> {
    let input = &design.input;
    let width = match input.normalised {
        Normalised::No => return Ok(None),
        Normalised::Frames => input.width,
        Normalised::Stack => input.width * input.stack,
    };
    let of = |name: &str| Ok::<_, NetworkError>(file.expect(name, &[width])?.to_vec());
    Ok(Some(Normalisation { mean: of("observation.mean")?, scale: of("observation.scale")? }))
}

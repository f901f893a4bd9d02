//! The numbers of a network: what is declared while its layers are made, and the tensors that hold it.

use crate::device;
use burn_tensor::{Device, Tensor, TensorData};
use offnominal_core::Rng;
use offnominal_nets::{TensorError, Tensors};
use std::sync::Arc;

/// Which tensor of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key(usize);

/// What a tensor holds before anything was learned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum First {
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// Normal numbers with this deviation.
    Normal(f64),
}

/// A tensor that a layer asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// Its name, unique in the network.
    pub name: String,
    /// Length of each axis.
    pub shape: Vec<usize>,
    first: First,
    /// Whether it follows a gradient; means and variances of activations do not.
    pub learned: bool,
}

/// The tensors that the layers of a network asked for, in order.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    declared: Vec<Declared>,
}

impl Plan {
    /// A tensor that follows the gradient.
    pub fn learned(&mut self, name: String, shape: &[usize], first: First) -> Key {
        self.add(name, shape, first, true)
    }

    /// A tensor that follows the activations.
    pub fn followed(&mut self, name: String, shape: &[usize], first: First) -> Key {
        self.add(name, shape, first, false)
    }

    /// How many numbers are learned.
    pub fn n_learned(&self) -> usize {
        self.declared.iter().filter(|d| d.learned).map(Declared::len).sum()
    }

    fn add(&mut self, name: String, shape: &[usize], first: First, learned: bool) -> Key {
        debug_assert!(self.declared.iter().all(|d| d.name != name), "{name} is declared twice");
        self.declared.push(Declared { name, shape: shape.to_vec(), first, learned });
        Key(self.declared.len() - 1)
    }
}

/// The numbers of a network. Each tensor is flat; layers give it its shape when they use it.
#[derive(Debug, Clone)]
pub struct Weights {
    declared: Arc<[Declared]>,
    pub(crate) values: Vec<Tensor<1>>,
    device: Device,
}

impl Weights {
    /// First values.
    pub(crate) fn first(plan: Plan, rng: &mut Rng, device: &Device) -> Weights {
        let values = plan.declared.iter().map(|d| vector(d.draw(rng), device)).collect();
        Weights { declared: plan.declared.into(), values, device: device.clone() }
    }

    /// What was declared, in the order of the values.
    pub fn declared(&self) -> &[Declared] {
        &self.declared
    }

    /// Where the numbers are.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How many numbers are learned.
    pub fn n_learned(&self) -> usize {
        self.declared.iter().filter(|d| d.learned).map(Declared::len).sum()
    }

    /// The same tensors with other numbers.
    pub(crate) fn holding(&self, values: Vec<Tensor<1>>) -> Weights {
        Weights { values, ..self.clone() }
    }

    pub(crate) fn set(&mut self, key: Key, value: Tensor<1>) {
        self.values[key.0] = value;
    }

    /// Every tensor under its name.
    pub fn to_tensors(&self) -> Tensors {
        let mut tensors = Tensors::default();
        self.put("", &self.values, &mut tensors);
        tensors
    }

    /// Adds one tensor for each of these, such as the means of its gradients, under its name after a prefix.
    pub(crate) fn put(&self, prefix: &str, values: &[Tensor<1>], tensors: &mut Tensors) {
        for (declared, value) in self.declared.iter().zip(values) {
            tensors.insert(&format!("{prefix}{}", declared.name), &declared.shape, &numbers(value.clone()));
        }
    }

    /// Reads what [`Weights::put`] added.
    pub(crate) fn read(&self, prefix: &str, tensors: &Tensors) -> Result<Vec<Tensor<1>>, TensorError> {
        let read = |d: &Declared| {
            let found = tensors.expect(&format!("{prefix}{}", d.name), &d.shape)?;
            Ok(vector(found.to_vec(), &self.device))
        };
        self.declared.iter().map(read).collect()
    }

    /// Takes every tensor from those of the same name.
    ///
    /// # Errors
    /// If one is missing, has another shape, or holds a number that is not finite.
    pub fn load(&mut self, tensors: &Tensors) -> Result<(), TensorError> {
        self.values = self.read("", tensors)?;
        Ok(())
    }
}

impl Declared {
    /// How many numbers it has.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f32> {
        match self.first {
            First::Zeros => vec![0.0; self.len()],
            First::Ones => vec![1.0; self.len()],
            First::Normal(deviation) => (0..self.len()).map(|_| (deviation * rng.normal()) as f32).collect(),
        }
    }
}

impl Key {
    pub(crate) fn of<T>(self, values: &[T]) -> &T {
        &values[self.0]
    }
}

/// Numbers on a device.
pub(crate) fn vector(numbers: Vec<f32>, device: &Device) -> Tensor<1> {
    let n = numbers.len();
    Tensor::from_data(TensorData::new(numbers, [n]), device)
}

/// Numbers on a device, in a shape.
pub(crate) fn tensor<const D: usize>(numbers: Vec<f32>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(numbers, shape), device)
}

/// The numbers of a tensor; unwinds to [`device::guard`] if the device lost them.
///
/// # Panics
/// If it holds another type than it was given.
pub(crate) fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    device::read(tensor).try_into_vec().expect("numbers were given as f32")
}

//! burn's tensors on the processor: their numbers, with or without a tape. Operations of our own are made of these.

use burn_dispatch::backends::flex::FlexTensor;
use burn_dispatch::backends::{Autodiff, Flex};
use burn_tensor::{BackendPrimitive, Float, Tensor, TensorData};

/// A tensor whose derivatives are recorded.
pub type Taped = <Float as BackendPrimitive<Autodiff<Flex>>>::Primitive;

/// A tensor on the processor without a tape, if it is one.
pub fn plain<const D: usize>(t: &Tensor<D>) -> Option<FlexTensor> {
    if t.is_autodiff() { None } else { t.clone().try_into_primitive::<Flex>().ok() }
}

/// A tensor on the processor as one whose derivatives are recorded, if it is there.
pub fn taped<const D: usize>(t: &Tensor<D>) -> Option<Taped> {
    let t = if t.is_autodiff() { t.clone() } else { Tensor::from_inner(t.clone()) };
    t.try_into_primitive::<Autodiff<Flex>>().ok()
}

/// A tensor without a tape.
pub fn from_plain<const D: usize>(t: FlexTensor) -> Tensor<D> {
    Tensor::from_primitive::<Flex>(t)
}

/// A tensor whose derivatives are recorded.
pub fn from_taped<const D: usize>(t: Taped) -> Tensor<D> {
    Tensor::from_primitive::<Autodiff<Flex>>(t)
}

/// The numbers of a tensor in order.
pub fn numbers<T>(t: &FlexTensor, then: impl FnOnce(&[f32]) -> T) -> T {
    match t.as_slice::<f32>() {
        Some(numbers) => then(numbers),
        None => then(t.to_contiguous().as_slice().expect("a tensor that was put in order")),
    }
}

/// The lengths of the axes of images or kernels.
pub fn dims(t: &FlexTensor) -> [usize; 4] {
    t.layout().shape().to_vec().try_into().expect("images and kernels have four axes")
}

/// A tensor of numbers in order.
pub fn tensor(numbers: Vec<f32>, shape: &[usize]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(numbers, shape.to_vec()))
}

//! What a checkpoint holds of a network and its optimiser.

use offnominal_nets::{AdamState, TensorError, Tensors};

/// Adds numbers under a name.
pub(crate) fn put(values: &[f32], name: &str, into: &mut Tensors) {
    into.insert(name, &[values.len()], values);
}

/// Reads as many numbers as there is room for.
pub(crate) fn read(into: &mut [f32], name: &str, from: &Tensors) -> Result<(), TensorError> {
    into.copy_from_slice(from.expect(name, &[into.len()])?);
    Ok(())
}

/// The step count is stored in two halves of 16 bits and the rest, each exact in single precision.
pub(crate) fn put_adam(adam: &AdamState, name: &str, into: &mut Tensors) {
    put(&adam.mean, &format!("{name}.mean"), into);
    put(&adam.square, &format!("{name}.square"), into);
    let parts = [adam.steps & 0xffff, (adam.steps >> 16) & 0xffff, adam.steps >> 32];
    put(&parts.map(|p| p as f32), &format!("{name}.steps"), into);
}

/// Reads what [`put_adam`] added.
pub(crate) fn read_adam(adam: &mut AdamState, name: &str, from: &Tensors) -> Result<(), TensorError> {
    read(&mut adam.mean, &format!("{name}.mean"), from)?;
    read(&mut adam.square, &format!("{name}.square"), from)?;
    let parts = from.expect(&format!("{name}.steps"), &[3])?;
    adam.steps = parts[0] as u64 | (parts[1] as u64) << 16 | (parts[2] as u64) << 32;
    Ok(())
}

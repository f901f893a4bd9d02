//! What a checkpoint of TQC holds.

use super::Tqc;
use offnominal_nets::{AdamState, TensorError, Tensors};

/// Adds everything that a continuation needs.
pub(super) fn save(tqc: &Tqc, into: &mut Tensors) {
    let mut put = |name: &str, values: &[f32]| into.insert(name, &[values.len()], values);
    put("actor", &tqc.actor_params);
    put("temperature", &tqc.temperature);
    for (n, member) in tqc.critics.members.iter().enumerate() {
        put(&format!("critic.{n}"), &member.params);
        put(&format!("target.{n}"), &member.target);
    }
    save_adam("actor", &tqc.actor_adam, into);
    save_adam("temperature", &tqc.temperature_adam, into);
    for (n, member) in tqc.critics.members.iter().enumerate() {
        save_adam(&format!("critic.{n}"), &member.adam, into);
    }
}

/// Continues from what [`save`] added.
pub(super) fn load(tqc: &mut Tqc, from: &Tensors) -> Result<(), TensorError> {
    read(&mut tqc.actor_params, "actor", from)?;
    read(&mut tqc.temperature, "temperature", from)?;
    load_adam(&mut tqc.actor_adam, "actor", from)?;
    load_adam(&mut tqc.temperature_adam, "temperature", from)?;
    for (n, member) in tqc.critics.members.iter_mut().enumerate() {
        read(&mut member.params, &format!("critic.{n}"), from)?;
        read(&mut member.target, &format!("target.{n}"), from)?;
        load_adam(&mut member.adam, &format!("critic.{n}"), from)?;
    }
    Ok(())
}

fn read(into: &mut [f32], name: &str, from: &Tensors) -> Result<(), TensorError> {
    into.copy_from_slice(from.expect(name, &[into.len()])?);
    Ok(())
}

/// The step count is stored in two halves of 16 bits and the rest, each exact in single precision.
fn save_adam(name: &str, adam: &AdamState, into: &mut Tensors) {
    into.insert(&format!("{name}.mean"), &[adam.mean.len()], &adam.mean);
    into.insert(&format!("{name}.square"), &[adam.square.len()], &adam.square);
    let parts = [adam.steps & 0xffff, (adam.steps >> 16) & 0xffff, adam.steps >> 32];
    into.insert(&format!("{name}.steps"), &[3], &parts.map(|p| p as f32));
}

fn load_adam(adam: &mut AdamState, name: &str, from: &Tensors) -> Result<(), TensorError> {
    read(&mut adam.mean, &format!("{name}.mean"), from)?;
    read(&mut adam.square, &format!("{name}.square"), from)?;
    let parts = from.expect(&format!("{name}.steps"), &[3])?;
    adam.steps = parts[0] as u64 | (parts[1] as u64) << 16 | (parts[2] as u64) << 32;
    Ok(())
}

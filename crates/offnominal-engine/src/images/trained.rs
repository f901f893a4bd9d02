//! Networks that look at images: from parameters, fitted with progress, and from files.

use crate::context::Context;
use crate::device::Device;
use crate::memory::available;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::catalogue::BuildError;
use offnominal_core::prelude::*;
use offnominal_deep::images::{self, FitStep, Runtime, TrainedMonitor};
use offnominal_files::checkpoint::Checkpoint;
use offnominal_nets::Tensors;
use serde_json::Value;

/// The detector of that name, to be fitted on the device that its parameters name.
///
/// # Errors
/// If a parameter is wrong, or there is no such device.
pub fn detector(id: &str, params: &Value) -> Result<Box<dyn ImageDetector>, BuildError> {
    let (params, device) = without_device(params);
    let name = device.as_ref().map_or(Some("cpu"), Value::as_str).unwrap_or_default();
    let wrong = |_: strum::ParseError| {
        let found = device.clone().unwrap_or_default();
        BuildError::Parameters(format!("{id}: device: expected cpu or gpu, found {found}"))
    };
    let on = name.parse::<Device>().map_err(wrong)?;
    let runtime = at(on).map_err(|e| BuildError::Missing(e.to_string().into()))?;
    let detector: Box<dyn ImageDetector> = images::find(id)?.detector(&params, runtime)?;
    Ok(detector)
}

/// All values of the network of that name with these parameters; none if a parameter is wrong.
pub fn preset(id: &str, params: &Value) -> Option<Value> {
    images::find(id).and_then(|kind| kind.recipe(&without_device(params).0)).ok()
}

/// The parameters of a network, and of those the device.
fn without_device(params: &Value) -> (Value, Option<Value>) {
    let mut params = params.clone();
    let device = params.as_object_mut().and_then(|table| table.remove("device"));
    (params, device)
}

/// On a device, with the memory that there is.
fn at(on: Device) -> Result<Runtime> {
    // How much a graphics card has cannot be asked; a fit that does not fit there fails there.
    let memory = if on == Device::Cpu { available() } else { None };
    Ok(Runtime { device: on.open()?, memory })
}

/// A fitted network.
pub struct Fitted(Box<dyn TrainedMonitor>);

impl Fitted {
    /// Fits the detector of that name and parameters on videos, with progress: those to learn from, those to stop by.
    /// It goes on where the checkpoint was left.
    ///
    /// # Errors
    /// If a parameter is wrong, there is no such device or too little memory, it cannot be learned, or the checkpoint is
    /// of another fit.
    pub fn fit(
        (id, params): (&str, &Value),
        on: Device,
        [train, validation]: [&[Video]; 2],
        rng: &mut Rng,
        checkpoint: &mut Checkpoint,
        context: &Context,
    ) -> Result<Fitted> {
        const CANNOT: &str = "the detector cannot be fitted";
        let detector = images::find(id)?.detector(params, at(on)?)?;
        context.note(&format!("{} will be needed", detector.need(train, validation).context(CANNOT)?));
        let mut fit = detector.begin(train, validation, rng).context(CANNOT)?;
        if let Some(state) = checkpoint.load()? {
            fit.restore(&state)?;
        }
        let [done, steps] = fit.steps().map(|n| n as u64);
        let task = context.resumed(done..steps, "steps");
        while !fit.is_done() {
            let FitStep { loss, best, .. } = fit.advance().context(CANNOT)?;
            let best = best.map_or(String::new(), |best| format!(", best on others {best:.4}"));
            task.set_message(&format!("loss {loss:.4}{best}"));
            task.inc(1);
            context.save(checkpoint, || fit.state())?;
        }
        Ok(Fitted(fit.finish()))
    }

    /// From the tensors of a file.
    ///
    /// # Errors
    /// If they are none, or the device is not there.
    pub fn open(tensors: &Tensors, on: Device) -> Result<Fitted> {
        Ok(Fitted(images::load(tensors, &at(on)?)?))
    }

    /// As a file.
    pub fn to_tensors(&self) -> Tensors {
        self.0.to_tensors()
    }

    /// Width and height of its images.
    ///
    /// # Errors
    /// If they differ, as they do for no camera here.
    pub fn side(&self) -> Result<usize> {
        let [rows, columns] = self.0.size();
        ensure!(rows == columns, "expected a monitor of square images, found {columns} x {rows}");
        Ok(rows)
    }

    /// How many numbers were learned.
    pub fn n_learned(&self) -> usize {
        self.0.n_learned()
    }

    /// The monitor.
    pub fn monitor(&mut self) -> &mut dyn ImageScorer {
        self.0.as_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::images::networks::NETWORKS;
    use serde_json::json;

    #[test]
    fn both_builds_list_the_same_networks() {
        let here: Vec<_> = NETWORKS.iter().map(|entry| (entry.id, entry.summary)).collect();
        let there: Vec<_> = images::ALL.iter().map(|kind| (kind.id, kind.summary)).collect();
        assert_eq!(here, there);
    }

    #[test]
    fn a_preset_is_told_by_its_values_wherever_it_is_fitted() {
        let of = |params: Value| preset("ldm", &params).unwrap();
        assert_eq!(of(json!({})), of(json!({ "preset": "small", "device": "gpu" })));
        assert!(of(json!({}))["learning"]["rate"].is_number());
        assert_ne!(of(json!({})), of(json!({ "learning": { "batch": 3 } })));
        assert!(preset("ldm", &json!({ "presets": "small" })).is_none());
    }

    #[test]
    fn devices_and_parameters_are_checked() {
        let found = |params: Value| detector("ldm", &params).err().unwrap().to_string();
        assert_eq!(found(json!({ "device": "tpu" })), "ldm: device: expected cpu or gpu, found \"tpu\"");
        assert!(found(json!({ "presets": "paper" })).contains("unknown field `presets`"));
        assert!(detector("ldm", &json!({ "device": "cpu", "preset": "paper" })).is_ok());
    }
}

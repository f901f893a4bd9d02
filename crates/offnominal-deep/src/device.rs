//! Where tensors are: the processor, or a graphics card if this build can use one.
//!
//! A card can be lost in the middle of the work: it is unplugged, its driver is restarted, its memory is used up. What
//! asks for numbers then has none to give back, so the loss unwinds to [`guard`], without a word from the panic hook.

pub use burn_tensor::Device;
use burn_tensor::{Tensor, TensorData};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The processor.
pub fn cpu() -> Device {
    Device::flex()
}

/// The graphics card.
///
/// # Errors
/// If this build cannot use one, or the machine has none.
#[cfg(not(feature = "gpu"))]
pub fn gpu() -> Result<Device, NoGpu> {
    Err(NoGpu::NotBuilt)
}

/// The graphics card.
///
/// # Errors
/// If this build cannot use one, or the machine has none.
#[cfg(feature = "gpu")]
pub fn gpu() -> Result<Device, NoGpu> {
    use burn_tensor::{DeviceFilter, DeviceKind, DeviceType};
    let found = Device::enumerate(DeviceFilter::new().with(DeviceType::Wgpu));
    if found.into_vec().is_empty() {
        Err(NoGpu::NotFound)
    } else {
        Ok(Device::wgpu(DeviceKind::DefaultDevice))
    }
}

/// Why there is no graphics card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoGpu {
    /// The program was built without.
    #[error("this build cannot use a graphics card: build it with --features gpu, or use --device cpu")]
    NotBuilt,
    /// There is none.
    #[error("expected a graphics card with Vulkan, Metal or DirectX 12, found none: use --device cpu")]
    NotFound,
}

/// A device failed while it was used, and lost what it held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the device lost the numbers that it held: {0}; what was already written is kept, so that the same action goes on \
     from there where it can, and --device cpu does without the device"
)]
pub struct Lost(String);

/// Runs work on devices; if one is lost on the way, that becomes a value.
///
/// # Errors
/// If a device was lost. What the work was changing is then in an unknown state, and must be dropped.
pub fn guard<T>(work: impl FnOnce() -> T) -> Result<T, Lost> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic| panic.downcast::<Lost>().map_or_else(|other| resume_unwind(other), |lost| *lost))
}

/// Does work that consists of many operations. On the processor a thread of the pool does all of it, so that not every
/// operation has to wake one up.
pub(crate) fn near<T: Send>(device: &Device, work: impl FnOnce() -> T + Send) -> T {
    if *device == cpu() { rayon::scope(|_| work()) } else { work() }
}

/// What is on a device.
pub(crate) fn read<const D: usize>(tensor: Tensor<D>) -> TensorData {
    found(tensor.try_into_data())
}

fn found<T>(read: Result<T, impl Display>) -> T {
    read.unwrap_or_else(|e| resume_unwind(Box::new(Lost(root(&e.to_string())))))
}

/// What is behind a failure: the first line of its last cause. All that failed in consequence is listed before.
fn root(failure: &str) -> String {
    let last = failure.rsplit("Caused by:").next().unwrap_or(failure);
    last.trim().lines().next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_device_becomes_an_error_and_any_other_panic_goes_on() {
        assert_eq!(guard(|| found(Ok::<_, &str>(3))), Ok(3));
        let report = "Poisoned\nCaused by:\n  skipped\nCaused by:\n  unplugged\nNo backtrace available";
        let lost = guard(|| found::<u8>(Err(report))).unwrap_err();
        assert_eq!(lost, Lost("unplugged".into()));
        let other = catch_unwind(|| guard(|| resume_unwind(Box::new("a defect"))));
        assert_eq!(other.unwrap_err().downcast_ref(), Some(&"a defect"));
    }
}

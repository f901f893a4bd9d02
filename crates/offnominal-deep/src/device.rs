//! Where tensors are: the processor, or a graphics card if this build can use one.

pub use burn_tensor::Device;

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

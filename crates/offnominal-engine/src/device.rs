//! Where networks run: on the processor, or on a graphics card in builds with networks.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Where a network runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Device {
    /// The processor
    Cpu,
    /// A graphics card
    Gpu,
}

#[cfg(feature = "deep")]
mod available {
    use super::*;
    use offnominal_deep::device;

    impl Device {
        /// Opens the device.
        ///
        /// # Errors
        /// If it is not there.
        pub fn open(self) -> Result<device::Device> {
            match self {
                Device::Cpu => Ok(device::cpu()),
                Device::Gpu => Ok(device::gpu()?),
            }
        }
    }

    /// Runs a command; if a device is lost on the way, its panic becomes an error.
    ///
    /// # Errors
    /// Those of the command, or that a device was lost.
    pub fn guard<T>(command: impl FnOnce() -> Result<T>) -> Result<T> {
        device::guard(command)?
    }
}

#[cfg(not(feature = "deep"))]
mod available {
    use super::*;

    /// Runs a command: in a build without networks there is no device to be lost.
    ///
    /// # Errors
    /// Those of the command.
    pub fn guard<T>(command: impl FnOnce() -> Result<T>) -> Result<T> {
        command()
    }
}

pub use available::guard;

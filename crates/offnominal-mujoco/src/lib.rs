//! MuJoCo loaded at run time, a safe wrapper around it, and a CPU rasteriser.

pub mod raster;

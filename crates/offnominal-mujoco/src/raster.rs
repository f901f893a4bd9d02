//! A CPU rasteriser for scenes of primitives: colours and class ids, deterministic to the bit.
//!
//! Solids are hit analytically: silhouettes and normals are exact, whatever the resolution. Every pass visits the
//! shapes one by one and only the pixels a shape (or its shadow) can touch, in front of a depth buffer.

mod scene;

pub use scene::{Kind, Light, Scene, Shape, Sky, Texture, View};

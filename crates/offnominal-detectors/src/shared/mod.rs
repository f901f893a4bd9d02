//! What several detectors need: standardisation, neighbour search, trees, dynamics models.

pub(crate) mod forest;
pub(crate) mod nearest;
pub(crate) mod scale;

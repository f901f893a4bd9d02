//! What is judged: images, a network, and score maps.

use crate::data_set::DataSet;
use crate::maps::ScoreMaps;
use crate::network::Network;

/// What is judged: images, a network, and score maps.
pub(crate) struct Subject {
    pub name: String,
    pub set: DataSet,
    pub network: Network,
    pub maps: Vec<ScoreMaps>,
}

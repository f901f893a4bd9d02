//! The largest sizes that are accepted from outside: from files, campaigns, requests and recipes.
//!
//! Whatever asks for memory or time is compared with one of these before anything is allocated or begun. Each is far
//! above what is of use and far below what takes a machine down.

/// Tensors in one file. The largest network that is read has a few hundred.
pub const TENSORS: usize = 20_000;

/// Numbers that a policy's graph may hold while it computes one action, weights among them: 256 MiB.
pub const GRAPH_NUMBERS: usize = 1 << 26;

/// Multiplications per action of a policy's graph: a third of a second.
pub const GRAPH_WORK: usize = 1 << 28;

/// Multiplications per image of a network that segments: a minute or two. The largest that are published need half of it
/// for 2,048 × 1,024 pixels. Where a count has 32 bits, as in WebAssembly, it is the largest count.
pub const IMAGE_WORK: usize = match 1_usize.checked_shl(42) {
    Some(most) => most,
    None => usize::MAX,
};

/// Nodes, and as many stored tensors, of a policy's graph; a residual network of 152 layers has 500.
pub const GRAPH_NODES: usize = 10_000;

/// Pixels of an image: 8,192 × 8,192, twice the largest images of street scenes in each direction.
pub const PIXELS: usize = 1 << 26;

/// Numbers of one array in a file: 2 GiB of single precision. Ten passes of logits of 2,048 × 1,024 pixels with 19
/// classes have 400 million.
pub const ARRAY_NUMBERS: usize = 1 << 29;

/// Bytes of a file's header that is read as text: each becomes up to twenty in memory.
pub const HEADER_BYTES: usize = 1 << 24;

/// Episodes that are played, simulated or read for one number.
pub const EPISODES: usize = 1_000_000;

/// Repetitions of a campaign: each is a row of its plan for every environment, detector and anomaly.
pub const REPETITIONS: usize = 10_000;

/// Bootstrap replicates: more cost time and change no digit that is shown.
pub const REPLICATES: usize = 100_000;

/// Units of a hidden layer.
pub const UNITS: usize = 1 << 14;

/// Hidden layers of a network.
pub const LAYERS: usize = 32;

/// Weights of all networks that are trained together, in single precision 256 MiB; the optimiser takes three times that.
pub const WEIGHTS: usize = 1 << 26;

/// Units of the state of a recurrent network: its weights grow with their square.
pub const STATE: usize = 2_048;

/// Networks of an ensemble.
pub const MEMBERS: usize = 100;

/// Passes over data.
pub const EPOCHS: usize = 100_000;

/// Rows of a gradient step. A larger batch than the rows there are is all of them, but its buffers are allocated.
pub const BATCH: usize = 1 << 13;

/// Steps that a detector looks back or ahead.
pub const WINDOW: usize = 4_096;

/// Draws, quantiles, predictions or trees for one score.
pub const DRAWS: usize = 1 << 14;

/// Rows that are kept or read, and ranks among them.
pub const POINTS: usize = 1 << 20;

/// Steps of a training, and whatever is counted in them: at ten thousand a second, three years.
pub const STEPS: u64 = 1_000_000_000_000;

/// Gradient steps between two steps in the environment, or steps between two gradient steps.
pub const STRIDE: u64 = 1_000_000;

/// Transitions that are kept for training; memory is taken as they come.
pub const TRANSITIONS: u64 = 1 << 30;

/// Environments that a training steps in turn.
pub const LANES: u64 = 1_024;

/// Pixels that a filter covers or leaves out on a side.
pub const FILTER: usize = 1_024;

/// Numbers in the buffers of one training: 2 GiB of single precision.
pub const BUFFERS: usize = 1 << 29;

/// Numbers of one observation: four colour images of 1,024 × 1,024 pixels.
pub const OBSERVATION: usize = 1 << 24;

/// Columns of a table.
pub const COLUMNS: usize = 1_000;

/// Rows of a table: a few bytes of a Parquet file may stand for billions. Ours have some hundred thousand.
pub const ROWS: usize = 1 << 24;

/// Bytes of text in all rows of a Parquet file together, for the same reason.
pub const TABLE_TEXT: usize = 1 << 28;

/// Files of a bundle of evidence: an audit has some thousand, with a cell for each number.
pub const BUNDLE_FILES: usize = 200_000;

/// Bytes of all files of a bundle of evidence, which are held in memory; an audit has a few million.
pub const BUNDLE_BYTES: u64 = 1 << 29;

/// Numbers of nominal noise in one episode that are searched: 128 MiB.
pub const DISTURBANCES: usize = 1 << 24;

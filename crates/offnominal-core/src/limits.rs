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

/// Nodes, and as many stored tensors, of a policy's graph; a residual network of 152 layers has 500.
pub const GRAPH_NODES: usize = 10_000;

/// Pixels of an image: 8,192 × 8,192, twice the largest images of street scenes in each direction.
pub const PIXELS: usize = 1 << 26;

/// Numbers of one array in a file: 2 GiB of single precision. Ten passes of logits of 2,048 × 1,024 pixels with 19
/// classes have 400 million.
pub const ARRAY_NUMBERS: usize = 1 << 29;

/// Bytes of a file's header that is read as text: each becomes up to twenty in memory.
pub const HEADER_BYTES: usize = 1 << 24;

/// Numbers of one observation: four colour images of 1,024 × 1,024 pixels.
pub const OBSERVATION: usize = 1 << 24;

/// Columns of a table.
pub const COLUMNS: usize = 1_000;

/// Rows of a table: a few bytes of a Parquet file may stand for billions. Ours have some hundred thousand.
pub const ROWS: usize = 1 << 24;

/// Bytes of text in all rows of a Parquet file together, for the same reason.
pub const TABLE_TEXT: usize = 1 << 28;

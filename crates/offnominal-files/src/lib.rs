//! What is kept on disk: data sets, finished cells, journals, tables, and the formats of other programs.
//!
//! | file            | content                                                              |
//! |-----------------|----------------------------------------------------------------------|
//! | [`dataset`]     | episodes as Arrow IPC                                                |
//! | [`provenance`]  | what made a result                                                   |
//! | [`store`]       | finished cells by the digest of what they are                        |
//! | [`lock`]        | what one process uses at a time                                      |
//! | [`journal`]     | the blocks of a run, so that one that was killed goes on             |
//! | [`checkpoint`]  | trainings that are under way                                         |
//! | [`table`]       | rows of results as CSV and Parquet, read by column name              |
//! | [`records`]     | rows of any Parquet file                                             |
//! | [`parquet_pages`] | pages of such a file, checked before they are decoded              |
//! | [`read`]        | files, named in every error                                          |
//! | [`sealed`]      | JSON with a digest inside                                            |
//! | [`mod@write`]   | files that are never half-written                                    |
//! | [`confined`]    | what a process may do that works for a bundle of a stranger          |
//! | [`mod@array`]   | arrays of numbers: `.npy`, `.npz`, `.safetensors`, `.hdf5`           |
//! | [`half`]        | numbers of half precision                                            |
//! | [`image_file`]  | PNG files as grey values or colours; JPEG and WebP files as colours  |
//! | [`png`]         | frames as PNG                                                        |
//! | [`gif`]         | frames as an animated GIF                                            |
//! | [`mcap`]        | messages of named channels, for programs of robotics                 |
//! | [`columns`]     | columns of any kind as an Arrow file                                 |
//! | [`minari`]      | data sets for Minari                                                 |
//! | [`tensorboard`] | event files for TensorBoard                                          |

#[cfg(not(target_family = "wasm"))]
pub mod array;
pub mod checkpoint;
pub mod columns;
pub mod confined;
pub mod dataset;
pub mod gif;
pub mod half;
pub mod image_file;
pub mod journal;
pub mod lock;
pub mod mcap;
pub mod minari;
mod palette;
pub mod parquet_pages;
pub mod played;
pub mod png;
pub mod provenance;
pub mod read;
pub mod records;
pub mod sealed;
pub mod sheet;
pub mod store;
pub mod table;
pub mod tensorboard;
pub mod write;

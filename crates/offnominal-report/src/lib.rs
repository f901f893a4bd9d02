//! How results are shown: charts as SVG, pages as HTML. It knows numbers and words, and no subsystem.

pub mod axis;
pub mod colour;
pub mod curves;
pub mod dates;
pub mod frame;
pub mod markdown;
pub mod number;
pub mod page;
pub mod plot;
pub mod svg;
pub mod thin;

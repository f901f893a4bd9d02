//! What scores: one detector per file.
pub const ALL: &[offnominal_core::Entry<dyn offnominal_core::detector::Detector>] = &[];

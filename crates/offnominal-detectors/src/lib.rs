//! What scores: one detector per file.

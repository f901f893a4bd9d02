//! Worlds, policies and detectors that each break one law.

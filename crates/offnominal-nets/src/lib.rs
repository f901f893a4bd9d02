//! Small dense networks with explicit backward passes on gemm.

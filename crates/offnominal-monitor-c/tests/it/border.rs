//! Each function, called as C calls it.

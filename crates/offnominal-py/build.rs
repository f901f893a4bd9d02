//! Tells the linker of macOS that Python brings its own symbols; elsewhere there is nothing to tell.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}

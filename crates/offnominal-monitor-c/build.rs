//! The shared library says how programs that link it call it, without the folder in which it was built.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let argument = match system.as_str() {
        "linux" => "-Wl,-soname,liboffnominal_monitor_c.so",
        "macos" => "-Wl,-install_name,@rpath/liboffnominal_monitor_c.dylib",
        _ => return,
    };
    println!("cargo::rustc-cdylib-link-arg={argument}");
}

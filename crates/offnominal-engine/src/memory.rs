//! How much memory there is, and what does not fit into it.

use anyhow::{Result, ensure};

/// Bytes of memory that may be used, where the system says so.
pub fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Refuses what does not fit into memory, before it begins.
///
/// # Errors
/// Says how much is needed and how much there is.
pub fn ensure_fits(needed: u64, available: Option<u64>, what: &str) -> Result<()> {
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let Some(found) = available else { return Ok(()) };
    ensure!(
        needed <= found,
        "{what} need {:.1} GiB of memory, found {:.1} GiB: fewer episodes or smaller images need less",
        gib(needed),
        gib(found)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        let error = ensure_fits(3 << 30, Some(1 << 30), "the videos").unwrap_err().to_string();
        assert!(error.starts_with("the videos need 3.0 GiB of memory, found 1.0 GiB"), "{error}");
        assert!(ensure_fits(1, None, "").is_ok() && ensure_fits(1, Some(1), "").is_ok());
    }
}

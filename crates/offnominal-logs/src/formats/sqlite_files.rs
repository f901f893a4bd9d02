//! SQLite files from elsewhere. What such a file calls a table may be a view that never ends, or have columns that are
//! computed; so it is asked what they are, and the work is bounded by the size of the file.
//! Reference: SQLite's advice on files that are not trusted ("Defense Against The Dark Arts").

use anyhow::{Context, Result, ensure};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};
use std::path::Path;

/// Longest text or blob.
const MAX_BYTES: i32 = 256 << 20;
/// Thousands of instructions that any file may take, and bytes that allow one more: a row of 30 bytes takes about as many.
const ANY_STEPS: u64 = 10_000;
const BYTES_OF_STEP: u64 = 30;

/// Opens a file for reading.
///
/// # Errors
/// If it cannot be opened.
pub fn open(path: &Path) -> Result<Connection> {
    let bytes = std::fs::metadata(path).context("cannot open")?.len();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let file = Connection::open_with_flags(path, flags).context("expected an SQLite file")?;
    file.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    file.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    file.execute_batch("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;")
        .context("expected an SQLite file")?;
    file.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_BYTES)?;
    let mut left = ANY_STEPS + bytes / BYTES_OF_STEP;
    file.progress_handler(
        1000,
        Some(move || {
            left = left.saturating_sub(1);
            left == 0
        }),
    )?;
    Ok(file)
}

/// Whether the work took longer than the size of the file allows.
pub fn is_too_long(why: &rusqlite::Error) -> bool {
    why.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

/// Insists on a table that is stored as such.
///
/// # Errors
/// If it is not there, or is a view, virtual or computed.
pub fn insist_on_a_table(file: &Connection, name: &str) -> Result<()> {
    ensure!(has_table(file, name)?, "expected a table of {name}, found none");
    Ok(())
}

/// Whether there is such a table.
///
/// # Errors
/// If what is there is a view, virtual or computed.
pub fn has_table(file: &Connection, name: &str) -> Result<bool> {
    let query = "SELECT type, sql FROM sqlite_schema WHERE name = ?1";
    let found: Option<(String, String)> = file
        .query_row(query, [name], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .context("expected an SQLite file")?;
    let Some((kind, text)) = found else { return Ok(false) };
    let is_virtual = text.to_ascii_uppercase().split_whitespace().nth(1) == Some("VIRTUAL");
    ensure!(kind == "table" && !is_virtual, "expected a table of {name}, found a {kind} that is computed");
    let query = "SELECT count(*) FROM pragma_table_xinfo(?1) WHERE hidden <> 0";
    let n: i64 = file.query_row(query, [name], |row| row.get(0))?;
    ensure!(n == 0, "expected columns of {name} that are stored, found {n} that are computed");
    Ok(true)
}

//! The pages of a Parquet file, checked before they are decoded: the decoder asks for as much memory as the head of a page
//! declares.

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};
use std::sync::Arc;

/// Bytes of the head of a page, at most; it holds the extremes of a column.
const MOST_HEAD: u64 = 1 << 20;
/// Bytes of a page.
const MOST_PAGE: i64 = 256 << 20;

/// A file that hands out no more bytes than it has.
pub struct Bounded<F>(pub Arc<F>);

impl<F> Clone for Bounded<F> {
    fn clone(&self) -> Self {
        Bounded(Arc::clone(&self.0))
    }
}

impl<F: ChunkReader> Length for Bounded<F> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<F: ChunkReader> ChunkReader for Bounded<F> {
    type T = F::T;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let has = Length::len(self);
        if start.checked_add(length as u64).is_none_or(|end| end > has) {
            let what = format!("expected {length} bytes from {start} on, found a file of {has} bytes");
            return Err(ParquetError::EOF(what));
        }
        self.0.get_bytes(start, length)
    }
}

/// Checks the heads of all pages.
///
/// # Errors
/// If one lies outside of its column, or declares more than there can be.
pub fn check(file: &Bounded<impl ChunkReader>, metadata: &ParquetMetaData) -> Result<()> {
    (0..metadata.num_row_groups()).try_for_each(|group| check_group(file, metadata, group, |_| true))
}

/// Checks the heads of the pages of a group of rows, in the columns that are wanted, each a number at the root.
///
/// # Errors
/// As [`check`].
pub fn check_group(
    file: &Bounded<impl ChunkReader>,
    metadata: &ParquetMetaData,
    group: usize,
    is_wanted: impl Fn(usize) -> bool,
) -> Result<()> {
    let described = metadata.row_group(group);
    let rows = described.num_rows();
    ensure!(rows >= 0, "row group {group}: expected rows, found {rows}");
    let roots = metadata.file_metadata().schema_descr();
    for (leaf, column) in described.columns().iter().enumerate() {
        if !is_wanted(roots.get_column_root_idx(leaf)) {
            continue;
        }
        let name = || format!("row group {group}, column {}", column.column_path());
        // `byte_range` panics at numbers below zero.
        let start = column.dictionary_page_offset().unwrap_or(0).min(column.data_page_offset());
        let size = column.compressed_size();
        ensure!(start >= 0 && size >= 0, "{}: expected a place, found {size} bytes from {start} on", name());
        check_column(file, column.byte_range()).with_context(name)?;
    }
    Ok(())
}

fn check_column(file: &Bounded<impl ChunkReader>, (from, length): (u64, u64)) -> Result<()> {
    let to = from.checked_add(length).filter(|&to| to <= Length::len(file));
    let to =
        to.with_context(|| format!("expected it within the file, found {length} bytes from {from} on"))?;
    let mut at = from;
    while at < to {
        let bytes = file.get_bytes(at, (to - at).min(MOST_HEAD) as usize)?;
        let mut head = Head { bytes: &bytes, at: 0 };
        let [uncompressed, compressed] = head.sizes().context("expected the head of a page")?;
        ensure!(
            (0..=MOST_PAGE).contains(&uncompressed),
            "expected at most {MOST_PAGE} bytes in a page, found {uncompressed}"
        );
        let next = u64::try_from(compressed).ok().map(|size| at + head.at as u64 + size);
        at = next
            .filter(|&next| next <= to)
            .with_context(|| format!("expected a page of at most {} bytes, found {compressed}", to - at))?;
    }
    Ok(())
}

/// The head of a page, a structure in Thrift's compact protocol.
struct Head<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Head<'_> {
    /// Sizes of the page when it is decompressed and as it is stored; then the head is read to its end.
    fn sizes(&mut self) -> Option<[i64; 2]> {
        let (mut id, mut sizes) = (0, [None; 2]);
        while let Some((field, kind)) = self.field(&mut id)? {
            match (field, kind) {
                (2, 5) => sizes[0] = Some(self.integer()?),
                (3, 5) => sizes[1] = Some(self.integer()?),
                _ => self.skip(kind, 0)?,
            }
        }
        Some([sizes[0]?, sizes[1]?])
    }

    /// Number and type of the next field; `Some(None)` at the end of the structure.
    fn field(&mut self, id: &mut i64) -> Option<Option<(i64, u8)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *id = match byte >> 4 {
            0 => self.integer()?,
            step => id.checked_add(step.into())?,
        };
        Some(Some((*id, byte & 15)))
    }

    /// Passes over a value of a type.
    fn skip(&mut self, kind: u8, depth: u8) -> Option<()> {
        match kind {
            1 | 2 => Some(()),
            3 => self.advance(1),
            4..=6 => self.integer().map(drop),
            7 => self.advance(8),
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.advance(length)
            }
            9 | 10 if depth < 8 => self.skip_list(depth),
            12 if depth < 8 => {
                let mut id = 0;
                while let Some((_, kind)) = self.field(&mut id)? {
                    self.skip(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn skip_list(&mut self, depth: u8) -> Option<()> {
        let byte = self.byte()?;
        let n = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
        // Truth values take a byte each in a list.
        let kind = if byte & 15 <= 2 { 3 } else { byte & 15 };
        (0..n).try_for_each(|_| self.skip(kind, depth + 1))
    }

    fn integer(&mut self) -> Option<i64> {
        let n = self.varint()?;
        Some((n >> 1).cast_signed() ^ -(n & 1).cast_signed())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            n |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(n);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn advance(&mut self, by: usize) -> Option<()> {
        self.at = self.at.checked_add(by).filter(|&at| at <= self.bytes.len())?;
        Some(())
    }
}

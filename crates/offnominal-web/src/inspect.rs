//! `inspect`: what is in logs, the proposed mapping as a text that a person edits, and the page with a picture of each channel.

use crate::answer::{Parts, said};
use anyhow::Result;
use offnominal_logs::inspect;
use offnominal_logs::source::Log;
use offnominal_work::context::Context;

pub(crate) fn run(logs: &[Log], context: &Context) -> Result<Parts> {
    let (found, page) = inspect::of(logs, context)?;
    Ok(vec![said(&found)?, found.mapping.into_bytes(), page.into_bytes()])
}

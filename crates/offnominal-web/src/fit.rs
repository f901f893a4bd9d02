//! `fit`: a monitor out of logs, as the file that the command line writes and reads.

use crate::answer::{Parts, said};
use anyhow::{Result, ensure};
use offnominal_logs::chosen::Truth;
use offnominal_logs::fit;
use offnominal_logs::mapping::Mapping;
use offnominal_logs::recordings;
use offnominal_logs::source::Log;
use offnominal_work::context::Context;

pub(crate) fn run(
    request: &fit::Request,
    mapping: Option<&str>,
    logs: &[Log],
    context: &Context,
) -> Result<Parts> {
    ensure!(
        request.events.is_none(),
        "events: expected labels in a column of the logs, found a file of events"
    );
    let mapping = match mapping {
        Some(text) => Mapping::parse(text)?,
        None => recordings::proposal(logs, context)?.mapping,
    };
    let recordings = recordings::read(logs, &mapping, Truth::Needed, context)?;
    let (found, file) = fit::of(&recordings, &mapping, request, context)?;
    Ok(vec![said(&found)?, file])
}

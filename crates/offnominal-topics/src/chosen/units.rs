//! The units that a log states, against those of the mapping.

use crate::mapping::{Channel, Clock, TimeUnit};
use crate::record::Column;
use crate::units;
use anyhow::{Result, ensure};

/// Insists on the unit of a channel where the mapping and the log both state one.
pub(super) fn of_channel(channel: Option<&Channel>, column: &Column) -> Result<()> {
    let Some(channel) = channel else { return Ok(()) };
    let (Some(expected), Some(found)) = (&channel.unit, &column.unit) else { return Ok(()) };
    ensure!(
        !units::differ(expected, found),
        "column {:?}: expected the unit {expected} of the mapping, found {found}, which the log states: convert its numbers and \
         mend its unit, or fit on logs of one unit",
        channel.column
    );
    Ok(())
}

/// Insists on the unit of the clock where the log states one of time. Dates have none, whatever stands beside them.
pub(super) fn of_clock(clock: &Clock, name: &str, column: &Column) -> Result<()> {
    let stated = column.unit.as_deref().and_then(|unit| Some((unit, units::of_time(unit)?)));
    let Some((found, unit)) = stated.filter(|_| clock.unit != TimeUnit::Date) else { return Ok(()) };
    ensure!(
        unit == clock.unit,
        "column {name:?}: expected the unit {} of the clock of the mapping, found {found}, which the log states: convert its \
         times and mend its unit, or write the log's unit into `[clock]` of a mapping for it",
        clock.unit.name()
    );
    Ok(())
}

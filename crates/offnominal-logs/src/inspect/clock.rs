//! The clock of a proposal: the times of messages, or the column that looks most like a time, its unit and its rate.

use crate::inspect::column::{ColumnReport, Kind};
use crate::inspect::names;
use crate::inspect::steps::Steps;
use crate::inspect::taken::{Role, Taken};
use crate::mapping::{Clock, Order, TimeUnit};
use offnominal_topics::dates::clear;

/// Above this share of repeated times no rate is proposed.
const MANY: f64 = 0.1;

/// Whether the name of a column says that it is a time, and its values could be.
pub(super) fn is_candidate(column: &ColumnReport) -> bool {
    let leaf = column.name.rsplit('.').next().unwrap_or_default();
    let is_named = names::time(&column.name).is_some() || names::time(leaf).is_some();
    let is_index =
        is_index(&column.name) && (column.kind == Kind::Date || is_duration(column) || counts_time(column));
    (is_named || is_index) && column.steps.as_ref().is_some_and(|steps| steps.median().is_some())
}

/// Whether a column is an index without a name, as pandas writes it into a table as text and into Parquet.
pub(super) fn is_index(name: &str) -> bool {
    let lower = name.to_lowercase();
    name == "index" || lower.starts_with("unnamed: ") || lower.starts_with("__index_level_")
}

/// Whether a column of whole numbers has a unit of time and only rises, as one does whose type is a time.
pub(super) fn counts_time(column: &ColumnReport) -> bool {
    let is_of_time = column.unit.as_deref().and_then(names::unit).is_some();
    is_of_time && column.kind == Kind::Whole && column.steps.as_ref().is_some_and(|steps| steps.always_rise())
}

/// Whether an index without a name holds times: numbers with fractions that rise evenly.
fn is_duration(column: &ColumnReport) -> bool {
    column.kind == Kind::Number && rises_evenly(column)
}

/// One clock out of the columns that could be: that which falls and repeats least. Where no name says so, the first column of
/// a table that rises by the same step in each row.
pub(super) fn choose(taken: &mut [Taken<'_>]) {
    let disorder =
        |t: &Taken<'_>| t.column.steps.as_ref().map_or((u64::MAX, 1.0), |s| (s.falls(), s.share_equal()));
    let places: Vec<usize> = (0..taken.len()).filter(|&i| taken[i].role == Role::Time).collect();
    let order = |&a: &usize, &b: &usize| {
        // A name says more than a type.
        let is_other = [a, b].map(|i| !is_candidate(taken[i].column));
        let (a, b) = (disorder(&taken[a]), disorder(&taken[b]));
        is_other[0].cmp(&is_other[1]).then(a.1.total_cmp(&b.1)).then(a.0.cmp(&b.0))
    };
    let chosen = places.iter().copied().min_by(order).or_else(|| even(taken));
    for i in places.into_iter().filter(|&i| Some(i) != chosen) {
        taken[i].role = Role::Ignored;
        taken[i].why += "; another column is the clock";
    }
    let Some(own) = chosen.map(|i| &mut taken[i]) else { return };
    if own.role != Role::Time {
        (own.role, own.why) = (Role::Time, "guess: it rises by the same step in each row".into());
    }
}

fn even(taken: &[Taken<'_>]) -> Option<usize> {
    let is_even =
        |t: &Taken<'_>| t.role == Role::Observation && t.topic.times.is_none() && rises_evenly(t.column);
    taken.iter().position(is_even)
}

fn rises_evenly(column: &ColumnReport) -> bool {
    let is_even = |steps: &Steps| {
        steps.always_rise() && steps.median().is_some_and(|step| steps.longest() < 1.2 * step)
    };
    column.missing == 0.0 && column.steps.as_ref().is_some_and(is_even)
}

/// The clock of the channels.
pub(super) fn clock(taken: &[Taken<'_>]) -> (Clock, String) {
    let channels = || taken.iter().filter(|t| t.is_channel());
    // Topics that come in bursts have a rate only if there is no other.
    let rates = |bursts| {
        let topics = channels().map(|t| t.topic).filter(move |topic| topic.is_in_bursts() == bursts);
        topics.filter_map(|topic| Some((topic, topic.rate()?))).max_by(|a, b| a.1.total_cmp(&b.1))
    };
    if let Some((topic, rate)) = rates(false).or_else(|| rates(true)) {
        let clock = Clock { rate_hz: Some(steady(rate.min(1e6))), ..Clock::default() };
        return (clock, format!("guess: the rate of {}, the fastest topic with a channel", topic.name));
    }
    match taken.iter().find(|t| t.role == Role::Time) {
        Some(found) => of_column(found),
        None => (Clock::default(), "guess: no column is a time, so each row is a step".into()),
    }
}

fn of_column(Taken { name, why, column, .. }: &Taken<'_>) -> (Clock, String) {
    let (unit, is_stated) = unit(column);
    let mut clock =
        Clock { column: Some(name.clone()), unit, format: column.date_format.clone(), ..Clock::default() };
    let mut why = why.clone();
    if !is_stated {
        why += "; nothing states its unit";
    }
    let Some(steps) = &column.steps else { return (clock, format!("{why}; each row is a step")) };
    if steps.falls() > 0 {
        clock.order = Order::Sort;
        why +=
            if steps.are_reversed() { "; the last row comes first" } else { "; some rows are out of order" };
    }
    let nanos =
        if unit == TimeUnit::Date { (column.kind == Kind::Date).then_some(1e9) } else { unit.nanos() };
    match steps.median().zip(nanos).filter(|_| steps.share_equal() <= MANY) {
        Some((median, nanos)) => {
            clock.rate_hz = Some(steady((1e9 / (median * nanos)).min(1e6)));
            why += &format!("; a step is {median:.6} in the unit of the column");
        }
        None => why += "; many rows repeat the time before them, so each row is a step",
    }
    (clock, why)
}

/// Where the clock of a table begins anew within a log: the seconds that no step within a recording takes, and how often.
pub(super) fn begins_anew(taken: &[Taken<'_>], clock: &Clock) -> Option<(f64, u64)> {
    let time = taken.iter().find(|t| t.role == Role::Time)?;
    let steps = time.column.steps.as_ref().filter(|steps| !steps.are_reversed())?;
    let (median, longest, fall) = (steps.median()?, steps.longest(), steps.longest_fall());
    let gap = (1.5 * longest).max(10.0 * median);
    let unit = if clock.unit == TimeUnit::Date { 1.0 } else { clock.unit.nanos()? * 1e-9 };
    (steps.falls() > 0 && fall > 2.0 * gap).then(|| (round(gap * unit), steps.falls()))
}

/// The unit of a time, and whether anything states it: the name, brackets, or the size of times since 1970.
fn unit(column: &ColumnReport) -> (TimeUnit, bool) {
    let (low, high) = (column.low.unwrap_or(0.0), column.high.unwrap_or(0.0));
    if column.kind == Kind::Date || is_digits(column) {
        return (TimeUnit::Date, true);
    }
    let leaf = column.name.rsplit('.').next().unwrap_or_default();
    let named = column.unit.as_deref().and_then(names::unit);
    if let Some(unit) =
        named.or_else(|| names::time(&column.name).flatten()).or_else(|| names::time(leaf).flatten())
    {
        return (unit, true);
    }
    // Spreadsheets count days since 1899.
    let is_of_sheet = column.name.to_lowercase().contains("date") && low > 2e4 && high < 8e4;
    match high {
        _ if is_of_sheet => (TimeUnit::Days, true),
        high if high > 1e17 => (TimeUnit::Nanos, true),
        high if high > 1e14 => (TimeUnit::Micros, true),
        high if high > 1e11 => (TimeUnit::Millis, true),
        high => (TimeUnit::Seconds, high > 1e9),
    }
}

/// Whether whole numbers are dates of digits alone, such as 20200309 or 20200309101433.
fn is_digits(column: &ColumnReport) -> bool {
    let is_date = |x: f64| (1.9e7..2.2e7).contains(&x) || (1.9e13..2.2e13).contains(&x);
    let ends = column.low.zip(column.high).filter(|_| column.kind == Kind::Whole);
    ends.is_some_and(|(low, high)| {
        [low, high].iter().all(|&x| is_date(x) && clear(&format!("{x:.0}"), 0).is_some())
    })
}

/// Three significant digits of a rate, or of a step that takes longer than a second: a row each 299.9 s is one each 300 s.
fn steady(rate: f64) -> f64 {
    if rate < 1.0 { 1.0 / round(1.0 / rate) } else { round(rate) }
}

/// Three significant digits, so that 49.97 Hz is proposed as 50.
fn round(rate: f64) -> f64 {
    let digits = 10f64.powf(rate.abs().log10().floor() - 2.0);
    let rounded = (rate / digits).round() * digits;
    format!("{rounded:.6}").parse().unwrap_or(rounded)
}

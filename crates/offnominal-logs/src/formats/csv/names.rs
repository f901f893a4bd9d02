//! Names and units of the columns of a table.

use crate::record::Column;
use std::collections::HashSet;

/// What an index without a name is called.
pub const INDEX: &str = "index";

/// The columns: each has a name of its own.
pub fn columns(
    names: &mut [String],
    is_named: bool,
    units: Option<&[String]>,
    said: &mut Vec<String>,
) -> Vec<Column> {
    let mut known = HashSet::new();
    let mut columns = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let mut column = with_unit(name.trim());
        if column.name.is_empty() {
            column.name = if is_named && i == 0 { INDEX.into() } else { i.to_string() };
        }
        if known.contains(&column.name) {
            let own = (1..).map(|n| format!("{}.{n}", column.name)).find(|name| !known.contains(name));
            let own = own.unwrap_or_default();
            said.push(format!("two columns are called {}: the later one is {own}", column.name));
            column.name = own;
        }
        known.insert(column.name.clone());
        if let (None, Some(unit)) = (&column.unit, units.and_then(|units| units.get(i))) {
            column.unit = of_row(unit);
        }
        columns.push(column);
    }
    columns
}

/// A unit in a row of units, without brackets.
fn of_row(field: &str) -> Option<String> {
    let text = field.trim();
    let bare = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let unit = bare('[', ']').or_else(|| bare('(', ')')).unwrap_or(text).trim();
    (!unit.is_empty() && !unit.chars().all(|c| c == '-')).then(|| unit.into())
}

/// A unit may stand in brackets after the name: `speed [m/s]` or `speed (m/s)`.
pub fn with_unit(name: &str) -> Column {
    let bracketed = |open: char, close: char| {
        let (name, unit) = name.strip_suffix(close)?.rsplit_once(open)?;
        let name = name.strip_suffix(' ')?.trim_end();
        (!name.is_empty() && !unit.is_empty()).then(|| Column { name: name.into(), unit: Some(unit.into()) })
    };
    bracketed('[', ']').or_else(|| bracketed('(', ')')).unwrap_or_else(|| Column::new(name))
}

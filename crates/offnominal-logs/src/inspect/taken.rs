//! What a column is taken for in a proposal.

use crate::inspect::column::ColumnReport;
use crate::inspect::survey::TopicReport;

/// What a column is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Time,
    Episode,
    End,
    Label,
    Outcome,
    Task,
    Command,
    Observation,
    Ignored,
}

/// A column, and what it is taken for.
pub(super) struct Taken<'a> {
    pub name: String,
    pub role: Role,
    pub why: String,
    pub column: &'a ColumnReport,
    pub topic: &'a TopicReport,
}

impl Taken<'_> {
    /// Whether it is a channel.
    pub fn is_channel(&self) -> bool {
        matches!(self.role, Role::Observation | Role::Command)
    }
}

//! The columns of a split: what is observed, what was commanded, and where the label stands.
//!
//! An episode of T steps has T rows of actions, T + 1 of each observation, and T + 1 labels, the first of which belongs to the
//! reset. Other numbers of rows are errors: a label that lies one step beside its observation would go unnoticed.

use crate::formats::{
    hdf5_episodes::numbered,
    hdf5_parts::{Part, below, groups, open, parts},
};
use crate::mapping::{Channel, Clock, Episodes, FORMAT, Labels, Mapping};
use crate::record::Sink;
use anyhow::{Context, Result, ensure};
use hdf5_pure::{File, Group};
use offnominal_files::read;
use offnominal_topics::budget::{Budget, Size};
use std::path::Path;

/// Where the label may stand: in the data of Anomaly-Gym, and in what `export minari` writes.
const LABELS: [&str; 2] = ["infos/is_anomaly", "infos/label"];

/// The columns of each episode of a split, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    observation: Vec<String>,
    command: Vec<String>,
    label: String,
}

impl Columns {
    /// Those of a split.
    ///
    /// # Errors
    /// If its file cannot be read, has no episode, or an episode has other columns or numbers of rows.
    pub fn of(split: &Path) -> Result<Columns> {
        let path = split.join("data/main_data.hdf5");
        let place = || format!("split {}", split.display());
        ensure!(path.is_file(), "{}: expected the file data/main_data.hdf5 (Minari), found none", place());
        Columns::of_file(&path).with_context(place)
    }

    /// Those of a file of episodes.
    ///
    /// # Errors
    /// As [`Columns::of`].
    pub fn of_file(path: &Path) -> Result<Columns> {
        read::open(path)?;
        let file = File::open_streaming(path).context("expected an HDF5 file")?;
        let (size, mut nobody) = (Size::default(), ());
        size.add(path.metadata()?.len());
        of_root(&file.root(), &mut Budget::new(&mut nobody, size))
    }

    /// Insists that another split, or an episode, has the same.
    ///
    /// # Errors
    /// If it has others.
    pub fn insist_on(&self, found: &Columns, place: &str) -> Result<()> {
        let pairs = [
            ("observations", &self.observation, &found.observation),
            ("actions", &self.command, &found.command),
        ];
        for (what, expected, found) in pairs {
            ensure!(
                expected == found,
                "{place}: expected the {} {what} of the first split, {}; found {}: {}",
                expected.len(),
                expected.join(", "),
                found.len(),
                found.join(", ")
            );
        }
        ensure!(
            self.label == found.label,
            "{place}: expected the label {}, as in the first split, found {}",
            self.label,
            found.label
        );
        Ok(())
    }

    /// The mapping that reads them. A row is a step, and no column says when.
    pub fn mapping(&self) -> Mapping {
        let channels = |columns: &[String]| {
            columns.iter().map(|column| Channel { column: column.clone(), ..Channel::default() }).collect()
        };
        Mapping {
            version: FORMAT,
            clock: Clock::default(),
            episodes: Episodes::Column { column: "episode".into() },
            observation: channels(&self.observation),
            command: channels(&self.command),
            outcome: None,
            label: Labels(vec![self.label.clone()]),
            task: None,
            missing: Vec::new(),
            ignored: None,
        }
    }
}

fn of_root(root: &Group, sink: &mut dyn Sink) -> Result<Columns> {
    let (episodes, _) = numbered(root.groups()?);
    let mut first: Option<Columns> = None;
    for (_, name) in episodes {
        let found = root.group(&name).map_err(Into::into).and_then(|group| of_episode(&group, sink));
        let found = found.with_context(|| name.clone())?;
        match &first {
            Some(first) => first.insist_on(&found, &name)?,
            None => first = Some(found),
        }
    }
    first.context("expected episodes, found no group such as episode_0")
}

fn of_episode(group: &Group, sink: &mut dyn Sink) -> Result<Columns> {
    let mut all = Vec::new();
    gather(group, "", 0, &mut all, sink)?;
    let under = |name: &str, top: &str| name == top || name.starts_with(&format!("{top}/"));
    let of =
        |top: &str| -> Vec<&(u64, Part)> { all.iter().filter(|(_, part)| under(&part.name, top)).collect() };
    let (observations, actions) = (of("observations"), of("actions"));
    let steps = actions.first().context("expected actions, found none")?.0;
    let label = LABELS.iter().find_map(|label| all.iter().find(|(_, part)| part.name == *label));
    let (rows, label) =
        label.with_context(|| format!("expected labels as {}, found none", LABELS.join(" or ")))?;
    ensure!(!observations.is_empty(), "expected observations, found none");
    let with_reset =
        observations.iter().map(|(rows, part)| (*rows, &part.name)).chain([(*rows, &label.name)]);
    for (found, name) in with_reset {
        ensure!(
            found == steps + 1,
            "{name}: expected {} rows, one for the reset and one for each of {steps} actions, found {found}",
            steps + 1
        );
    }
    ensure!(label.width == 1, "{}: expected one label in a row, found {}", label.name, label.width);
    let named = |parts: Vec<&(u64, Part)>| {
        parts.into_iter().flat_map(|(_, part)| part.columns().map(|column| column.name)).collect()
    };
    Ok(Columns { observation: named(observations), command: named(actions), label: label.name.clone() })
}

/// The data sets of an episode, and those of the groups in it.
fn gather(
    group: &Group,
    path: &str,
    depth: usize,
    found: &mut Vec<(u64, Part)>,
    sink: &mut dyn Sink,
) -> Result<()> {
    found.extend(parts(group, path, path, sink)?);
    for name in groups(group, path, sink)? {
        let below = below(path, &name);
        if let Some(inner) = open(group, &name, &below, depth + 1, sink)? {
            gather(&inner, &below, depth + 1, found, sink)?;
        }
    }
    Ok(())
}

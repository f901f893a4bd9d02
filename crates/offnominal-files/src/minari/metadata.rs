//! The JSON that describes a dataset to Minari.

use crate::dataset::{Column, Dataset};
use crate::minari::{Format, VERSION};
use anyhow::Result;
use offnominal_core::prelude::*;
use serde_json::{Value, json};

/// `metadata.json` of the dataset, whose data files have so many bytes together; Minari gives sizes in megabytes.
pub(super) fn dataset(dataset: &Dataset, id: &str, format: Format, bytes: usize) -> Result<String> {
    let recipe = &dataset.recipe;
    let steps: usize = dataset.episodes.iter().map(Episode::len).sum();
    let value = json!({
        "total_episodes": dataset.episodes.len(),
        "total_steps": steps,
        "data_format": format.name(),
        "jpeg_encoding": false,
        "observation_space": space(&recipe.observation),
        "action_space": space(&recipe.action),
        "dataset_id": id,
        "minari_version": VERSION,
        "dataset_size": bytes as f64 / 1e6,
        "algorithm_name": recipe.policy.id,
        "description": description(dataset),
        "offnominal": recipe,
    });
    Ok(serde_json::to_string_pretty(&value)?)
}

fn description(dataset: &Dataset) -> String {
    let recipe = &dataset.recipe;
    let what = match &recipe.anomaly_spec {
        None => "Nominal episodes".to_string(),
        Some(anomaly_spec) => format!("Episodes under {}, with their nominal twins,", anomaly_spec.anomaly),
    };
    format!("{what} of {} in {}, played by offnominal {}.", recipe.policy.id, recipe.env, recipe.engine)
}

/// How many choices the only channel has; `None` for anything else.
pub(super) fn only_choice(columns: &[Column]) -> Option<u32> {
    match columns {
        [only] if only.choices > 0 => Some(only.choices),
        _ => None,
    }
}

/// A space as Minari writes it: JSON inside a JSON string, with Python's words for infinity. A single choice is
/// discrete, everything else is a box.
fn space(columns: &[Column]) -> String {
    if let Some(n) = only_choice(columns) {
        return format!(r#"{{"type": "Discrete", "dtype": "int64", "start": 0, "n": {n}}}"#);
    }
    let bounds = |bound: fn(&Column) -> Option<f64>, unbounded: &str| {
        let each = columns.iter().flat_map(|c| std::iter::repeat_n(bound(c), c.width()));
        let texts = each.map(|bound| bound.map_or(unbounded.to_string(), |b| json!(b).to_string()));
        nested(texts.collect(), &shape(columns))
    };
    format!(
        r#"{{"type": "Box", "dtype": "float32", "shape": {:?}, "low": {}, "high": {}}}"#,
        shape(columns),
        bounds(|c| c.low, "-Infinity"),
        bounds(|c| c.high, "Infinity")
    )
}

/// The shape of one observation or command: an image that stands alone has its frames, planes, rows and columns, where
/// there are more than one of them; anything else is a row.
pub(super) fn shape(columns: &[Column]) -> Vec<usize> {
    match columns {
        [Column { image: Some(image), .. }] => image.shape().into_iter().filter(|&n| n > 1).collect(),
        _ => vec![columns.iter().map(Column::width).sum()],
    }
}

/// Numbers as lists in lists, one level for each axis.
fn nested(mut texts: Vec<String>, shape: &[usize]) -> String {
    for &n in shape.iter().rev() {
        texts = texts.chunks(n).map(|row| format!("[{}]", row.join(", "))).collect();
    }
    texts.concat()
}

/// What is true of one episode, beside its numbers.
pub(super) fn episode(dataset: &Dataset, i: usize) -> Value {
    let episode = &dataset.episodes[i];
    let mut value = json!({
        "id": i,
        "total_steps": episode.len(),
        "seed": episode.seed,
        "end": episode.end,
        "initial": episode.initial,
    });
    let optional = [
        ("onset", episode.onset.map(Value::from)),
        ("anomaly", episode.anomaly_spec.as_ref().map(|f| f.anomaly.clone().into())),
        ("twin", dataset.twins[i].map(Value::from)),
        ("goal_met", episode.goal_met.map(Value::from)),
    ];
    for (key, found) in optional.into_iter().filter_map(|(key, found)| Some((key, found?))) {
        value[key] = found;
    }
    value
}

/// Commands of a discrete space, as whole numbers.
pub(super) fn choices(episode: &Episode) -> Vec<i64> {
    episode.actions.iter().map(|&a| a as i64).collect()
}

/// Labels as Minari aligns `infos`: the first row belongs to the reset.
pub(super) fn labels(episode: &Episode) -> Vec<bool> {
    std::iter::once(false).chain(episode.labels.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unbounded_channels_are_written_as_python_writes_them() {
        let column =
            |low, high| Column { name: "x".into(), unit: "m".into(), low, high, choices: 0, image: None };
        let found = space(&[column(Some(-1.0), Some(0.5)), column(None, None)]);
        let want = r#"{"type": "Box", "dtype": "float32", "shape": [2], "low": [-1.0, -Infinity], "high": [0.5, Infinity]}"#;
        assert_eq!(found, want);
    }

    #[test]
    fn one_choice_is_a_discrete_space_and_two_are_a_box() {
        let push = Column::from(&Channel::choice("push", "direction", 3));
        assert_eq!(
            space(std::slice::from_ref(&push)),
            r#"{"type": "Discrete", "dtype": "int64", "start": 0, "n": 3}"#
        );
        assert!(space(&[push.clone(), push]).starts_with(r#"{"type": "Box""#));
    }

    #[test]
    fn an_image_keeps_its_shape() {
        let image = Channel::image("screen", "", offnominal_core::channel::Image::grey(2, 2, 3));
        let found = space(&[Column::from(&image)]);
        let low = "[[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]";
        let want = format!(r#"{{"type": "Box", "dtype": "float32", "shape": [2, 2, 3], "low": {low}, "#);
        assert!(found.starts_with(&want), "{found}");
        let beside = [Column::from(&image), Column::from(&Channel::unbounded("v", "", "m/s"))];
        assert_eq!(shape(&beside), [13]);
    }

    #[test]
    fn labels_are_randomised_by_the_reset() {
        let episode = crate::dataset::tests::dataset().episodes.remove(0);
        assert_eq!(labels(&episode), [false, false, false, true, true, true]);
    }
}

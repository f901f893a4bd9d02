//! A dataset that is there already and is to have more episodes: it is continued if it has the same recipe, and left
//! alone otherwise.

use crate::dataset::{Dataset, DatasetRecipe, load};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;

impl Dataset {
    /// The number of episodes that were asked for: a nominal twin does not count.
    pub fn n_asked(&self) -> usize {
        let twins = self.twins.iter().flatten().count();
        self.episodes.len() - twins
    }

    /// Puts the episodes of another dataset of the same recipe behind those of this one.
    pub fn extend(&mut self, more: Dataset) {
        let n = self.episodes.len();
        self.episodes.extend(more.episodes);
        self.twins.extend(more.twins.into_iter().map(|twin| twin.map(|i| n + i)));
    }
}

/// The dataset in that file if it has the recipe and no more episodes than wanted; none if there is no file.
///
/// # Errors
/// If the file is none of ours, has another recipe, or has more episodes: writing there would lose them.
pub fn existing(path: &Path, recipe: &DatasetRecipe, n_wanted: usize) -> Result<Option<Dataset>> {
    const ADVICE: &str = "choose another --out, or remove the file";
    if !path.exists() {
        return Ok(None);
    }
    let kept = load(path).with_context(|| format!("there is a file already; {ADVICE}"))?;
    if let Some(difference) = difference(&kept.recipe, recipe)? {
        bail!("{} holds other episodes: {difference}; {ADVICE}", path.display());
    }
    let n = kept.n_asked();
    if n > n_wanted {
        let path = path.display();
        bail!(
            "{path} holds {n} episodes, and a dataset is never cut: expected --episodes {n} or more, found {n_wanted}; {ADVICE}"
        );
    }
    Ok(Some(kept))
}

/// The first field in which two recipes differ, in words.
fn difference(found: &DatasetRecipe, expected: &DatasetRecipe) -> Result<Option<String>> {
    let [found, expected] = [serde_json::to_value(found)?, serde_json::to_value(expected)?];
    let fields = expected.as_object().into_iter().flatten();
    let differs = |(name, value): (&String, &Value)| {
        let other = &found[name.as_str()];
        (other != value).then(|| format!("expected {name} {value}, found {other}"))
    };
    Ok(fields.filter_map(differs).next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::save;
    use crate::dataset::tests::dataset;

    #[test]
    fn a_dataset_is_continued_with_its_twins() {
        let mut twice = dataset();
        twice.extend(dataset());
        assert_eq!((twice.episodes.len(), twice.n_asked()), (8, 4));
        assert_eq!(twice.twins[4..], [Some(5), None, Some(7), None]);
    }

    #[test]
    fn what_would_lose_episodes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.arrow");
        let recipe = dataset().recipe;
        assert!(existing(&path, &recipe, 2).unwrap().is_none());
        save(&dataset(), &path).unwrap();
        assert_eq!(existing(&path, &recipe, 2).unwrap(), Some(dataset()));
        let refusal = |recipe: &DatasetRecipe, n| format!("{:#}", existing(&path, recipe, n).unwrap_err());
        assert!(refusal(&recipe, 1).contains("expected --episodes 2 or more, found 1"));
        let other = DatasetRecipe { seed: 8, ..recipe.clone() };
        assert!(refusal(&other, 2).contains("holds other episodes: expected seed 8, found 7"));
        std::fs::write(&path, b"mine").unwrap();
        assert!(refusal(&recipe, 2).contains("there is a file already"));
    }
}

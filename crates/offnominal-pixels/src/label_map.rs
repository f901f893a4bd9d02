//! What the labels of a data set mean to a network: known classes, unknown things, and what is not judged.
//!
//! The paper's equation 1: a label is its class if it names one and is not ambiguous, ignored if it is ambiguous, and
//! unknown otherwise. In a file:
//!
//! ```toml
//! classes = ["road", "sidewalk", "car"]  # in the order of the logits
//! unknown = ["auto rickshaw"]
//! ignore = ["wall", "path"]              # the ambiguous set
//! otherwise = "unknown"                  # or "ignore", or "error"; what equation 1 says is "unknown"
//!
//! [known]                                # labels of each class; a class is also a label of itself
//! car = ["car", "taxi"]
//! ```
//!
//! A label is written as the data set writes it: a number ("7"), a colour ("#804080"), or a name.

use anyhow::{Context, Result, bail, ensure};
use offnominal_stats::pixel::Truth;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LabelMap {
    /// Names of the classes, in the order of the logits.
    pub classes: Vec<String>,
    /// Labels of unknown things.
    #[serde(default)]
    pub unknown: Vec<String>,
    /// Labels that are not judged: the ambiguous set, borders, what is unlabelled.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Labels of known things of whatever class, where a data set does not name it.
    #[serde(default)]
    pub known_any: Vec<String>,
    /// What labels are that stand nowhere.
    pub otherwise: Otherwise,
    /// Colours in which classes are shown, "#rrggbb".
    #[serde(default)]
    pub colours: BTreeMap<String, String>,
    /// Labels of each class.
    #[serde(default)]
    pub known: BTreeMap<String, Vec<String>>,
}

/// What labels are that stand nowhere in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Otherwise {
    /// Unknown things, as in the paper's equation 1.
    Unknown,
    /// Not judged.
    Ignore,
    /// A mistake.
    Error,
}

/// What a label means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A class.
    Known(u8),
    /// A class that the data set does not name.
    KnownAny,
    /// An unknown thing.
    Unknown,
    /// Not judged.
    Ignored,
}

/// The id of known pixels whose class is not named.
pub const KNOWN_ANY: u8 = 253;

impl Meaning {
    /// What is judged.
    pub fn truth(self) -> Truth {
        match self {
            Meaning::Known(_) | Meaning::KnownAny => Truth::Known,
            Meaning::Unknown => Truth::Unknown,
            Meaning::Ignored => Truth::Ignored,
        }
    }

    /// The class id; 253 for a known thing of any class, 254 for unknown things, 255 for what is not judged.
    pub fn id(self) -> u8 {
        match self {
            Meaning::Known(class) => class,
            Meaning::KnownAny => KNOWN_ANY,
            Meaning::Unknown => offnominal_scenes::UNKNOWN,
            Meaning::Ignored => offnominal_scenes::IGNORED,
        }
    }
}

/// A label map that can be asked.
#[derive(Debug, Clone)]
pub struct Meanings {
    /// The file.
    pub map: LabelMap,
    of: HashMap<String, Meaning>,
}

impl LabelMap {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// If it cannot be read, or gives one label two meanings.
    pub fn load(path: &Path) -> Result<Meanings> {
        let text = offnominal_files::read::text(path)?;
        let map: LabelMap =
            toml::from_str(&text).with_context(|| format!("{}: expected a label map", path.display()))?;
        map.check().with_context(|| path.display().to_string())
    }

    /// Checks it.
    ///
    /// # Errors
    /// If a class is named that is none, or a label means two things.
    pub fn check(self) -> Result<Meanings> {
        ensure!(
            (1..=200).contains(&self.classes.len()),
            "expected 1 to 200 classes, found {}",
            self.classes.len()
        );
        let mut of = HashMap::new();
        let mut add = |label: &str, meaning: Meaning| match of.insert(label.to_string(), meaning) {
            Some(before) if before != meaning => {
                bail!("the label {label:?} means two things: {before:?} and {meaning:?}")
            }
            _ => Ok(()),
        };
        for label in &self.unknown {
            add(label, Meaning::Unknown)?;
        }
        for label in &self.ignore {
            add(label, Meaning::Ignored)?;
        }
        for label in &self.known_any {
            add(label, Meaning::KnownAny)?;
        }
        for (class, labels) in &self.known {
            let id = self.classes.iter().position(|c| c == class).with_context(|| {
                format!("[known] names {class:?}, which is none of the classes {:?}", self.classes)
            })?;
            for label in labels {
                add(label, Meaning::Known(id as u8))?;
            }
        }
        for (id, class) in self.classes.iter().enumerate() {
            of.entry(class.clone()).or_insert(Meaning::Known(id as u8));
        }
        Ok(Meanings { map: self, of })
    }
}

impl Meanings {
    /// Of masks that are 0 where nothing is unknown; they know no classes.
    pub fn masks() -> Meanings {
        let map = LabelMap {
            classes: Vec::new(),
            unknown: Vec::new(),
            ignore: Vec::new(),
            known_any: vec!["0".into(), "#000000".into()],
            otherwise: Otherwise::Unknown,
            colours: BTreeMap::new(),
            known: BTreeMap::new(),
        };
        let of = map.known_any.iter().map(|label| (label.clone(), Meaning::KnownAny)).collect();
        Meanings { map, of }
    }

    /// Whether labels are colours, so that a pixel with a palette is meant by its colour, and not by its number.
    pub fn name_colours(&self) -> bool {
        self.of.keys().any(|label| label.starts_with('#'))
    }

    /// What a label means; none if it is not in the file and must be.
    pub fn of(&self, label: &str) -> Option<Meaning> {
        let otherwise = match self.map.otherwise {
            Otherwise::Unknown => Some(Meaning::Unknown),
            Otherwise::Ignore => Some(Meaning::Ignored),
            Otherwise::Error => None,
        };
        self.of.get(label).copied().or(otherwise)
    }

    /// What many labels mean.
    ///
    /// # Errors
    /// If some are not in the file; all of these are listed.
    pub fn of_all<'a>(&self, labels: impl Iterator<Item = &'a str>) -> Result<Vec<Meaning>> {
        let (mut meanings, mut missing) = (Vec::new(), Vec::new());
        for label in labels {
            match self.of(label) {
                Some(meaning) => meanings.push(meaning),
                None => missing.push(label.to_string()),
            }
        }
        missing.sort();
        missing.dedup();
        ensure!(missing.is_empty(), "labels that the label map does not have: {}", missing.join(", "));
        Ok(meanings)
    }

    /// The colour of a class id.
    pub fn colour(&self, id: u8) -> [u8; 3] {
        let name = self.map.classes.get(usize::from(id));
        let text = name.and_then(|name| self.map.colours.get(name)).and_then(|text| text.strip_prefix('#'));
        let value = text.filter(|t| t.len() == 6).and_then(|t| u32::from_str_radix(t, 16).ok());
        match (id, value) {
            (offnominal_scenes::UNKNOWN, _) => [255, 120, 0],
            (offnominal_scenes::IGNORED, _) => [0, 0, 0],
            (KNOWN_ANY, _) => [110, 110, 110],
            (_, Some(v)) => [(v >> 16) as u8, (v >> 8) as u8, v as u8],
            (id, None) => offnominal_files::png::class_colour(id + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str) -> Result<Meanings> {
        toml::from_str::<LabelMap>(text)?.check()
    }

    const SUN: &str = r#"
        classes = ["road", "car"]
        ignore = ["wall"]
        otherwise = "unknown"
        [known]
        car = ["taxi", "7"]
    "#;

    #[test]
    fn the_three_cases_of_equation_one() {
        let map = map(SUN).unwrap();
        let found = ["road", "taxi", "7", "wall", "vase"].map(|l| map.of(l).unwrap().id());
        assert_eq!(found, [0, 1, 1, 255, 254]);
    }

    #[test]
    fn the_maps_that_come_with_the_program_are_sound() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../label-maps");
        let maps: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
        assert!(maps.len() >= 7);
        for map in maps {
            let meanings = LabelMap::load(&map).unwrap();
            let has_unknown =
                !meanings.map.unknown.is_empty() || meanings.map.otherwise == Otherwise::Unknown;
            let name = map.file_name().unwrap().to_string_lossy();
            assert!(has_unknown || name.starts_with("cityscapes"), "{name}");
        }
    }

    #[test]
    fn contradictions_and_foreign_classes_are_refused() {
        let twice = map(&SUN.replace("[\"wall\"]", "[\"wall\", \"taxi\"]")).unwrap_err().to_string();
        assert!(twice.contains("\"taxi\" means two things"), "{twice}");
        let foreign = map(&SUN.replace("car = [", "bus = [")).unwrap_err().to_string();
        assert!(foreign.contains("\"bus\", which is none of the classes"), "{foreign}");
    }

    #[test]
    fn labels_that_are_nowhere_are_listed_where_they_are_mistakes() {
        let map = map(&SUN.replace("\"unknown\"", "\"error\"")).unwrap();
        let error = map.of_all(["road", "vase", "#804080", "vase"].into_iter()).unwrap_err().to_string();
        assert_eq!(error, "labels that the label map does not have: #804080, vase");
    }
}

//! Thresholds in archives: what a statistic has learned, as named lists of numbers.

use super::blocks::Blocks;
use super::shape::Shape;
use super::statistic::Statistic;
use offnominal_core::archive::{ArchiveError, Reader, Writer};

impl Statistic {
    /// Name of the statistic.
    pub fn id(&self) -> &'static str {
        match self {
            Statistic::Score => "score",
            Statistic::Band(_) => "band",
            Statistic::Cusum(_) => "cusum",
            Statistic::Martingale(..) => "martingale",
            Statistic::Blocks(_) => "blocks",
        }
    }

    /// Writes what was learned.
    pub fn save(&self, to: &mut Writer<'_>) {
        match self {
            Statistic::Score => {}
            Statistic::Band(shape) | Statistic::Cusum(shape) => shape.save(to),
            Statistic::Blocks(blocks) => blocks.save(to),
            Statistic::Martingale(shape, reference) => {
                shape.save(to);
                to.put("reference", reference);
            }
        }
    }

    /// Reads the statistic of that name; `None` if there is none of that name.
    ///
    /// # Errors
    /// If a list is missing or holds what cannot be.
    pub fn load(id: &str, from: &Reader<'_>) -> Option<Result<Statistic, ArchiveError>> {
        match id {
            "score" => Some(Ok(Statistic::Score)),
            "band" => Some(Shape::load(from).map(Statistic::Band)),
            "cusum" => Some(Shape::load(from).map(Statistic::Cusum)),
            "martingale" => Some(martingale(from)),
            "blocks" => Some(Blocks::load(from).map(Statistic::Blocks)),
            _ => None,
        }
    }
}

fn martingale(from: &Reader<'_>) -> Result<Statistic, ArchiveError> {
    let reference = from.list::<f64>("reference")?;
    from.require(reference.is_sorted(), "reference", "ascending numbers", "others")?;
    Ok(Statistic::Martingale(Shape::load(from)?, reference.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::archive::Archive;

    fn all() -> [Statistic; 5] {
        let nominal: Vec<Vec<f64>> =
            (0..9).map(|i| (0..12).map(|t| f64::from(i * t).sin()).collect()).collect();
        let shape = || Shape::of(&nominal);
        [
            Statistic::Score,
            Statistic::Band(shape()),
            Statistic::Cusum(shape()),
            Statistic::martingale(&nominal),
            Statistic::Blocks(Blocks::new(7, vec![2.0, 1.0, 3.0], Some(0.9))),
        ]
    }

    #[test]
    fn every_statistic_comes_back() {
        for statistic in all() {
            let mut archive = Archive::default();
            statistic.save(&mut archive.writer());
            let found = Statistic::load(statistic.id(), &archive.reader(1, 1)).unwrap();
            assert_eq!(found, Ok(statistic));
        }
        assert!(Statistic::load("cumsum", &Archive::default().reader(1, 1)).is_none());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refuses = |id: &str, lists: &[(&str, &[f64])], want: &str| {
            let mut archive = Archive::default();
            lists.iter().for_each(|(name, list)| archive.writer().put(name, list));
            let error = Statistic::load(id, &archive.reader(1, 1)).unwrap().unwrap_err().to_string();
            assert_eq!(error, want);
        };
        refuses("band", &[], "location: expected a list of numbers, found nothing");
        refuses(
            "band",
            &[("location", &[]), ("scale", &[])],
            "location: expected one step or more, found none",
        );
        let shape: [(&str, &[f64]); 2] = [("location", &[1.0]), ("scale", &[0.0])];
        refuses("cusum", &shape, "scale: expected numbers above zero, found others");
        let unsorted: [(&str, &[f64]); 1] = [("reference", &[2.0, 1.0])];
        refuses("martingale", &unsorted, "reference: expected ascending numbers, found others");
    }
}

//! What statistics are compared with: a limit for all episodes, and one for each group of them.

use crate::about::About;
use crate::calibrated::{Calibrated, Drift};
use crate::error::{ConfirmError, FileError, UnknownGroup};
use crate::groups::Groups;
use offnominal_core::archive::{Archive, Reader, Writer};
use offnominal_core::suggest::did_you_mean;
use offnominal_stats::alarm::statistic::Statistic;
use offnominal_stats::promise::false_alarms;
use offnominal_stats::recalibration::Fitted;
use offnominal_stats::{GroupThresholds, Level, Promise, Recalibrated, Recalibration, Threshold};

/// Maxima that are kept at most.
const MOST: usize = 10_000;

/// A statistic and what it is compared with.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub statistic: Statistic,
    pub value: f64,
    /// The largest values of the statistic in nominal episodes, the latest last, if the limit promises a share of false alarms.
    maxima: Vec<f64>,
}

/// The limits of a monitor: of all episodes, of small groups together, and of each large group.
pub(crate) struct Limits {
    all: Limit,
    pool: Option<Limit>,
    /// In the order of [`Groups::own`].
    own: Vec<Limit>,
    /// The one that holds in this episode.
    at: At,
}

#[derive(Clone, Copy)]
enum At {
    All,
    Pool,
    Own(usize),
}

/// Where the numbers of limits lie in a file: of all episodes, of small groups together, and of each large group.
const ALL: &str = "threshold";
const POOL: &str = "pool";
const OWN: &str = "groups";

impl Limits {
    pub(crate) fn load(about: &About, from: &Reader<'_>) -> Result<Limits, FileError> {
        let groups = about.groups.as_ref();
        let pool = groups.and_then(|groups| groups.pool.as_ref());
        let own = groups.iter().flat_map(|groups| &groups.own).enumerate();
        Ok(Limits {
            all: Limit::load(&about.threshold, &from.part(ALL))?,
            pool: pool.map(|set| Limit::load(set, &from.part(POOL))).transpose()?,
            own: own
                .map(|(i, group)| Limit::load(&group.threshold, &from.part(OWN).part(i)))
                .collect::<Result<_, _>>()?,
            at: At::All,
        })
    }

    pub(crate) fn save(&self, archive: &mut Archive) {
        self.all.save(&mut archive.writer().part(ALL));
        self.pool.iter().for_each(|limit| limit.save(&mut archive.writer().part(POOL)));
        for (i, limit) in self.own.iter().enumerate() {
            limit.save(&mut archive.writer().part(OWN).part(i));
        }
    }

    /// The limit of this episode.
    pub(crate) fn here(&self) -> &Limit {
        match self.at {
            At::All => &self.all,
            At::Pool => self.pool.as_ref().unwrap_or(&self.all),
            At::Own(i) => &self.own[i],
        }
    }

    /// An episode begins of which nobody says the group.
    pub(crate) fn of_all(&mut self) {
        self.at = At::All;
    }

    /// An episode of a group begins.
    pub(crate) fn of_group(&mut self, name: &str, groups: Option<&Groups>) -> Result<(), UnknownGroup> {
        let own = groups.and_then(|groups| groups.own.iter().position(|group| group.name == name));
        let is_pooled = groups.is_some_and(|groups| groups.pooled.iter().any(|group| group.name == name));
        self.at = match own {
            Some(i) => At::Own(i),
            None if is_pooled && groups.is_some_and(|groups| groups.pool.is_some()) => At::Pool,
            None if is_pooled => At::All,
            None => return Err(unknown(name, groups)),
        };
        Ok(())
    }

    /// The limit of this episode follows what it was in a nominal one; the header is told.
    pub(crate) fn confirm(
        &mut self,
        largest: f64,
        how: &Recalibration,
        about: &mut About,
    ) -> Result<Recalibrated, ConfirmError> {
        let absent = "a limit comes from the header";
        let (limit, set) = match self.at {
            At::All => (&mut self.all, &mut about.threshold),
            At::Pool => {
                let set = about.groups.as_mut().and_then(|groups| groups.pool.as_mut());
                (self.pool.as_mut().expect(absent), set.expect(absent))
            }
            At::Own(i) => (&mut self.own[i], &mut about.groups.as_mut().expect(absent).own[i].threshold),
        };
        limit.confirm(largest, how, set)
    }
}

impl Limit {
    fn load(set: &Calibrated, from: &Reader<'_>) -> Result<Limit, FileError> {
        let unknown = || FileError::Header {
            place: "threshold.statistic",
            expected: "score, band, cusum, martingale or blocks",
            found: set.statistic.clone(),
        };
        let statistic = Statistic::load(&set.statistic, from).ok_or_else(unknown)??;
        let maxima = if set.alpha.is_some() { from.list("maxima")?.to_vec() } else { vec![] };
        Ok(Limit { statistic, value: set.value, maxima })
    }

    fn save(&self, to: &mut Writer<'_>) {
        save_limit(&self.statistic, &self.maxima, to);
    }

    fn confirm(
        &mut self,
        largest: f64,
        how: &Recalibration,
        set: &mut Calibrated,
    ) -> Result<Recalibrated, ConfirmError> {
        let no_promise = || ConfirmError::NoPromise { rule: set.rule.clone() };
        let promise = Promise { alpha: set.alpha.ok_or_else(no_promise)?, confidence: set.confidence };
        let before = set.drift.unwrap_or_else(|| {
            let Fitted { value, median } = Fitted::of(self.value, &self.maxima);
            Drift { confirmed: 0, fitted: value, median, is_limited: false }
        });
        let fitted = Fitted { value: before.fitted, median: before.median };
        let maxima = [&self.maxima[..], &[largest]].concat();
        let found = how.threshold(promise, &maxima, fitted)?;
        self.maxima = maxima[maxima.len().saturating_sub(MOST)..].to_vec();
        self.value = found.value;
        set.value = found.value;
        set.episodes = found.episodes;
        set.false_alarms = Some(false_alarms(found.rank, found.episodes, Level::P95));
        // The lengths of confirmed episodes are not kept; the share that kept the rate is.
        (set.promised_per_hour, set.per_hour) = (None, None);
        set.drift = Some(Drift { confirmed: before.confirmed + 1, is_limited: found.is_limited, ..before });
        Ok(found)
    }
}

/// Writes the limits that a fit has found.
pub(crate) fn save(archive: &mut Archive, all: &Threshold, groups: Option<&GroupThresholds>) {
    let save = |threshold: &Threshold, to: &mut Writer<'_>| {
        save_limit(&threshold.statistic, &threshold.maxima, to);
    };
    save(all, &mut archive.writer().part(ALL));
    let Some(groups) = groups else { return };
    groups.pool.iter().for_each(|pool| save(pool, &mut archive.writer().part(POOL)));
    for (i, (_, _, threshold)) in groups.own.iter().enumerate() {
        save(threshold, &mut archive.writer().part(OWN).part(i));
    }
}

fn save_limit(statistic: &Statistic, maxima: &[f64], to: &mut Writer<'_>) {
    statistic.save(to);
    if !maxima.is_empty() {
        // An episode without steps has a maximum of minus infinity, which a file cannot hold.
        let finite: Vec<f64> = maxima.iter().map(|maximum| maximum.max(f64::MIN)).collect();
        to.put("maxima", &finite);
    }
}

fn unknown(name: &str, groups: Option<&Groups>) -> UnknownGroup {
    let known: Vec<String> = groups.iter().flat_map(|groups| groups.names()).map(String::from).collect();
    let hint = did_you_mean(name, known.iter().map(String::as_str));
    UnknownGroup { found: name.into(), known, hint }
}

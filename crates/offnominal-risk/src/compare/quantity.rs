//! What is compared, in which episodes, and what a pair says of it.

use super::pair::{Pair, Played, Side};
use anyhow::{Context as _, Result, ensure};
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::paired::Mean;
use offnominal_stats::risk::counting;
use serde::{Deserialize, Serialize};
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr, EnumMessage)]
#[strum(serialize_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Quantity {
    /// Failure rate; lower is better
    Failure,
    /// Mean return; higher is better
    Return,
    /// Share of pairs with the higher return
    Wins,
    /// Success rate; higher is better
    Success,
    /// Share of episodes with an alarm; lower is better
    Alarms,
}

/// In which episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Condition {
    /// Where nothing goes wrong.
    Nominal,
    /// Where the anomaly is.
    Anomalous,
    /// The anomalous episode minus its nominal twin.
    Cost,
}

impl Quantity {
    /// 1 where more is better, −1 where less is.
    pub fn sign(self) -> f64 {
        if matches!(self, Quantity::Failure | Quantity::Alarms) { -1.0 } else { 1.0 }
    }

    /// Whether it lies between 0 and 1.
    pub fn is_share(self) -> bool {
        self != Quantity::Return
    }

    /// Whether a loss in it is measured by a margin on another quantity: both are shares of the same episodes, or the wins
    /// are counted by the return that the margin is on.
    pub fn shares_margin_with(self, other: Quantity) -> bool {
        use Quantity::{Failure, Return, Success, Wins};
        matches!((self, other), (Failure, Success) | (Success, Failure) | (Wins, Return))
    }
}

/// One quantity in one condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// What is compared.
    pub quantity: Quantity,
    /// In which episodes.
    pub condition: Condition,
    /// Smallest and largest possible return, if they are known.
    pub return_range: Option<(f64, f64)>,
    /// The environment, for errors.
    pub env: String,
}

impl Judged {
    /// The largest difference that is possible, if there is one.
    pub fn bound(&self) -> Option<f64> {
        let of_one = match self.quantity {
            Quantity::Return => self.return_range.map(|(low, high)| high - low),
            _ => Some(1.0),
        };
        of_one.map(|bound| if self.condition == Condition::Cost { 2.0 * bound } else { bound })
    }

    /// The mean of differences, before the first.
    pub fn mean_of_gains(&self) -> Mean {
        self.bound().map_or_else(Mean::unbounded, Mean::bounded)
    }

    /// By how much the new policy is better in a pair; nothing if an episode has no outcome, and so no return.
    ///
    /// # Errors
    /// If the quantity is not defined there, or a return lies outside of the range that was stated.
    pub fn gain(&self, pair: &Pair, index: usize) -> Result<Option<f64>> {
        let values = self.values(pair).with_context(|| format!("pair {index}"))?;
        Ok(values.map(|[old, new]| self.quantity.sign() * (new - old)))
    }

    /// What each of the two policies has of it in a pair; nothing if an episode has no outcome, and so no return.
    ///
    /// # Errors
    /// As [`Judged::gain`].
    pub fn values(&self, pair: &Pair) -> Result<Option<[f64; 2]>> {
        let (old, new) = (self.value(&pair.old)?, self.value(&pair.new)?);
        let both = old.zip(new).map(|(old, new)| [old, new]);
        Ok(match self.quantity {
            Quantity::Wins => both.map(|[old, new]| [f64::from(old > new), f64::from(new > old)]),
            _ => both,
        })
    }

    fn value(&self, side: &Side) -> Result<Option<f64>> {
        let missing = || "expected an episode of this condition, found none";
        let (nominal, anomalous) = (side.nominal.with_context(missing), side.anomalous.with_context(missing));
        Ok(match self.condition {
            Condition::Nominal => self.of(&nominal?)?,
            Condition::Anomalous => self.of(&anomalous?)?,
            Condition::Cost => self.of(&anomalous?)?.zip(self.of(&nominal?)?).map(|(a, n)| a - n),
        })
    }

    /// The quantity of one episode.
    fn of(&self, played: &Played) -> Result<Option<f64>> {
        let share = |is: bool| Some(f64::from(is));
        Ok(match self.quantity {
            Quantity::Failure => share(played.failed),
            Quantity::Return | Quantity::Wins => self.within(played.total_reward)?,
            Quantity::Success => share(
                played
                    .success
                    .with_context(|| format!("success: environment {} does not define it", self.env))?,
            ),
            Quantity::Alarms => share(played.alarm.context("alarms: expected a monitor, found none")?),
        })
    }

    fn within(&self, total: Option<f64>) -> Result<Option<f64>> {
        let (Some(found), Some((low, high))) = (total, self.return_range) else { return Ok(total) };
        ensure!(
            (low..=high).contains(&found),
            "return-range: expected returns from {low} to {high}, found {found}"
        );
        Ok(total)
    }

    /// The mean of one policy's values.
    ///
    /// # Errors
    /// If there are none.
    pub fn mean(&self, values: &[f64], level: Level) -> Result<Estimate> {
        let is_share = self.quantity.is_share();
        if is_share && self.condition != Condition::Cost {
            let count = values.iter().filter(|&&value| value > 0.0).count();
            return Ok(counting::sequence(count, values.len(), level)?);
        }
        // Half of the range of differences is that of values about their middle.
        let middle = match (is_share, self.condition, self.return_range) {
            (false, Condition::Nominal | Condition::Anomalous, Some((low, high))) => 0.5 * (low + high),
            _ => 0.0,
        };
        let mut mean = self.bound().map_or_else(Mean::unbounded, |bound| Mean::bounded(0.5 * bound));
        values.iter().for_each(|value| mean.push(value - middle));
        let e = mean.estimate(level)?;
        Ok(Estimate { value: e.value + middle, low: e.low + middle, high: e.high + middle, ..e })
    }
}

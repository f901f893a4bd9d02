//! How a step differs from what an ensemble expected, in units of what the ensemble expected of its own errors.
//!
//! Each of M members is fitted on other episodes: member m never sees the episodes i with i mod M = m. It predicts the
//! change of the observation (units as in `one_step`) by a linear regression, and the rest, in units u_j of its
//! held-out deviation, by a network that answers N(μ_m, σ_m²) per channel. With e_m = (rest of member m)/u − μ_m,
//!
//! z_j = mean_m e_mj / √(mean_m σ_mj² + var_m e_mj).
//!
//! The first term is noise that the members know of, the second what they do not agree on. Because every episode was
//! held out by one member, the fit also returns residuals that are honest: e_m of that member alone. What is measured
//! on them (covariances, quantiles) holds for episodes to come, which a measurement on fitted data would not.
//! With fewer episodes than members nothing can be held out from all, and residuals are those of fitted data.

mod folds;

use super::dynamics::Data;
use super::gaussian::{Gaussian, hold};
use super::marginal::Marginal;
use super::one_step::Units;
use super::prelude::*;
use super::ranges::Hidden;
use super::ridge::Ridge;
use super::saved;
use super::scale::Constant;
use super::shares::foremost;
use super::training::Training;
use super::whiten::Whitener;
use folds::{Folds, rest_of, table, units_of_rest};
use offnominal_nets::{Mlp, Workspace};

/// Penalty of the linear regression.
const PENALTY: f64 = 1e-4;
/// Smallest unit of the rest, as a part of the unit of the change.
const LEAST_UNIT: f64 = 2e-3;

/// What a residual is compared with, in words.
pub(crate) const MODEL: &str = "the dynamics model";

/// A fitted ensemble with the buffers of one question. Forks share the parameters.
#[derive(Clone)]
pub(crate) struct Residual {
    shared: Arc<Trained>,
    work: Workspace,
    /// `[rows, n_inputs]`.
    input: Vec<f32>,
    target: Vec<f32>,
    rest: Vec<f32>,
    answers: Answers,
    /// What the errors of the last residual were divided by.
    scales: Vec<f64>,
}

struct Trained {
    units: Units,
    unit: Vec<f32>,
    net: Mlp,
    members: Vec<Member>,
}

struct Member {
    ridge: Ridge,
    params: Vec<f32>,
    /// Bounds of the logarithm of the variance.
    bounds: Vec<f32>,
}

/// What one more unit of an action (`[actions, d]`), and of an error of observation that the step before has seen as a
/// residual (`[d, d]`, from row to column), does to a step.
pub(crate) struct Slopes {
    pub action: Vec<f64>,
    pub observation: Vec<f64>,
}

/// e and σ² of each member, `[M, d]`.
#[derive(Clone)]
struct Answers {
    errors: Vec<f64>,
    variances: Vec<f64>,
}

/// Residuals of one episode, `[T, d]`.
pub(crate) type HeldOut = Vec<f64>;

impl Residual {
    /// Fits the ensemble; returns with it the held-out residuals of each training episode.
    pub fn fit(
        nominal: Nominal<'_>,
        hidden: &Hidden,
        members: NonZeroUsize,
        training: &Training,
        rng: &mut Rng,
    ) -> Result<(Residual, Vec<HeldOut>), FitError> {
        let data = Data::new(nominal, training, Constant::Dropped)?;
        let (seed, folds) = (Seed(rng.bits()), Folds { episodes: &data.train.episodes, n: members.get() });
        let ridges: Vec<Ridge> =
            (0..members.get()).map(|m| Ridge::fit(table(&data), &folds.of(m), PENALTY)).collect();
        let unit = units_of_rest(&data, &ridges);
        let sizes = hidden.sizes(members.get(), data.units.n_inputs(), 2 * data.units.n_targets())?;
        let mut model = Gaussian::new(&sizes, training.batch.get());
        let mut members = Vec::new();
        for (m, ridge) in ridges.into_iter().enumerate() {
            let mut rng = seed.child(m).rng();
            let start = (model.first_params(&mut rng), folds.of(m).into_iter().flatten().collect());
            let rest = rest_of(&data, &ridge, &unit);
            let progress = nominal.progress.between(0.0, 0.8).part(m, folds.n);
            let mut params = rest.train(training, &mut model, start, &mut rng, progress)?;
            let bounds = params.split_off(model.net().n_params());
            members.push(Member { ridge, params, bounds });
        }
        let trained = Trained { units: data.units, unit, net: model.net().clone(), members };
        let mut residual = Residual::new(trained);
        let (last, n) = (nominal.progress.between(0.8, 1.0), nominal.train.len());
        let held_out = |(i, e): (usize, &Signals<'_>)| {
            last.at(i, n)?;
            Ok(residual.held_out(e, i))
        };
        let held_out = nominal.train.iter().enumerate().map(held_out).collect::<Result<_, FitError>>()?;
        Ok((residual, held_out))
    }

    fn new(trained: Trained) -> Residual {
        let (d, m) = (trained.unit.len(), trained.members.len());
        Residual {
            work: trained.net.workspace(1),
            input: vec![0.0; trained.units.n_inputs()],
            target: vec![0.0; d],
            rest: vec![0.0; d],
            answers: Answers { errors: vec![0.0; m * d], variances: vec![0.0; m * d] },
            scales: vec![1.0; d],
            shared: Arc::new(trained),
        }
    }

    /// Writes the ensemble.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.shared.units.save(&mut to.part("units"));
        to.put("unit", &self.shared.unit);
        for (m, member) in self.shared.members.iter().enumerate() {
            let mut to = to.part("member");
            let mut to = to.part(m);
            member.ridge.save(&mut to);
            to.put("params", &member.params);
            to.put("bounds", &member.bounds);
        }
    }

    /// Reads an ensemble with such hidden layers and so many members.
    pub fn load(from: &Reader<'_>, hidden: &Hidden, members: NonZeroUsize) -> Result<Residual, ArchiveError> {
        let units = Units::load(&from.part("units"))?;
        let (n_inputs, d) = (units.n_inputs(), units.n_targets());
        let sizes = saved::widths(from, hidden.sizes(members.get(), n_inputs, 2 * d))?;
        let net = Gaussian::shape(&sizes);
        let member = |m| {
            let from = from.part("member").part(m);
            let bounds = from.exactly("bounds", 2 * d)?.to_vec();
            let ridge = Ridge::load(&from, n_inputs, d)?;
            Ok(Member { ridge, params: saved::params(&from, &net)?, bounds })
        };
        let members = (0..members.get()).map(member).collect::<Result<_, ArchiveError>>()?;
        let unit = from.exactly::<f32>("unit", d)?;
        from.require(unit.iter().all(|&u| u > 0.0), "unit", "numbers above zero", "others")?;
        Ok(Residual::new(Trained { units, unit: unit.to_vec(), net, members }))
    }

    /// Number of channels of a residual.
    pub fn width(&self) -> usize {
        self.target.len()
    }

    /// The observation channels that residuals are of.
    pub fn channels(&self) -> &[usize] {
        self.shared.units.channels()
    }

    /// A statistic of residuals that spoke, with what each channel contributes to it.
    pub fn evidence(&self, statistic: &'static str, contributions: &[f64]) -> Evidence {
        let channel = foremost(contributions).and_then(|j| self.channels().get(j)).copied();
        Evidence { statistic, against: MODEL, channel, steps: None }
    }

    /// Number of actions that vary.
    pub fn act_width(&self) -> usize {
        self.shared.units.act_width()
    }

    /// What the networks read of the last step that was asked about.
    pub fn inputs(&self) -> &[f32] {
        &self.input
    }

    /// Adds the action of the last step that was asked about, in standard units.
    pub fn commands(&self, out: &mut Vec<f64>) {
        let from = self.shared.units.channels().len();
        out.extend(self.input[from..from + self.act_width()].iter().map(|&a| f64::from(a)));
    }

    /// The linear parts of all members, on average, in units of the rest.
    pub fn slopes(&self) -> Slopes {
        let Trained { units, unit, members, .. } = &*self.shared;
        let (d, n_obs) = (unit.len(), units.channels().len());
        let slope = |input: usize, j: usize| {
            let of = |member: &Member| f64::from(member.ridge.slopes(input)[j]);
            members.iter().map(of).sum::<f64>() / members.len() as f64
        };
        let action = (n_obs..n_obs + units.act_width())
            .flat_map(|a| (0..d).map(move |j| (a, j)))
            .map(|(a, j)| slope(a, j) / f64::from(unit[j]));
        // An error of channel i counts in the step after it as itself and by what the channel does.
        let observation = (0..d * d).map(|at| (at / d, at % d)).map(|(i, j)| {
            let own = if i == j { 1.0 } else { 0.0 };
            let seen = if i < n_obs { slope(i, j) * units.change_in_deviations(i) } else { 0.0 };
            (own + seen) * f64::from(unit[i]) / f64::from(unit[j])
        });
        Slopes { action: action.collect(), observation: observation.collect() }
    }

    /// Number of members.
    pub fn n_members(&self) -> usize {
        self.shared.members.len()
    }

    /// Makes room to advance so many observations at once.
    pub fn with_rows(mut self, rows: usize) -> Residual {
        self.work = self.shared.net.workspace(rows);
        self.input.resize(rows * self.shared.units.n_inputs(), 0.0);
        self
    }

    /// Replaces observations, rows of `width` numbers, by what a member expects after an action.
    pub fn advance(&mut self, member: usize, rows: &mut [f32], width: usize, action: &[f32]) {
        let Trained { units, unit, net, members } = &*self.shared;
        let (member, n_inputs) = (&members[member], units.n_inputs());
        let inputs = &mut self.input[..rows.len() / width * n_inputs];
        for (obs, input) in rows.chunks_exact(width).zip(inputs.chunks_exact_mut(n_inputs)) {
            units.input(&Transition { obs, action, next_obs: obs }, input);
        }
        let outputs = net.forward(&member.params, inputs, &mut self.work).chunks_exact(2 * unit.len());
        let inputs = inputs.chunks_exact(n_inputs);
        for (obs, (input, means)) in rows.chunks_exact_mut(width).zip(inputs.zip(outputs)) {
            self.rest.fill(0.0);
            member.ridge.subtract(input, &mut self.rest);
            for (rest, (mean, unit)) in self.rest.iter_mut().zip(means.iter().zip(unit)) {
                *rest = mean * unit - *rest;
            }
            units.advance(&self.rest, obs);
        }
    }

    /// Writes the difference of two observations in units of the nominal change of a step.
    pub fn difference(&self, obs: &[f32], expected: &[f32], out: &mut [f64]) {
        self.shared.units.difference(obs, expected, out);
    }

    /// Writes the residual z of a step.
    pub fn of(&mut self, seen: &Transition<'_>, z: &mut [f64]) {
        self.read(seen);
        self.ask(z);
    }

    /// Writes the residual of a step with gaps, without what was not read: see [`Marginal`], which is left with what was
    /// left out.
    pub fn of_partial(
        &mut self,
        step: &Partial<'_>,
        whitener: &Whitener,
        marginal: &mut Marginal,
        z: &mut [f64],
    ) {
        self.with_gaps(step, whitener, marginal, z, |_, _| {});
        marginal.leave_out(z, whitener);
    }

    /// Writes the residual of a step with gaps as it is, and into `marginal` what is to be left out of it, or of what
    /// `bend` makes of directions at the residual. What an error of an input does is measured by asking again.
    pub fn with_gaps(
        &mut self,
        step: &Partial<'_>,
        whitener: &Whitener,
        marginal: &mut Marginal,
        z: &mut [f64],
        bend: impl Fn(&[f64], &mut [f64]),
    ) {
        self.of(&step.seen, z);
        marginal.clear();
        for j in 0..self.channels().len() {
            let channel = self.channels()[j];
            if step.missing_after[channel] {
                marginal.add_channel(j, whitener);
            }
            if step.missing_before[channel] {
                self.slope(j, z, &mut marginal.direction);
                bend(z, &mut marginal.direction);
                marginal.add(whitener);
            }
        }
    }

    /// Writes what one more unit of a channel before the step would add to the last residual z, in the scales that it has.
    pub fn slope(&mut self, j: usize, z: &[f64], slope: &mut [f64]) {
        let (input, target) = (self.input[j], self.target[j]);
        self.shift(j, 1.0);
        self.answer();
        for (k, slope) in slope.iter_mut().enumerate() {
            *slope = self.answers.moments(k, self.target.len()).0 / self.scales[k] - z[k];
        }
        (self.input[j], self.target[j]) = (input, target);
    }

    /// Σ ln (mean_m σ_mj² + var_m e_mj) of the last residual, over the channels that a test keeps.
    pub fn log_variance(&self, keeps: impl Fn(usize) -> bool) -> f64 {
        let kept = self.scales.iter().enumerate().filter(|(j, _)| keeps(*j));
        kept.map(|(_, scale)| 2.0 * libm::log(*scale)).sum()
    }

    /// Moves a channel before the step that was read, by so many units of a prediction error.
    pub fn shift(&mut self, j: usize, by: f64) {
        let by = by as f32 * self.shared.unit[j];
        self.input[j] += by * self.shared.units.change_in_deviations(j) as f32;
        self.target[j] -= by;
    }

    /// So many units of a prediction error, in the unit of the channel.
    pub fn in_units_of_channel(&self, j: usize, by: f64) -> f32 {
        by as f32 * self.shared.unit[j] * self.shared.units.unit_of_change(j)
    }

    /// The nominal deviation of a channel, in units of a prediction error; one where nothing varies.
    pub fn nominal_deviation(&self, j: usize) -> f64 {
        let Trained { units, unit, .. } = &*self.shared;
        if j < units.channels().len() {
            1.0 / (f64::from(unit[j]) * units.change_in_deviations(j))
        } else {
            1.0
        }
    }

    /// Writes the observation that the members, on average, expect after an action.
    pub fn expect(&mut self, obs: &[f32], action: &[f32], next_obs: &mut [f32]) {
        next_obs.copy_from_slice(obs);
        self.read(&Transition { obs, action, next_obs });
        self.answer();
        for (j, (rest, unit)) in self.rest.iter_mut().zip(&self.shared.unit).enumerate() {
            let (missed, ..) = self.answers.moments(j, self.target.len());
            *rest = self.target[j] - missed as f32 * unit;
        }
        self.shared.units.advance(&self.rest, next_obs);
    }

    /// Residuals of a training episode by the member that did not see it.
    fn held_out(&mut self, episode: &Signals<'_>, i: usize) -> HeldOut {
        let d = self.target.len();
        let member = i % self.shared.members.len();
        let mut z = Vec::with_capacity(episode.len() * d);
        for seen in episode.transitions() {
            self.read(&seen);
            self.answer();
            let honest = |j: usize| {
                let (_, spread, _) = self.answers.moments(j, d);
                let at = member * d + j;
                self.answers.errors[at] / (self.answers.variances[at] + spread).sqrt()
            };
            z.extend((0..d).map(honest));
        }
        z
    }

    /// Reads what there is to ask about.
    pub fn read(&mut self, seen: &Transition<'_>) {
        let units = &self.shared.units;
        units.input(seen, &mut self.input[..units.n_inputs()]);
        units.target(seen, &mut self.target);
    }

    /// Writes the residual of what was read.
    pub fn ask(&mut self, z: &mut [f64]) {
        self.answer();
        for (j, z) in z.iter_mut().enumerate() {
            let (mean, spread, noise) = self.answers.moments(j, self.target.len());
            self.scales[j] = (noise + spread).sqrt();
            *z = mean / self.scales[j];
        }
    }

    /// Lets the members answer about what was read.
    fn answer(&mut self) {
        let Trained { units, unit, net, members } = &*self.shared;
        let input = &self.input[..units.n_inputs()];
        let rows = self.answers.errors.chunks_exact_mut(unit.len());
        let rows = rows.zip(self.answers.variances.chunks_exact_mut(unit.len()));
        for (member, (errors, variances)) in members.iter().zip(rows) {
            self.rest.copy_from_slice(&self.target);
            member.ridge.subtract(input, &mut self.rest);
            let output = net.forward(&member.params, input, &mut self.work);
            let (means, raw) = output.split_at(unit.len());
            let (max, min) = member.bounds.split_at(unit.len());
            for j in 0..unit.len() {
                errors[j] = f64::from(self.rest[j] / unit[j]) - f64::from(means[j]);
                variances[j] = libm::exp(hold(raw[j], max[j], min[j]).into());
            }
        }
    }
}

impl Answers {
    /// Mean and variance of the errors of a channel over members, and the mean of the variances they expect.
    fn moments(&self, j: usize, d: usize) -> (f64, f64, f64) {
        let column = |values: &[f64], of: &dyn Fn(f64) -> f64| {
            let terms = values.iter().skip(j).step_by(d);
            terms.map(|&v| of(v)).sum::<f64>() * d as f64 / values.len() as f64
        };
        let mean = column(&self.errors, &|e| e);
        (mean, column(&self.errors, &|e| (e - mean).powi(2)), column(&self.variances, &|v| v))
    }
}

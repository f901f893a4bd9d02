//! Error of a network with memory that predicts the next observation.
//!
//! score(o, a, o′) = 1/d Σ_j (f_j(h_t) − t_j)², with h_t the state of an LSTM that has read (o, a) of all steps so far.
//!
//! | symbol | meaning                                                                                     |
//! |--------|---------------------------------------------------------------------------------------------|
//! | o, a   | observation and action, standardised, constant channels dropped                            |
//! | t      | change of the observation in units of its nominal deviation, as in `mlp-dm`                  |
//! | h      | 256 numbers, zero when an episode begins                                                    |
//! | f      | 128 rectified units and a linear output, trained together with the LSTM by squared error     |
//! | d      | observation channels that vary                                                              |
//!
//! Assumes: nominal dynamics are a nearly deterministic function of what happened so far.
//! Blind to: as `mlp-dm`; and a fault that it has read long enough to take for the state of the environment.
//! Cost: fit O(epochs · n · parameters), score O(parameters): 0.3 million for 18 channels.
//! Reference: LSTM-DM of Anomaly-Gym, Table 11: one layer of 256, then 128; AdamW 1e-3, weight decay 1e-4, 250 epochs.
//! Deviates: units of the change as in `mlp-dm`; eight episodes side by side in pieces of 32 steps; gradients clipped.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // The observation repeats 0, 1, 2, 1: after 1 comes 2 or 0, and only who remembers knows which.
//! let observations: Vec<f32> = (0..81).map(|t| [0.0, 1.0, 2.0, 1.0][t % 4]).collect();
//! let nominal = Signals::new(&observations, &[0.0; 80], 1, 1);
//! let recipe = serde_json::json!({"hidden": 16, "head": [16], "training": {"epochs": 150, "lr": 0.01}});
//! let lstm = offnominal_detectors::catalogue().build("lstm-dm", &recipe).unwrap();
//! let mut scores = Vec::new();
//! lstm.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(1)).unwrap().score_episode(&nominal, &mut scores);
//! assert!(scores[8..].iter().all(|s| *s < 0.1), "{scores:?}");
//! ```

use crate::shared::one_step::{Units, mean_square};
use crate::shared::prelude::*;
use crate::shared::ranges::{Hidden, up_to};
use crate::shared::saved;
use crate::shared::scale::Constant;
use crate::shared::sequences::{Piece, SequenceModel, SequenceTraining};
use offnominal_core::limits::STATE;
use offnominal_nets::{Activation, CellKind, Gradients, Init, Mlp, Recurrent, RecurrentWork, Workspace};

recipe! {
    /// The recipe.
    pub struct LstmDm {
        /// Width of the state.
        #[serde(deserialize_with = "up_to::<_, _, STATE>")]
        pub hidden: NonZeroUsize = count(256),
        /// Widths of the layers between state and output.
        pub head: Hidden = Hidden::one(128),
        /// How it is trained.
        pub training: SequenceTraining = SequenceTraining::default(),
        /// Whether channels that are constant in training are kept, as the released code of Anomaly-Gym does: it magnifies what
        /// becomes of them a million times.
        pub keep_constant_channels: bool = false,
    }
}

/// The entry of [`LstmDm`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    LstmDm as dyn Detector,
    "lstm-dm",
    "error of a network with memory that predicts the next observation"
);

impl Detector for LstmDm {
    fn fit(
        &self,
        Nominal { train, progress, .. }: Nominal<'_>,
        rng: &mut Rng,
    ) -> Result<Box<dyn Scorer>, FitError> {
        check(train, 1)?;
        let units = Units::fit(train, Constant::kept_if(self.keep_constant_channels));
        let rows = units.rows(train);
        let head = self.head.sizes(1, self.hidden.get(), units.n_targets())?;
        let net = self.shape(units.n_inputs(), &head);
        let mut params = net.first_params(rng);
        let (piece, batch) = (self.training.piece.get(), self.training.side_by_side(train.len()));
        let mut model = InTraining::new(net.clone(), piece, batch);
        self.training.run(&mut model, &mut params, &rows, rng, progress)?;
        Ok(Box::new(Fitted::new(units, net, params)))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let units = Units::load(&from.part("units"))?;
        saved::within(from, "hidden", self.hidden.get())?;
        let sizes = saved::widths(from, self.head.sizes(1, self.hidden.get(), units.n_targets()))?;
        let net = self.shape(units.n_inputs(), &sizes);
        let params = from.exactly("params", net.n_params())?.to_vec();
        Ok(Box::new(Fitted::new(units, net, params)))
    }
}

impl LstmDm {
    fn shape(&self, inputs: usize, head: &[usize]) -> Net {
        Net {
            lstm: Recurrent::new(CellKind::Lstm, inputs, self.hidden.get()),
            head: Mlp::new(head, Activation::Relu),
        }
    }
}

/// The shapes. Parameters are those of the LSTM, then those of the head.
#[derive(Debug, Clone)]
struct Net {
    lstm: Recurrent,
    head: Mlp,
}

impl Net {
    fn n_params(&self) -> usize {
        self.lstm.n_params() + self.head.n_params()
    }

    fn first_params(&self, rng: &mut Rng) -> Vec<f32> {
        let mut params = vec![0.0; self.n_params()];
        let (lstm, head) = params.split_at_mut(self.lstm.n_params());
        self.lstm.init(lstm, rng);
        self.head.init(head, Init::Uniform, rng);
        params
    }
}

struct InTraining {
    net: Net,
    state: RecurrentWork,
    head: Workspace,
    d_hidden: Vec<f32>,
    d_output: Vec<f32>,
}

impl InTraining {
    fn new(net: Net, piece: usize, batch: usize) -> InTraining {
        let rows = piece * batch;
        InTraining {
            state: net.lstm.workspace(piece, batch),
            head: net.head.workspace(rows),
            d_hidden: vec![0.0; rows * net.lstm.hidden()],
            d_output: vec![0.0; rows * net.head.outputs()],
            net,
        }
    }
}

impl SequenceModel for InTraining {
    fn begin(&mut self) {
        self.state.reset();
    }

    fn gradient(&mut self, params: &[f32], piece: &mut Piece, _: f64, grad: &mut [f32], _: &mut Rng) -> f64 {
        let Net { lstm, head } = &self.net;
        let (of_lstm, of_head) = params.split_at(lstm.n_params());
        let (d_lstm, d_head) = grad.split_at_mut(lstm.n_params());
        let hidden = lstm.forward(of_lstm, &piece.inputs, &mut self.state);
        let output = head.forward(of_head, hidden, &mut self.head);
        let d_output = &mut self.d_output[..output.len()];
        let loss = squared_error(output, piece, d_output);
        let d_hidden = &mut self.d_hidden[..hidden.len()];
        let wanted = Gradients { params: Some(d_head), input: Some((0..lstm.hidden(), &mut *d_hidden)) };
        head.backward(of_head, hidden, &mut self.head, d_output, wanted);
        lstm.backward(of_lstm, &piece.inputs, &mut self.state, d_hidden, d_lstm);
        loss
    }

    fn widths(&self) -> (usize, usize) {
        (self.net.lstm.inputs(), self.net.head.outputs())
    }
}

/// Mean squared error of the rows that are present, and its derivatives.
fn squared_error(output: &[f32], piece: &Piece, d_output: &mut [f32]) -> f64 {
    let d = output.len() / piece.present.len();
    let (factor, mut sum) = (1.0 / (piece.n_present().max(1) * d) as f32, 0.0);
    for (row, &present) in piece.present.iter().enumerate() {
        for j in row * d..(row + 1) * d {
            let error = if present { output[j] - piece.targets[j] } else { 0.0 };
            sum += f64::from(error * error);
            d_output[j] = 2.0 * factor * error;
        }
    }
    sum * f64::from(factor)
}

/// Units, shapes and parameters.
type Trained = (Units, Net, Vec<f32>);

/// The network is shared by all forks; each has its own state.
#[derive(Clone)]
struct Fitted {
    model: Arc<Trained>,
    lanes: Lanes,
}

impl Fitted {
    fn new(units: Units, net: Net, params: Vec<f32>) -> Fitted {
        let model = (units, net, params);
        Fitted { lanes: Lanes::new(&model, 1), model: Arc::new(model) }
    }
}

impl Scorer for Fitted {
    fn reset(&mut self) {
        self.lanes.state.reset();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.lanes.step(&self.model, std::iter::once((0, *seen))).next().expect("a row")
    }

    fn score_episodes(&mut self, seen: &[Signals<'_>]) -> Vec<Vec<f64>> {
        let mut lanes = Lanes::new(&self.model, SIDE_BY_SIDE);
        seen.chunks(SIDE_BY_SIDE).flat_map(|group| lanes.episodes(&self.model, group)).collect()
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        let (units, _, params) = &*self.model;
        units.save(&mut to.part("units"));
        to.put("params", params);
        Ok(())
    }
}

/// Episodes that are scored side by side, so that the weights are read once for all of them.
const SIDE_BY_SIDE: usize = 16;

/// The network at work on several episodes, one in each row.
#[derive(Clone)]
struct Lanes {
    state: RecurrentWork,
    head: Workspace,
    inputs: Vec<f32>,
    targets: Vec<f32>,
}

impl Lanes {
    fn new((units, net, _): &Trained, n: usize) -> Lanes {
        Lanes {
            state: net.lstm.workspace(1, n),
            head: net.head.workspace(n),
            inputs: vec![0.0; n * units.n_inputs()],
            targets: vec![0.0; n * units.n_targets()],
        }
    }

    /// Scores of each episode; the rows of those that have ended go on with nothing.
    fn episodes(&mut self, model: &Trained, group: &[Signals<'_>]) -> Vec<Vec<f64>> {
        self.state.reset();
        let mut scores: Vec<Vec<f64>> = group.iter().map(|e| Vec::with_capacity(e.len())).collect();
        for t in 0..group.iter().map(Signals::len).max().unwrap_or(0) {
            let running = group.iter().enumerate().filter(|(_, e)| t < e.len());
            let found = self.step(model, running.map(|(row, e)| (row, e.transition(t))));
            for ((episode, scores), score) in group.iter().zip(&mut scores).zip(found) {
                if t < episode.len() {
                    scores.push(score);
                }
            }
        }
        scores
    }

    /// Takes a step in every row, and returns the scores; what is seen goes with its row.
    fn step<'s>(
        &mut self,
        (units, net, params): &Trained,
        seen: impl Iterator<Item = (usize, Transition<'s>)>,
    ) -> impl Iterator<Item = f64> {
        let (n_inputs, n_targets) = (units.n_inputs(), units.n_targets());
        self.inputs.fill(0.0);
        for (row, seen) in seen {
            units.input(&seen, &mut self.inputs[row * n_inputs..][..n_inputs]);
            units.target(&seen, &mut self.targets[row * n_targets..][..n_targets]);
        }
        let (of_lstm, of_head) = params.split_at(net.lstm.n_params());
        let hidden = net.lstm.forward(of_lstm, &self.inputs, &mut self.state);
        let outputs = net.head.forward(of_head, hidden, &mut self.head);
        let rows = outputs.chunks_exact(n_targets).zip(self.targets.chunks_exact(n_targets));
        rows.map(|(output, target)| mean_square(output, target))
    }
}

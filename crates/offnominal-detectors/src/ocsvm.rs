//! How far an observation lies outside the region that a kernel machine puts around nominal ones.
//!
//! score(o′) = ρ − Σ_i α_i e^{−γ‖z(o′) − z_i‖²}; above zero is outside.
//!
//! | symbol | meaning                                                                                  |
//! |--------|------------------------------------------------------------------------------------------|
//! | z      | standardised observation after the step, constant channels dropped                       |
//! | z_i    | nominal observations; those with α_i > 0 are the support vectors                         |
//! | α, ρ   | solution of the one-class problem with 0 ≤ α_i ≤ 1 and Σ α_i = ν n                        |
//! | ν      | bound on the share of nominal observations outside, and on that of free ones inside      |
//! | γ      | 1 / d, which is what "scale" means for standardised data of d channels                   |
//!
//! Assumes: nominal behaviour returns to the states it was trained on.
//! Blind to: dynamics that change while the states visited stay the same; distances far outside, where every kernel
//! is zero and the score is ρ.
//! Cost: fit O(n² d), score O(ν n d).
//! Reference: Schölkopf et al., Neural Computation 2001; ν = 0.5, radial basis functions, γ "scale" and tolerance 1e-3 as
//! in Anomaly-Gym, Table 11.  Deviates: no; decision values are those of libsvm with the sign reversed.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // Two points, −1 and 1 when standardised, and ν = 1: both weights are one, and by symmetry ρ = 1 + e⁻⁴.
//! let nominal = Signals::new(&[3.0, 5.0], &[0.0], 1, 1);
//! let recipe = serde_json::json!({"nu": 0.999999999});
//! let ocsvm = offnominal_detectors::catalogue().build("ocsvm", &recipe).unwrap();
//! let mut monitor = ocsvm.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap();
//! let score = monitor.score(&Transition { obs: &[3.0], action: &[0.0], next_obs: &[4.0] });
//! assert!((score - (1.0 + (-4.0_f64).exp() - 2.0 * (-1.0_f64).exp())).abs() < 1e-6);
//! ```

use crate::shared::kernel::Kernel;
use crate::shared::prelude::*;
use crate::shared::ranges::{Fraction, Positive};
use crate::shared::scale::{Constant, Scale, n_observations};
use crate::shared::smo;

recipe! {
    /// The recipe.
    pub struct Ocsvm {
        /// ν: at most so many of the nominal observations lie outside.
        pub nu: Fraction = Fraction::new(0.5),
        /// At which difference of gradients the solution is good enough.
        pub tolerance: Positive = Positive::new(1e-3),
        /// Whether channels that are constant in training are kept, as the released code of Anomaly-Gym does: it magnifies what
        /// becomes of them a million times.
        pub keep_constant_channels: bool = false,
    }
}

/// The entry of [`Ocsvm`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    Ocsvm as dyn Detector,
    "ocsvm",
    "one-class support vector machine: how far an observation is outside the nominal region"
);

impl Detector for Ocsvm {
    fn fit(
        &self,
        Nominal { train, progress, .. }: Nominal<'_>,
        _: &mut Rng,
    ) -> Result<Box<dyn Scorer>, FitError> {
        check(train, 1)?;
        let (scale, points) = Scale::of_observations(train, Constant::kept_if(self.keep_constant_channels));
        let (width, n) = (scale.width(), n_observations(train));
        let gamma = gamma(width);
        let all = Kernel::new(&points, width, n, gamma);
        let solution = smo::one_class(&all, width, self.nu.get(), self.tolerance.get(), progress)?;
        let (mut support, mut weights) = (Vec::new(), Vec::new());
        for (i, &weight) in solution.weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            support.extend_from_slice(&points[i * width..(i + 1) * width]);
            weights.push(weight as f32);
        }
        let kernel = Kernel::new(&support, width, weights.len(), gamma);
        let model = Model { scale, kernel, weights, rho: solution.rho };
        Ok(Box::new(Fitted { model: Arc::new(model), z: vec![0.0; width] }))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let scale = Scale::load(&from.part("obs"), from.obs_width)?;
        let (weights, rho) = (from.list::<f32>("weights")?.to_vec(), from.one("rho")?);
        let (width, from) = (scale.width(), from.part("support"));
        let kernel = Kernel::load(&from, width, weights.len(), gamma(width))?;
        let model = Model { scale, kernel, weights, rho };
        Ok(Box::new(Fitted { model: Arc::new(model), z: vec![0.0; width] }))
    }
}

/// γ for so many channels of unit variance.
fn gamma(width: usize) -> f32 {
    1.0 / width.max(1) as f32
}

struct Model {
    scale: Scale,
    /// The support vectors.
    kernel: Kernel,
    weights: Vec<f32>,
    rho: f64,
}

/// The support vectors are shared by all forks.
#[derive(Clone)]
struct Fitted {
    model: Arc<Model>,
    z: Vec<f32>,
}

impl Scorer for Fitted {
    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let Model { scale, kernel, weights, rho } = &*self.model;
        scale.apply(seen.next_obs, &mut self.z);
        rho - kernel.sum(&self.z, weights)
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        let Model { scale, kernel, weights, rho } = &*self.model;
        scale.save(&mut to.part("obs"));
        kernel.save(&mut to.part("support"));
        to.put("weights", weights);
        to.put("rho", &[*rho]);
        Ok(())
    }
}

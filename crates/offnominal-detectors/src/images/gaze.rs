//! What a monitor remembers of the pictures of an episode: the last three, as patches in nominal units and as moments.

use super::moments::Moments;
use offnominal_core::Rng;
use offnominal_core::image_detector::{Film, Sight, hold_out};
use offnominal_nets::Standardiser;
use offnominal_nets::vision::{Backbone, Encoder};
use std::sync::Arc;

/// Pictures of which the scale of the features is measured.
const SAMPLED: usize = 300;

/// Encodes pictures and brings each number of a patch to its nominal mean and deviation.
#[derive(Clone)]
pub(super) struct Scope {
    scale: Arc<Standardiser>,
    moments: Arc<Moments>,
    size: (usize, usize),
    encoder: Box<dyn Encoder>,
    row: Vec<f32>,
}

/// The grid of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    pub rows: usize,
    pub columns: usize,
    /// Numbers per patch that carry information.
    pub width: usize,
}

impl Scope {
    /// Measures the scale on pictures spread evenly over the films.
    pub fn fit(backbone: &Arc<dyn Backbone>, films: &[Film], rng: &mut Rng) -> Scope {
        let size = (films[0].height, films[0].width);
        let mut encoder = backbone.at(size.0, size.1);
        let total: usize = films.iter().map(|f| f.len() + 1).sum();
        let stride = total.div_ceil(SAMPLED).max(1);
        let pictures = || films.iter().flat_map(|f| (0..=f.len()).map(|t| f.frame(t))).step_by(stride);
        let moments = Arc::new(Moments::fit(pictures(), rng));
        let mut rows: Vec<f32> = Vec::new();
        let mut width = 1;
        for picture in pictures() {
            let features = encoder.encode(picture);
            width = features.width;
            rows.extend_from_slice(&features.patches);
        }
        let scale = Arc::new(Standardiser::fit(&rows, width));
        Scope { scale, moments, size, encoder, row: Vec::new() }
    }

    /// A picture as it is remembered.
    pub fn view(&mut self, picture: &[u8]) -> View {
        View { patches: self.patches(picture), moments: self.moments.of(picture, self.size.1) }
    }

    /// The patches of a picture, `[rows, columns, width]`, in nominal units.
    fn patches(&mut self, picture: &[u8]) -> Vec<f32> {
        let features = self.encoder.encode(picture);
        let mut out = Vec::with_capacity(features.n_patches() * self.scale.outputs());
        self.row.resize(self.scale.outputs(), 0.0);
        for patch in features.patches.chunks_exact(features.width) {
            self.scale.apply(patch, &mut self.row);
            out.extend_from_slice(&self.row);
        }
        out
    }

    /// The grid of the pictures that were encoded last.
    pub fn grid(&mut self) -> Grid {
        let (height, width) = self.size;
        let features = self.encoder.encode(&vec![0; height * width * 3]);
        Grid { rows: features.rows, columns: features.columns, width: self.scale.outputs() }
    }

    /// The picture of patches in nominal units, if the encoder can imagine one.
    pub fn imagine(&mut self, patches: &[f32]) -> Option<Vec<u8>> {
        let (width, kept) = (self.scale.inputs(), self.scale.kept());
        let mut raw = vec![0.0; patches.len() / kept.len().max(1) * width];
        for (patch, raw) in patches.chunks_exact(kept.len()).zip(raw.chunks_exact_mut(width)) {
            for (j, &channel) in kept.iter().enumerate() {
                raw[channel] = self.scale.mean()[j] + self.scale.scale()[j] * patch[j];
            }
        }
        self.encoder.imagine(&raw)
    }
}

/// A picture as it is remembered.
#[derive(Debug, Clone)]
pub(super) struct View {
    /// `[rows, columns, width]`, in nominal units.
    pub patches: Vec<f32>,
    /// Where its colours are.
    pub moments: Vec<f32>,
}

/// The pictures before, at and after a command.
pub(super) type Views<'a> = [&'a View; 3];

/// A film as it is remembered, with its commands.
pub(super) struct Filmed {
    /// Each of the T + 1 pictures.
    pub views: Vec<View>,
    pub actions: Vec<f32>,
    pub act_width: usize,
}

impl Filmed {
    pub fn of(scope: &mut Scope, film: &Film) -> Filmed {
        let views = (0..=film.len()).map(|t| scope.view(film.frame(t))).collect();
        Filmed { views, actions: film.actions.clone(), act_width: film.act_width }
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.actions.len() / self.act_width
    }

    /// The pictures before, at and after a step.
    pub fn step(&self, t: usize) -> Views<'_> {
        [t.saturating_sub(1), t, t + 1].map(|t| &self.views[t])
    }

    /// The command of a step.
    pub fn action(&self, t: usize) -> &[f32] {
        &self.actions[t * self.act_width..(t + 1) * self.act_width]
    }
}

/// Films to learn from, and films held out: every fourth, or none where there are too few.
pub(super) struct Split {
    pub seen: Vec<Filmed>,
    pub held_out: Vec<Filmed>,
}

impl Split {
    pub fn of(scope: &mut Scope, films: &[Film]) -> Split {
        let (seen, held_out) = hold_out(films);
        let mut filmed = |films: Vec<&Film>| films.into_iter().map(|film| Filmed::of(scope, film)).collect();
        Split { seen: filmed(seen), held_out: filmed(held_out) }
    }

    /// What is usual is seen in the films held out; in the others where there are none.
    pub fn nominal(&self) -> &[Filmed] {
        if self.held_out.is_empty() { &self.seen } else { &self.held_out }
    }
}

/// The picture before, the one that the command met, and the one that followed.
#[derive(Debug, Clone, Default)]
pub(super) struct Gaze {
    /// Oldest first; the first picture of an episode counts as its own predecessor.
    seen: Vec<View>,
}

impl Gaze {
    pub fn reset(&mut self) {
        self.seen.clear();
    }

    /// Takes in a step.
    pub fn see(&mut self, scope: &mut Scope, sight: &Sight<'_>) -> Views<'_> {
        if self.seen.is_empty() {
            let first = scope.view(sight.frame);
            self.seen = vec![first.clone(), first];
        } else if self.seen.len() == 3 {
            self.seen.remove(0);
        }
        self.seen.push(scope.view(sight.next_frame));
        [&self.seen[0], &self.seen[1], &self.seen[2]]
    }
}

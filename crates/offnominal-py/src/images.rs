//! Image detectors: the engine's catalogue, and what is fitted.

use crate::error::{raised, wrong};
use crate::forks::Forks;
use crate::progress::{abandonable, context, interruptible};
use numpy::{PyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use offnominal_core::prelude::*;
use offnominal_engine::catalogues;
use offnominal_engine::detector_choice::seed_label;
use pyo3::prelude::*;
use std::sync::Arc;

/// Ids and summaries of the image detectors, in the order of the catalogue.
#[pyfunction]
pub(crate) fn image_detectors() -> Vec<(&'static str, &'static str)> {
    catalogues::image_detectors().entries().iter().map(|e| (e.id, e.summary)).collect()
}

/// Checks the options of an image detector, given as JSON.
#[pyfunction]
pub(crate) fn check_image_detector(id: &str, options: &str) -> PyResult<()> {
    let options = serde_json::from_str(options).map_err(raised)?;
    catalogues::image_detectors().build(id, &options).map(drop).map_err(raised)
}

/// Frames `[T + 1, height, width, 3]` of bytes and actions `[T, a]` of one episode.
type Pair<'py> = (PyReadonlyArrayDyn<'py, u8>, PyReadonlyArrayDyn<'py, f32>);

fn video((frames, actions): &Pair<'_>, what: &str) -> PyResult<Video> {
    let (f, a) = (frames.shape(), actions.shape());
    match (f, a) {
        (&[n, height, width, 3], &[steps, act_width]) if n == steps + 1 && height * width * act_width > 0 => {
            let frames = frames.as_array().iter().copied().collect();
            let actions = actions.as_array().iter().copied().collect();
            Ok(Video::new((width, height), frames, actions, act_width))
        }
        _ => Err(wrong(format!(
            "{what}: expected frames of shape [T + 1, height, width, 3] and actions of shape [T, a], found {f:?} and {a:?}"
        ))),
    }
}

fn videos(episodes: &[Pair<'_>], what: &str) -> PyResult<Vec<Video>> {
    episodes.iter().enumerate().map(|(i, e)| video(e, &format!("{what} episode {i}"))).collect()
}

/// Fits an image detector; `train` and `validation` are lists of `(frames, actions)`.
#[pyfunction]
#[pyo3(signature = (id, options, train, validation, seed, display = None))]
pub(crate) fn fit_images(
    py: Python<'_>,
    id: &str,
    options: &str,
    train: Vec<Pair<'_>>,
    validation: Vec<Pair<'_>>,
    seed: u64,
    display: Option<Py<PyAny>>,
) -> PyResult<ImageMonitorOf> {
    let options = serde_json::from_str(options).map_err(raised)?;
    let detector = catalogues::image_detectors().build(id, &options).map_err(raised)?;
    let (train, validation) = (videos(&train, "training")?, videos(&validation, "validation")?);
    let size = train.first().map_or((0, 0), |video| (video.width, video.height));
    let context = context(seed, 0, display, Arc::default());
    let inner = interruptible(py, &context.stop, || {
        let mut rng = Seed(seed).child("fit").child(seed_label(id)).rng();
        let fit = |progress: FitProgress<'_>| detector.fit(&train, &validation, &mut rng, progress);
        context.watched(&format!("fit of {id}"), fit)
    })?;
    Ok(ImageMonitorOf { inner, forks: Forks::new(), size, id: id.into() })
}

/// A fitted image detector.
#[pyclass(module = "offnominal._engine", name = "ImageMonitor", frozen)]
pub(crate) struct ImageMonitorOf {
    inner: Box<dyn ImageScorer>,
    forks: Forks<dyn ImageScorer>,
    size: (usize, usize),
    id: String,
}

#[pymethods]
impl ImageMonitorOf {
    /// The detector that was fitted.
    #[getter]
    fn detector(&self) -> &str {
        &self.id
    }

    /// Width and height of the frames on which it was fitted.
    #[getter]
    fn size(&self) -> (usize, usize) {
        self.size
    }

    /// Scores a whole episode, `[T]`.
    fn score_episode<'py>(
        &self,
        py: Python<'py>,
        frames: PyReadonlyArrayDyn<'py, u8>,
        actions: PyReadonlyArrayDyn<'py, f32>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let seen = video(&(frames, actions), "episode")?;
        let found = (seen.width, seen.height);
        if found != self.size {
            return Err(wrong(format!(
                "episode: expected frames of {:?} pixels, as in training, found {found:?}",
                self.size
            )));
        }
        let mut fork = self.forks.take(|| self.inner.fork());
        let (scores, fork) = abandonable(py, move || Ok((fork.score_video(&seen), fork)))?;
        self.forks.give_back(fork);
        Ok(PyArray1::from_vec(py, scores))
    }

    /// An independent copy.
    fn fork(&self) -> ImageMonitorOf {
        ImageMonitorOf { inner: self.inner.fork(), forks: Forks::new(), size: self.size, id: self.id.clone() }
    }
}

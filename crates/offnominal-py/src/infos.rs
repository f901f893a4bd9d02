//! What Gymnasium's vector environments tell beside the arrays of a step: under each key an array with a place for every
//! environment, and under the key with an underscore before it, which of them say something.

use crate::arrays::row;
use crate::lane::Outcome;
use numpy::PyArray1;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// A key, and the key of its mask.
type Key<'a, 'py> = (&'a Bound<'py, PyString>, &'a Bound<'py, PyString>);

/// What is known of the steps just taken. Where another episode begins in the same step, `finals` are the last
/// observations of those that ended, and what is known of them stands under `final_info`.
pub(crate) fn told<'py>(
    py: Python<'py>,
    outcomes: &[Outcome],
    finals: Option<Vec<Option<Bound<'py, PyAny>>>>,
) -> PyResult<Bound<'py, PyDict>> {
    let infos = PyDict::new(py);
    flags(&infos, (intern!(py, "label"), intern!(py, "_label")), outcomes.iter().map(|o| Some(o.label)))?;
    if !outcomes.iter().any(Outcome::is_last) {
        return Ok(infos);
    }
    let Some(finals) = finals else {
        endings(&infos, outcomes)?;
        return Ok(infos);
    };
    let last = PyDict::new(py);
    endings(&last, outcomes)?;
    let labels = outcomes.iter().map(|o| o.is_last().then_some(o.label));
    flags(&last, (intern!(py, "label"), intern!(py, "_label")), labels)?;
    objects(&infos, (intern!(py, "final_obs"), intern!(py, "_final_obs")), finals)?;
    infos.set_item(intern!(py, "final_info"), last)?;
    infos.set_item(intern!(py, "_final_info"), over(py, outcomes))?;
    Ok(infos)
}

/// How the episodes that are over ended, and which of them were a success, where that is defined.
fn endings(infos: &Bound<'_, PyDict>, outcomes: &[Outcome]) -> PyResult<()> {
    let py = infos.py();
    let word = |o: &Outcome| o.is_last().then(|| PyString::intern(py, o.status_name()).into_any());
    objects(infos, (intern!(py, "end"), intern!(py, "_end")), outcomes.iter().map(word).collect())?;
    if outcomes.iter().any(|o| o.is_last() && o.success.is_some()) {
        let known = outcomes.iter().map(|o| o.success.filter(|_| o.is_last()));
        flags(infos, (intern!(py, "is_success"), intern!(py, "_is_success")), known)?;
    }
    Ok(())
}

fn over<'py>(py: Python<'py>, outcomes: &[Outcome]) -> Bound<'py, PyArray1<bool>> {
    row(py, &outcomes.iter().map(Outcome::is_last).collect::<Vec<bool>>())
}

fn flags(
    infos: &Bound<'_, PyDict>,
    (key, mask): Key<'_, '_>,
    values: impl Iterator<Item = Option<bool>>,
) -> PyResult<()> {
    let py = infos.py();
    let (values, known): (Vec<bool>, Vec<bool>) = values.map(|v| (v.unwrap_or(false), v.is_some())).unzip();
    infos.set_item(key, row(py, &values))?;
    infos.set_item(mask, row(py, &known))
}

fn objects(
    infos: &Bound<'_, PyDict>,
    (key, mask): Key<'_, '_>,
    values: Vec<Option<Bound<'_, PyAny>>>,
) -> PyResult<()> {
    let py = infos.py();
    let known: Vec<bool> = values.iter().map(Option::is_some).collect();
    let values = values.into_iter().map(|v| v.map_or_else(|| py.None(), Bound::unbind)).collect();
    infos.set_item(key, PyArray1::from_vec(py, values))?;
    infos.set_item(mask, row(py, &known))
}

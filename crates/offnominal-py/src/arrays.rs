//! NumPy arrays on their way in: borrowed where they are float32, contiguous and long, copied where that is quicker,
//! converted once where they are other numbers, and refused, with expected and found, where they are neither.

use crate::error::wrong;
use numpy::ndarray::ArrayD;
use numpy::{
    IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::intern;
use pyo3::prelude::*;

/// Up to so many numbers are copied: to register a borrow of them takes longer.
const SHORT: usize = 512;

/// A contiguous array of float32 from Python.
pub(crate) struct Floats<'py> {
    array: Bound<'py, PyUntypedArray>,
    values: Values<'py>,
}

enum Values<'py> {
    Borrowed(PyReadonlyArrayDyn<'py, f32>),
    Copied(Vec<f32>),
}

impl<'py> Floats<'py> {
    /// Borrows, copies or converts; `what` names the thing in errors.
    pub(crate) fn read(array: &Bound<'py, PyAny>, what: &str) -> PyResult<Floats<'py>> {
        // Of other classes, such as arrays with a mask, not every number is one.
        let is_plain = array.is_exact_instance_of::<PyUntypedArray>();
        if let Ok(own) = array.cast::<PyArrayDyn<f32>>()
            && is_plain
            && own.is_c_contiguous()
        {
            return Floats::of(own, what);
        }
        // Choices come as NumPy's own integers.
        if let Ok(own) = array.cast::<PyArrayDyn<i64>>()
            && is_plain
            && own.is_c_contiguous()
        {
            let values = own.to_vec()?.into_iter().map(|v| v as f32).collect();
            return Ok(Floats { array: own.as_untyped().clone(), values: Values::Copied(values) });
        }
        Floats::of(converted(array, what)?.cast::<PyArrayDyn<f32>>()?, what)
    }

    fn of(array: &Bound<'py, PyArrayDyn<f32>>, what: &str) -> PyResult<Floats<'py>> {
        let values = if array.len() <= SHORT {
            Values::Copied(array.to_vec()?)
        } else {
            Values::Borrowed(borrowed(array, what)?)
        };
        Ok(Floats { array: array.as_untyped().clone(), values })
    }

    pub(crate) fn shape(&self) -> &[usize] {
        self.array.shape()
    }

    pub(crate) fn slice(&self) -> &[f32] {
        match &self.values {
            Values::Borrowed(own) => own.as_slice().expect("only contiguous arrays are kept"),
            Values::Copied(own) => own,
        }
    }

    /// Refuses another shape.
    pub(crate) fn expect_shape(&self, shape: &[usize], what: &str) -> PyResult<()> {
        if self.shape() == shape {
            return Ok(());
        }
        Err(wrong(format!("{what}: expected an array of shape {shape:?}, found {:?}", self.shape())))
    }

    /// Refuses numbers that are infinite or none.
    pub(crate) fn expect_finite(&self, what: &str) -> PyResult<()> {
        match self.slice().iter().position(|v| !v.is_finite()) {
            None => Ok(()),
            Some(at) => Err(wrong(format!(
                "{what}: expected finite numbers, found {} at position {at} of {:?}",
                self.slice()[at],
                self.shape()
            ))),
        }
    }
}

fn borrowed<'py>(array: &Bound<'py, PyArrayDyn<f32>>, what: &str) -> PyResult<PyReadonlyArrayDyn<'py, f32>> {
    array.try_readonly().map_err(|_| wrong(format!("{what}: another call is writing into this array")))
}

/// Any array of real numbers as contiguous float32; where a mask says that there is none, NaN.
fn converted<'py>(array: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let numpy = py.import(intern!(py, "numpy"))?;
    if numpy.getattr(intern!(py, "ma"))?.call_method1(intern!(py, "isMaskedArray"), (array,))?.is_truthy()? {
        let filled = array.call_method1(intern!(py, "astype"), (intern!(py, "float64"),))?;
        let filled = filled.call_method1(intern!(py, "filled"), (f64::NAN,))?;
        return numpy.call_method1(intern!(py, "ascontiguousarray"), (filled, intern!(py, "float32")));
    }
    let found = numpy.call_method1(intern!(py, "asarray"), (array,));
    let found = found.map_err(|e| wrong(format!("{what}: expected an array of numbers, found {e}")))?;
    let dtype = found.getattr(intern!(py, "dtype"))?;
    let kind: String = dtype.getattr(intern!(py, "kind"))?.extract()?;
    if !"fiub".contains(&kind) {
        return Err(wrong(format!("{what}: expected an array of numbers, found one of dtype {dtype}")));
    }
    numpy.call_method1(intern!(py, "ascontiguousarray"), (found, intern!(py, "float32")))
}

/// A row of numbers as a new array.
pub(crate) fn row<'py, T: numpy::Element + Copy>(py: Python<'py>, values: &[T]) -> Bound<'py, PyArray1<T>> {
    PyArray1::from_slice(py, values)
}

/// Numbers as a new array of any shape; the vector is taken over, not copied.
pub(crate) fn shaped<'py, T: numpy::Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let array = ArrayD::from_shape_vec(shape, values).map_err(|e| wrong(format!("shape {shape:?}: {e}")))?;
    Ok(array.into_pyarray(py))
}

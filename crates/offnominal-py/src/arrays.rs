//! NumPy arrays on their way in: borrowed where they have the type that is wanted and are contiguous and long, copied where
//! that is quicker, converted once where they are other numbers, and refused, with expected and found, where they are neither.

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

/// A contiguous array of numbers from Python, which a detector or a policy reads in single precision.
pub(crate) struct Floats<'py, X: Real = f32> {
    array: Bound<'py, PyUntypedArray>,
    values: Values<'py, X>,
}

enum Values<'py, X: Real> {
    Borrowed(PyReadonlyArrayDyn<'py, X>),
    Copied(Vec<X>),
}

/// A type of real numbers.
pub(crate) trait Real: numpy::Element + Copy + Into<f64> + std::fmt::Display {
    const DTYPE: &'static str;

    fn of(x: f64) -> Self;
}

impl Real for f32 {
    const DTYPE: &'static str = "float32";

    fn of(x: f64) -> f32 {
        x as f32
    }
}

impl Real for f64 {
    const DTYPE: &'static str = "float64";

    fn of(x: f64) -> f64 {
        x
    }
}

impl<'py, X: Real> Floats<'py, X> {
    /// Borrows, copies or converts; `what` names the thing in errors.
    pub(crate) fn read(array: &Bound<'py, PyAny>, what: &str) -> PyResult<Floats<'py, X>> {
        // Of other classes, such as arrays with a mask, not every number is one.
        let is_plain = array.is_exact_instance_of::<PyUntypedArray>();
        if let Ok(own) = array.cast::<PyArrayDyn<X>>()
            && is_plain
            && own.is_c_contiguous()
        {
            return Floats::of(own, what);
        }
        // Choices come as NumPy's own integers, observations in the precision that is not wanted.
        let copied = if is_plain {
            let wide = copied(array, |x: f64| X::of(x))?.or(copied(array, |x: f32| X::of(x.into()))?);
            wide.or(copied(array, |x: i64| X::of(x as f64))?)
        } else {
            None
        };
        match copied {
            Some(found) => Ok(found),
            None => Floats::of(converted(array, what, X::DTYPE)?.cast::<PyArrayDyn<X>>()?, what),
        }
    }

    fn of(array: &Bound<'py, PyArrayDyn<X>>, what: &str) -> PyResult<Floats<'py, X>> {
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

    pub(crate) fn slice(&self) -> &[X] {
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
        match self.slice().iter().position(|&v| !v.into().is_finite()) {
            None => Ok(()),
            Some(at) => Err(wrong(format!(
                "{what}: expected finite numbers, found {} at position {at} of {:?}",
                self.slice()[at],
                self.shape()
            ))),
        }
    }
}

/// A contiguous array of another type of numbers, converted.
fn copied<'py, S: numpy::Element + Copy, X: Real>(
    array: &Bound<'py, PyAny>,
    convert: impl Fn(S) -> X,
) -> PyResult<Option<Floats<'py, X>>> {
    let Some(own) = array.cast::<PyArrayDyn<S>>().ok().filter(|own| own.is_c_contiguous()) else {
        return Ok(None);
    };
    let values = own.to_vec()?.into_iter().map(convert).collect();
    Ok(Some(Floats { array: own.as_untyped().clone(), values: Values::Copied(values) }))
}

fn borrowed<'py, X: Real>(
    array: &Bound<'py, PyArrayDyn<X>>,
    what: &str,
) -> PyResult<PyReadonlyArrayDyn<'py, X>> {
    array.try_readonly().map_err(|_| wrong(format!("{what}: another call is writing into this array")))
}

/// Any array of real numbers as a contiguous one of a type; where a mask says that there is none, NaN.
fn converted<'py>(array: &Bound<'py, PyAny>, what: &str, wanted: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let numpy = py.import(intern!(py, "numpy"))?;
    if numpy.getattr(intern!(py, "ma"))?.call_method1(intern!(py, "isMaskedArray"), (array,))?.is_truthy()? {
        let filled = array.call_method1(intern!(py, "astype"), (intern!(py, "float64"),))?;
        let filled = filled.call_method1(intern!(py, "filled"), (f64::NAN,))?;
        return numpy.call_method1(intern!(py, "ascontiguousarray"), (filled, wanted));
    }
    let found = numpy.call_method1(intern!(py, "asarray"), (array,));
    let found = found.map_err(|e| wrong(format!("{what}: expected an array of numbers, found {e}")))?;
    let dtype = found.getattr(intern!(py, "dtype"))?;
    let kind: String = dtype.getattr(intern!(py, "kind"))?.extract()?;
    if !"fiub".contains(&kind) {
        return Err(wrong(format!("{what}: expected an array of numbers, found one of dtype {dtype}")));
    }
    numpy.call_method1(intern!(py, "ascontiguousarray"), (found, wanted))
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

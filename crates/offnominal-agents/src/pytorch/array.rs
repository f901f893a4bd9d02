//! NumPy arrays inside a pickle.

use super::FileError;
use super::pickle::{Id, Node, Pickle};

/// Names that appear in pickles of arrays, spaces and statistics. None of them is ever called.
pub(crate) fn is_inert(name: &str) -> bool {
    const MODULES: &[&str] = &[
        "numpy.core.multiarray.",
        "numpy._core.multiarray.",
        "numpy.core.numeric._frombuffer",
        "numpy._core.numeric._frombuffer",
        "numpy.random.",
        "gymnasium.spaces.",
        "gym.spaces.",
    ];
    const NAMES: &[&str] = &[
        "numpy.dtype",
        "numpy.ndarray",
        "collections.OrderedDict",
        "_codecs.encode",
        "stable_baselines3.common.vec_env.vec_normalize.VecNormalize",
        "stable_baselines3.common.running_mean_std.RunningMeanStd",
    ];
    NAMES.contains(&name) || MODULES.iter().any(|module| name.starts_with(module))
}

/// The numbers of an array or of a single one, in order.
pub(crate) fn numbers(pickle: &Pickle, id: Id, what: &str) -> Result<Vec<f64>, FileError> {
    if let Some(number) = pickle.float(id) {
        return Ok(vec![number]);
    }
    let wrong = |found: &str| FileError::unsupported(what, "an array of numbers", found);
    let (class, args) = pickle.made(id).ok_or_else(|| wrong("something else"))?;
    let state = || match pickle.node(id) {
        Node::Object { state: Some(state), .. } => pickle.items(*state),
        _ => &[],
    };
    let (dtype, bytes) = match (class.rsplit('.').next().unwrap_or_default(), args, state()) {
        ("_reconstruct", _, &[_, _, dtype, _, bytes]) => (dtype, bytes),
        ("_frombuffer", &[bytes, dtype, ..], _) | ("scalar", &[dtype, bytes], _) => (dtype, bytes),
        _ => return Err(wrong(class)),
    };
    let Node::Bytes(bytes) = pickle.node(bytes) else { return Err(wrong("no bytes")) };
    let kind = self::dtype(pickle, dtype);
    decoded(&kind, bytes).ok_or_else(|| wrong(&kind))
}

/// The shape and the numbers of an array whose last place runs first.
pub(crate) fn shaped(pickle: &Pickle, id: Id, what: &str) -> Result<(Vec<usize>, Vec<f64>), FileError> {
    let wrong = |found: &str| FileError::unsupported(what, "an array in the order of rows", found);
    let Node::Object { state: Some(state), .. } = pickle.node(id) else {
        return Err(wrong("something else"));
    };
    let &[_, shape, _, is_fortran, _] = pickle.items(*state) else { return Err(wrong("another state")) };
    if pickle.node(is_fortran) != &Node::Bool(false) {
        return Err(wrong("the order of columns"));
    }
    let sizes = pickle.items(shape).iter().map(|&n| usize::try_from(pickle.int(n)?).ok());
    let sizes: Vec<usize> = sizes.collect::<Option<_>>().ok_or_else(|| wrong("no shape"))?;
    let values = numbers(pickle, id, what)?;
    let n = sizes.iter().try_fold(1_usize, |n, &size| n.checked_mul(size));
    if n != Some(values.len()) {
        return Err(wrong(&format!("{} numbers for the shape {sizes:?}", values.len())));
    }
    Ok((sizes, values))
}

/// The kind, the size and, where it is not that of this format, the order of bytes.
pub(crate) fn dtype(pickle: &Pickle, id: Id) -> String {
    let name = pickle.made(id).and_then(|(_, args)| pickle.text(*args.first()?)).unwrap_or("no dtype");
    let order = match pickle.node(id) {
        Node::Object { state: Some(state), .. } => pickle.items(*state).get(1).and_then(|&o| pickle.text(o)),
        _ => None,
    };
    if order == Some(">") { format!(">{name}") } else { name.to_string() }
}

fn decoded(dtype: &str, bytes: &[u8]) -> Option<Vec<f64>> {
    match dtype {
        "f4" => whole(bytes, |b| f64::from(f32::from_le_bytes(b))),
        "f8" => whole(bytes, f64::from_le_bytes),
        "i8" => whole(bytes, |b| i64::from_le_bytes(b) as f64),
        "i4" => whole(bytes, |b| f64::from(i32::from_le_bytes(b))),
        "u1" => whole(bytes, |[b]| f64::from(b)),
        _ => None,
    }
}

/// The numbers, if there is no odd byte.
fn whole<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f64) -> Option<Vec<f64>> {
    let (chunks, rest) = bytes.as_chunks::<N>();
    rest.is_empty().then(|| chunks.iter().map(|&b| number(b)).collect())
}

//! The texts in the header of a file, with a digest of them and of the tensors.

use super::TensorError;
use safetensors::tensor::{Metadata, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};

/// Name of the header's only entry: the order of a hash map with more of them would change from run to run.
const ENTRY: &str = "offnominal-2";

/// Its name in the first version, where it held the texts and no digest.
const FIRST: &str = "offnominal";

/// The entry.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    digest: String,
    texts: BTreeMap<String, String>,
}

/// The header of tensors with texts.
pub(super) fn header(
    texts: &BTreeMap<String, String>,
    tensors: &[(String, TensorView<'_>)],
) -> HashMap<String, String> {
    let sealed = Sealed { digest: digest(texts, tensors), texts: texts.clone() };
    let entry = serde_json::to_string(&sealed).expect("texts are valid JSON");
    HashMap::from([(ENTRY.to_string(), entry)])
}

/// Whether a header has a digest.
pub(super) fn is_in(header: &Metadata) -> bool {
    header.metadata().as_ref().is_some_and(|entries| entries.contains_key(ENTRY))
}

/// The texts of a header; none if the file is of another program.
///
/// # Errors
/// If they, or the tensors, are not what was written.
pub(super) fn texts(
    header: &Metadata,
    tensors: &[(String, TensorView<'_>)],
) -> Result<Option<BTreeMap<String, String>>, TensorError> {
    let entry = |name: &str| header.metadata().as_ref().and_then(|entries| entries.get(name));
    let malformed = |e: serde_json::Error| TensorError::Format { found: format!("a header with {e}") };
    let Some(entry_2) = entry(ENTRY) else {
        return entry(FIRST).map(|texts| serde_json::from_str(texts).map_err(malformed)).transpose();
    };
    let Sealed { digest: expected, texts } = serde_json::from_str(entry_2).map_err(malformed)?;
    let found = digest(&texts, tensors);
    if expected == found { Ok(Some(texts)) } else { Err(TensorError::Changed { expected, found }) }
}

/// SHA-256 of texts and tensors, in hexadecimal digits; the order of the tensors is no part of it.
fn digest(texts: &BTreeMap<String, String>, tensors: &[(String, TensorView<'_>)]) -> String {
    let mut sum = Sha256::new();
    // A length before each part, so that no two lists of parts are the same bytes.
    let mut add = |part: &[u8]| {
        sum.update((part.len() as u64).to_le_bytes());
        sum.update(part);
    };
    add(serde_json::to_string(texts).expect("texts are valid JSON").as_bytes());
    let by_name: BTreeMap<&String, &TensorView<'_>> =
        tensors.iter().map(|(name, view)| (name, view)).collect();
    for (name, view) in by_name {
        add(name.as_bytes());
        add(format!("{:?} {:?}", view.dtype(), view.shape()).as_bytes());
        add(view.data());
    }
    sum.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

//! The archive of results and inputs: a manifest with the digest of every other file, and its signature.

use super::key::{SecretKey, Signed};
use super::kind::Kind;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::limits;
use offnominal_files::provenance::Provenance;
use offnominal_files::store::hex;
use offnominal_files::{read, write};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// Version of the format.
const FORMAT: u32 = 1;

/// Names of the two files that the manifest does not list.
const MANIFEST: &str = "evidence.json";
const SIGNATURE: &str = "signature.json";

/// Folders of a bundle.
const RESULTS: &str = "results/";
const INPUTS: &str = "inputs/";

/// What a bundle holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the format.
    pub format: u32,
    /// Of which command it holds the results.
    pub kind: Kind,
    /// What made the results.
    pub made: Provenance,
    /// What the command needs and the bundle does not hold.
    pub outside: Vec<String>,
    /// SHA-256 of each file, by its name.
    pub files: BTreeMap<String, String>,
}

/// A manifest with its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    /// What it holds.
    pub manifest: Manifest,
    /// The manifest as it was signed.
    text: Vec<u8>,
    /// The signature, if there is one.
    pub signed: Option<Signed>,
    /// The files, by their names.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// The name of a file of the results.
pub fn result(within: &Path) -> String {
    format!("{RESULTS}{}", within.display())
}

/// The name of an input, without what a path may hold and needs not: `./` and doubled slashes.
pub fn input(word: &str) -> String {
    let parts: Vec<&str> = word.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    format!("{INPUTS}{}", parts.join("/"))
}

impl Manifest {
    /// That of files which were read.
    pub fn new(
        kind: Kind,
        made: Provenance,
        files: &BTreeMap<String, Vec<u8>>,
        outside: Vec<String>,
    ) -> Manifest {
        let files = files.iter().map(|(name, bytes)| (name.clone(), digest(bytes))).collect();
        Manifest { format: FORMAT, kind, made, outside, files }
    }
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

impl Bundle {
    /// Signs the manifest, if there is a key.
    ///
    /// # Errors
    /// If it is larger than what is read.
    pub fn new(
        manifest: Manifest,
        files: BTreeMap<String, Vec<u8>>,
        key: Option<&SecretKey>,
    ) -> Result<Bundle> {
        let bytes: u64 = files.values().map(|file| file.len() as u64).sum();
        let most = limits::BUNDLE_BYTES;
        ensure!(bytes <= most, "expected files of at most {most} bytes, found {bytes}");
        let text = (serde_json::to_string_pretty(&manifest)? + "\n").into_bytes();
        let signed = key.map(|key| key.sign(&text));
        Ok(Bundle { manifest, text, signed, files })
    }

    /// The archive. The same files give the same bytes.
    ///
    /// # Errors
    /// If there is more than an archive can hold.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let mut add = |name: &str, bytes: &[u8]| -> Result<()> {
            zip.start_file(name, SimpleFileOptions::default())?;
            Ok(zip.write_all(bytes)?)
        };
        add(MANIFEST, &self.text)?;
        if let Some(signed) = &self.signed {
            add(SIGNATURE, &serde_json::to_vec_pretty(signed)?)?;
        }
        self.files.iter().try_for_each(|(name, bytes)| add(name, bytes))?;
        Ok(zip.finish()?.into_inner())
    }

    /// Writes the archive, and returns how many bytes it has.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<u64> {
        let bytes = self.to_bytes()?;
        write::atomically(path, &bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Reads a file; neither digests nor the signature are checked.
    ///
    /// # Errors
    /// If it is no bundle.
    pub fn read(path: &Path) -> Result<Bundle> {
        Bundle::from_bytes(&read::bytes(path)?).with_context(|| path.display().to_string())
    }

    /// Reads an archive; neither digests nor the signature are checked.
    ///
    /// # Errors
    /// If it is no bundle, or holds more than is read.
    pub fn from_bytes(bytes: &[u8]) -> Result<Bundle> {
        let mut files = entries(bytes)?;
        let text =
            files.remove(MANIFEST).with_context(|| format!("expected a file {MANIFEST}, found none"))?;
        let manifest: Manifest = serde_json::from_slice(&text).context(MANIFEST)?;
        ensure!(
            manifest.format == FORMAT,
            "{MANIFEST}: expected version {FORMAT} of the format, found {}",
            manifest.format
        );
        let signed = files.remove(SIGNATURE).map(|text| serde_json::from_slice(&text).context(SIGNATURE));
        Ok(Bundle { manifest, text, signed: signed.transpose()?, files })
    }

    /// How the files differ from the manifest, in words.
    pub fn changes(&self) -> Vec<String> {
        let names: BTreeSet<&String> = self.files.keys().chain(self.manifest.files.keys()).collect();
        let change = |name: &String| match (self.manifest.files.get(name), self.files.get(name)) {
            (Some(_), None) => Some(format!("{name} is missing")),
            (None, Some(_)) => Some(format!("{name} was added")),
            (Some(expected), Some(bytes)) if *expected != digest(bytes) => {
                Some(format!("{name} was changed"))
            }
            _ => None,
        };
        names.into_iter().filter_map(change).collect()
    }

    /// Who signed the manifest, if anybody did.
    ///
    /// # Errors
    /// If the signature is not of this manifest.
    pub fn signer(&self) -> Result<Option<String>> {
        let key = self.signed.as_ref().map(|signed| signed.check(&self.text)).transpose()?;
        Ok(key.map(|key| key.to_string()))
    }

    /// Writes the inputs below a folder under the names that the command has for them, and the results into another.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn unpack(&self, inputs: &Path, results: &Path) -> Result<()> {
        for (name, bytes) in &self.files {
            write::atomically(&place(name, inputs, results)?, bytes)?;
        }
        Ok(())
    }
}

/// Where a file of that name belongs. The text is what is joined to a folder, so the text is checked and not only the
/// parts that a path has of it: `inputs//x` has the parts `inputs` and `x`, and `/x` is left of it.
fn place(name: &str, inputs: &Path, results: &Path) -> Result<PathBuf> {
    let is_plain = |part: &str| {
        !matches!(part, "" | "." | "..") && !part.contains(['\\', '\0']) && !part.contains(char::is_control)
    };
    let place = match (name.strip_prefix(INPUTS), name.strip_prefix(RESULTS)) {
        (Some(word), _) => Some((inputs, word)),
        (_, Some(within)) => Some((results, within)),
        _ => None,
    };
    let inside = place.filter(|(_, word)| word.split('/').all(is_plain));
    let (folder, word) =
        inside.with_context(|| format!("{name:?}: expected a file below {RESULTS} or {INPUTS}"))?;
    Ok(folder.join(word))
}

/// The files of an archive.
fn entries(bytes: &[u8]) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).context("expected a zip archive")?;
    ensure!(
        zip.len() <= limits::BUNDLE_FILES,
        "expected at most {} files, found {}",
        limits::BUNDLE_FILES,
        zip.len()
    );
    let (mut files, mut left, mut folded) = (BTreeMap::new(), limits::BUNDLE_BYTES, BTreeSet::new());
    for i in 0..zip.len() {
        let mut entry = zip.by_index(i)?;
        let name = entry.name()?.to_string();
        let is_listed = ![MANIFEST, SIGNATURE].contains(&&*name);
        if is_listed {
            place(&name, Path::new(""), Path::new(""))?;
        }
        let bytes = read::unpacked(&mut entry, left).with_context(|| name.clone())?;
        left -= bytes.len() as u64;
        // Some file systems take names for the same that differ only in case.
        ensure!(
            folded.insert(name.to_lowercase()),
            "{name:?}: expected once, found again, be it in another case"
        );
        files.insert(name, bytes);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(key: Option<&SecretKey>) -> Bundle {
        let files: BTreeMap<String, Vec<u8>> = [("results/risk.json", "{}"), ("inputs/a/p.bin", "x")]
            .map(|(name, text)| (name.to_string(), text.as_bytes().to_vec()))
            .into();
        let made = Provenance::new("offnominal risk estimate", 1, b"");
        Bundle::new(Manifest::new(Kind::RiskEstimate, made, &files, vec![]), files, key).unwrap()
    }

    #[test]
    fn a_bundle_comes_back_whole_and_its_bytes_repeat() {
        let key = SecretKey::new().unwrap();
        let bundle = bundle(Some(&key));
        let bytes = bundle.to_bytes().unwrap();
        assert_eq!(bundle.to_bytes().unwrap(), bytes);
        let read = Bundle::from_bytes(&bytes).unwrap();
        assert_eq!(read, bundle);
        assert_eq!((read.changes(), read.signer().unwrap()), (vec![], Some(key.public().to_string())));
        let folder = tempfile::tempdir().unwrap();
        read.unpack(&folder.path().join("i"), &folder.path().join("r")).unwrap();
        assert!(folder.path().join("i/a/p.bin").is_file() && folder.path().join("r/risk.json").is_file());
    }

    #[test]
    fn every_change_is_found() {
        let key = SecretKey::new().unwrap();
        let mut changed = bundle(Some(&key));
        changed.files.insert("results/risk.json".into(), b"{ }".to_vec());
        changed.files.insert("results/more".into(), vec![]);
        changed.files.remove("inputs/a/p.bin");
        let read = Bundle::from_bytes(&changed.to_bytes().unwrap()).unwrap();
        assert_eq!(
            read.changes(),
            ["inputs/a/p.bin is missing", "results/more was added", "results/risk.json was changed"]
        );
        // Who changes the manifest too cannot sign it.
        let mut forged = Bundle::new(changed.manifest.clone(), changed.files.clone(), None).unwrap();
        forged.manifest.made.seed = 2;
        let forged =
            Bundle { signed: changed.signed, ..Bundle::new(forged.manifest, forged.files, None).unwrap() };
        assert!(Bundle::from_bytes(&forged.to_bytes().unwrap()).unwrap().signer().is_err());
        assert_eq!(bundle(None).signer().unwrap(), None);
    }

    #[test]
    fn an_archive_that_is_no_bundle_is_refused() {
        let refused = |name: &str, want: &str| {
            let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(b"{\"format\": 7}").unwrap();
            let error = format!("{:#}", Bundle::from_bytes(&zip.finish().unwrap().into_inner()).unwrap_err());
            assert!(error.contains(want), "{error}");
        };
        refused("inputs/x", "expected a file evidence.json, found none");
        let outside =
            ["../x", "x", "/x", "inputs/", "inputs//x", "inputs/a//x", "inputs/../x", "inputs/a/../../x"];
        let odd = [
            "inputs/./x",
            "results/..",
            "inputs/a\\..\\x",
            "inputs/a\nb",
            "inputs/\u{1b}[8m",
            "Inputs/x",
            "inputs",
        ];
        for name in outside.into_iter().chain(odd) {
            refused(name, "expected a file below results/ or inputs/");
        }
        refused("evidence.json", "evidence.json");
        let twice = |names: [&str; 2]| {
            let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
            names.iter().for_each(|name| zip.start_file(*name, SimpleFileOptions::default()).unwrap());
            format!("{:#}", Bundle::from_bytes(&zip.finish().unwrap().into_inner()).unwrap_err())
        };
        for names in [["inputs/a", "inputs/A"], ["inputs/ä/x", "inputs/Ä/x"], ["results/ΣΑΣ", "results/σας"]]
        {
            let error = twice(names);
            assert!(error.contains("found again, be it in another case"), "{error}");
        }
        assert!(Bundle::from_bytes(b"no zip").is_err());
    }
}

//! Keys and signatures: Ed25519 (RFC 8032), each as one line of text.

use anyhow::{Context as _, Result, anyhow, ensure};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use offnominal_files::read;
use offnominal_files::store::hex;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;

/// How the lines begin.
const SECRET: &str = "ed25519-secret ";
const PUBLIC: &str = "ed25519 ";

/// Signs.
pub struct SecretKey(SigningKey);

/// Checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// Who signed a manifest, and the signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// The public key.
    pub public_key: String,
    /// The signature in hexadecimal digits.
    pub signature: String,
}

impl SecretKey {
    /// A new one, from the random numbers of the operating system.
    ///
    /// # Errors
    /// If there are none.
    pub fn new() -> Result<SecretKey> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|why| anyhow!("random numbers of the operating system: {why}"))?;
        Ok(SecretKey::of(seed))
    }

    /// That of given bytes, which nobody else may know.
    pub fn of(bytes: [u8; 32]) -> SecretKey {
        SecretKey(SigningKey::from_bytes(&bytes))
    }

    /// Writes it into a file that only its owner can read.
    ///
    /// # Errors
    /// If the file is there already, or cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let cannot = || format!("cannot write {}; a key that is there is never replaced", path.display());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(path).with_context(cannot)?;
        writeln!(file, "{SECRET}{}", hex(&self.0.to_bytes())).with_context(cannot)
    }

    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, or is no key.
    pub fn read(path: &Path) -> Result<SecretKey> {
        let text = read::text(path)?;
        let bytes = text.trim().strip_prefix(SECRET).and_then(bytes::<32>);
        let bytes =
            bytes.with_context(|| format!("{}: expected `{SECRET}` and 64 digits", path.display()))?;
        Ok(SecretKey::of(bytes))
    }

    /// The key by which its signatures are checked.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a message.
    pub fn sign(&self, message: &[u8]) -> Signed {
        let signature = hex(&self.0.sign(message).to_bytes());
        Signed { public_key: self.public().to_string(), signature }
    }
}

impl Signed {
    /// The key that signed the message.
    ///
    /// # Errors
    /// If key or signature are none, or the signature is not of this message.
    pub fn check(&self, message: &[u8]) -> Result<PublicKey> {
        let key: PublicKey = self.public_key.parse()?;
        let signature = bytes::<64>(&self.signature).context("signature: expected 128 digits")?;
        let is_right = key.0.verify_strict(message, &Signature::from_bytes(&signature)).is_ok();
        ensure!(is_right, "signature: expected that of the manifest, found another");
        Ok(key)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC}{}", hex(self.0.as_bytes()))
    }
}

impl FromStr for PublicKey {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<PublicKey> {
        let text = text.trim();
        let bytes = bytes::<32>(text.strip_prefix(PUBLIC).unwrap_or(text));
        let bytes = bytes
            .with_context(|| format!("public key: expected `{PUBLIC}` and 64 digits, found {text:?}"))?;
        let key = VerifyingKey::from_bytes(&bytes);
        Ok(PublicKey(key.map_err(|_| anyhow!("public key: expected a point of the curve, found {text:?}"))?))
    }
}

fn bytes<const N: usize>(digits: &str) -> Option<[u8; N]> {
    if digits.len() != 2 * N || !digits.is_ascii() {
        return None;
    }
    let mut found = [0; N];
    for (i, byte) in found.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok()?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_test_vector_of_the_standard() {
        // RFC 8032, section 7.1, test 1: the empty message.
        let secret = bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").unwrap();
        let key = SecretKey::of(secret);
        let public = "ed25519 d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        assert_eq!(key.public().to_string(), public);
        let signed = key.sign(b"");
        assert!(
            signed.signature.starts_with("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155")
        );
        assert_eq!(signed.check(b"").unwrap(), public.parse().unwrap());
        assert!(signed.check(b"x").unwrap_err().to_string().contains("found another"));
    }

    #[test]
    fn a_key_comes_back_from_its_file_and_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let key = SecretKey::new().unwrap();
        key.save(&path).unwrap();
        assert_eq!(SecretKey::read(&path).unwrap().public(), key.public());
        assert!(SecretKey::new().unwrap().save(&path).unwrap_err().to_string().contains("never replaced"));
        std::fs::write(&path, "ed25519-secret 12").unwrap();
        assert!(SecretKey::read(&path).is_err() && "ed25519 zz".parse::<PublicKey>().is_err());
    }
}

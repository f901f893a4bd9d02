//! Bytes written as text (RFC 4648, section 4).

/// The bytes; `None` if the text is none of that kind.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        bits = bits << 6 | u32::from(digit(c)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

fn digit(c: u8) -> Option<u8> {
    match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_the_standard() {
        let pairs = [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")];
        assert!(pairs.iter().all(|(text, want)| decode(text).unwrap() == want.as_bytes()));
        assert_eq!((decode("Zm9v!"), decode("+/8=")), (None, Some(vec![0xfb, 0xff])));
    }
}

//! Mutants of protocol buffers whose fields have the lengths that they say.

use super::bytes;
use super::dice::Dice;

/// A field: its number, its kind, and its value.
#[derive(Clone)]
struct Field {
    number: u64,
    value: Value,
}

#[derive(Clone)]
enum Value {
    Number(u64),
    Fixed([u8; 8]),
    Short([u8; 4]),
    Bytes(Vec<u8>),
}

/// Changes one field of a message, or of one within it; false if the bytes are none.
pub fn mutate(message: &mut Vec<u8>, dice: &mut Dice) -> bool {
    let Some(mut fields) = fields(message).filter(|fields| !fields.is_empty()) else { return false };
    let at = dice.below(fields.len());
    match dice.below(16) {
        0 => drop(fields.remove(at)),
        1 => fields.insert(dice.below(fields.len()), fields[at].clone()),
        2 => {
            let other = dice.below(fields.len());
            fields.swap(at, other);
        }
        3 => fields[at].number = 1 + dice.below(16) as u64,
        4 => fields[at].value = Value::Number(dice.number()),
        5 => fields[at].value = Value::Bytes(vec![dice.number() as u8; dice.below(40)]),
        _ => change(&mut fields[at].value, dice),
    }
    *message = fields.iter().flat_map(written).collect();
    message.truncate(bytes::LONGEST);
    true
}

fn change(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Number(n) => *n = dice.number(),
        Value::Fixed(all) => *all = dice.number().to_le_bytes(),
        Value::Short(all) => *all = (dice.number() as u32).to_le_bytes(),
        Value::Bytes(inner) => {
            let is_text = inner.iter().all(|b| b.is_ascii_graphic());
            if is_text && dice.once_in(2) {
                let names: &[&str] = &[
                    "Reshape",
                    "Conv",
                    "MaxPool",
                    "Concat",
                    "Transpose",
                    "Squeeze",
                    "Unsqueeze",
                    "Gemm",
                    "MatMul",
                    "Flatten",
                    "Add",
                    "Softmax",
                    "ArgMax",
                    "Clip",
                    "pads",
                    "strides",
                    "kernel_shape",
                    "axis",
                    "perm",
                ];
                *inner = dice.of(names).as_bytes().to_vec();
            } else if is_text || dice.once_in(6) || !mutate(inner, dice) {
                bytes::mutate(inner, dice);
            }
        }
    }
}

fn fields(mut rest: &[u8]) -> Option<Vec<Field>> {
    let mut all = Vec::new();
    while !rest.is_empty() {
        let key = varint(&mut rest)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut rest)?),
            1 => Value::Fixed(*rest.split_off(..8)?.first_chunk()?),
            2 => {
                let len = usize::try_from(varint(&mut rest)?).ok()?;
                Value::Bytes(rest.split_off(..len)?.to_vec())
            }
            5 => Value::Short(*rest.split_off(..4)?.first_chunk()?),
            _ => return None,
        };
        all.push(Field { number: key >> 3, value });
    }
    Some(all)
}

fn written(field: &Field) -> Vec<u8> {
    let key = |kind: u64| number(field.number << 3 | kind);
    match &field.value {
        Value::Number(n) => [key(0), number(*n)].concat(),
        Value::Fixed(all) => [key(1), all.to_vec()].concat(),
        Value::Bytes(all) => [key(2), number(all.len() as u64), all.clone()].concat(),
        Value::Short(all) => [key(5), all.to_vec()].concat(),
    }
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut found = 0;
    for shift in (0..64).step_by(7) {
        let byte = rest.split_off(..1)?[0];
        found |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(found);
        }
    }
    None
}

fn number(mut n: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while n > 127 {
        bytes.push(n as u8 | 128);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

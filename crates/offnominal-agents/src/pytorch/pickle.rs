//! Reads pickles without executing them.
//!
//! A pickle is a program for a small stack machine, and two of its instructions call whatever function the file names.
//! Here these calls are never made: they become [`Node::Object`]s, which say what would have been called with what. Only
//! names on a list are accepted, so a file that would have run a command is refused at the name of that command.

use super::FileError;
use std::collections::HashMap;

/// Most values that a file may hold; statistics and spaces have a few hundred.
const MOST_NODES: usize = 200_000;

/// Longest name that may be called; each call keeps a copy.
const LONGEST_NAME: usize = 256;

/// Index of a value.
pub(crate) type Id = usize;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A name that may be called, `module.name`.
    Global(String),
    /// What a call would have made: of which class, from which arguments, with which state and entries.
    Object {
        class: String,
        args: Id,
        state: Option<Id>,
        entries: Vec<(Id, Id)>,
    },
    /// A thing that is stored elsewhere, by its address.
    Persistent(Id),
    Mark,
}

/// The values of a pickle.
#[derive(Debug)]
pub(crate) struct Pickle {
    nodes: Vec<Node>,
    root: Id,
}

impl Pickle {
    /// Reads a pickle of which every name is accepted by `allows`; `file` names it in errors.
    pub(crate) fn read(bytes: &[u8], file: &str, allows: fn(&str) -> bool) -> Result<Pickle, FileError> {
        Ok(Pickle::read_first(bytes, file, allows)?.0)
    }

    /// Reads the pickle that bytes begin with, as [`Pickle::read`] does, and its length.
    pub(crate) fn read_first(
        bytes: &[u8],
        file: &str,
        allows: fn(&str) -> bool,
    ) -> Result<(Pickle, usize), FileError> {
        let machine =
            Machine { bytes, at: 0, nodes: vec![], stack: vec![], memo: HashMap::new(), file, allows };
        machine.run()
    }

    pub(crate) fn root(&self) -> Id {
        self.root
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    /// The entries of a dictionary, or of an object that is one, such as an ordered dictionary.
    pub(crate) fn entries(&self, id: Id) -> &[(Id, Id)] {
        match self.node(id) {
            Node::Dict(entries) | Node::Object { entries, .. } => entries,
            _ => &[],
        }
    }

    /// The value at a key of a dictionary, or at an attribute of an object.
    pub(crate) fn get(&self, id: Id, key: &str) -> Option<Id> {
        let of = match self.node(id) {
            Node::Object { state: Some(state), .. } => *state,
            _ => id,
        };
        self.entries(of).iter().find(|(k, _)| self.text(*k) == Some(key)).map(|(_, v)| *v)
    }

    pub(crate) fn text(&self, id: Id) -> Option<&str> {
        match self.node(id) {
            Node::Text(text) | Node::Global(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn int(&self, id: Id) -> Option<i64> {
        match self.node(id) {
            Node::Int(n) => Some(*n),
            Node::Bool(b) => Some(i64::from(*b)),
            _ => None,
        }
    }

    pub(crate) fn float(&self, id: Id) -> Option<f64> {
        match self.node(id) {
            Node::Float(x) => Some(*x),
            Node::Int(n) => Some(*n as f64),
            _ => None,
        }
    }

    pub(crate) fn items(&self, id: Id) -> &[Id] {
        match self.node(id) {
            Node::List(items) => items,
            _ => &[],
        }
    }

    /// The class and the arguments of an object.
    pub(crate) fn made(&self, id: Id) -> Option<(&str, &[Id])> {
        match self.node(id) {
            Node::Object { class, args, .. } => Some((class, self.items(*args))),
            _ => None,
        }
    }
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    nodes: Vec<Node>,
    stack: Vec<Id>,
    memo: HashMap<u64, Id>,
    file: &'a str,
    allows: fn(&str) -> bool,
}

impl Machine<'_> {
    fn broken(&self, expected: &str) -> FileError {
        FileError::Pickle { file: self.file.into(), at: self.at, expected: expected.into() }
    }

    fn take(&mut self, n: usize) -> Result<&[u8], FileError> {
        let end = self.at.checked_add(n).filter(|&end| end <= self.bytes.len());
        let Some(end) = end else { return Err(self.broken(&format!("{n} more bytes"))) };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// An unsigned integer of so many bytes, little-endian.
    fn number(&mut self, bytes: usize) -> Result<u64, FileError> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
    }

    /// What follows a length of so many bytes.
    fn counted(&mut self, bytes: usize) -> Result<Vec<u8>, FileError> {
        let n = self.number(bytes)?;
        let n = usize::try_from(n).map_err(|_| self.broken("a length that fits into memory"))?;
        Ok(self.take(n)?.to_vec())
    }

    fn text(&mut self, bytes: usize) -> Result<Node, FileError> {
        let text = String::from_utf8(self.counted(bytes)?).map_err(|_| self.broken("text in UTF-8"))?;
        Ok(Node::Text(text))
    }

    fn line(&mut self) -> Result<String, FileError> {
        let rest = &self.bytes[self.at..];
        let n = rest.iter().position(|&b| b == b'\n').ok_or_else(|| self.broken("the end of a line"))?;
        let line = String::from_utf8(rest[..n].to_vec()).map_err(|_| self.broken("text in UTF-8"))?;
        self.at += n + 1;
        Ok(line)
    }

    fn push(&mut self, node: Node) -> Result<(), FileError> {
        if self.nodes.len() >= MOST_NODES {
            return Err(self.broken("fewer values"));
        }
        self.nodes.push(node);
        self.stack.push(self.nodes.len() - 1);
        Ok(())
    }

    /// Takes a value off the stack; a mark is none.
    fn pop(&mut self) -> Result<Id, FileError> {
        match self.stack.pop() {
            Some(id) if self.nodes[id] != Node::Mark => Ok(id),
            _ => Err(self.broken("a value on the stack")),
        }
    }

    fn top(&self) -> Result<Id, FileError> {
        self.stack.last().copied().ok_or_else(|| self.broken("a value on the stack"))
    }

    /// Takes everything above the last mark off the stack, and the mark.
    fn since_mark(&mut self) -> Result<Vec<Id>, FileError> {
        let mark = self.stack.iter().rposition(|&id| self.nodes[id] == Node::Mark);
        let mark = mark.ok_or_else(|| self.broken("a mark on the stack"))?;
        let above = self.stack.split_off(mark + 1);
        self.stack.pop();
        Ok(above)
    }

    fn tuple(&mut self, n: usize) -> Result<(), FileError> {
        let mut items = (0..n).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
        items.reverse();
        self.push(Node::List(items))
    }

    fn global(&mut self, module: &str, name: &str) -> Result<(), FileError> {
        if module.len() + name.len() > LONGEST_NAME {
            return Err(self.broken("a shorter name"));
        }
        let found = format!("{module}.{name}");
        if !(self.allows)(&found) {
            return Err(FileError::Forbidden { file: self.file.into(), found });
        }
        self.push(Node::Global(found))
    }

    fn stack_global(&mut self) -> Result<(), FileError> {
        let (name, module) = (self.pop()?, self.pop()?);
        let short = |id: Id| match &self.nodes[id] {
            Node::Text(text) if text.len() <= LONGEST_NAME => Some(text.clone()),
            _ => None,
        };
        match (short(module), short(name)) {
            (Some(module), Some(name)) => self.global(&module, &name),
            _ => Err(self.broken("the name of a module and of a thing in it")),
        }
    }

    /// What a call would have made.
    fn object(&mut self) -> Result<(), FileError> {
        let (args, callable) = (self.pop()?, self.pop()?);
        let Node::Global(class) = &self.nodes[callable] else {
            return Err(self.broken("a name to be called"));
        };
        let class = class.clone();
        self.push(Node::Object { class, args, state: None, entries: vec![] })
    }

    fn build(&mut self) -> Result<(), FileError> {
        let (given, at) = (self.pop()?, self.top()?);
        match &mut self.nodes[at] {
            Node::Object { state, .. } => *state = Some(given),
            _ => return Err(self.broken("an object that has a state")),
        }
        Ok(())
    }

    fn append(&mut self, items: Vec<Id>) -> Result<(), FileError> {
        let at = self.top()?;
        match &mut self.nodes[at] {
            Node::List(list) => list.extend(items),
            _ => return Err(self.broken("a list")),
        }
        Ok(())
    }

    fn set(&mut self, items: &[Id]) -> Result<(), FileError> {
        let (at, pairs) = (self.top()?, items.chunks_exact(2).map(|pair| (pair[0], pair[1])));
        match &mut self.nodes[at] {
            Node::Dict(entries) | Node::Object { entries, .. } => entries.extend(pairs),
            _ => return Err(self.broken("a dictionary")),
        }
        Ok(())
    }

    fn remember(&mut self, key: u64) -> Result<(), FileError> {
        let id = self.top()?;
        self.memo.insert(key, id);
        Ok(())
    }

    fn recall(&mut self, key: u64) -> Result<(), FileError> {
        let id = *self.memo.get(&key).ok_or_else(|| self.broken("a value that was remembered"))?;
        self.stack.push(id);
        Ok(())
    }

    /// A signed integer of any length up to eight bytes.
    fn long(&mut self) -> Result<Node, FileError> {
        let n = self.number(1)? as usize;
        if n > 8 {
            // The state of a random generator is longer; nothing here needs its value.
            return Ok(Node::Bytes(self.take(n)?.to_vec()));
        }
        let mut bytes = self.take(n)?.to_vec();
        let fill = if bytes.last().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 };
        bytes.resize(8, fill);
        Ok(Node::Int(bytes.iter().rev().fold(0_u64, |n, &b| n << 8 | u64::from(b)) as i64))
    }

    /// The pickle and its length.
    fn run(mut self) -> Result<(Pickle, usize), FileError> {
        loop {
            let op = self.take(1)?[0];
            if op == b'.' {
                let root = self.pop()?;
                return Ok((Pickle { nodes: self.nodes, root }, self.at));
            }
            self.execute(op)?;
        }
    }

    /// One instruction; the letters are those of Python's `pickletools`.
    fn execute(&mut self, op: u8) -> Result<(), FileError> {
        match op {
            0x80 => self.take(1).map(drop),
            0x95 => self.take(8).map(drop),
            b'(' => self.push(Node::Mark),
            b'0' => self.pop().map(drop),
            b'1' => self.since_mark().map(drop),
            b'2' => self.top().map(|id| self.stack.push(id)),
            b'N' => self.push(Node::None),
            0x88 => self.push(Node::Bool(true)),
            0x89 => self.push(Node::Bool(false)),
            b'J' => {
                let n = self.number(4)? as u32;
                self.push(Node::Int(i64::from(n.cast_signed())))
            }
            b'K' | b'M' => {
                let n = self.number(if op == b'K' { 1 } else { 2 })?;
                self.push(Node::Int(n as i64))
            }
            0x8a => {
                let n = self.long()?;
                self.push(n)
            }
            b'G' => {
                let bits = self.take(8)?.iter().fold(0_u64, |n, &b| n << 8 | u64::from(b));
                self.push(Node::Float(f64::from_bits(bits)))
            }
            b'X' | 0x8c | 0x8d => {
                let text = self.text(width(op))?;
                self.push(text)
            }
            b'B' | b'C' | 0x8e | 0x96 => {
                let bytes = self.counted(width(op))?;
                self.push(Node::Bytes(bytes))
            }
            b']' | b')' | 0x8f => self.push(Node::List(vec![])),
            b'}' => self.push(Node::Dict(vec![])),
            b'a' => self.pop().and_then(|item| self.append(vec![item])),
            b'e' | 0x90 => self.since_mark().and_then(|items| self.append(items)),
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set(&[key, value])
            }
            b'u' => self.since_mark().and_then(|items| self.set(&items)),
            b't' => self.since_mark().and_then(|items| self.push(Node::List(items))),
            0x85..=0x87 => self.tuple(usize::from(op - 0x84)),
            b'q' | b'r' => {
                let key = self.number(if op == b'q' { 1 } else { 4 })?;
                self.remember(key)
            }
            0x94 => self.remember(self.memo.len() as u64),
            b'h' | b'j' => {
                let key = self.number(if op == b'h' { 1 } else { 4 })?;
                self.recall(key)
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.global(&module, &name)
            }
            0x93 => self.stack_global(),
            b'R' | 0x81 => self.object(),
            b'b' => self.build(),
            b'Q' => self.pop().and_then(|id| self.push(Node::Persistent(id))),
            other => Err(self.broken(&format!("an instruction of a plain pickle, found {other:#04x}"))),
        }
    }
}

/// Bytes of the length before a text or bytes.
fn width(op: u8) -> usize {
    match op {
        0x8c | b'C' => 1,
        0x8d | 0x8e | 0x96 => 8,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Pickle, FileError> {
        Pickle::read(bytes, "test", |name| name == "collections.OrderedDict")
    }

    #[test]
    fn plain_values_are_read() {
        // pickle.dumps({"a": [1, -2, 2.5, True, None], "b": (b"x",)}, protocol=4)
        let bytes =
            b"\x80\x04}(\x8c\x01a](K\x01J\xfe\xff\xff\xffG@\x04\0\0\0\0\0\0\x88Ne\x8c\x01bC\x01x\x85u.";
        let found = read(bytes).unwrap();
        let list = found.items(found.get(found.root(), "a").unwrap());
        assert_eq!(
            (found.int(list[0]), found.int(list[1]), found.float(list[2])),
            (Some(1), Some(-2), Some(2.5))
        );
        let tuple = found.items(found.get(found.root(), "b").unwrap());
        assert_eq!(found.node(tuple[0]), &Node::Bytes(b"x".to_vec()));
    }

    #[test]
    fn calls_are_recorded_and_not_made() {
        let found = read(b"\x80\x02ccollections\nOrderedDict\n)R(X\x01\0\0\0kK\x07u.").unwrap();
        assert_eq!(found.made(found.root()), Some(("collections.OrderedDict", &[][..])));
        assert_eq!(found.int(found.get(found.root(), "k").unwrap()), Some(7));
    }

    #[test]
    fn a_command_is_refused_at_its_name() {
        for hostile in [
            &b"cposix\nsystem\n(X\x02\0\0\0lstR."[..],
            b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02ls\x85R.",
            b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x01x\x85R.",
        ] {
            assert!(matches!(read(hostile), Err(FileError::Forbidden { .. })), "{hostile:?}");
        }
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let mut rng = offnominal_core::Rng::new(1);
        let seedling =
            b"\x80\x04}(\x8c\x01a](K\x01J\xfe\xff\xff\xffG@\x04\0\0\0\0\0\0\x88Ne\x8c\x01bC\x01x\x85u.";
        for _ in 0..20_000 {
            let mut bytes = seedling.to_vec();
            for _ in 0..=rng.below(4) {
                let at = rng.below(bytes.len());
                bytes[at] = rng.below(256) as u8;
            }
            bytes.truncate(1 + rng.below(bytes.len()));
            let _ = read(&bytes);
        }
    }
}

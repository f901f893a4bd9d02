//! Rows of nested messages: each leaf of the tree of fields becomes a column when it is first seen.

use crate::record::{Charge, Column, Sink, Value};
use anyhow::{Result, ensure};
use std::collections::HashMap;

/// Arrays with more items than this are left out: images, point clouds, scans.
pub const MAX_ITEMS: usize = 512;
/// Columns of one topic, at most.
const MAX_COLUMNS: usize = 100_000;
/// Bytes of the places of one topic, at most: each has the names of all that it lies in.
const MAX_BYTES: u64 = 64 << 20;
/// Bytes of a place beside its name.
const OF_PLACE: u64 = 256;

/// A place in the tree of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(usize);

/// A value of the present row, of which texts lie in a common buffer.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Missing,
    Number(f64),
    Integer(i64),
    Text { from: usize, to: usize },
}

/// The columns of one topic and its present row.
pub struct Nested {
    topic: usize,
    nodes: Vec<Node>,
    row: Vec<Cell>,
    texts: String,
    /// Bytes of all places, and how many of them the sink knows of.
    bytes: u64,
    charged: u64,
    /// The number of the row, from 1 on.
    n_rows: u64,
    /// What is to be said of names.
    said: Vec<String>,
}

#[derive(Default)]
struct Node {
    path: String,
    /// The row that was here last, and how many places it has had beside this one for the same name.
    row: u64,
    twins: usize,
    is_twin: bool,
    unit: Option<String>,
    fields: Children,
    /// Items that have a name.
    items: Children,
    /// The others, by their numbers.
    numbered: Vec<usize>,
    column: Option<usize>,
    is_left_out: bool,
}

/// Where a place keeps others by their names, and what stands around a name in a path.
struct Named {
    children: fn(&mut Node) -> &mut Children,
    marks: [&'static str; 2],
}

/// Places by their names. Messages of one type have the same fields in the same order, so the next name is known most of
/// the time, and is not searched for.
#[derive(Default)]
struct Children {
    in_order: Vec<(Box<str>, usize)>,
    /// Where each name stands in that order.
    by_name: HashMap<Box<str>, usize>,
    next: usize,
}

impl Children {
    fn get(&mut self, name: &str) -> Option<usize> {
        let is_next = self.in_order.get(self.next).is_some_and(|(expected, _)| **expected == *name);
        let found = if is_next { self.next } else { *self.by_name.get(name)? };
        self.next = (found + 1) % self.in_order.len();
        Some(self.in_order[found].1)
    }

    fn add(&mut self, name: &str, at: usize) {
        self.by_name.insert(name.into(), self.in_order.len());
        self.in_order.push((name.into(), at));
        self.next = 0;
    }
}

impl Nested {
    /// The tree of a topic that has no columns yet.
    pub fn new(topic: usize) -> Nested {
        Nested {
            topic,
            nodes: vec![Node::default()],
            row: Vec::new(),
            texts: String::new(),
            bytes: 0,
            charged: 0,
            n_rows: 1,
            said: Vec::new(),
        }
    }

    /// The message itself.
    pub const ROOT: Place = Place(0);

    /// Forgets the row before.
    pub fn begin(&mut self) {
        self.row.fill(Cell::Missing);
        self.texts.clear();
        self.n_rows += 1;
    }

    /// A field of a structure. A row fills a place once: a second field of the name has a place of its own.
    pub fn field(&mut self, of: Place, name: &str) -> Place {
        let dot = if self.nodes[of.0].path.is_empty() { "" } else { "." };
        self.own(of, name, &Named { children: |node| &mut node.fields, marks: [dot, ""] }).unwrap_or(of)
    }

    /// An item of an array by its number, from 0 on.
    pub fn item(&mut self, of: Place, number: usize) -> Place {
        while self.nodes[of.0].numbered.len() <= number {
            let i = self.nodes[of.0].numbered.len().to_string();
            let Some(at) = self.grow(of, ["[", &i, "]"]) else { return of };
            self.nodes[of.0].numbered.push(at.0);
        }
        Place(self.nodes[of.0].numbered[number])
    }

    /// An item of an array by the name that the message gives it. A second item of the name has a place of its own.
    pub fn named_item(&mut self, of: Place, label: &str) -> Place {
        self.own(of, label, &Named { children: |node| &mut node.items, marks: ["[", "]"] }).unwrap_or(of)
    }

    /// The place of a name; where the row has been there before, that of the name with the next number.
    fn own(&mut self, of: Place, name: &str, named: &Named) -> Option<Place> {
        let first = self.child(of, name, named)?;
        if !self.visit(first) {
            return Some(first);
        }
        loop {
            self.nodes[first.0].twins += 1;
            let own = format!("{name}.{}", self.nodes[first.0].twins);
            let at = self.child(of, &own, named)?;
            if !self.visit(at) {
                self.say_of_twin(first, at);
                return Some(at);
            }
        }
    }

    /// Whether the row has been at a place before; now it has.
    fn visit(&mut self, at: Place) -> bool {
        let (node, row) = (&mut self.nodes[at.0], self.n_rows);
        let was_here = std::mem::replace(&mut node.row, row) == row;
        if !was_here {
            node.twins = 0;
        }
        was_here
    }

    fn say_of_twin(&mut self, first: Place, at: Place) {
        if !std::mem::replace(&mut self.nodes[at.0].is_twin, true) {
            let [first, own] = [first, at].map(|place| &self.nodes[place.0].path);
            self.said.push(format!("two columns are called {first}: the later one is {own}"));
        }
    }

    fn child(&mut self, of: Place, name: &str, named: &Named) -> Option<Place> {
        if let Some(at) = (named.children)(&mut self.nodes[of.0]).get(name) {
            return Some(Place(at));
        }
        let [before, behind] = named.marks;
        let at = self.grow(of, [before, name, behind])?;
        (named.children)(&mut self.nodes[of.0]).add(name, at.0);
        Some(at)
    }

    /// A new place; none if there are too many, which ends the row: [`Nested::end`] and whatever is put somewhere say so.
    fn grow(&mut self, of: Place, name: [&str; 3]) -> Option<Place> {
        let Node { path, unit, .. } = &self.nodes[of.0];
        let length = path.len() + unit.as_ref().map_or(0, String::len) + 3 * name[1].len();
        self.bytes += OF_PLACE + length as u64;
        if self.bytes > MAX_BYTES {
            return None;
        }
        let (path, unit) = (format!("{path}{}", name.concat()), unit.clone());
        self.nodes.push(Node { path, unit, ..Node::default() });
        Some(Place(self.nodes.len() - 1))
    }

    /// Charges the sink for the places that are new.
    fn charge(&mut self, sink: &mut dyn Sink) -> Result<()> {
        let new = self.bytes - std::mem::replace(&mut self.charged, self.bytes);
        if new > 0 {
            sink.charge(Charge::Memory(new))?;
        }
        ensure!(
            self.bytes <= MAX_BYTES,
            "expected fields whose names take at most {MAX_BYTES} bytes in a topic, found more"
        );
        Ok(())
    }

    /// States the unit of a place, and of what lies below it, before it has columns.
    pub fn set_unit(&mut self, at: Place, unit: &str) {
        if self.nodes[at.0].unit.is_none() {
            self.nodes[at.0].unit = Some(unit.into());
        }
    }

    /// A number at a place.
    ///
    /// # Errors
    /// If there are too many columns, or the sink refuses one.
    pub fn number(&mut self, at: Place, x: f64, sink: &mut dyn Sink) -> Result<()> {
        self.put(at, Cell::Number(x), sink)
    }

    /// A whole number at a place.
    ///
    /// # Errors
    /// As [`Nested::number`].
    pub fn integer(&mut self, at: Place, n: i64, sink: &mut dyn Sink) -> Result<()> {
        self.put(at, Cell::Integer(n), sink)
    }

    /// A text at a place.
    ///
    /// # Errors
    /// As [`Nested::number`].
    pub fn text(&mut self, at: Place, text: &str, sink: &mut dyn Sink) -> Result<()> {
        let from = self.texts.len();
        self.texts.push_str(text);
        self.put(at, Cell::Text { from, to: self.texts.len() }, sink)
    }

    fn put(&mut self, at: Place, cell: Cell, sink: &mut dyn Sink) -> Result<()> {
        if self.charged < self.bytes || self.bytes > MAX_BYTES {
            self.charge(sink)?;
        }
        let number = match self.nodes[at.0].column {
            Some(number) => number,
            None => self.new_column(at, sink)?,
        };
        self.row[number] = cell;
        Ok(())
    }

    fn new_column(&mut self, at: Place, sink: &mut dyn Sink) -> Result<usize> {
        let (number, node) = (self.row.len(), &mut self.nodes[at.0]);
        ensure!(
            number < MAX_COLUMNS,
            "expected at most {MAX_COLUMNS} columns in a topic, found more at {}",
            node.path
        );
        let name = if node.path.is_empty() { "value".into() } else { node.path.clone() };
        sink.column(self.topic, number, &Column { name, unit: node.unit.clone() })?;
        node.column = Some(number);
        self.row.push(Cell::Missing);
        Ok(number)
    }

    /// Says once that what lies at a place is not read.
    pub fn leave_out(&mut self, at: Place, why: &str, sink: &mut dyn Sink) {
        let node = &mut self.nodes[at.0];
        if !std::mem::replace(&mut node.is_left_out, true) {
            sink.left_out(Some(self.topic), &format!("{}: {why}", node.path));
        }
    }

    /// Hands the row over.
    ///
    /// # Errors
    /// If the sink refuses it, or it has too many fields.
    pub fn end(&mut self, time: Option<i64>, sink: &mut dyn Sink) -> Result<()> {
        self.charge(sink)?;
        self.said.drain(..).for_each(|what| sink.assumed(Some(self.topic), &what));
        let value = |cell: &Cell| match *cell {
            Cell::Missing => Value::Missing,
            Cell::Number(x) => Value::from(x),
            Cell::Integer(n) => Value::Integer(n),
            Cell::Text { from, to } => Value::Text(&self.texts[from..to]),
        };
        let row: Vec<Value<'_>> = self.row.iter().map(value).collect();
        sink.row(self.topic, time, &row)
    }
}

#[cfg(test)]
mod tests;

//! Rows of nested messages: each leaf of the tree of fields becomes a column when it is first seen.

use crate::record::{Column, Sink, Value};
use anyhow::{Result, ensure};
use std::collections::HashMap;

/// Arrays with more items than this are left out: images, point clouds, scans.
pub const MAX_ITEMS: usize = 512;
/// Columns of one topic, at most.
const MAX_COLUMNS: usize = 100_000;

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
}

#[derive(Default)]
struct Node {
    path: String,
    unit: Option<String>,
    fields: Children,
    /// Items that have a name.
    items: Children,
    /// The others, by their numbers.
    numbered: Vec<usize>,
    column: Option<usize>,
    is_left_out: bool,
}

/// Places by their names. Messages of one type have the same fields in the same order, so the next name is known most of
/// the time, and is not searched for.
#[derive(Default)]
struct Children {
    in_order: Vec<(Box<str>, usize)>,
    by_name: HashMap<Box<str>, usize>,
    next: usize,
}

impl Children {
    fn get(&mut self, name: &str) -> Option<usize> {
        if let Some((expected, at)) = self.in_order.get(self.next).filter(|(expected, _)| **expected == *name)
        {
            debug_assert_eq!(self.by_name.get(expected), Some(at));
            self.next = (self.next + 1) % self.in_order.len();
            return Some(*at);
        }
        let at = *self.by_name.get(name)?;
        let place = self.in_order.iter().position(|(_, other)| *other == at)?;
        self.next = (place + 1) % self.in_order.len();
        Some(at)
    }

    fn add(&mut self, name: &str, at: usize) {
        self.in_order.push((name.into(), at));
        self.by_name.insert(name.into(), at);
        self.next = 0;
    }
}

impl Nested {
    /// The tree of a topic that has no columns yet.
    pub fn new(topic: usize) -> Nested {
        Nested { topic, nodes: vec![Node::default()], row: Vec::new(), texts: String::new() }
    }

    /// The message itself.
    pub const ROOT: Place = Place(0);

    /// Forgets the row before.
    pub fn begin(&mut self) {
        self.row.fill(Cell::Missing);
        self.texts.clear();
    }

    /// A field of a structure.
    pub fn field(&mut self, of: Place, name: &str) -> Place {
        match self.nodes[of.0].fields.get(name) {
            Some(at) => Place(at),
            None => {
                let parent = &self.nodes[of.0].path;
                let path = if parent.is_empty() { name.to_string() } else { format!("{parent}.{name}") };
                let at = self.grow(of, path);
                self.nodes[of.0].fields.add(name, at.0);
                at
            }
        }
    }

    /// An item of an array by its number, from 0 on.
    pub fn item(&mut self, of: Place, number: usize) -> Place {
        while self.nodes[of.0].numbered.len() <= number {
            let i = self.nodes[of.0].numbered.len();
            let at = self.grow(of, format!("{}[{i}]", self.nodes[of.0].path));
            self.nodes[of.0].numbered.push(at.0);
        }
        Place(self.nodes[of.0].numbered[number])
    }

    /// An item of an array by the name that the message gives it.
    pub fn named_item(&mut self, of: Place, label: &str) -> Place {
        match self.nodes[of.0].items.get(label) {
            Some(at) => Place(at),
            None => {
                let at = self.grow(of, format!("{}[{label}]", self.nodes[of.0].path));
                self.nodes[of.0].items.add(label, at.0);
                at
            }
        }
    }

    fn grow(&mut self, of: Place, path: String) -> Place {
        let unit = self.nodes[of.0].unit.clone();
        self.nodes.push(Node { path, unit, ..Node::default() });
        Place(self.nodes.len() - 1)
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
    /// If the sink refuses it.
    pub fn end(&self, time: Option<i64>, sink: &mut dyn Sink) -> Result<()> {
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

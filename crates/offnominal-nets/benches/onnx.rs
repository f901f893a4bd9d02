//! Milliseconds of a network from an ONNX file for an image of zeros, for `onnx_networks.py` beside this file.
//!
//! It reads lines `FILE HEIGHT WIDTH` and answers each with the milliseconds of one run and the sum of the magnitudes
//! of its outputs, so that two programs can take turns.

use offnominal_nets::onnx::{Beside, Graph, Use};
use std::collections::HashMap;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;

fn answer(line: &str, graphs: &mut HashMap<String, Graph>) -> Option<String> {
    let mut words = line.split_whitespace();
    let (file, height, width) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let graph = graphs.entry(line.into()).or_insert_with(|| {
        let bytes = std::fs::read(file).expect("a file");
        Graph::read(&bytes, &Beside::new(), Use::Image).expect("a network")
    });
    graph.reshape(&[1, 3, height, width]).expect("open sizes");
    let image: Vec<f32> = (0..3 * height * width).map(|i| (i % 251) as f32 / 125.0 - 1.0).collect();
    let start = Instant::now();
    let found = graph.run(&image).expect("an output");
    let time = start.elapsed().as_secs_f64() * 1e3;
    Some(format!("{time} {}", found.data.iter().map(|x| f64::from(x.abs())).sum::<f64>()))
}

fn main() {
    let mut graphs = HashMap::new();
    for line in stdin().lock().lines().map_while(Result::ok) {
        println!("{}", answer(&line, &mut graphs).unwrap_or_else(|| "expected FILE HEIGHT WIDTH".into()));
        stdout().flush().expect("somebody reads");
    }
}

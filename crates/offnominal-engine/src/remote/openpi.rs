//! A policy server of openpi: maps of MessagePack over a WebSocket.
//!
//! The server first sends a map about itself. A question is a map of the observation, numbers as an array under its key (an
//! image as bytes, `[rows, columns, planes]`), with `prompt` if there is one; the answer is a map with the array
//! `actions`, `[horizon, numbers of an action]`. A text instead is an error.
//! Reference: Physical-Intelligence/openpi at 15a9616, `websocket_client_policy.py` and `msgpack_numpy.py`.

mod msgpack;

use super::lines::write_action;
use super::name::Server;
use super::policy::{Connect, Peer};
use super::websocket::WebSocket;
use anyhow::{Context, Result, bail, ensure};
use msgpack::{Array, Value};
use offnominal_core::channel::Image;
use offnominal_core::spec::{Channel, EnvSpec};

/// The variable that holds the key for servers that ask for one.
const API_KEY: &str = "OPENPI_API_KEY";

/// What makes another connection.
///
/// # Errors
/// If the environment shows stacked images, which have no shape there.
pub(super) fn connect(server: Server, spec: &EnvSpec) -> Result<Connect> {
    let (image, channels) = (spec.image(), spec.action.clone());
    if let Some(image) = image {
        ensure!(
            image.frames == 1,
            "observation of {}: expected one image, found a stack of {}",
            spec.id,
            image.frames
        );
    }
    let api_key = std::env::var(API_KEY).ok();
    Ok(Box::new(move || {
        let socket = WebSocket::open(&server.address, &server.path, api_key.as_deref(), server.limit)?;
        let (server, channels) = (server.clone(), channels.clone());
        let mut own = Connection { socket, server, image, channels, chunk: vec![], done: 0, asked: vec![] };
        let about = own.socket.receive().context("what the server says of itself")?;
        ensure!(
            matches!(Value::read(about)?, Value::Map(_)),
            "expected a map about the server, found something else"
        );
        Ok(Box::new(own))
    }))
}

/// A connection, with the actions that are still to be carried out.
struct Connection {
    socket: WebSocket,
    server: Server,
    image: Option<Image>,
    channels: Vec<Channel>,
    chunk: Vec<f32>,
    /// Actions of the chunk that were carried out.
    done: usize,
    asked: Vec<u8>,
}

impl Connection {
    /// Asks for the next actions.
    fn ask(&mut self, obs: &[f32]) -> Result<()> {
        let seen = self.image.map_or_else(|| Array::of_numbers(obs), |image| of_image(obs, image));
        let mut entries = vec![(Value::Text(self.server.key.clone()), seen.into_value())];
        if let Some(prompt) = &self.server.prompt {
            entries.push((Value::Text("prompt".into()), Value::Text(prompt.clone())));
        }
        self.asked.clear();
        Value::Map(entries).write(&mut self.asked);
        (_, self.chunk) = actions(self.socket.ask(&self.asked)?, self.channels.len())?;
        self.done = 0;
        Ok(())
    }
}

impl Peer for Connection {
    fn act(&mut self, obs: &[f32], is_first: bool, action: &mut [f32]) -> Result<()> {
        let n = action.len();
        let is_over = self.done == self.server.steps || (self.done + 1) * n > self.chunk.len();
        if is_first || is_over {
            self.ask(obs)?;
        }
        let next: Vec<f64> = self.chunk[self.done * n..][..n].iter().map(|&x| f64::from(x)).collect();
        self.done += 1;
        write_action(&next, &self.channels, action)
    }
}

/// An image as bytes, row by row with the planes of each pixel together.
fn of_image(obs: &[f32], image: Image) -> Array {
    let (planes, pixels) = (image.planes, image.height * image.columns);
    let byte = |i: usize| obs[i % planes * pixels + i / planes].clamp(0.0, 255.0) as u8;
    Array {
        dtype: "|u1".into(),
        shape: vec![image.height, image.columns, planes],
        data: (0..planes * pixels).map(byte).collect(),
    }
}

/// The actions in an answer: how many, and their numbers.
pub(super) fn actions(message: &[u8], width: usize) -> Result<(usize, Vec<f32>)> {
    let answer = Value::read(message).context("an answer")?;
    let found = answer.get("actions").context("answer: expected a map with actions, found none")?;
    let array = Array::of_value(found).context("actions")?;
    let numbers = array.numbers().context("actions")?;
    match array.shape[..] {
        [horizon, own] if own == width && horizon > 0 => Ok((horizon, numbers)),
        [own] if own == width => Ok((1, numbers)),
        _ => bail!("actions: expected the shape [horizon, {width}], found {:?}", array.shape),
    }
}

#[cfg(test)]
mod tests;

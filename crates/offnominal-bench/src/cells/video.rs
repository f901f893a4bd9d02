//! Cells that are videos: one disturbed episode, framed in red while the anomaly is active.

use crate::cells::cell;
use crate::cells::play::load;
use crate::results;
use anyhow::{Context, Result};
use offnominal_core::frame::Frame;
use offnominal_core::prelude::*;
use offnominal_engine::show::Show;
use offnominal_engine::subject::Subject;
use offnominal_files::store::Store;

/// Name of the file of a video in a cell.
pub(super) const VIDEO: &str = "video.json";

/// Pixels per side.
const SIDE: usize = 208;

/// Videos show at most this many frames per second of simulated time.
const MOST_FRAMES_PER_SEC: f64 = 20.0;

/// The colour of the frame around an anomalous step, and its width in pixels.
const MARK: ([u8; 3], usize) = ([204, 51, 63], 4);

/// Plays an episode again and makes a video of it.
pub(super) fn video(
    spec: &cell::Video,
    subject: &Subject,
    store: &Store,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let episodes = load(store, &spec.episodes)?.episodes;
    let reached = episodes.iter().find(|e| e.labels.contains(&true)).or(episodes.first());
    let episode = reached.context("expected at least one episode, found none")?;
    let is_active = |t: usize| t > 0 && episode.labels.get(t - 1) == Some(&true);
    let show = Show { trial: subject.trial(), camera: Camera(0), size: SIDE };
    let gif = show.video(episode, MOST_FRAMES_PER_SEC, |t, frame| {
        if is_active(t) {
            mark(frame);
        }
    })?;
    let video = results::Video { env: spec.setup.env.clone(), caption: caption(spec, episode), gif };
    Ok(vec![(VIDEO, serde_json::to_vec(&video)?)])
}

/// Draws a border.
fn mark(frame: &mut Frame) {
    let (colour, border) = MARK;
    let edge = |at: usize, side: usize| at < border || at + border >= side;
    for row in 0..frame.height {
        for column in 0..frame.width {
            if edge(row, frame.height) || edge(column, frame.width) {
                frame.paint(column, row, colour, 0);
            }
        }
    }
}

fn caption(spec: &cell::Video, episode: &Episode) -> String {
    let s = &spec.setting;
    let when =
        episode.onset.map_or(String::new(), |onset| format!(" from step {onset} of {} on", episode.len()));
    format!(
        "{} in {} under {} ({}, magnitude {:.3}){when}; framed in red while the anomaly is active",
        spec.setup.policy.id, spec.setup.env, s.anomaly, s.strength, s.magnitude
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_a_border() {
        let mut frame = Frame::new(20, 10);
        mark(&mut frame);
        let red = frame.rgb.chunks(3).filter(|p| *p == MARK.0).count();
        assert_eq!(red, 20 * 10 - 12 * 2);
    }
}

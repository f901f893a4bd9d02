//! Images of MuJoCo environments: which geom has which class and pattern, and the buffers that drawing needs.

use offnominal_core::prelude::*;
use offnominal_mujoco::raster::{Rasteriser, Texture};
use offnominal_mujoco::{Look, Model, MujocoError, ObjectType, Simulation, Viewer};
use std::sync::Arc;

/// The floor's other colour, beside the one in the model: squares of a metre, so that running shows.
const FLOOR: Texture = Texture::Checker { rgb: [0.66, 0.69, 0.72], side_m: 1.0 };

/// Draws an environment. A clone shares the looks and gets buffers of its own at its first image.
pub(super) struct Painter {
    looks: Arc<[Look]>,
    buffers: Option<(Viewer, Rasteriser)>,
}

impl Clone for Painter {
    fn clone(&self) -> Painter {
        Painter { looks: Arc::clone(&self.looks), buffers: None }
    }
}

impl Painter {
    /// `classes` names the classes other than the background, each with the geoms that belong to it.
    pub(super) fn new<'a>(
        model: &Model,
        classes: &[(&str, impl AsRef<[&'a str]>)],
    ) -> Result<Painter, MujocoError> {
        let mut looks = vec![Look::default(); model.count(ObjectType::Geom)];
        for (class, (name, geoms)) in (1_u8..).zip(classes) {
            let texture = if *name == "floor" { FLOOR } else { Texture::Plain };
            for geom in geoms.as_ref() {
                looks[model.id(ObjectType::Geom, geom)?] = Look { class, texture };
            }
        }
        Ok(Painter { looks: looks.into(), buffers: None })
    }

    /// Draws what a camera sees; a frame that cannot be drawn for want of memory stays as it is.
    pub(super) fn draw(&mut self, sim: &mut Simulation, camera: Camera, frame: &mut Frame) {
        if self.buffers.is_none() {
            self.buffers = Viewer::new(sim.model()).ok().map(|viewer| (viewer, Rasteriser::default()));
        }
        if let Some((viewer, rasteriser)) = &mut self.buffers {
            rasteriser.draw(viewer.look(sim, camera.0, &self.looks), frame);
        }
    }
}

/// Names of the classes for the card, the background first.
pub(super) fn class_names<T>(classes: &[(&str, T)]) -> Vec<String> {
    std::iter::once("background").chain(classes.iter().map(|c| c.0)).map(String::from).collect()
}

/// Names of the cameras for the card.
pub(super) fn camera_names(model: &Model) -> Vec<String> {
    (0..model.count(ObjectType::Camera))
        .map(|i| model.name(ObjectType::Camera, i).unwrap_or("unnamed").into())
        .collect()
}

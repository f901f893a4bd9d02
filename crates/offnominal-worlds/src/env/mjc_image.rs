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
    /// The painter of a new environment, whose card gets the names of the classes, the background first, and the cameras.
    pub(super) fn with_card<'a>(
        model: &Model,
        classes: &[(&str, impl AsRef<[&'a str]>)],
        card: &mut EnvSpec,
    ) -> Result<Painter, MujocoError> {
        let camera = |i| model.name(ObjectType::Camera, i).unwrap_or("unnamed").into();
        card.classes =
            std::iter::once("background").chain(classes.iter().map(|c| c.0)).map(String::from).collect();
        card.cameras = (0..model.count(ObjectType::Camera)).map(camera).collect();
        Painter::new(model, classes)
    }

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

//! The order in which an observation is fed, which the declared shape of the input says.

use super::OnnxError;
use offnominal_core::spec::{EnvSpec, Image};
use offnominal_nets::onnx::{Kind, Tensor, len};

/// In which order numbers go in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// As they are observed.
    Same,
    /// The planes of each pixel together.
    PlanesLast {
        /// Planes of all frames.
        planes: usize,
        /// Pixels of each.
        pixels: usize,
    },
}

impl Layout {
    /// What an input takes of the observations of an environment.
    ///
    /// # Errors
    /// If its shape is none into which they can be brought, or its numbers have another type.
    pub(super) fn of(input: &Tensor, spec: &EnvSpec) -> Result<Layout, OnnxError> {
        let width = spec.obs_width();
        let found = len(&input.shape)?;
        if found != width {
            return Err(OnnxError::Shape { what: "input", expected: width, found });
        }
        let is_whole = spec.observation.iter().all(|channel| channel.is_choice() || channel.image.is_some());
        let fits = input.kind.is_real() || is_whole && input.kind != Kind::Bool;
        let long: Vec<usize> = input.shape.iter().copied().filter(|&length| length != 1).collect();
        let layout = match spec.image() {
            _ if long.len() <= 1 => Some(Layout::Same),
            Some(image) => of_image(&input.shape, &long, image),
            None => None,
        };
        layout
            .filter(|_| fits)
            .ok_or_else(|| OnnxError::Input { expected: expected(spec), found: input.words() })
    }

    /// Writes an observation in the order of the input.
    pub(super) fn feed(self, obs: &[f32], fed: &mut [f32]) {
        match self {
            Layout::Same => fed.copy_from_slice(obs),
            Layout::PlanesLast { planes, pixels } => {
                for (i, x) in fed.iter_mut().enumerate() {
                    *x = obs[i % planes * pixels + i / planes];
                }
            }
        }
    }
}

/// The order of an image of that shape, of which axes of length 1 say nothing.
fn of_image(shape: &[usize], long: &[usize], image: Image) -> Option<Layout> {
    let Image { frames, planes, height, columns } = image;
    let all = frames * planes;
    let longer = |axes: &[usize]| axes.iter().copied().filter(|&length| length != 1).collect::<Vec<_>>();
    if [longer(&[all, height, columns]), longer(&[frames, planes, height, columns])].iter().any(|s| s == long)
    {
        return Some(Layout::Same);
    }
    let is_last = longer(&[height, columns, all]) == long && shape.last() == Some(&all);
    is_last.then_some(Layout::PlanesLast { planes: all, pixels: height * columns })
}

fn expected(spec: &EnvSpec) -> String {
    let Some(Image { frames, planes, height, columns }) = spec.image() else {
        return format!("real numbers [1, {}]", spec.obs_width());
    };
    let all = frames * planes;
    format!("numbers [1, {all}, {height}, {columns}] or [1, {height}, {columns}, {all}]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::spec::Channel;

    fn layout(shape: &[usize], image: Image) -> Result<Layout, OnnxError> {
        let spec =
            EnvSpec { observation: vec![Channel::image("o", "an image", image)], ..EnvSpec::new("w", "") };
        Layout::of(&Tensor { shape: shape.to_vec(), ..Tensor::default() }, &spec)
    }

    #[test]
    fn images_are_brought_into_the_declared_shape_or_refused() {
        let image = Image { frames: 2, planes: 1, height: 3, columns: 4 };
        for shape in [&[1, 2, 3, 4][..], &[2, 3, 4], &[1, 24], &[1, 2, 1, 3, 4]] {
            assert_eq!(layout(shape, image), Ok(Layout::Same), "{shape:?}");
        }
        for shape in [&[1, 3, 4, 2][..], &[3, 4, 2]] {
            assert_eq!(layout(shape, image), Ok(Layout::PlanesLast { planes: 2, pixels: 12 }), "{shape:?}");
        }
        for shape in [&[1, 2, 4, 3][..], &[1, 4, 3, 2], &[1, 3, 8], &[4, 6], &[3, 2, 4]] {
            assert!(matches!(layout(shape, image), Err(OnnxError::Input { .. })), "{shape:?}");
        }
        let mut fed = [0.0; 4];
        Layout::PlanesLast { planes: 2, pixels: 2 }.feed(&[1.0, 2.0, 10.0, 20.0], &mut fed);
        assert_eq!(fed, [1.0, 10.0, 2.0, 20.0]);
    }
}

//! The front of a house: courses of brick or panels, rows of windows in frames, shops and doors on the ground floor.

use crate::noise::{fractal, smooth, speck};
use crate::surface::{Place, Surface};
use offnominal_core::vec3::{Vec3, vec3};

/// What a wall is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Courses {
    /// Plaster, with stains.
    Plaster,
    /// Bricks.
    Brick,
    /// Large panels with joints.
    Panels,
    /// Boards.
    Siding,
}

/// What is in the openings of a wall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Front {
    /// Windows.
    Windows,
    /// Windows with shutters of a colour.
    Shutters(Vec3),
    /// Bands of glass.
    Ribbons,
    /// Windows and a door.
    Door(Vec3),
    /// Shop windows under a sign of a colour.
    Shop(Vec3),
}

/// A wall with openings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facade {
    /// Colour of the wall.
    pub wall: Vec3,
    /// Colour of frames and sills.
    pub trim: Vec3,
    /// Colour of glass.
    pub glass: Vec3,
    /// Metres from window to window, about.
    pub bay: f32,
    /// Number of storeys.
    pub storeys: f32,
    /// Shares of a bay and of a storey that a window takes.
    pub window: [f32; 2],
    /// What the wall is made of.
    pub courses: Courses,
    /// What is in its openings.
    pub front: Front,
}

/// A place in the grid of windows.
struct Cell {
    /// Number of the bay and of the storey.
    number: [i32; 2],
    /// Metres right of the middle of the opening, and above the floor.
    at: [f32; 2],
    /// Width of the bay and height of the storey in metres.
    size: [f32; 2],
}

impl Facade {
    fn cell(&self, place: &Place) -> Cell {
        let axis = if place.face == 0 { 2 } else { 0 };
        let (length, height) = (2.0 * place.half[axis], 2.0 * place.half.y);
        let bays = (length / self.bay).round().max(1.0);
        let (u, v) = (0.5 * (place.local[axis] + 1.0) * bays, 0.5 * (place.local.y + 1.0) * self.storeys);
        let size = [length / bays, height / self.storeys];
        Cell {
            number: [u.floor() as i32 + 97 * axis as i32, v.floor() as i32],
            at: [(u - u.floor() - 0.5) * size[0], (v - v.floor()) * size[1]],
            size,
        }
    }

    /// What a place looks like.
    pub fn surface(&self, place: &Place) -> Surface {
        if place.face == 1 {
            return Surface::matt(self.wall * 0.6);
        }
        let cell = self.cell(place);
        let which = speck(cell.number[0], cell.number[1], place.key);
        match self.front {
            Front::Shop(sign) => self.shop(place, &cell, which, sign),
            Front::Ribbons => self.ribbon(place, &cell, which),
            Front::Door(leaf) if which < 0.3 => self.door(place, &cell, leaf),
            Front::Shutters(colour) => self.window(place, &cell, which, Some(colour)),
            _ => self.window(place, &cell, which, None),
        }
    }

    /// The bare wall at metres along and up.
    fn bare(&self, place: &Place) -> Surface {
        let metres = place.local.times(place.half);
        let (along, up) = (if place.face == 0 { metres.z } else { metres.x }, metres.y + place.half.y);
        let stain = 1.0 + 0.12 * fractal(0.5 * along, 0.35 * up, 2, place.key);
        let joint = |size: [f32; 2], gap: f32, shift: f32| {
            let row = (up / size[1]).floor();
            let [u, v] = [along / size[0] + shift * row, up / size[1]];
            let tone = speck(u.floor() as i32, row as i32, place.key + 1) - 0.5;
            let is_gap = u.rem_euclid(1.0) * size[0] < gap || v.rem_euclid(1.0) * size[1] < gap;
            place.detail(size[1]) * if is_gap { -0.28 } else { 0.25 * tone }
        };
        let pattern = match self.courses {
            Courses::Plaster => 0.0,
            Courses::Brick => joint([0.5, 0.2], 0.03, 0.5),
            Courses::Panels => joint([2.4, 1.5], 0.06, 0.0),
            Courses::Siding => joint([6.0, 0.3], 0.05, 0.37),
        };
        Surface::matt(self.wall * (stain + pattern))
    }

    fn window(&self, place: &Place, cell: &Cell, which: f32, shutters: Option<Vec3>) -> Surface {
        let (half, tall) = (0.5 * self.window[0] * cell.size[0], self.window[1] * cell.size[1]);
        let sill = 0.3 * cell.size[1];
        let (out, up) = (cell.at[0].abs() - half, cell.at[1] - sill);
        if (0.0..tall).contains(&up) && out < 0.0 {
            let edge = (-out).min(up).min(tall - up);
            let bar = cell.at[0].abs().min((up - 0.62 * tall).abs());
            return if edge < 0.09 || bar < 0.035 { self.frame() } else { self.pane(which, up / tall) };
        }
        if (-0.16..0.0).contains(&up) && out < 0.14 {
            return Surface::matt(self.trim * 0.9);
        }
        match shutters {
            Some(colour) if (0.0..tall).contains(&up) && out < half.min(0.5) => {
                let slats = 1.0 - 0.25 * place.detail(0.1) * f32::from((up / 0.1).rem_euclid(1.0) < 0.4);
                Surface::matt(colour * slats)
            }
            // A lintel casts a thin shadow.
            _ if (tall..tall + 0.1).contains(&up) && out < 0.1 => Surface::matt(self.wall * 0.7),
            _ => self.bare(place),
        }
    }

    fn frame(&self) -> Surface {
        Surface::matt(self.trim)
    }

    /// Glass, with a curtain or a lit room behind some windows.
    fn pane(&self, which: f32, up: f32) -> Surface {
        let curtain = vec3(0.5, 0.46, 0.4);
        let colour = match which {
            w if w > 0.82 => self.glass.lerp(curtain, 0.6),
            w if w > 0.66 && up > 0.55 => self.glass.lerp(curtain, 0.5),
            w => self.glass * (0.6 + w),
        };
        let is_lit = (which * 7.0).fract() < 0.33;
        let warm = vec3(0.75, 0.52, 0.26).lerp(vec3(0.6, 0.62, 0.6), (which * 13.0).fract() * 0.5);
        let night = if is_lit { warm * (0.3 + 0.6 * (which * 29.0).fract()) } else { Vec3::default() };
        Surface { colour, glow: [Vec3::default(), night], gloss: 0.22 }
    }

    /// Storeys of glass between parapets.
    fn ribbon(&self, place: &Place, cell: &Cell, which: f32) -> Surface {
        let up = cell.at[1] / cell.size[1] - 0.3;
        if !(0.0..self.window[1]).contains(&up) {
            return self.bare(place);
        }
        let post = 0.5 * cell.size[0] - cell.at[0].abs();
        if post < 0.07 || up < 0.03 { self.frame() } else { self.pane(which, up) }
    }

    fn door(&self, place: &Place, cell: &Cell, leaf: Vec3) -> Surface {
        let [x, y] = cell.at;
        let half = (0.3 * cell.size[0]).min(0.6);
        if x.abs() > half + 0.12 || y > 2.5 {
            return self.bare(place);
        }
        if x.abs() > half || y > 2.38 {
            return self.frame();
        }
        if y > 2.05 {
            return self.pane(0.5, 0.5);
        }
        let panel = smooth(0.06, 0.1, (half - x.abs()).min((y - 1.0).abs()));
        Surface::matt(leaf * (0.75 + 0.25 * panel))
    }

    fn shop(&self, place: &Place, cell: &Cell, which: f32, sign: Vec3) -> Surface {
        let ([x, y], half) = (cell.at, 0.5 * cell.size[0] - 0.22);
        let head = 0.72 * cell.size[1];
        if (head..head + 0.6).contains(&y) {
            let letters = speck((9.0 * x) as i32, cell.number[0], place.key) > 0.5;
            let is_text =
                place.detail(0.15) > 0.5 && letters && (y - head - 0.3).abs() < 0.15 && x.abs() < 0.6 * half;
            let colour = if is_text { self.trim } else { sign };
            return Surface { glow: [Vec3::default(), colour * 0.5], ..Surface::matt(colour) };
        }
        let plinth = if which > 0.6 && x.abs() < 0.6 { 0.0 } else { 0.5 };
        if x.abs() > half || y < plinth || y > head {
            return self.bare(place);
        }
        let edge = (half - x.abs()).min(head - y).min(y - plinth);
        if edge < 0.07 || (plinth == 0.0 && (x.abs() - 0.6).abs() < 0.05) {
            return Surface::matt(self.trim * 0.5);
        }
        // Goods on shelves.
        let goods = speck((2.5 * x) as i32 + 40 * cell.number[0], (2.0 * y) as i32, place.key);
        let colour = self.glass.lerp(vec3(0.5 * goods, 0.3, 0.45 * (1.0 - goods)), 0.25 * goods);
        Surface { colour, glow: [Vec3::default(), vec3(0.6, 0.48, 0.3) * (0.3 + 0.6 * goods)], gloss: 0.2 }
    }
}

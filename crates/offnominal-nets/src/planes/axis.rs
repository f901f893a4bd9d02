//! One axis of a convolution: which numbers its taps read, for the output and for the gradient of the input.
//!
//! Output o reads the inputs `o·stride + k·dilation − padding`, for each tap k. With q and r for the quotient and the
//! remainder of `k·dilation` by the stride, that is place `o + q` of the inputs of phase r, which are every stride-th
//! input. So a tap reads neighbours for neighbours, whatever the stride.

use std::ops::Range;

/// One axis of a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    /// Of the input.
    pub size: usize,
    /// Taps.
    pub kernel: usize,
    /// Inputs from output to output.
    pub stride: usize,
    /// Inputs from tap to tap.
    pub dilation: usize,
    /// Zeros before the first and after the last input.
    pub padding: [usize; 2],
}

/// How an axis is laid out before it is read: phases of so many places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fill {
    /// The phases.
    pub phases: Vec<Phase>,
    /// Numbers from place to place.
    pub step: usize,
    /// Places.
    pub len: usize,
    /// Numbers that exist.
    pub size: usize,
}

/// A phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// The number at the first place; one that does not exist is zero.
    first: isize,
    /// The places whose numbers exist.
    pub places: Range<usize>,
}

/// A tap, and where it reads for the first output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tap {
    /// Which.
    pub number: usize,
    /// The phase that it reads.
    pub phase: usize,
    /// The place.
    pub place: usize,
}

/// Outputs that have the same taps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// The first of them.
    pub first: usize,
    /// From each to the next.
    pub step: usize,
    /// How many.
    pub count: usize,
    /// What they read.
    pub taps: Vec<Tap>,
}

impl Axis {
    /// How many outputs there are; none if the kernel does not fit.
    pub fn outputs(&self) -> usize {
        let reach = self.dilation * (self.kernel - 1) + 1;
        (self.size + self.padding[0] + self.padding[1])
            .checked_sub(reach)
            .map_or(0, |rest| rest / self.stride + 1)
    }

    /// Quotients and remainders of the taps.
    fn parts(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let Axis { kernel, stride, dilation, .. } = *self;
        (0..kernel).map(move |k| (k * dilation / stride, k * dilation % stride))
    }

    /// From input to output.
    pub fn forward(&self) -> (Fill, Vec<Lane>) {
        let mut phases: Vec<usize> = self.parts().map(|(_, r)| r).collect();
        phases.sort_unstable();
        phases.dedup();
        let count = self.outputs();
        let phase = |r| phases.binary_search(&r).expect("the phase of a tap");
        let tap = |(number, (q, r))| Tap { number, phase: phase(r), place: q };
        let taps: Vec<Tap> = self.parts().enumerate().map(tap).collect();
        let len = count + taps.iter().map(|t| t.place).max().unwrap_or(0);
        let first = phases.iter().map(|&r| r as isize - self.padding[0] as isize).collect();
        (Fill::new(first, self.stride, len, self.size), vec![Lane { first: 0, step: 1, count, taps }])
    }

    /// From the gradient of so many outputs to that of the input: the inputs of a phase have the same taps.
    pub fn backward(&self, outputs: usize) -> (Fill, Vec<Lane>) {
        let (stride, padding) = (self.stride, self.padding[0]);
        // Of each phase, its first input, the place of that, and how many there are.
        let starts = (0..stride).filter_map(|r| {
            let first = (r as isize - padding as isize).rem_euclid(stride as isize) as usize;
            let count = self.size.checked_sub(first + 1)? / stride + 1;
            Some((r, first, (first + padding) / stride, count))
        });
        let starts: Vec<_> = starts.collect();
        let taps = |r: usize| self.parts().enumerate().filter(move |(_, (_, of))| *of == r);
        let places = starts.iter().flat_map(|&(r, _, place, count)| {
            taps(r)
                .map(move |(_, (q, _))| (place as isize - q as isize, (place + count) as isize - q as isize))
        });
        let (from, to) = places.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0));
        let lane = |&(r, first, place, count): &(usize, usize, usize, usize)| {
            let at = |q: usize| (place as isize - q as isize - from) as usize;
            let taps = taps(r).map(|(number, (q, _))| Tap { number, phase: 0, place: at(q) }).collect();
            Lane { first, step: stride, count, taps }
        };
        let lanes = starts.iter().map(lane).collect();
        (Fill::new(vec![from], 1, (to - from) as usize, outputs), lanes)
    }
}

impl Fill {
    fn new(first: Vec<isize>, step: usize, len: usize, size: usize) -> Fill {
        let phase = |first: isize| {
            let from = step as isize;
            let place =
                |number: isize| (number - first + from - 1).div_euclid(from).clamp(0, len as isize) as usize;
            Phase { first, places: place(0)..place(size as isize) }
        };
        Fill { phases: first.into_iter().map(phase).collect(), step, len, size }
    }

    /// Whether the layout is the axis itself.
    pub fn is_plain(&self) -> bool {
        self.phases.len() == 1 && self.phases[0].first == 0 && self.step == 1 && self.len == self.size
    }

    /// The number at a place that exists.
    pub fn number(&self, phase: usize, place: usize) -> usize {
        (self.phases[phase].first + (place * self.step) as isize) as usize
    }
}

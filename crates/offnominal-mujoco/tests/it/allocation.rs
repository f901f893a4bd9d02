//! Stepping, looking and drawing allocate nothing after the first time.

use offnominal_core::frame::Frame;
use offnominal_mujoco::raster::{Quality, Rasteriser};
use offnominal_mujoco::{Look, Model, Simulation, Viewer};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = COUNT.with(Cell::get);
    work();
    COUNT.with(Cell::get) - before
}

/// A ball that falls onto a floor.
const BALL: &str = r#"<mujoco><worldbody><camera pos="0 -4 1" xyaxes="1 0 0 0 0 1"/><geom type="plane" size="0 0 1"/>
    <body pos="0 0 0.3"><freejoint/><geom size="0.2"/></body></worldbody></mujoco>"#;

#[test]
fn steps_and_images_allocate_nothing() {
    let mut sim = Simulation::new(Model::from_xml(BALL).unwrap()).unwrap();
    let (mut viewer, mut rasteriser) =
        (Viewer::new(sim.model()).unwrap(), Rasteriser::new(Quality::Observation));
    let (mut frame, looks) = (Frame::new(32, 32), [Look::default(); 2]);
    let mut once = |sim: &mut Simulation| {
        sim.step(5).unwrap();
        rasteriser.draw(viewer.look(sim, 0, &looks), &mut frame);
    };
    assert!(allocations(|| once(&mut sim)) > 0, "the first image makes the buffers, so the counter works");
    assert_eq!(allocations(|| (0..100).for_each(|_| once(&mut sim))), 0);
    assert!(sim.n_contacts() > 0, "contacts were among it");
}

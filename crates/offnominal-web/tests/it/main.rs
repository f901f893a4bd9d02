//! What a page asks for, done here and in a browser.

mod browser;
mod desk;
mod tanks;

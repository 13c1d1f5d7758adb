//! whyslow in a browser. A worker of the page opens captures, which are read piece by piece through
//! the page's `read`, and then asks questions about them: those that the local server answers too
//! (`whyslow_page::answer`).
//!
//! ```text
//!   page ──files──▶ worker ──read(file, offset, …)──▶ whyslow-io ─▶ whyslow-core
//!        ◀─answers─        ◀──────── JSON ──────────  whyslow-page ◀── Analysis
//! ```
//!
//! What passes between worker and WebAssembly is bytes and numbers: `abi` has all of it. One thread
//! does everything, for threads need headers that static hosts do not send. Nothing is given back
//! when it is done, for WebAssembly's memory never shrinks: the next captures have a worker of
//! their own.

#[cfg(target_family = "wasm")]
mod abi;
mod browser_file;
mod engine;

pub use browser_file::{BrowserFile, ReadAt};
pub use engine::{Engine, OpenRequest, RequestedFile};

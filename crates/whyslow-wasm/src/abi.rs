//! What passes between the worker and this module: no tool generates it, and `web/src/engine/` is
//! its other side.
//!
//! The worker writes a request into memory that it asks for ([`request`]), calls [`open`] or
//! [`ask`], and reads the answer where [`answer_start`] and [`answer_length`] point. While it
//! waits, this module calls `read`, `progress` and `panicked` of the worker.
#![allow(unsafe_code, reason = "memory is shared with the worker, and addresses are all that passes")]

use crate::engine::Engine;
use bytes::Bytes;
use std::cell::RefCell;
use std::io;
use std::panic;
use std::sync::Arc;
use whyslow_io::Progress;

#[link(wasm_import_module = "worker")]
unsafe extern "C" {
    /// Reads `length` bytes of a file at most, from `offset`, to the address `to`. Returns how many
    /// came, 0 at the end, or -1 where the browser refuses.
    fn read(file: u32, offset: f64, to: *mut u8, length: usize) -> i32;
    /// Bytes read so far, and in total, or -1 where that is not known.
    fn progress(read: f64, total: f64);
    /// The message of a panic, as UTF-8: nothing runs after it.
    fn panicked(message: *const u8, length: usize);
}

#[derive(Default)]
struct State {
    engine: Option<Engine>,
    request: Vec<u8>,
    answer: Bytes,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Makes ready what every analysis needs, before there is one. The two halves of `seed` are random
/// numbers, which this module has no source of.
#[unsafe(no_mangle)]
pub extern "C" fn prepare(seed_high: u32, seed_low: u32) {
    whyslow_io::set_hash_seed(u64::from(seed_high) << 32 | u64::from(seed_low));
    panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        // SAFETY: the worker copies the message before it returns.
        unsafe { panicked(message.as_ptr(), message.len()) };
    }));
    whyslow_page::prepare();
}

/// Makes room for a request of this number of bytes, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn request(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.request = vec![0; length];
        state.request.as_mut_ptr()
    })
}

/// Opens the captures of the request. Returns 1 if it went well: the answer is the document; else
/// 0: the answer is the reason.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> u32 {
    act(|engine, request| engine.open(request, &mut report_progress))
}

/// Answers the question in the request. Returns as [`open`].
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> u32 {
    act(|engine, request| engine.ask(&String::from_utf8_lossy(request), &mut report_progress))
}

/// The address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer_start() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// The length of the last answer, bytes.
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    STATE.with_borrow(|state| state.answer.len())
}

fn act(act: impl FnOnce(&mut Engine, &[u8]) -> Result<Bytes, String>) -> u32 {
    STATE.with_borrow_mut(|state| {
        let engine = state.engine.get_or_insert_with(|| Engine::new(Arc::new(read_at)));
        // The last answer makes room for the next one.
        state.answer = Bytes::new();
        let outcome = act(engine, &std::mem::take(&mut state.request));
        let is_good = outcome.is_ok();
        state.answer = outcome.unwrap_or_else(Bytes::from);
        u32::from(is_good)
    })
}

fn read_at(file: u32, offset: u64, to: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the worker writes at most the given number of bytes, into this buffer alone.
    let came = unsafe { read(file, offset as f64, to.as_mut_ptr(), to.len()) };
    usize::try_from(came).map_err(|_| io::Error::other("the browser cannot read it: has the file changed, or moved?"))
}

fn report_progress(now: Progress) {
    // SAFETY: numbers only.
    unsafe { progress(now.read as f64, now.total.map_or(-1.0, |total| total as f64)) };
}

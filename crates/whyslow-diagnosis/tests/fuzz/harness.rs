//! Runs a target on many hostile inputs, and keeps the inputs with new outcomes for mutation.
//!
//! Works on the stable toolchain. Instead of measuring code coverage, a target returns the kind of
//! an input's outcome, and an input with a new kind joins the pool that is mutated.

use super::mutate::{Random, mutate};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time and most runs of a target in a test: these show that the target works. `make soak` and
/// `make fuzz` take longer and find rare failures.
const SECONDS: f64 = 0.5;
const RUNS: u64 = 20_000;
/// An input that takes this long counts as a hang.
const HANG: Duration = Duration::from_secs(60);
/// Maximum number of inputs in the pool.
const POOL: usize = 10_000;

/// A number that identifies the kind of an outcome.
pub(crate) fn kind_of(outcome: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    outcome.hash(&mut hasher);
    hasher.finish()
}

/// Runs `target` on the seeds and on mutations of them. Settings come from the environment: see
/// `README.md`.
///
/// # Panics
/// If the target panics; the input is written to `target/fuzz` first.
pub(crate) fn fuzz(name: &str, seeds: Vec<Vec<u8>>, target: impl Fn(&[u8]) -> u64) {
    if let Some(path) = std::env::var_os("FUZZ_INPUT") {
        target(&std::fs::read(path).unwrap());
        return;
    }
    let seed = setting("FUZZ_SEED").unwrap_or(1);
    let seconds = setting("FUZZ_SECONDS");
    let runs = setting("FUZZ_RUNS").unwrap_or(if seconds.is_some() { u64::MAX } else { RUNS });
    let deadline = Instant::now() + seconds.map_or(Duration::from_secs_f64(SECONDS), Duration::from_secs);
    let corpus = std::env::var_os("FUZZ_CORPUS").map(|folder| Path::new(&folder).join(name));

    let mut random = Random(seed);
    let mut pool = seeds;
    pool.extend(corpus.iter().flat_map(|folder| stored(folder)));
    assert!(!pool.is_empty(), "there is nothing to start from");
    let watchdog = Watchdog::new(name, seed);
    let mut kinds = HashSet::new();
    let mut slowest = (Duration::ZERO, Vec::new());
    let mut done = 0;
    let mut run = |done: u64, input: &[u8]| {
        watchdog.watch(input);
        let since = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| target(input))) {
            Ok(kind) => {
                if since.elapsed() > slowest.0 {
                    slowest = (since.elapsed(), input.to_vec());
                }
                kinds.insert(kind)
            }
            Err(panic) => {
                eprintln!("{name}: input {done} of seed {seed} failed; it is in {}", keep(name, input).display());
                resume_unwind(panic)
            }
        }
    };
    for input in &pool {
        run(0, input);
    }
    while done < runs && Instant::now() < deadline {
        let input = mutate(&mut random, &pool);
        done += 1;
        if run(done, &input) && pool.len() < POOL {
            if let Some(folder) = &corpus {
                store(folder, &input);
            }
            pool.push(input);
        }
    }
    eprintln!("{name}: {done} inputs of seed {seed}, {} kinds of outcome", kinds.len());
    let (time, input) = slowest;
    if seconds.is_some() {
        let place = keep(&format!("{name}-slowest"), &input);
        eprintln!("{name}: the slowest input took {} ms; it is {}", time.as_millis(), place.display());
    }
    assert!(kinds.len() > 1, "whatever the input, the outcome is the same: nothing is tested");
}

/// A whole number from the environment.
pub(crate) fn setting(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is {value:?}, which is not an integer")))
}

/// Writes a failing input and returns its path.
fn keep(name: &str, input: &[u8]) -> PathBuf {
    // The tests' scratch folder is directly in the target folder.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("fuzz");
    store(&folder.join(name), input)
}

fn store(folder: &Path, input: &[u8]) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join(format!("{:016x}", kind_of(&input)));
    std::fs::write(&path, input).unwrap();
    path
}

/// The inputs in a folder, in an order independent of the file system.
fn stored(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

/// Ends the process when an input takes longer than [`HANG`].
struct Watchdog {
    current: Arc<Mutex<Current>>,
}

/// The current input, and its start time.
type Current = Option<(Vec<u8>, Instant)>;

impl Watchdog {
    fn new(name: &str, seed: u64) -> Self {
        let current = Arc::new(Mutex::new(Current::None));
        let weak = Arc::downgrade(&current);
        let name = name.to_owned();
        std::thread::spawn(move || {
            // Ends with the run.
            while let Some(current) = weak.upgrade() {
                if let Some((input, since)) = &*current.lock().unwrap_or_else(PoisonError::into_inner)
                    && since.elapsed() > HANG
                {
                    eprintln!("{name}: an input of seed {seed} hangs; it is in {}", keep(&name, input).display());
                    std::process::abort();
                }
                drop(current);
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        Self { current }
    }

    fn watch(&self, input: &[u8]) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some((input.to_vec(), Instant::now()));
    }
}

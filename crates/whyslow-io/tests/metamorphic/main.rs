//! The same connection, captured differently, must not get a different verdict.
//!
//! Each capture is transformed as captures are on their way to a reader: cut, truncated,
//! anonymised, merged with others, with packets missing, coalesced, out of order, taken at the
//! other end. The cause that cost most stays, or is called possible at most. It never becomes
//! another certain cause.
//!
//! The bundled captures are tested always. METAMORPHIC=all adds the captures with known answers
//! (`make metamorphic`), METAMORPHIC=FOLDER those of a folder.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod packets;
mod session;
mod tests;
mod transform;
mod verdict;

use packets::Capture;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, OnceLock};
use transform::{ALL, Transformation};
use verdict::{Change, Verdict, verdict};

/// Minimum share of verdicts that stay or become less sure, over all transformations.
const LEAST: f64 = 0.98;
/// The same for each transformation: of the bundled captures one is more than a hundredth.
const LEAST_EACH: f64 = 0.95;
/// Larger captures of others are left out: a verdict depends on mechanisms, not on their number.
const MOST_PACKETS: usize = 20_000;

/// A capture and the verdict on it.
struct Whole {
    name: String,
    capture: Capture,
    verdict: Verdict,
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            files(&entry, into);
        } else {
            into.push(entry);
        }
    }
}

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples")
}

fn folders() -> Vec<PathBuf> {
    match std::env::var("METAMORPHIC") {
        Err(_) => vec![samples()],
        Ok(all) if all == "all" => {
            [Some(samples()), whyslow_testing::captures_if_any()].into_iter().flatten().collect()
        }
        Ok(folder) => vec![folder.into()],
    }
}

static WHOLE: LazyLock<Vec<Whole>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for folder in folders() {
        let mut found = Vec::new();
        files(&folder, &mut found);
        found.sort();
        all.extend(found.into_iter().map(|path| (folder.clone(), path)));
    }
    let mut whole = parallel(&all, |(folder, path)| {
        let capture = packets::read(path).filter(|capture| (4..MOST_PACKETS).contains(&capture.packets.len()))?;
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        let verdict = verdict(capture.link, &capture.packets)?;
        Some(Whole { name, capture, verdict })
    });
    whole.sort_by(|a, b| a.name.cmp(&b.name));
    whole
});

static FOUND: [OnceLock<Changes>; ALL.len()] = [const { OnceLock::new() }; ALL.len()];

/// Calls `act` for each on all processors; the results that there are, in any order.
fn parallel<T: Sync, R: Send>(all: &[T], act: impl Fn(&T) -> Option<R> + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (next, results) = (std::sync::atomic::AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    if let Some(result) = act(one) {
                        results.lock().unwrap().push(result);
                    }
                }
            });
        }
    });
    results.into_inner().unwrap()
}

/// How many verdicts changed in which way, and those that changed wrongly.
#[derive(Default)]
struct Changes {
    counts: BTreeMap<Change, usize>,
    wrong: Vec<(Change, String)>,
}

impl Changes {
    fn add(&mut self, change: Change, what: impl FnOnce() -> String) {
        *self.counts.entry(change).or_default() += 1;
        if change >= Change::Other {
            self.wrong.push((change, what()));
        }
    }

    /// The change by a transformation, determined once for all tests.
    fn of(transformation: &Transformation) -> &'static Self {
        let at = ALL.iter().position(|one| one.name == transformation.name).unwrap();
        FOUND[at].get_or_init(|| Self::find(transformation))
    }

    fn find(transformation: &Transformation) -> Self {
        let changes = Mutex::new(Self::default());
        parallel(&WHOLE, |whole| {
            let Whole { name, capture, verdict: before } = whole;
            let packets = (transformation.apply)(capture);
            // The rest may hold no connection: then there is no verdict.
            let after = verdict(capture.link, &packets).unwrap_or_default();
            let change = Change::between(before, &after, transformation.takes);
            changes.lock().unwrap().add(change, || format!("{name}: {before} became {after}"));
            Some(())
        });
        changes.into_inner().unwrap()
    }

    fn count(&self, change: Change) -> usize {
        self.counts.get(&change).copied().unwrap_or_default()
    }

    /// Verdicts, and those of them that stay or become less sure.
    fn right(&self) -> (usize, usize) {
        (self.counts.values().sum(), self.count(Change::Stays) + self.count(Change::LessSure))
    }

    /// The row of the table.
    fn row(&self, name: &str) -> String {
        let all: usize = self.counts.values().sum();
        let [stays, less, other, certain] =
            [Change::Stays, Change::LessSure, Change::Other, Change::OtherCertain].map(|change| self.count(change));
        let share = 100.0 * (stays + less) as f64 / all.max(1) as f64;
        format!("| {name} | {all} | {stays} | {less} | {other} | {certain} | {share:.1} % |")
    }

    /// # Panics
    /// If too many verdicts change, or one becomes another certain cause.
    fn assert_few(&self, name: &str) {
        let mut wrong: Vec<_> = self.wrong.iter().collect();
        wrong.sort();
        println!("{}", self.row(name));
        for (change, what) in wrong {
            println!("  {change:?}: {what}");
        }
        let (all, right) = self.right();
        assert!(all > 0, "{name}: no capture was transformed");
        assert_eq!(self.count(Change::OtherCertain), 0, "{name}: another certain cause");
        assert!(right as f64 >= LEAST_EACH * all as f64, "{name}: {right} of {all} verdicts stay or become less sure");
    }
}

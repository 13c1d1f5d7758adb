//! [`Baseline`]: an earlier run, as printed by `whyslow --json`, and the changes since.

use anyhow::{Context, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use whyslow_analysis::{Analysis, End, LimitingFactor, SCHEMA};

/// A transfer that takes longer than in the baseline by this share is slower, unless given: the
/// medians of two series of runs on one machine differ by less.
pub(crate) const SLOWER: f64 = 0.2;

/// Largest file that is read.
const MAX_BYTES: u64 = 1 << 30;
/// Smallest reported difference, seconds: the same as the threshold of a slow transfer.
const LEAST_S: f64 = 0.1;
/// Limits during which no user waits.
const IDLE: [&str; 2] = ["idle", "client-think"];
/// Phases before the first byte that a user waits for, as in `Transfer::waited`.
const WAITED: [&str; 3] = ["request-wait", "server-think", "timeout"];

/// The transfers of a run.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    transfers: Vec<Past>,
}

/// A transfer, as far as it is compared.
#[derive(Clone, Debug, Default, PartialEq)]
struct Past {
    key: Key,
    /// Connection and number, in its own run.
    place: (u64, usize),
    waited_s: f64,
    /// Seconds under each limit.
    limits: BTreeMap<String, f64>,
}

/// Transfers of two runs with the same key are compared, in their order: server, direction, label.
type Key = (String, bool, Option<String>);

/// A transfer of this run next to the baseline's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    place: (u64, usize),
    now_s: f64,
    before_s: f64,
    /// The limit that took most of the difference, and by how much.
    most: Option<(String, f64)>,
}

#[derive(Deserialize)]
struct Run {
    schema: String,
    connections: Vec<RunConnection>,
}

#[derive(Deserialize)]
struct RunConnection {
    id: u64,
    server: RunEndpoint,
    transfers: Vec<RunTransfer>,
}

#[derive(Deserialize)]
struct RunEndpoint {
    address: String,
    port: u16,
    name: Option<String>,
}

#[derive(Deserialize)]
struct RunTransfer {
    from: String,
    duration_s: f64,
    label: Option<String>,
    #[serde(default)]
    before: Vec<RunLimit>,
    limits: Vec<RunLimit>,
}

#[derive(Deserialize)]
struct RunLimit {
    limit: String,
    seconds: f64,
}

impl Baseline {
    /// Reads what `whyslow --json` printed.
    ///
    /// # Errors
    /// When it cannot be read, or is something else.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let name = || format!("--baseline {}", path.display());
        let file = File::open(path).with_context(name)?;
        let run: Run = serde_json::from_reader(BufReader::new(file.take(MAX_BYTES)))
            .with_context(name)
            .context("a baseline is what `whyslow --json` printed")?;
        if run.schema != SCHEMA {
            bail!("{}: its schema is {}, and not {SCHEMA}", name(), run.schema);
        }
        let transfers = run.connections.iter().flat_map(|connection| {
            let server = &connection.server;
            let host = server.name.as_ref().unwrap_or(&server.address);
            connection.transfers.iter().enumerate().map(move |(index, transfer)| Past {
                key: (format!("{host}:{}", server.port), transfer.from == "server", transfer.label.clone()),
                place: (connection.id, index + 1),
                ..Past::with_times(
                    transfer.duration_s,
                    transfer.before.iter().map(|one| (one.limit.as_str(), one.seconds)),
                    transfer.limits.iter().map(|one| (one.limit.as_str(), one.seconds)),
                )
            })
        });
        Ok(Self { transfers: transfers.collect() })
    }

    /// The transfers of this run.
    fn of(analysis: &Analysis) -> Self {
        let transfers = analysis.connections.iter().flat_map(|connection| {
            let host = connection.server.name.as_ref().unwrap_or(&connection.server.address);
            connection.transfers.iter().enumerate().map(move |(index, transfer)| {
                let seconds = |one: &whyslow_analysis::LimitShare| (slug(one.limit), one.seconds.as_secs_f64());
                let (before, limits): (Vec<_>, Vec<_>) =
                    (transfer.before.iter().map(seconds).collect(), transfer.limits.iter().map(seconds).collect());
                Past {
                    key: (
                        format!("{host}:{}", connection.server.port),
                        transfer.from == End::Server,
                        transfer.label.clone(),
                    ),
                    place: (connection.id, index + 1),
                    ..Past::with_times(transfer.duration_s.as_secs_f64(), before.into_iter(), limits.into_iter())
                }
            })
        });
        Self { transfers: transfers.collect() }
    }

    /// The changes since the earlier run, for each transfer in both runs.
    pub(crate) fn changes(&self, analysis: &Analysis) -> Vec<Change> {
        let mut before: HashMap<&Key, std::vec::IntoIter<&Past>> = HashMap::new();
        let mut lists: HashMap<&Key, Vec<&Past>> = HashMap::new();
        for past in &self.transfers {
            lists.entry(&past.key).or_default().push(past);
        }
        for (key, list) in lists {
            before.insert(key, list.into_iter());
        }
        let now = Self::of(analysis);
        let matched = now.transfers.iter().filter_map(|now| {
            let past = before.get_mut(&now.key)?.next()?;
            Some(Change {
                place: now.place,
                now_s: now.waited_s,
                before_s: past.waited_s,
                most: now.largest_difference(past),
            })
        });
        matched.collect()
    }
}

/// The limit's public name.
fn slug(limit: LimitingFactor) -> &'static str {
    limit.slug()
}

impl Past {
    fn with_times<'a>(
        duration_s: f64,
        before: impl Iterator<Item = (&'a str, f64)>,
        limits: impl Iterator<Item = (&'a str, f64)>,
    ) -> Self {
        let mut all: BTreeMap<String, f64> = BTreeMap::new();
        let mut waited_s = duration_s;
        for (limit, seconds) in before.filter(|(limit, _)| WAITED.contains(limit)) {
            waited_s += seconds;
            *all.entry(limit.to_owned()).or_default() += seconds;
        }
        for (limit, seconds) in limits {
            if limit == IDLE[0] {
                waited_s -= seconds;
            }
            *all.entry(limit.to_owned()).or_default() += seconds;
        }
        Self { waited_s: waited_s.max(0.0), limits: all, ..Self::default() }
    }

    /// The limit that took more time than before, the most of them.
    fn largest_difference(&self, before: &Self) -> Option<(String, f64)> {
        let more = self.limits.iter().filter(|(limit, _)| !IDLE.contains(&limit.as_str()));
        let more = more.map(|(limit, now)| (limit.clone(), now - before.limits.get(limit).copied().unwrap_or(0.0)));
        more.filter(|(_, more)| *more > 0.0).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

impl Change {
    /// Whether it is about this transfer.
    pub(super) fn is_of(&self, connection: u64, transfer: usize) -> bool {
        self.place == (connection, transfer)
    }

    /// Whether it takes longer by this share, and by a time that is reported.
    pub(crate) fn is_slower(&self, by: f64) -> bool {
        self.now_s >= (1.0 + by) * self.before_s && self.now_s - self.before_s >= LEAST_S
    }

    /// `slower by 34 % than the baseline (1.34 s instead of 1.00 s), because slow-start took 310 ms
    /// more`.
    pub(crate) fn text(&self) -> String {
        let (now, before) = (time(self.now_s), time(self.before_s));
        let percent = (self.now_s / self.before_s.max(1e-9) - 1.0) * 100.0;
        let because = self
            .most
            .as_ref()
            .map_or(String::new(), |(limit, more)| format!(", because {limit} took {} more", time(*more)));
        if percent < 10_000.0 {
            format!("slower by {percent:.0} % than the baseline ({now} instead of {before}){because}")
        } else {
            format!("{now} instead of {before} in the baseline{because}")
        }
    }
}

fn time(seconds: f64) -> String {
    whyslow_report::text::units::figure(seconds, "s")
}

/// What is printed below the page: the transfers that are slower, and how many were compared.
pub(crate) fn text(changes: &[Change]) -> String {
    let slower: Vec<&Change> = changes.iter().filter(|change| change.is_slower(SLOWER)).collect();
    let (now, before): (f64, f64) =
        changes.iter().fold((0.0, 0.0), |(now, before), change| (now + change.now_s, before + change.before_s));
    let mut out = match changes.len() {
        0 => return "baseline: no transfer of this run is in it (same server, direction and label)\n".to_owned(),
        count => format!(
            "baseline: {count} transfers compared, {} slower; {} summed instead of {}\n",
            slower.len(),
            time(now),
            time(before)
        ),
    };
    for change in slower.iter().take(20) {
        out += &format!("  #{}.{} {}\n", change.place.0, change.place.1, change.text());
    }
    out
}

//! The command line of `whyslow host`.

use clap::Args;
use std::time::Duration;
use whyslow_cli::cause_pages::nearest;
use whyslow_cli::quantity;
use whyslow_host::{Finding, Namespaces, Prefix, Process, Settings, Slug, causes};
use whyslow_report::words::Lang;
use whyslow_units::Nanos;

/// What to look at, and how.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Nothing is changed. Without root it shows what it can, and says what is missing.\n\
Exit status: 0 the machine was read, 1 a cause of --fail-on was found, 2 it could not be read.")]
pub(crate) struct HostArgs {
    /// Observe for this long, and count only events during that time: counts since boot may be long
    /// past.
    #[arg(long = "for", value_name = "TIME", value_parser = quantity::time, conflicts_with = "watch")]
    over: Option<Nanos>,
    /// Look again and again, and count from one look to the next.
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    watch: Option<Nanos>,
    /// End --watch after this many snapshots [default: Ctrl-C ends it].
    #[arg(long, value_name = "N", requires = "watch", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    count: Option<u64>,

    /// Only connections with this peer, an address or `192.0.2.0/24`; counts for the whole machine
    /// are left out.
    #[arg(long, value_name = "ADDRESS")]
    peer: Option<Prefix>,
    /// Only connections of this process, by number or name; counts for the whole machine are left
    /// out.
    #[arg(long, value_name = "PROCESS", value_parser = process)]
    process: Option<Process>,
    /// Another network namespace: of a process, or by its name (`ip netns`); `all`: every one.
    #[arg(long, value_name = "all|PID|NAME", value_parser = namespaces)]
    netns: Option<Namespaces>,

    /// Show every finding with all its evidence, every peer and every process.
    #[arg(long)]
    pub(super) full: bool,
    /// Print a JSON object (schema whyslow-host/2); with --watch one for each look, a line each.
    #[arg(long)]
    pub(super) json: bool,
    /// With --json: the sentences about the findings too, in both languages.
    #[arg(long, requires = "json")]
    pub(super) words: bool,
    /// The language of the sentences: `en`, `zh` [default: from LC_ALL, LC_MESSAGES or LANG].
    #[arg(long, value_name = "LANGUAGE", value_parser = whyslow_cli::language::parse)]
    pub(super) lang: Option<Lang>,
    /// Exit with status 1 if this was found: `close-wait`, `stale-ssthresh`, … (`whyslow
    /// causes` lists them), or `any`; may be given more than once.
    #[arg(long, value_name = "CAUSE", value_parser = FailOn::read)]
    pub(super) fail_on: Vec<FailOn>,
}

/// What makes the exit status 1; none is any finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FailOn(Option<Slug>);

/// When looks are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    Once,
    /// Twice, with this interval.
    Over(Duration),
    /// Repeatedly, with this interval, and at most this many times.
    Watch(Duration, Option<u64>),
}

impl HostArgs {
    pub(super) fn pace(&self) -> Pace {
        let duration = |time: Nanos| Duration::from_nanos(u64::try_from(time.0).unwrap_or(0));
        match (self.over, self.watch) {
            (Some(time), _) => Pace::Over(duration(time)),
            (None, Some(time)) => Pace::Watch(duration(time), self.count),
            (None, None) => Pace::Once,
        }
    }

    pub(super) fn settings(&self) -> Settings {
        Settings { namespaces: self.netns.clone().unwrap_or_default(), peer: self.peer, process: self.process.clone() }
    }
}

impl FailOn {
    fn read(text: &str) -> Result<Self, String> {
        if text == "any" {
            return Ok(Self(None));
        }
        match causes::from_slug(text) {
            Some(cause) => Ok(Self(Some(cause))),
            None => Err(match nearest(text, causes::ALL.iter().map(|cause| cause.slug())) {
                Some(near) => format!("no finding of a host is named `{text}`; did you mean `{near}`?"),
                None => format!("no finding of a host is named `{text}`; `whyslow causes` lists them"),
            }),
        }
    }

    pub(super) fn is_in(self, findings: &[Finding]) -> bool {
        findings.iter().any(|finding| self.0.is_none_or(|cause| finding.cause == Some(cause)))
    }
}

fn process(text: &str) -> Result<Process, String> {
    match text.parse() {
        Ok(number) => Ok(Process::Number(number)),
        Err(_) if text.is_empty() || text.contains('/') => {
            Err(format!("`{text}` is neither the number nor the name of a process, as `nginx`"))
        }
        Err(_) => Ok(Process::Name(text.to_owned())),
    }
}

fn namespaces(text: &str) -> Result<Namespaces, String> {
    if text.is_empty() || text.contains('/') {
        return Err(format!("`{text}` is neither `all`, nor a process, nor a name of `ip netns`"));
    }
    text.parse().map_err(|error| match error {})
}

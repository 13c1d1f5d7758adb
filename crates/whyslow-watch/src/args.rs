//! `whyslow watch` as it is typed.

use super::choice::{HolderChoice, PodPattern};
use super::metrics::Servers;
use anyhow::bail;
use clap::Args as ClapArgs;
use std::net::SocketAddr;
use whyslow_analysis::cause::Cause;
use whyslow_cli::output::OutputPath;
use whyslow_cli::quantity;
use whyslow_cli::select::{Selection, filter};
use whyslow_otlp::Endpoint;
use whyslow_units::Nanos;

/// Explain why transfers are slow as they end: from this machine's network, a capture that grows,
/// or a pipe.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "`whyslow watch` watches all interfaces, `whyslow watch -i eth0 port 443` what the filter takes of one,\n\
`whyslow watch '/captures/ring*.pcapng'` the files of dumpcap or tcpdump as they grow, and\n\
`ssh host tcpdump -U -s128 -w- tcp | whyslow watch -` another machine; `--view` shows it in the browser."
)]
pub struct Watch {
    /// Captures that grow, or a pattern of their names (in quotes, so that files to come are
    /// found), or `-` for a pipe; else a filter, as `tcp port 443` (the language of tcpdump).
    #[arg(value_name = "FILE|FILTER")]
    pub(crate) what: Vec<String>,

    /// Watch this interface; may be given more than once [default: all of them].
    #[arg(long, short, value_name = "NAME")]
    pub(crate) interface: Vec<String>,

    /// Find programs in all network namespaces, so that connections of pods and containers have
    /// theirs: for a node of Kubernetes.
    #[arg(long)]
    pub(crate) node: bool,

    /// Print which programs hold connections: what a watch of root leaves to a process of its own.
    #[cfg(target_os = "linux")]
    #[arg(long, hide = true)]
    pub(crate) name_owners: bool,

    /// End after this time, as `60s`.
    #[arg(long = "for", value_name = "TIME", value_parser = quantity::pause)]
    pub(crate) duration: Option<Nanos>,

    /// End when standard input ends: with the program that started this one and holds it.
    #[arg(long)]
    pub(crate) until_eof: bool,

    /// List transfers that took longer than this [default: 1s for lines and --keep, else all].
    #[arg(long, value_name = "TIME", value_parser = quantity::time, help_heading = "Selecting")]
    pub(crate) slower_than: Option<Nanos>,

    /// Only connections that match, as `host 192.0.2.1 and not port 22` (docs/usage.md has the
    /// syntax).
    #[arg(long, short = 'Y', value_name = "EXPR", value_parser = filter::parse, help_heading = "Selecting")]
    pub(crate) filter: Option<filter::Filter>,

    /// Only connections with this server: its name, its address, or either with its port.
    #[arg(long, value_name = "NAME", help_heading = "Selecting")]
    pub(crate) server: Option<String>,

    /// Only connections of this program on this machine: its name or its number.
    #[arg(long, value_name = "NAME|PID", help_heading = "Selecting")]
    pub(crate) process: Option<String>,

    /// Only connections of this container on this machine: its name in the pod, or the beginning
    /// of its id.
    #[arg(long, value_name = "NAME|ID", help_heading = "Selecting")]
    pub(crate) container: Option<String>,

    /// Only connections of these pods on this machine, as `shop/web-0` or `shop/web-*`.
    #[arg(long, value_name = "[NAMESPACE/]POD", value_parser = PodPattern::read, help_heading = "Selecting")]
    pub(crate) pod: Option<PodPattern>,

    /// Only connections of pods in this namespace of Kubernetes.
    #[arg(long, value_name = "NAME", help_heading = "Selecting")]
    pub(crate) namespace: Option<String>,

    /// Only transfers that this cause cost time.
    #[arg(long, value_name = "CAUSE", value_parser = whyslow_cli::cause_pages::known, help_heading = "Selecting")]
    pub(crate) cause: Option<Cause>,

    /// Report each connection of this machine that closes, with the kernel's account of it: bytes,
    /// retransmissions, and the time in which a full window or send buffer held it. The filter of
    /// packets does not matter for them.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["filter", "server", "cause", "view"])]
    pub(crate) closed: bool,

    /// Print a JSON object a line for each transfer, and one at the end (schema whyslow-watch/2).
    #[arg(long, help_heading = "Output", conflicts_with_all = ["lines"])]
    pub(crate) jsonl: bool,

    /// Print lines though stdout is a terminal.
    #[arg(long, help_heading = "Output")]
    pub(crate) lines: bool,

    /// Show all of it on a page that only this machine can open, at this port of 127.0.0.1 or any
    /// free one; it stays until Ctrl-C.
    #[arg(
        long,
        value_name = "PORT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        help_heading = "Output"
    )]
    pub(crate) view: Option<u16>,

    /// Servers and causes in each table.
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    pub(crate) top: usize,

    /// Offer metrics to Prometheus at this address, as `127.0.0.1:9464`.
    #[arg(long, value_name = "ADDRESS", help_heading = "Output")]
    pub(crate) metrics: Option<SocketAddr>,

    /// In metrics, label servers with the names that clients ask for, instead of their addresses.
    /// Clients choose these names; the first 50 get a label.
    #[arg(long, requires = "metrics", help_heading = "Output")]
    pub(crate) metrics_names: bool,

    /// Send each listed transfer as a span to this collector of OpenTelemetry, as
    /// `http://127.0.0.1:4318`, with its cause, program and pod (OTLP over HTTP).
    #[arg(long, value_name = "URL", help_heading = "Output")]
    pub(crate) otlp: Option<Endpoint>,

    /// Write the packets of slow transfers to this pcapng file, from memory: their handshakes and
    /// what came before included.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Packets")]
    pub(crate) keep: Option<OutputPath>,

    /// Most that this file and the one before it, FILE.previous, take together: the older packets
    /// go first [default: no limit].
    #[arg(long, value_name = "SIZE", requires = "keep", value_parser = quantity::size, help_heading = "Packets")]
    pub(crate) keep_size: Option<u64>,

    /// Memory for the packets that may yet be written.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = quantity::size, help_heading = "Packets")]
    pub(crate) memory: u64,

    /// Bytes taken of each packet.
    #[arg(long, value_name = "SIZE", default_value = "128B", value_parser = quantity::size, help_heading = "Packets")]
    pub(crate) snaplen: u64,

    /// Memory of the kernel's ring: more of it bears longer bursts.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = quantity::size, help_heading = "Packets")]
    pub(crate) ring: u64,

    /// The path's capacity, as `100mbit`: estimates stay below it.
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    pub(crate) path_rate: Option<f64>,
}

/// From where packets come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// Standard input.
    Pipe,
    /// Captures that grow: names, or patterns of names.
    Files(Vec<String>),
    /// Interfaces, none for all, and a filter.
    Interfaces(Vec<String>, Option<String>),
}

impl From {
    /// What a page calls it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Pipe => "standard input".to_owned(),
            Self::Files(names) => names.join(", "),
            Self::Interfaces(names, filter) => {
                let names = if names.is_empty() { "this machine".to_owned() } else { names.join(", ") };
                filter.iter().fold(names, |names, filter| format!("{names}: {filter}"))
            }
        }
    }
}

impl Watch {
    /// The source to watch. An argument that is not a file and does not look like one is a filter.
    pub(super) fn from(&self) -> From {
        let is_file = |word: &String| {
            let looks_so = word.contains(['/', '*', '?']) || word.contains(".pcap") || word.ends_with(".cap");
            looks_so || std::path::Path::new(word).exists()
        };
        match self.what.as_slice() {
            [one] if one == "-" && self.interface.is_empty() => From::Pipe,
            [first, ..] if self.interface.is_empty() && is_file(first) => From::Files(self.what.clone()),
            words => From::Interfaces(self.interface.clone(), (!words.is_empty()).then(|| words.join(" "))),
        }
    }

    /// Checks what does not fit the source.
    ///
    /// # Errors
    /// If an option needs another source.
    pub(super) fn check(&self, from: &From) -> anyhow::Result<()> {
        if self.until_eof && *from == From::Pipe {
            bail!("--until-eof: standard input is the capture, and its end is the end anyway");
        }
        if !matches!(from, From::Interfaces(..)) && (self.node || !self.holder().is_any()) {
            bail!(
                "--node, --process, --container, --pod and --namespace need interfaces: a capture does not show programs"
            );
        }
        if self.closed && !(cfg!(target_os = "linux") && matches!(from, From::Interfaces(..))) {
            bail!("--closed needs interfaces of Linux: a capture does not have the kernel's account of connections");
        }
        Ok(())
    }

    /// How metrics label servers.
    pub(super) fn servers(&self) -> Servers {
        if self.metrics_names { Servers::ByName } else { Servers::ByAddress }
    }

    /// The programs whose connections are reported.
    pub(super) fn holder(&self) -> HolderChoice {
        HolderChoice {
            process: self.process.clone(),
            container: self.container.clone(),
            pod: self.pod.clone(),
            namespace: self.namespace.clone(),
        }
    }

    /// The connections that are reported.
    pub(super) fn selection(&self) -> Selection {
        Selection { filter: self.filter.clone(), server: self.server.clone(), ..Selection::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        watch: Watch,
    }

    fn from(words: &[&str]) -> From {
        let line = Line::try_parse_from([&["watch"], words].concat());
        line.map(|line| line.watch.from()).unwrap_or(From::Pipe)
    }

    #[test]
    fn files_filters_and_pipes_are_distinguished() {
        let interfaces = |names: &[&str], filter: Option<&str>| {
            From::Interfaces(names.iter().map(ToString::to_string).collect(), filter.map(str::to_owned))
        };
        assert_eq!(from(&[]), interfaces(&[], None));
        assert_eq!(from(&["-"]), From::Pipe);
        assert_eq!(from(&["port", "443"]), interfaces(&[], Some("port 443")));
        assert_eq!(from(&["-i", "lo", "host", "192.0.2.1"]), interfaces(&["lo"], Some("host 192.0.2.1")));
        assert_eq!(from(&["-i", "lo", "a.pcap"]), interfaces(&["lo"], Some("a.pcap")));
        assert_eq!(from(&["a.pcap", "b.pcap"]), From::Files(vec!["a.pcap".into(), "b.pcap".into()]));
        assert_eq!(from(&["ring*"]), From::Files(vec!["ring*".into()]));
        assert_eq!(from(&["Cargo.toml"]), From::Files(vec!["Cargo.toml".into()]));
    }
}

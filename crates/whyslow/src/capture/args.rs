//! The command line of `whyslow capture`.

use super::target::Target;
use clap::{Args, ValueEnum};
use std::num::NonZero;
use whyslow_units::Nanos;

/// What to capture, and where.
#[derive(Clone, Debug, Args)]
pub(crate) struct Capture {
    /// Where: a host (as ssh names it), `ssh://USER@HOST:PORT`, `docker://CONTAINER`,
    /// `podman://CONTAINER`, `k8s://NAMESPACE/POD/CONTAINER` (POD alone, or NAMESPACE/POD), or
    /// `local`.
    #[arg(value_name = "TARGET", value_parser = Target::read)]
    pub(super) target: Target,
    /// Run it, and explain the packets as they come; without it the command is printed.
    #[arg(long)]
    pub(super) run: bool,
    /// The system of that machine [default: linux; for `local` this one's].
    #[arg(long, value_enum, value_name = "SYSTEM")]
    pub(super) on: Option<System>,
    /// Only packets that match this filter of tcpdump, as `host 192.0.2.1`.
    #[arg(long, value_name = "EXPRESSION")]
    pub(super) filter: Option<String>,
    /// Only packets from or to this TCP port.
    #[arg(long, value_name = "PORT")]
    pub(super) port: Option<NonZero<u16>>,
    /// Bytes to keep of each packet: 128 hold all headers; 0 keeps all.
    #[arg(long, value_name = "BYTES", default_value_t = 128)]
    pub(super) snaplen: u32,
    /// Only this interface [default: any].
    #[arg(long, value_name = "NAME")]
    pub(super) interface: Option<String>,
    /// Stop after this time, as `30s`.
    #[arg(long = "for", value_name = "TIME", value_parser = whyslow_cli::quantity::time)]
    pub(super) time: Option<Nanos>,
    /// Keep the last N files of 100 MB there, until stopped, for what happens rarely; they are
    /// fetched and explained later.
    #[arg(long, value_name = "N", conflicts_with = "run")]
    pub(super) ring: Option<NonZero<u16>>,
    /// Image with tcpdump, for containers and Kubernetes.
    #[arg(long, value_name = "IMAGE", default_value = "docker.io/nicolaka/netshoot")]
    pub(super) image: String,
    /// The ssh command with its options, as `ssh -J gate`.
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    pub(super) ssh: String,
    /// Options of whyslow for the packets, behind `--`, as `-- --json`.
    #[arg(last = true, value_name = "OPTION")]
    pub(super) explain: Vec<String>,
}

/// A system that captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum System {
    /// tcpdump.
    Linux,
    /// tcpdump.
    Macos,
    /// pktmon.
    Windows,
}

impl System {
    /// The system of this machine; other systems have tcpdump as Linux has it.
    pub(super) fn here() -> Self {
        match std::env::consts::OS {
            "macos" => Self::Macos,
            "windows" => Self::Windows,
            _ => Self::Linux,
        }
    }
}

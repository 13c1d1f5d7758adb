//! Reproduce a slow transfer on this machine's own TCP stack, and keep the truth.
//!
//! The lab builds a path between two hosts (three, with a proxy in the middle) out of network
//! namespaces. The hosts run the kernel's own TCP; the links between them are emulated in
//! userspace, packet by packet, and every decision is logged.
//!
//! ```text
//!   client namespace          emulator namespace           server namespace
//!   eth0 10.77.0.1  ──veth──  port ═ Link up   ═ port  ──veth──  eth0 10.77.0.2
//!    │ tap                         ═ Link down ═                   │ tap
//!   client.pcap                 verdicts, lateness              server.pcap
//! ```
//!
//! From the bottom:
//! - [`link`]: one direction of a link as a state machine; time is an argument, nothing touches the
//!   machine.
//! - `port`: carries packets between a host's device and the emulator.
//! - [`net`]: namespaces, devices, routes, sysctls; [`net::Path`] puts all together.
//! - [`pcap`], [`log`], [`trace`]: what is kept of a run; [`retransmissions`]: which segments
//!   it retransmitted, and why; [`noise`]: what the machine can have added to its times.
//!   [`check`]: is the emulator accurate on this machine?
//!
//! # Using a path
//!
//! ```no_run
//! use std::{net::TcpListener, process::Command};
//!
//! use whyslow_lab::link::config::{Conditions, LinkConfig};
//! use whyslow_lab::net::config::{EmulatorConfig, Host, HostConfig, LinkPair, PathConfig};
//! use whyslow_lab::net::{self, Path, Tap};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // First in `main`, while there is one thread: become root of a user namespace, if needed.
//! net::enter()?; // the error explains why namespaces are forbidden here
//!
//! let slow = LinkConfig::steady(Conditions { delay_ns: 50_000_000, ..Conditions::default() }, 1);
//! let mut path = Path::build(&PathConfig {
//!     client: HostConfig::default(),
//!     server: HostConfig::default(),
//!     proxy: None,
//!     cross: None,
//!     links: vec![LinkPair { up: slow.clone(), down: slow }],
//!     emulator: EmulatorConfig::default(),
//! })?;
//! let in_force = path.settings(Host::Server)?; // read back from the kernel
//! let file = "client.pcap".into();
//! path.start(&[Tap { host: Host::Client, is_far: false, file, snaplen: 128 }])?;
//!
//! // A socket belongs to the host that made it; a program and its descendants end when we do.
//! let address = (path.address(Host::Server)?, 8000);
//! let listener = path.within(Host::Server, || TcpListener::bind(address))??;
//! let server = path.thread(Host::Server, "server", move || listener.accept().map(drop))?;
//! let client = path.spawn(Host::Client, Command::new("curl"))?.wait()?;
//!
//! // Waits until the links are empty, for a second beyond their delay at most.
//! let outcome = path.stop()?;
//! assert!(outcome.void.is_empty(), "the machine spoiled this run: {:?}", outcome.void);
//! # Ok(())
//! # }
//! ```
//!
//! A path may be started again after `stop` (the hosts keep their metrics cache and settings).
// A scenario error carries its file, line and advice; there is one at most in a run, so its size
// costs nothing.
#![allow(clippy::result_large_err)]

pub mod agent;
pub mod check;
mod command;
pub mod count;
pub mod draws;
mod emulator;
pub mod exec;
pub mod experiments;
pub mod figures;
pub mod link;
pub mod log;
pub mod net;
pub mod noise;
pub mod pcap;
mod port;
mod program;
pub mod progress;
pub mod real;
pub mod retransmissions;
pub mod run;
pub mod sample;
pub mod scenario;
mod sched;
pub mod show;
mod tap;
pub mod trace;
pub mod truth;
pub mod work;

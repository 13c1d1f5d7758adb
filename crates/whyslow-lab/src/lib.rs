//! Reproduce a slow transfer on this machine's own TCP stack, and keep the truth.
//!
//! The lab builds a path between two hosts (three, with a proxy in the middle) out of network namespaces. The hosts run the
//! kernel's own TCP; the links between them are emulated in userspace, packet by packet, and every decision is logged.
//!
//! ```text
//!   client namespace          emulator namespace           server namespace
//!   eth0 10.77.0.1  ──veth──  port ═ Link up   ═ port  ──veth──  eth0 10.77.0.2
//!    │ tap                         ═ Link down ═                   │ tap
//!   client.pcap                 verdicts, lateness              server.pcap
//! ```
//!
//! From the bottom:
//! - [`link`]: one direction of a link as a state machine; time is an argument, nothing touches the machine.
//! - `port`: carries packets between a host's device and the emulator.
//! - [`net`]: namespaces, devices, routes, sysctls; [`net::Path`] puts all together.
//! - `pcap`, `log`: what is kept of a run. `check`: is the emulator accurate on this machine?
//!
//! # Using a path
//!
//! ```ignore
//! // First thing in `main`, while there is one thread: become root of a user namespace if we are not root already.
//! whyslow_lab::net::enter()?;                       // Err explains why namespaces are forbidden here
//!
//! let mut path = Path::build(&PathConfig { client, server, proxy: None, links: vec![LinkPair { up, down }], emulator })?;
//! path.address(Host::Server);                       // IpAddr; Host::Proxy: the side that the client connects to
//! path.settings(Host::Server);                      // BTreeMap<String, String>: sysctls in force, read back
//! path.routes(Host::Server);                        // String: `ip route` as it is in force
//!
//! path.start(&[Tap { host: Host::Client, file: dir.join("client.pcap"), snaplen: 128 }, …])?;   // taps, then emulator
//! path.epoch();                                     // Epoch { monotonic_ns, realtime_ns } of t = 0 in every log
//! let server = path.thread(Host::Server, "server", move || serve(…));  // std JoinHandle<T>; sockets made there are the host's
//! let answer = path.within(Host::Client, || connect(…));               // same, and waits
//! let child  = path.spawn(Host::Client, Command::new("curl"))?;        // std Child; it and all its descendants die with us
//! let outcome = path.stop()?;                       // waits until the links are empty (at most a second beyond the delay)
//! outcome.links;                                    // Vec<LinkLog>: link index, direction, records, counts, lateness
//! outcome.taps;                                     // Vec<TapOutcome>: packets, bytes, dropped
//! outcome.void;                                     // Vec<String>: why this run is not to be trusted; empty is good
//! drop(path);                                       // namespaces, devices: gone (also when we are killed)
//! ```
//!
//! A path may be started again after `stop` (the hosts keep their metrics cache and settings).

pub mod agent;
pub mod check;
pub mod count;
mod emulator;
pub mod experiments;
pub mod figures;
pub mod link;
pub mod log;
pub mod net;
pub mod pcap;
mod port;
pub mod run;
pub mod sample;
pub mod scenario;
mod sched;
pub mod show;
mod tap;
pub mod truth;
pub mod work;

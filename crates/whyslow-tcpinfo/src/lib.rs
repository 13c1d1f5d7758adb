//! The kernel's account of one connection: `TCP_INFO` ([`tcp_info`]), its route ([`routes`]); its
//! pace ([`pacing`]), which a program may set; and netlink ([`netlink`]), which reports routes.
//!
//! It is all that `whyslow-gateway` shares with the programs that read captures. All of it is
//! Linux'; elsewhere there is nothing to see.

#[cfg(target_os = "linux")]
pub mod attributes;
#[cfg(target_os = "linux")]
pub mod netlink;
#[cfg(target_os = "linux")]
pub mod pacing;
#[cfg(target_os = "linux")]
pub mod routes;
#[cfg(target_os = "linux")]
pub mod sys;
pub mod tcp_info;

//! [`dial`]: connects to the first address that answers (RFC 8305, "happy eyeballs").
//!
//! Addresses are tried in the system's order, families in turn. The next one is tried when one
//! fails, or has not answered for 200 ms (curl's `--happy-eyeballs-timeout-ms`); the first
//! connection wins, and the others are closed. Every attempt is reported.

use serde::Serialize;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use whyslow_live::capture::Recorder;

/// How long an address is waited for before the next one is tried as well.
const HEAD_START: Duration = Duration::from_millis(200);

/// The result for an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is the one.
    Connected,
    /// It was still waited for when another one connected.
    GivenUp,
    /// It did not answer in the time that was allowed.
    TimedOut,
    /// The system's or the server's refusal.
    Failed(String),
}

/// An address that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// The address.
    pub address: SocketAddr,
    /// When, from the beginning of connecting.
    pub after: Duration,
    /// How long it took.
    pub took: Duration,
    /// The result.
    pub outcome: Outcome,
}

/// The result of connecting.
pub(crate) struct Dialled {
    pub attempts: Vec<Attempt>,
    /// The connection; `None` if no address accepted one.
    pub stream: Option<TcpStream>,
}

/// Connects to one of the addresses. Whatever is sent is recorded, from the SYN on.
pub(crate) async fn dial(addresses: &[SocketAddr], within: Duration, recorder: Option<&Recorder>) -> Dialled {
    let began = Instant::now();
    let mut waiting = in_turn(addresses);
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut running = JoinSet::new();
    let deadline = tokio::time::Instant::now() + within;
    loop {
        if let Some(address) = waiting.pop_front() {
            let index = attempts.len();
            let after = began.elapsed();
            attempts.push(Attempt { address, after, took: Duration::ZERO, outcome: Outcome::GivenUp });
            match open(address, recorder) {
                Ok(socket) => {
                    running.spawn(async move { (index, socket.connect(address).await) });
                }
                Err(error) => attempts[index].outcome = Outcome::Failed(in_words(&error)),
            }
        }
        if running.is_empty() {
            if waiting.is_empty() {
                return Dialled { attempts, stream: None };
            }
            continue;
        }
        let next = if waiting.is_empty() { deadline } else { deadline.min(tokio::time::Instant::now() + HEAD_START) };
        let ended = tokio::select! {
            ended = running.join_next() => ended.and_then(Result::ok),
            () = tokio::time::sleep_until(next) => None,
        };
        let now = began.elapsed();
        match ended {
            Some((index, Ok(stream))) => {
                attempts[index].outcome = Outcome::Connected;
                end_all(&mut attempts, now);
                return Dialled { attempts, stream: Some(stream) };
            }
            Some((index, Err(error))) => {
                attempts[index].outcome = Outcome::Failed(in_words(&error));
                attempts[index].took = now - attempts[index].after;
            }
            None if tokio::time::Instant::now() >= deadline => {
                end_all(&mut attempts, now);
                for attempt in attempts.iter_mut().filter(|attempt| attempt.outcome == Outcome::GivenUp) {
                    attempt.outcome = Outcome::TimedOut;
                }
                return Dialled { attempts, stream: None };
            }
            None => {}
        }
    }
}

/// Attempts without a reported end have ended now.
fn end_all(attempts: &mut [Attempt], now: Duration) {
    for attempt in attempts.iter_mut().filter(|attempt| !matches!(attempt.outcome, Outcome::Failed(_))) {
        attempt.took = now - attempt.after;
    }
}

/// The families in turn, beginning with the first address' own.
fn in_turn(addresses: &[SocketAddr]) -> VecDeque<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (mut first, mut second): (VecDeque<SocketAddr>, VecDeque<SocketAddr>) =
        addresses.iter().copied().partition(|address| address.is_ipv6() == first_is_v6);
    let mut out = VecDeque::new();
    while !first.is_empty() || !second.is_empty() {
        out.extend(first.pop_front());
        out.extend(second.pop_front());
    }
    out
}

/// A socket that is ready to connect. With a recorder it has its port already, so that the SYN is
/// in the capture.
fn open(address: SocketAddr, recorder: Option<&Recorder>) -> io::Result<TcpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    if let Some(recorder) = recorder {
        let any = if address.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
        socket.bind(&SocketAddr::new(any, 0).into())?;
        if let Some(local) = socket.local_addr()?.as_socket() {
            recorder.expect(local.port(), address)?;
        }
    }
    Ok(TcpSocket::from_std_stream(socket.into()))
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "refused".to_owned(),
        io::ErrorKind::TimedOut => "no answer".to_owned(),
        io::ErrorKind::NetworkUnreachable => "network unreachable".to_owned(),
        io::ErrorKind::HostUnreachable => "host unreachable".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn families_take_turns() {
        let addresses: Vec<SocketAddr> =
            ["[::1]:1", "[::2]:1", "[::3]:1", "1.0.0.1:1"].map(|text| text.parse().unwrap()).to_vec();
        let order: Vec<_> = in_turn(&addresses).iter().map(|address| address.ip().to_string()).collect();
        assert_eq!(order, ["::1", "1.0.0.1", "::2", "::3"]);
    }
}

//! As many sockets as a busy server has.

use crate::lab::alone;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use whyslow_live::host::{Host, Options, State};
use whyslow_testing::{Lack, skip};

const PAIRS: usize = 10_000;

/// A process may not have 20,000 files open where the limit is low: another one accepts. What the
/// queue has no room for comes a second later.
const ACCEPTS: &str = "
import socket, sys
listener = socket.create_server(('0.0.0.0', 0), backlog=4096)
print('port', listener.getsockname()[1], flush=True)
held = [listener.accept() for _ in range(int(sys.argv[1]))]
print('accepted', flush=True)
sys.stdin.read()
";

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn twenty_thousand_sockets_are_read() {
    let needed = PAIRS as u64 + 500;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    if soft < needed && setrlimit(Resource::RLIMIT_NOFILE, needed, hard.max(needed)).is_err() {
        return skip(Lack::Machine, format!("{needed} files may not be open at once"));
    }
    alone(&["python3"], || {
        let mut command = Command::new("python3");
        command.args(["-c", ACCEPTS, &PAIRS.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = Server(command.spawn().unwrap());
        let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines().map(Result::unwrap);
        let port: u16 = lines.find_map(|line| line.strip_prefix("port ")?.parse().ok()).unwrap();
        // Every peer is another one: no route is asked for twice.
        let first = Ipv4Addr::new(127, 1, 0, 1).to_bits();
        let addresses = (first..).map(Ipv4Addr::from_bits);
        let held: Vec<TcpStream> =
            addresses.take(PAIRS).map(|address| TcpStream::connect((address, port)).unwrap()).collect();
        assert!(lines.any(|line| line == "accepted"));
        let start = Instant::now();
        let host = Host::read(&Options::default());
        println!("{} sockets in {:?}", host.namespaces[0].sockets.len(), start.elapsed());
        let sockets = &host.namespaces[0].sockets;
        let established = sockets.iter().filter(|socket| socket.state == State::Established);
        assert_eq!(established.clone().count(), 2 * PAIRS);
        for owner in [std::process::id(), server.0.id()] {
            assert_eq!(established.clone().filter(|socket| socket.owners[0].pid == owner).count(), PAIRS);
        }
        assert!(established.clone().all(|socket| socket.info.is_some() && socket.route.is_some()));
        let mut cookies: Vec<u64> = sockets.iter().filter_map(|socket| socket.cookie).collect();
        cookies.sort_unstable();
        cookies.dedup();
        assert_eq!(cookies.len(), sockets.len());
        drop(held);
    });
}

//! Sockets in the states that findings look for, compared with `ss`.

use crate::lab::{alone, look, pair, run, wait_for};
use socket2::{Domain, Socket as RawSocket, Type};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use whyslow_live::host::{Host, Options, Scope, Socket, State, TimerKind};

/// The line of `ss` of a socket.
fn line_of(socket: &Socket, lines: &str) -> String {
    let ends = format!("{} {}", socket.local, socket.remote);
    let line = lines.lines().find(|line| line.split_ascii_whitespace().collect::<Vec<_>>().join(" ").contains(&ends));
    line.unwrap_or_else(|| panic!("{ends} in {lines}")).to_owned()
}

/// The text after a name (`cwnd:10`).
fn value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split_ascii_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix(':'))
}

#[test]
fn a_connection_is_as_ss_shows_it() {
    alone(&["ss"], || {
        let (_listener, mut client, mut server) = pair();
        client.write_all(&[7; 5000]).unwrap();
        server.read_exact(&mut [0; 2000]).unwrap();
        let (namespace, socket) = wait_for(|socket| socket.recv_queue == 3000);
        let lines = run("ss -tinmeaHO");
        assert_eq!(socket.local, server.local_addr().unwrap());
        let connections: Vec<&Socket> =
            namespace.sockets.iter().filter(|socket| socket.state == State::Established).collect();
        assert_eq!(connections.len(), 2);
        for socket in connections {
            let line = line_of(socket, &lines);
            let info = socket.info.as_ref().unwrap();
            let number = |name: &str| value(&line, name).map_or(0, |number| number.parse().unwrap());
            assert_eq!(number("ino"), socket.inode, "{line}");
            assert_eq!(value(&line, "sk"), Some(format!("{:x}", socket.cookie.unwrap()).as_str()), "{line}");
            assert_eq!(number("cwnd"), info.snd_cwnd.unwrap().into(), "{line}");
            assert_eq!(number("bytes_received"), info.bytes_received.unwrap(), "{line}");
            assert_eq!(number("bytes_sent"), info.bytes_sent.unwrap(), "{line}");
            assert_eq!(number("segs_out"), info.segs_out.unwrap().into(), "{line}");
            assert_eq!(number("data_segs_in"), info.data_segs_in.unwrap().into(), "{line}");
            assert_eq!(number("rcv_space"), info.rcv_space.unwrap().into(), "{line}");
            assert_eq!(number("mss"), info.snd_mss.unwrap().into(), "{line}");
            assert_eq!(number("advmss"), info.advmss.unwrap().into(), "{line}");
            assert_eq!(number("snd_wnd"), info.snd_wnd.unwrap().into(), "{line}");
            let scales = format!("{},{}", info.snd_wscale.unwrap(), info.rcv_wscale.unwrap());
            assert_eq!(value(&line, "wscale"), Some(scales.as_str()), "{line}");
            let control = socket.congestion_control.as_deref().unwrap();
            assert!(line.split_ascii_whitespace().any(|word| word == control), "{line}");
            let memory = socket.memory.unwrap();
            let start =
                format!("(r{},rb{},t{},tb{},", memory.rmem_alloc, memory.rcvbuf, memory.wmem_alloc, memory.sndbuf);
            let end = format!("bl{},d{})", memory.backlog, socket.drops.unwrap());
            let shown = value(&line, "skmem").unwrap();
            assert!(shown.starts_with(&start) && shown.ends_with(&end), "{start} {end} {line}");
            // A process that another test starts has all sockets until it executes its program.
            assert!(socket.owners.iter().any(|owner| owner.pid == std::process::id()), "{:?}", socket.owners);
        }
        assert_ne!(namespace.sockets[0].cookie, namespace.sockets[1].cookie);
    });
}

#[test]
fn a_listener_has_its_queue_and_no_peer() {
    alone(&[], || {
        let listener = TcpListener::bind("[::1]:0").unwrap();
        let (_, socket) = wait_for(|socket| socket.state == State::Listen);
        assert_eq!(socket.local, listener.local_addr().unwrap());
        assert_eq!(socket.remote, "[::]:0".parse().unwrap());
        assert_eq!((socket.recv_queue, socket.send_queue, socket.info), (0, 128, None));
    });
}

#[test]
fn what_the_peer_closed_waits_with_its_process() {
    alone(&[], || {
        let (_listener, client, server) = pair();
        drop(client);
        let (_, socket) = wait_for(|socket| socket.state == State::CloseWait);
        assert_eq!(socket.local, server.local_addr().unwrap());
        assert_eq!(socket.owners[0].pid, std::process::id());
        assert!(socket.inode != 0 && !socket.owners[0].name.is_empty());
        let earlier = socket.info.unwrap().last_ack_recv.unwrap();
        std::thread::sleep(std::time::Duration::from_millis(60));
        let (_, socket) = wait_for(|socket| socket.state == State::CloseWait);
        assert!(socket.info.unwrap().last_ack_recv.unwrap() >= earlier + 40);
    });
}

#[test]
fn what_is_not_accepted_has_no_owner() {
    alone(&[], || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(TcpStream::connect(address).unwrap());
        let (namespace, socket) = wait_for(|socket| socket.state == State::CloseWait);
        assert_eq!((socket.inode, socket.owners.len(), socket.local), (0, 0, address));
        let listener = namespace.sockets.iter().find(|socket| socket.state == State::Listen).unwrap();
        assert_eq!((listener.recv_queue, listener.owners[0].pid), (1, std::process::id()));
    });
}

#[test]
fn a_listener_that_overflows_has_its_own_drops() {
    alone(&[], || {
        let listener = RawSocket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener.bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into()).unwrap();
        listener.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        // Two are taken, for the kernel asks whether there are more than one.
        let clients: Vec<RawSocket> = (0..5)
            .map(|_| {
                let client = RawSocket::new(Domain::IPV4, Type::STREAM, None).unwrap();
                client.set_nonblocking(true).unwrap();
                let _ = client.connect(&address);
                client
            })
            .collect();
        let (namespace, socket) =
            wait_for(|socket| socket.state == State::Listen && socket.drops.is_some_and(|drops| drops > 0));
        assert_eq!((socket.recv_queue, socket.send_queue), (2, 1));
        assert!(namespace.counters["TcpExt.ListenOverflows"] >= socket.drops.unwrap().into());
        let waiting: Vec<&Socket> = namespace.sockets.iter().filter(|socket| socket.state == State::SynSent).collect();
        assert!(!waiting.is_empty());
        assert!(waiting.iter().all(|socket| socket.timer.unwrap().kind == TimerKind::Retransmission));
        drop(clients);
    });
}

#[test]
fn a_closed_connection_waits_without_a_file() {
    alone(&["ss"], || {
        let (_listener, client, server) = pair();
        let local = client.local_addr().unwrap();
        drop(client);
        drop(server);
        let (_, socket) = wait_for(|socket| socket.state == State::TimeWait);
        assert_eq!((socket.local, socket.inode, &socket.info), (local, 0, &None));
        let timer = socket.timer.unwrap();
        assert!(timer.kind == TimerKind::TimeWait && timer.expires_ms > 0);
        assert!(run("ss -tnoaHO state time-wait").contains(&local.to_string()));
    });
}

#[test]
fn sockets_of_both_families_are_filtered_by_peer() {
    alone(&[], || {
        // Both ends of IPv4 in a socket of IPv6 are those of IPv4.
        let listener = TcpListener::bind("[::]:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let four = TcpStream::connect(("127.0.0.5", port)).unwrap();
        let six = TcpStream::connect(("::1", port)).unwrap();
        let remotes = |peer: &str| {
            let options = Options { peer: Some(peer.parse().unwrap()), scope: Scope::Sockets, ..Options::default() };
            let host = Host::read(&options);
            // The rest is not read again.
            assert!(host.namespaces[0].counters.is_empty() && host.namespaces[0].routes.is_empty());
            let sockets = host.namespaces[0].sockets.iter().filter(|socket| socket.state == State::Established);
            let mut remotes: Vec<SocketAddr> = sockets.map(|socket| socket.remote).collect();
            remotes.sort();
            remotes
        };
        assert_eq!(remotes("127.0.0.5"), [SocketAddr::from(([127, 0, 0, 5], port))]);
        assert_eq!(remotes("127.0.0.0/8").len(), 2);
        let mut both = [six.local_addr().unwrap(), six.peer_addr().unwrap()];
        both.sort();
        assert_eq!(remotes("::/0"), both);
        assert!(remotes("192.0.2.1").is_empty());
        assert_eq!(look().sockets.iter().filter(|socket| socket.state == State::Listen).count(), 1);
        drop(four);
    });
}

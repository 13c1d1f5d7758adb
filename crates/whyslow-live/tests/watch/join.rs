//! Connections that are older than the watch.

use crate::net::{in_namespace, ip, server};
use nix::sys::socket::{getsockopt, sockopt};
use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use whyslow_live::watch::{Reach, open_connections};

#[test]
fn an_open_connection_has_its_scales_its_options_and_its_process() {
    in_namespace(|| {
        let to = server("127.0.0.1:0");
        let mut stream = TcpStream::connect(to).unwrap();
        stream.write_all(b"now there is a round trip").unwrap();
        let joined = open_connections(Reach::Own);
        assert_eq!(joined.connections.len(), 2, "both ends are of this machine: {joined:?}");
        let local = stream.local_addr().unwrap();
        let own = joined.connections.iter().find(|connection| connection.local == local).unwrap();
        let other = joined.connections.iter().find(|connection| connection.local == to).unwrap();
        assert_eq!(own.remote, to);
        assert_eq!((own.timestamps, own.sack), (Some(true), Some(true)));
        // One end's send scale is the other end's receive scale.
        assert_eq!((own.snd_wscale, own.rcv_wscale), (other.rcv_wscale, other.snd_wscale));
        assert!(own.rcv_wscale > Some(0) && own.snd_mss > Some(500), "{own:?}");
        assert!(own.rtt_us > Some(0) && own.min_rtt_us > Some(0), "{own:?}");
        assert_eq!(own.snd_mss, getsockopt(&stream, sockopt::TcpMaxSeg).ok());
        assert!(own.owners.iter().any(|owner| owner.pid == std::process::id()), "{:?}", own.owners);
    });
}

#[test]
fn without_options_windows_are_not_scaled() {
    in_namespace(|| {
        // Settings of this namespace, which ends with the thread.
        for setting in ["tcp_window_scaling", "tcp_sack", "tcp_timestamps"] {
            let command = format!("echo 0 >/proc/sys/net/ipv4/{setting}");
            assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
        }
        ip("link set lo mtu 1500");
        let _stream = TcpStream::connect(server("127.0.0.1:0")).unwrap();
        let joined = open_connections(Reach::Own);
        assert_eq!(joined.connections.len(), 2);
        for connection in joined.connections {
            assert_eq!((connection.snd_wscale, connection.rcv_wscale), (Some(0), Some(0)));
            assert_eq!((connection.timestamps, connection.sack), (Some(false), Some(false)));
        }
    });
}

//! Limits for clients: headers, time, connections.

use crate::client::{ask, connect, field, put, receive};
use crate::server::Server;
use crate::{pattern, until};
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use whyslow_gateway::front::Limits;

const SHORT: Duration = Duration::from_secs(1);

fn hasty() -> Server {
    Server::with(|options| options.limits = Limits { stall: SHORT, head_time: SHORT, ..Limits::default() })
}

/// Sockets of this process to or at a port in CLOSE_WAIT (state 8 of `/proc/net/tcp`).
fn close_waits(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let here = format!(":{port:04X}");
    let is_one = |line: &&str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.get(1).is_some_and(|local| local.ends_with(&here)) && fields.get(3) == Some(&"08")
    };
    table.lines().filter(is_one).count()
}

#[test]
fn a_header_that_is_too_long_or_too_slow_ends_the_connection() {
    let server = hasty();
    let long = ask("GET", "/bucket").unsigned("x-long", &"a".repeat(70_000));
    assert_eq!(long.send(&server).status, 431);
    let mut stream = connect(&server);
    let begun = Instant::now();
    stream.write_all(b"GET / HTTP/1.1\r\nhost:").unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(begun.elapsed() >= SHORT, "no sooner than that");
}

#[test]
fn a_body_that_does_not_come_is_given_up_and_one_that_comes_is_not() {
    let server = hasty();
    let bytes = put("/bucket/o", pattern(200_000)).bytes(&server);
    let mut stream = connect(&server);
    stream.write_all(&bytes[..bytes.len() - 100]).unwrap();
    receive(&mut stream, "PUT").expect("an answer").is(400, "RequestTimeout");
    assert!(!server.stored("o").exists());
    let record = server.record(|record| record.error.as_deref() == Some("RequestTimeout"));
    assert!(record.times.client >= SHORT, "{:?}", record.times);
    // Long in all, but at least 64 KiB in each interval.
    let mut stream = connect(&server);
    for piece in bytes.chunks(70_000) {
        stream.write_all(piece).unwrap();
        std::thread::sleep(SHORT / 2);
    }
    receive(&mut stream, "PUT").expect("an answer").ok();
}

#[test]
fn who_does_not_read_the_answer_is_given_up() {
    let server = hasty();
    put("/bucket/o", pattern(32 << 20)).send(&server).ok();
    let mut stream = connect(&server);
    stream.write_all(&ask("GET", "/bucket/o").bytes(&server)).unwrap();
    let record = server.record(|record| record.operation.as_deref() == Some("GetObject"));
    assert!(!record.is_whole && record.bytes_out < 32 << 20, "{record:?}");
    drop(stream);
    until("no socket in CLOSE_WAIT", || close_waits(server.address.port()) == 0);
}

#[test]
fn client_that_expects_100_gets_it() {
    let server = Server::start();
    let bytes = put("/bucket/o", "hello").unsigned("expect", "100-continue").bytes(&server);
    let mut stream = connect(&server);
    stream.write_all(&bytes[..bytes.len() - 5]).unwrap();
    let mut printed = [0; 25];
    stream.read_exact(&mut printed).unwrap();
    assert_eq!(&printed, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"hello").unwrap();
    receive(&mut stream, "PUT").expect("an answer").ok();
    // A client without the right to store does not get 100.
    let mut wrong = put("/bucket/o", "hello").unsigned("expect", "100-continue");
    wrong.secret = "another";
    let bytes = wrong.bytes(&server);
    let mut stream = connect(&server);
    stream.write_all(&bytes[..bytes.len() - 5]).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 403");
    // botocore takes the answer behind one that it did not expect for a part of it.
    let got = put("/bucket/o", "").unsigned("expect", "100-continue").send(&server).ok();
    assert_eq!(got.field("connection").as_deref(), Some("close"));
}

#[test]
fn who_is_refused_early_gets_the_answer_though_it_still_sends() {
    let server = Server::start();
    let mut wrong = put("/bucket/o", pattern(900_000));
    wrong.secret = "another";
    wrong.send(&server).is(403, "SignatureDoesNotMatch");
}

#[test]
fn an_idle_connection_makes_room_and_a_busy_one_does_not() {
    let server = Server::with(|options| options.limits.connections = 2);
    let mut idle = connect(&server);
    let bytes = put("/bucket/o", pattern(100)).bytes(&server);
    let mut busy = connect(&server);
    busy.write_all(&bytes[..bytes.len() - 50]).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    ask("GET", "/bucket?list-type=2").send(&server).ok();
    let mut rest = Vec::new();
    assert_eq!(idle.read_to_end(&mut rest).unwrap(), 0, "the idle one was closed");
    let mut other = connect(&server);
    other.write_all(&bytes[..bytes.len() - 50]).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let got = receive(&mut connect(&server), "GET").expect("an answer");
    assert_eq!((got.status, got.field("retry-after").as_deref()), (503, Some("1")));
    busy.write_all(&bytes[bytes.len() - 50..]).unwrap();
    receive(&mut busy, "PUT").expect("an answer").ok();
}

#[test]
fn what_runs_comes_to_its_end_and_nothing_new_begins() {
    let mut server = Server::start();
    let bytes = put("/bucket/o", pattern(100_000)).bytes(&server);
    let mut stream = connect(&server);
    let _idle = connect(&server);
    stream.write_all(&bytes[..50_000]).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    server.stop();
    until("nothing is accepted", || std::net::TcpStream::connect(server.address).is_err());
    stream.write_all(&bytes[50_000..]).unwrap();
    let got = receive(&mut stream, "PUT").expect("an answer").ok();
    assert_eq!(field(&got.head, "connection").as_deref(), Some("close"));
    assert!(server.stored("o").exists());
    assert_eq!(server.end().cut, 0);
}

#[test]
fn what_does_not_end_in_its_time_is_cut() {
    let server = Server::with(|options| options.limits.drain = SHORT);
    let bytes = put("/bucket/o", pattern(100_000)).bytes(&server);
    let mut stream = connect(&server);
    stream.write_all(&bytes[..50_000]).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(server.end().cut, 1);
}

#[test]
fn clients_that_come_and_go_leave_no_socket_behind() {
    let server = Server::start();
    put("/bucket/o", pattern(1 << 20)).send(&server).ok();
    for n in 0..40 {
        let mut stream = connect(&server);
        match n % 4 {
            0 => {}
            1 => stream.write_all(b"GET /buck").unwrap(),
            2 => {
                let bytes = put("/bucket/p", pattern(100_000)).bytes(&server);
                stream.write_all(&bytes[..40_000]).unwrap();
            }
            _ => {
                stream.write_all(&ask("GET", "/bucket/o").bytes(&server)).unwrap();
                let _ = stream.read(&mut [0; 1000]).unwrap();
            }
        }
    }
    until("no socket in CLOSE_WAIT", || close_waits(server.address.port()) == 0);
    until("each request is recorded", || server.count(|record| record.operation.as_deref() == Some("GetObject")) == 10);
}

#[test]
fn a_connection_serves_one_request_after_the_other() {
    let server = Server::start();
    let mut stream = connect(&server);
    for n in 0..5 {
        stream.write_all(&put(&format!("/bucket/{n}"), "x").bytes(&server)).unwrap();
        receive(&mut stream, "PUT").expect("an answer").ok();
        stream.write_all(&ask("GET", "/bucket/absent").bytes(&server)).unwrap();
        receive(&mut stream, "GET").expect("an answer").is(404, "NoSuchKey");
    }
}

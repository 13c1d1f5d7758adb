//! The server's limits, shortened for tests. The tests of the program cover what a client can do to
//! it.

use super::{LIMITS, Limits, Server};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fs, io};
use whyslow_io::Scratch;

const SHORT: Duration = Duration::from_millis(50);

struct Running {
    url: String,
    scratch: Scratch,
    stopper: super::Stopper,
    thread: JoinHandle<()>,
}

impl Running {
    fn new(limits: Limits) -> Self {
        let scratch = Scratch::default();
        let server = Server::with(0, scratch.clone(), "<title>page</title>", limits).unwrap();
        let (url, stopper) = (server.url(), server.stopper());
        Self { url, scratch, stopper, thread: thread::spawn(|| server.run()) }
    }

    fn host(&self) -> &str {
        self.url["http://".len()..].split_once('/').unwrap().0
    }

    fn path(&self) -> &str {
        &self.url["http://".len() + self.host().len()..]
    }

    fn send(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn get(&self, what: &str) -> String {
        let (path, host) = (self.path(), self.host());
        all(&mut self.send(&format!("GET {path}{what} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")))
    }

    fn upload(&self, length: usize) -> String {
        let (path, host) = (self.path(), self.host());
        format!("POST {path}open?name=a HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n")
    }

    fn end(self) {
        self.stopper.stop();
        self.thread.join().unwrap();
    }
}

fn all(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    match stream.read_to_string(&mut text) {
        Err(error) if error.kind() != io::ErrorKind::ConnectionReset => panic!("it does not end: {error}"),
        _ => text,
    }
}

#[test]
fn the_page_is_served_and_its_head_alone() {
    let server = Running::new(LIMITS);
    let page = server.get("");
    assert!(page.starts_with("HTTP/1.1 200") && page.ends_with("\r\n\r\n<title>page</title>"), "{page}");
    for header in ["no-store", "nosniff", "no-referrer", "same-origin", "frame-ancestors 'none'"] {
        assert!(page.contains(header), "{header}: {page}");
    }
    let (path, host) = (server.path(), server.host());
    let head = all(&mut server.send(&format!("HEAD {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")));
    assert!(head.contains("content-length: 19\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(server.get("document").starts_with("HTTP/1.1 404"));
    server.end();
}

#[test]
fn a_silent_client_is_disconnected() {
    let server = Running::new(Limits { wait: SHORT, ..LIMITS });
    let (path, host) = (server.path(), server.host());
    for request in ["", "GET / HTTP/1.1\r\nHost: 127"] {
        assert!(!all(&mut server.send(request)).contains(" 200 "), "{request}");
    }
    // A connection whose request was answered waits for a next one as long.
    let answer = all(&mut server.send(&format!("GET {path}state HTTP/1.1\r\nHost: {host}\r\n\r\n")));
    assert_eq!(answer.matches(" 200 OK").count(), 1, "{answer}");
    server.end();
}

#[test]
fn a_file_that_stops_coming_is_given_up_and_one_that_comes_slowly_is_not() {
    let server = Running::new(Limits { upload: Duration::from_secs(2), ..LIMITS });
    let mut stream = server.send(&(server.upload(100) + "x"));
    assert!(all(&mut stream).starts_with("HTTP/1.1 408"));
    let folder = server.scratch.file("").unwrap().path().parent().unwrap().to_owned();
    while fs::read_dir(&folder).unwrap().count() > 0 {
        thread::sleep(Duration::from_millis(1));
    }
    assert!(server.get("state").contains("\"empty\""));
    // Longer in all than the patience, and never still for as long.
    let mut stream = server.send(&server.upload(6 << 14));
    for _ in 0..6 {
        thread::sleep(Duration::from_millis(400));
        stream.write_all(&[b'x'; 1 << 14]).unwrap();
    }
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 202");
    server.end();
}

#[test]
fn of_too_many_the_newest_is_answered() {
    let server = Running::new(Limits { connections: 2, ..LIMITS });
    let mut held: Vec<_> = (0..8).map(|_| server.send("GET / HTTP/1.1\r\n")).collect();
    assert!(server.get("state").starts_with("HTTP/1.1 200"));
    // The first were left for it.
    assert_eq!(all(&mut held[0]), "");
    server.end();
}

#[test]
fn a_stop_before_the_start_is_a_stop() {
    let server = Server::with(0, Scratch::default(), "", LIMITS).unwrap();
    server.stopper().stop();
    server.run();
}

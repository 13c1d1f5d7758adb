//! A web server that does what a test wants of it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// How a file is served.
#[derive(Clone, Default)]
pub(super) struct Served {
    pub body: Vec<u8>,
    /// Answers with this status, and nothing else.
    pub status: Option<&'static str>,
    /// The first responses end after this many bytes of the body each.
    pub cuts: Vec<usize>,
    /// After the first answer with a body the file is another one.
    pub is_replaced: bool,
    /// Ranges are not understood.
    pub has_no_ranges: bool,
    /// Sends neither ETag nor date.
    pub has_no_version: bool,
}

/// It serves until the process ends.
pub(super) struct Server {
    pub address: SocketAddr,
    files: Arc<Mutex<BTreeMap<String, Served>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (files, requests) = (Arc::<Mutex<BTreeMap<_, Served>>>::default(), Arc::<Mutex<Vec<String>>>::default());
        let server = Self { address, files: Arc::clone(&files), requests: Arc::clone(&requests) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (files, requests) = (Arc::clone(&files), Arc::clone(&requests));
                // A client with enough data closes the connection.
                thread::spawn(move || stream.and_then(|stream| answer(stream, &files, &requests)));
            }
        });
        server
    }

    pub(super) fn put(&self, path: &str, served: Served) -> String {
        self.files.lock().unwrap().insert(path.to_owned(), served);
        self.url(path)
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The heads of the requests, in lower case.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(
    mut stream: TcpStream,
    files: &Mutex<BTreeMap<String, Served>>,
    requests: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut head = String::new();
    let mut reader = BufReader::new(stream.try_clone()?);
    if reader.fill_buf()?.first() == Some(&0x16) {
        // The client begins with TLS.
        return stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    }
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let path = head.split([' ', '?']).nth(1).unwrap_or_default();
    // Some encode more than they must.
    let path = path.replace("%2E", ".").replace("%2F", "/");
    let head = head.to_lowercase();
    let is_get = head.starts_with("get ");
    requests.lock().unwrap().push(head.clone());
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let mut files = files.lock().unwrap();
    let Some(file) = files.get_mut(&path) else {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    };
    if let Some(status) = file.status {
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        return stream.write_all(head.as_bytes());
    }
    let tag = format!("\"{}\"", file.body.len());
    if field("if-match:").is_some_and(|wanted| wanted != tag) {
        return stream.write_all(b"HTTP/1.1 412 Changed\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    }
    let range = field("range: bytes=").filter(|_| !file.has_no_ranges).and_then(|range| range.split_once('-'));
    let size = file.body.len();
    let (start, end) = match range {
        Some((start, end)) => (start.parse().unwrap(), end.parse().map_or(size, |last: usize| size.min(last + 1))),
        None => (0, size),
    };
    let version = match file.has_no_version {
        true => String::new(),
        false => format!("etag: {tag}\r\nlast-modified: Sun, 22 Nov 2026 10:00:00 GMT\r\n"),
    };
    let status = match range {
        Some(_) => format!("206 Partial Content\r\ncontent-range: bytes {start}-{}/{size}", end - 1),
        None => "200 OK".to_owned(),
    };
    let head = format!("HTTP/1.1 {status}\r\n{version}content-length: {}\r\nconnection: close\r\n\r\n", end - start);
    let mut body = file.body[start..end].to_vec();
    let is_look = !is_get || end - start == 1;
    if !is_look && !file.cuts.is_empty() {
        body.truncate(file.cuts.remove(0));
    }
    if !is_look && file.is_replaced {
        file.is_replaced = false;
        file.body.push(0);
    }
    drop(files);
    stream.write_all(head.as_bytes())?;
    if is_get { stream.write_all(&body) } else { Ok(()) }
}

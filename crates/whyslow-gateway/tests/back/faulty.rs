//! [`Faulty`]: a small HTTP server that fails on demand.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The fate of a request.
#[derive(Clone, Debug)]
pub enum Act {
    /// Its body is read, and this is answered.
    Answer(String),
    /// The same, after a pause.
    Late(Duration, String),
    /// Answered at once; the body is never read, and the connection closed.
    Early(String),
    /// Answered in full except the last bytes, then closed.
    Cut(String, usize),
    /// Reset after this many bytes of the body.
    Reset(usize),
    /// No byte is read beyond this many of the body, and no answer sent.
    Stall(usize),
    /// The whole request is read, and the connection closed without an answer.
    Vanish,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Which connection, from 0.
    pub connection: usize,
    /// `PUT /b/k HTTP/1.1`.
    pub line: String,
    /// `name: value` in lower case.
    pub head: String,
    /// The body that was read.
    pub body: Vec<u8>,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

type Script = dyn Fn(usize, &Asked) -> Act + Send + Sync;

struct State {
    script: Box<Script>,
    idle_limit: Duration,
    asked: Mutex<Vec<Asked>>,
    connections: AtomicUsize,
    open: AtomicUsize,
    most_open: AtomicUsize,
}

/// Runs until it is dropped.
pub struct Faulty {
    port: u16,
    state: Arc<State>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An answer without faults.
pub fn ok(body: &str) -> String {
    answer("200 OK", "ETag: \"tag\"\r\nLast-Modified: Mon, 23 Nov 2026 08:00:00 GMT\r\n", body)
}

pub fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

pub fn failure(status: &str, code: &str) -> String {
    answer(status, "", &format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>so it is</Message></Error>"))
}

impl Faulty {
    /// Starts one. `script` is asked about each request with its number, from 0; idle connections
    /// are closed after `idle_limit`.
    pub async fn start(idle_limit: Duration, script: impl Fn(usize, &Asked) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            script: Box::new(script),
            idle_limit,
            asked: Mutex::default(),
            connections: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            most_open: AtomicUsize::new(0),
        });
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                connections.spawn(async move {
                    let number = state.connections.fetch_add(1, Ordering::SeqCst);
                    let open = state.open.fetch_add(1, Ordering::SeqCst) + 1;
                    state.most_open.fetch_max(open, Ordering::SeqCst);
                    let _ = serve(stream, number, &state).await;
                    state.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { port, state, task }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.state.asked.lock().unwrap().clone()
    }

    /// Connections so far, and most at once.
    pub fn connections(&self) -> (usize, usize) {
        (self.state.connections.load(Ordering::SeqCst), self.state.most_open.load(Ordering::SeqCst))
    }

    pub fn open(&self) -> usize {
        self.state.open.load(Ordering::SeqCst)
    }
}

async fn serve(mut stream: TcpStream, connection: usize, state: &State) -> io::Result<()> {
    loop {
        let Ok(head) = tokio::time::timeout(state.idle_limit, read_head(&mut stream)).await else { return Ok(()) };
        let Some((head, mut body)) = head? else { return Ok(()) };
        let (line, head) = head.split_once("\r\n").unwrap_or((&head, ""));
        let head = head.replace("\r\n", "\n").to_ascii_lowercase();
        let mut asked = Asked { connection, line: line.to_owned(), head, body: Vec::new() };
        let length = asked.header("content-length").map_or(0, |length| length.parse().unwrap());
        let place = {
            let mut all = state.asked.lock().unwrap();
            all.push(asked.clone());
            all.len() - 1
        };
        let act = (state.script)(place, &asked);
        let wanted = match &act {
            Act::Reset(bytes) | Act::Stall(bytes) => *bytes,
            Act::Early(_) => 0,
            _ => length,
        };
        read_body(&mut stream, &mut body, wanted).await?;
        asked.body = body;
        state.asked.lock().unwrap()[place] = asked;
        match act {
            Act::Answer(text) => stream.write_all(text.as_bytes()).await?,
            Act::Late(pause, text) => {
                tokio::time::sleep(pause).await;
                stream.write_all(text.as_bytes()).await?;
            }
            Act::Early(text) => return stream.write_all(text.as_bytes()).await,
            Act::Cut(text, missing) => return stream.write_all(&text.as_bytes()[..text.len() - missing]).await,
            #[allow(deprecated)]
            Act::Reset(_) => return stream.set_linger(Some(Duration::ZERO)),
            Act::Stall(_) => {
                tokio::time::sleep(Duration::from_secs(60)).await;
                return Ok(());
            }
            Act::Vanish => return Ok(()),
        }
    }
}

/// The head, and the bytes of the body that came with it.
async fn read_head(stream: &mut TcpStream) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let body = bytes.split_off(end + 4);
            bytes.truncate(end);
            return Ok(Some((String::from_utf8(bytes).unwrap(), body)));
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
}

async fn read_body(stream: &mut TcpStream, body: &mut Vec<u8>, wanted: usize) -> io::Result<()> {
    while body.len() < wanted {
        if stream.read_buf(body).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

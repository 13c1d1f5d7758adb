//! A storage that speaks as much of S3 as the gateway asks for, and can be slow.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An object, or an upload with its parts.
#[derive(Clone, Default)]
struct Stored {
    /// Content-Type and metadata, as header fields.
    fields: String,
    bytes: Arc<Vec<u8>>,
    parts: BTreeMap<u32, Vec<u8>>,
}

#[derive(Default)]
struct State {
    objects: Mutex<BTreeMap<String, Stored>>,
    /// How long Complete takes.
    slowness: Mutex<Duration>,
}

/// One that runs until the process ends.
pub(crate) struct Backend {
    address: SocketAddr,
    state: Arc<State>,
}

impl Backend {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, state) = (listener.local_addr().unwrap(), Arc::<State>::default());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Self { address, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Complete takes so long from now on.
    pub(crate) fn complete_slowly(&self, slowness: Duration) {
        *self.state.slowness.lock().unwrap() = slowness;
    }

    /// Bytes of what is stored at `/BUCKET/KEY`.
    pub(crate) fn size(&self, path: &str) -> usize {
        self.state.objects.lock().unwrap()[path].bytes.len()
    }
}

struct Asked {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    head: String,
    body: Vec<u8>,
}

impl Asked {
    fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

fn serve(mut stream: TcpStream, state: &State) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    loop {
        let asked = read(&mut stream)?;
        let (status, fields, body) = answer(&asked, state);
        let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).ok()?;
        if asked.method != "HEAD" {
            stream.write_all(&body).ok()?;
        }
    }
}

fn read(stream: &mut TcpStream) -> Option<Asked> {
    let (mut all, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    let end = loop {
        if let Some(end) = all.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        let count = stream.read(&mut piece).ok().filter(|&count| count > 0)?;
        all.extend_from_slice(&piece[..count]);
    };
    let mut body = all.split_off(end);
    let head = String::from_utf8(all).ok()?;
    let (line, head) = head.split_once("\r\n")?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pair = |pair: &str| pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let query = query.split('&').filter_map(pair).collect();
    let head = head.replace("\r\n", "\n");
    let mut asked = Asked { method, path: path.to_owned(), query, head, body: Vec::new() };
    let length = asked.field("content-length").map_or(0, |length| length.parse().unwrap());
    while body.len() < length {
        let count = stream.read(&mut piece).ok().filter(|&count| count > 0)?;
        body.extend_from_slice(&piece[..count]);
    }
    asked.body = body;
    Some(asked)
}

type Answer = (&'static str, String, Vec<u8>);

fn ok(fields: &str, body: impl Into<Vec<u8>>) -> Answer {
    ("200 OK", format!("Last-Modified: Mon, 23 Nov 2026 08:00:00 GMT\r\n{fields}"), body.into())
}

fn missing(code: &str) -> Answer {
    ("404 Not Found", String::new(), format!("<Error><Code>{code}</Code></Error>").into())
}

/// Changes with the bytes, as tags do.
fn tag(bytes: &[u8]) -> String {
    let sum = bytes.iter().fold(bytes.len() as u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    format!("\"{sum:016x}\"")
}

/// The fields that an object is given back with.
fn object_fields(asked: &Asked) -> String {
    let is_object_field = |line: &&str| line.starts_with("x-amz-meta-") || line.starts_with("content-type:");
    asked.head.lines().filter(is_object_field).map(|line| format!("{line}\r\n")).collect()
}

fn answer(asked: &Asked, state: &State) -> Answer {
    let upload = asked.query.get("uploadId").map(|id| format!("{}?{id}", asked.path));
    let number = asked.query.get("partNumber").and_then(|number| number.parse().ok());
    let mut objects = state.objects.lock().unwrap();
    match (asked.method.as_str(), upload, number) {
        ("PUT", Some(upload), Some(number)) => match objects.get_mut(&upload) {
            Some(stored) => {
                stored.parts.insert(number, asked.body.clone());
                ok(&format!("ETag: {}\r\n", tag(&asked.body)), "")
            }
            None => missing("NoSuchUpload"),
        },
        ("PUT", ..) => {
            let fields = object_fields(asked);
            let tag = tag(&asked.body);
            let stored = Stored { fields, bytes: Arc::new(asked.body.clone()), ..Stored::default() };
            objects.insert(asked.path.clone(), stored);
            ok(&format!("ETag: {tag}\r\n"), "")
        }
        ("POST", Some(upload), _) => {
            drop(objects);
            std::thread::sleep(*state.slowness.lock().unwrap());
            let mut objects = state.objects.lock().unwrap();
            let Some(stored) = objects.remove(&upload) else { return missing("NoSuchUpload") };
            let bytes: Vec<u8> = stored.parts.into_values().flatten().collect();
            let text =
                format!("<CompleteMultipartUploadResult><ETag>{}</ETag></CompleteMultipartUploadResult>", tag(&bytes));
            let bytes = Arc::new(bytes);
            objects.insert(asked.path.clone(), Stored { fields: stored.fields, bytes, ..Stored::default() });
            ok("", text)
        }
        ("POST", None, _) => {
            let fields = object_fields(asked);
            let id = objects.len();
            objects.insert(format!("{}?{id}", asked.path), Stored { fields, ..Stored::default() });
            ok("", format!("<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"))
        }
        ("DELETE", upload, _) => {
            objects.remove(&upload.unwrap_or_else(|| asked.path.clone()));
            ("204 No Content", String::new(), Vec::new())
        }
        (_, Some(_), _) => missing("NoSuchUpload"),
        _ => objects.get(&asked.path).map_or_else(|| missing("NoSuchKey"), |stored| object(asked, stored)),
    }
}

fn object(asked: &Asked, stored: &Stored) -> Answer {
    let size = stored.bytes.len();
    let fields = format!("{}ETag: {}\r\n", stored.fields, tag(&stored.bytes));
    let Some((first, last)) = asked.field("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'))
    else {
        return ok(&fields, stored.bytes.as_slice());
    };
    let (first, end) = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Err(_), Ok(count)) => (size.saturating_sub(count), size),
        (Ok(first), Ok(last)) => (first, size.min(last + 1)),
        (Ok(first), Err(_)) => (first, size),
        (Err(_), Err(_)) => (0, 0),
    };
    if first >= end {
        return ("416 Range Not Satisfiable", String::new(), Vec::new());
    }
    let (_, head, body) = ok(&fields, &stored.bytes[first..end]);
    ("206 Partial Content", format!("{head}Content-Range: bytes {first}-{}/{size}\r\n", end - 1), body)
}

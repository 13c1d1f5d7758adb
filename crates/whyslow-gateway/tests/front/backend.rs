//! A storage that speaks as much of S3 as the gateway asks for, and can be slow, or store bodies
//! that are cut.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use whyslow_gateway::store::Bodies;

/// The fate of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// A cut body is dropped.
    Usual,
    /// One that is cut is stored, as versitygw 1.8 does. Chunks are decoded, and must have their
    /// end.
    KeepsCutBodies,
    /// A cut body is stored, and chunks are refused.
    KeepsCutBodiesAndTakesNoChunks,
}

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

/// A backend that runs until the process ends.
pub(crate) struct Backend {
    manner: Manner,
    address: SocketAddr,
    state: Arc<State>,
}

impl Backend {
    pub(crate) fn start() -> Self {
        Self::with(Manner::Usual)
    }

    pub(crate) fn with(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, state) = (listener.local_addr().unwrap(), Arc::<State>::default());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &state, manner));
            }
        });
        Self { manner, address, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How a gateway sends bodies to it; `None`: it finds out.
    pub(crate) fn bodies(&self) -> Option<Bodies> {
        (self.manner == Manner::Usual).then(|| Bodies::Plain { no_chunks: "it decodes none".to_owned() })
    }

    /// Keys of uploads that were neither completed nor dropped.
    pub(crate) fn uploads(&self) -> Vec<String> {
        self.state.objects.lock().unwrap().keys().filter(|key| key.contains('?')).cloned().collect()
    }

    /// Complete takes this time from now on.
    pub(crate) fn complete_slowly(&self, slowness: Duration) {
        *self.state.slowness.lock().unwrap() = slowness;
    }

    /// Bytes stored at `/BUCKET/KEY`.
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

fn serve(mut stream: TcpStream, state: &State, manner: Manner) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    loop {
        let mut asked = read(&mut stream, manner)?;
        let is_chunked = asked.field("x-amz-content-sha256").is_some_and(|value| value.starts_with("STREAMING-"));
        if is_chunked && manner == Manner::KeepsCutBodies {
            let Some(body) = decode(&asked.body) else {
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").ok()?;
                continue;
            };
            asked.body = body;
        } else if is_chunked {
            stream.write_all(b"HTTP/1.1 501 Not Implemented\r\nContent-Length: 0\r\n\r\n").ok()?;
            continue;
        }
        let (status, fields, body) = answer(&asked, state);
        let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).ok()?;
        if asked.method != "HEAD" {
            stream.write_all(&body).ok()?;
        }
    }
}

/// The bytes of a body in chunks; `None` without its end.
fn decode(mut coded: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let end = coded.windows(2).position(|two| two == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&coded[..end]).ok()?, 16).ok()?;
        coded = &coded[end + 2..];
        if size == 0 {
            let sum = STANDARD.encode(crc_fast::crc32_iso_hdlc(&bytes).to_be_bytes());
            return (coded == format!("x-amz-checksum-crc32:{sum}\r\n\r\n").as_bytes()).then_some(bytes);
        }
        bytes.extend_from_slice(coded.get(..size)?);
        coded = coded.get(size..)?.strip_prefix(b"\r\n")?;
    }
}

fn read(stream: &mut TcpStream, manner: Manner) -> Option<Asked> {
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
        let count = stream.read(&mut piece).unwrap_or(0);
        if count == 0 && manner == Manner::Usual {
            return None;
        }
        if count == 0 {
            break;
        }
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
        ("GET", Some(upload), _) => objects.get(&upload).map_or_else(
            || missing("NoSuchUpload"),
            |stored| {
                let part = |(number, bytes): (&u32, &Vec<u8>)| {
                    let (tag, size) = (tag(bytes), bytes.len());
                    format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag><Size>{size}</Size></Part>")
                };
                let list: String = stored.parts.iter().map(part).collect();
                ok("", format!("<ListPartsResult><IsTruncated>false</IsTruncated>{list}</ListPartsResult>"))
            },
        ),
        ("GET", None, _) if asked.query.contains_key("list-type") => list(&asked.path, &objects),
        (_, Some(_), _) => missing("NoSuchUpload"),
        _ => objects.get(&asked.path).map_or_else(|| missing("NoSuchKey"), |stored| object(asked, stored)),
    }
}

/// All of a bucket.
fn list(bucket: &str, objects: &BTreeMap<String, Stored>) -> Answer {
    let object = |(path, stored): (&String, &Stored)| {
        let key = path.strip_prefix(bucket)?.strip_prefix('/').filter(|key| !key.contains('?'))?;
        let (tag, size) = (tag(&stored.bytes), stored.bytes.len());
        let modified = "2026-11-23T08:00:00.000Z";
        Some(format!(
            "<Contents><Key>{key}</Key><LastModified>{modified}</LastModified><ETag>{tag}</ETag><Size>{size}</Size></Contents>"
        ))
    };
    let list: String = objects.iter().filter_map(object).collect();
    ok("", format!("<ListBucketResult><IsTruncated>false</IsTruncated>{list}</ListBucketResult>"))
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

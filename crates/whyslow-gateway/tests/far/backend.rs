//! The far end: takes uploads as S3 does, keeps nothing, gives zeros, and closes connections that
//! are idle for 5 s.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const IDLE_LIMIT: Duration = Duration::from_secs(5);

/// When the bytes of the parts of large objects came, in µs since the start: first, last, how many.
type Arrivals = Arc<Mutex<(u128, u128, usize)>>;

pub fn run(listener: &TcpListener) -> ExitCode {
    let began = Instant::now();
    let arrivals = Arrivals::default();
    for stream in listener.incoming() {
        let (stream, arrivals) = (stream.unwrap(), Arc::clone(&arrivals));
        std::thread::spawn(move || serve(stream, began, &arrivals));
    }
    ExitCode::SUCCESS
}

fn serve(mut stream: TcpStream, began: Instant, arrivals: &Arrivals) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    stream.set_read_timeout(Some(IDLE_LIMIT)).ok()?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let mut head = Vec::new();
        let end = loop {
            if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            let read = stream.read(&mut buffer).ok().filter(|&read| read > 0)?;
            head.extend_from_slice(&buffer[..read]);
        };
        let text = String::from_utf8_lossy(&head[..end]).to_ascii_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let length = length.unwrap_or(0);
        let first = began.elapsed().as_micros();
        let mut came = head.len() - end;
        while came < length {
            came += stream.read(&mut buffer).ok().filter(|&read| read > 0)?;
        }
        if text.contains("uploadid=large") && text.starts_with("put") {
            let mut arrivals = arrivals.lock().unwrap();
            let from = if arrivals.2 == 0 { first } else { arrivals.0.min(first) };
            *arrivals = (from, began.elapsed().as_micros(), arrivals.2 + length);
        }
        match zeros(&text) {
            Some((head, mut left)) => {
                stream.write_all(head.as_bytes()).ok()?;
                let nothing = [0; 64 << 10];
                while left > 0 {
                    let count = left.min(nothing.len());
                    stream.write_all(&nothing[..count]).ok()?;
                    left -= count;
                }
            }
            None => stream.write_all(answer(&text, arrivals).as_bytes()).ok()?,
        }
    }
}

/// The head, and how many bytes of body, of `/bucket/zeros-SIZE`.
fn zeros(head: &str) -> Option<(String, usize)> {
    let size: usize = head.split_once("/bucket/zeros-")?.1.split_whitespace().next()?.parse().ok()?;
    let range = head.lines().find_map(|line| line.strip_prefix("range: bytes=")?.split_once('-'));
    Some(match range {
        Some((first, last)) => {
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            let fields = format!("Content-Range: bytes {first}-{last}/{size}\r\nContent-Length: {}", last + 1 - first);
            (format!("HTTP/1.1 206 Partial\r\nETag: \"o\"\r\n{fields}\r\n\r\n"), last + 1 - first)
        }
        None => (format!("HTTP/1.1 200 OK\r\nETag: \"o\"\r\nContent-Length: {size}\r\n\r\n"), 0),
    })
}

fn answer(head: &str, arrivals: &Arrivals) -> String {
    let line = head.lines().next().unwrap_or_default();
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if method == "get" && target.starts_with("/bucket/.whyslow-gateway/settings") {
        let body = "<Error><Code>NoSuchKey</Code></Error>";
        return format!("HTTP/1.1 404 Not Found\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    }
    let id = if target.contains("warm") { "parked" } else { "large" };
    let body = match method {
        "get" if target.starts_with("/arrivals") => {
            let (first, last, bytes) = std::mem::take(&mut *arrivals.lock().unwrap());
            format!("{} {bytes}", last - first)
        }
        "get" => "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>".to_owned(),
        "post" if target.contains("uploadid") => {
            "<CompleteMultipartUploadResult><ETag>\"o\"</ETag></CompleteMultipartUploadResult>".to_owned()
        }
        "post" => format!("<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"),
        _ => String::new(),
    };
    format!("HTTP/1.1 200 OK\r\nETag: \"o\"\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

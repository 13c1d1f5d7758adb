//! [`Server`]: requests of the page to answers.

use crate::desk::{Desk, Upload};
use crate::gate::Gate;
use crate::query::Query;
use crate::slice::Slice;
use crate::{NoPage, Opening, page};
use std::fs::File;
use std::io::{self, Seek};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fmt, thread};
use tiny_http::{Header, Method, Request, Response};
use whyslow_core::compare::Which;
use whyslow_core::units::Nanos;
use whyslow_io::Reading;

/// Requests answered at once: the page asks for one thing, and how it stands.
const WORKERS: usize = 4;

/// Columns of a graph where nobody says.
const COLUMNS: usize = 1_024;

/// Why there is no server.
#[derive(Debug)]
pub enum ServerError {
    /// The program was built without the page.
    NoPage(NoPage),
    /// The port cannot be had.
    Bind(u16, Box<dyn std::error::Error + Send + Sync>),
    /// The system gives no random numbers.
    Random(getrandom::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPage(error) => error.fmt(f),
            Self::Bind(port, error) => write!(f, "cannot listen on 127.0.0.1, port {port}: {error}"),
            Self::Random(error) => write!(f, "the system gives no random numbers: {error}"),
        }
    }
}

impl std::error::Error for ServerError {}

/// The page on 127.0.0.1.
pub struct Server {
    http: tiny_http::Server,
    gate: Gate,
    desk: Arc<Desk>,
    page: &'static str,
    stopped: AtomicBool,
}

/// What is sent back.
type Answer = Response<Box<dyn io::Read + Send>>;

impl Server {
    /// Listens; port 0 is any free one.
    ///
    /// # Errors
    /// See [`ServerError`].
    pub fn bind(port: u16) -> Result<Self, ServerError> {
        let page = page().map_err(ServerError::NoPage)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let http = tiny_http::Server::http(address).map_err(|error| ServerError::Bind(port, error))?;
        let port = http.server_addr().to_ip().map_or(port, |address| address.port());
        let gate = Gate::new(port).map_err(ServerError::Random)?;
        Ok(Self { http, gate, desk: Arc::default(), page, stopped: AtomicBool::new(false) })
    }

    /// The page's address, secret included.
    pub fn url(&self) -> String {
        self.gate.url()
    }

    /// Begins to read captures; the page shows how far it has come.
    pub fn open(&self, opening: Opening) {
        self.desk.open(opening);
    }

    /// Shows captures that were read.
    pub fn show(&self, opening: Opening, reading: Reading) {
        self.desk.show(opening, reading);
    }

    /// Answers until [`stop`](Self::stop).
    pub fn run(&self) {
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    while !self.stopped.load(Ordering::Acquire) {
                        match self.http.recv() {
                            Ok(request) => self.answer(request),
                            Err(_) => break,
                        }
                    }
                });
            }
        });
    }

    /// Ends [`run`](Self::run), from another thread.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        for _ in 0..WORKERS {
            self.http.unblock();
        }
    }

    fn answer(&self, mut request: Request) {
        let header = |name: &'static str| {
            let found = request.headers().iter().find(|header| header.field.equiv(name));
            found.map(|header| header.value.as_str().to_owned())
        };
        let url = request.url().to_owned();
        let (path, query) = Query::split(&url);
        let answer = match self.gate.admit(path, header("Host").as_deref(), header("Origin").as_deref()) {
            Ok(wanted) => self.route(wanted, query, &mut request),
            Err(refused) => text(refused.status, refused.why),
        };
        // Whoever asked may be gone.
        let _ = request.respond(answer);
    }

    fn route(&self, wanted: &str, query: Query<'_>, request: &mut Request) -> Answer {
        match (request.method(), wanted) {
            (Method::Get | Method::Head, "") => {
                let policy = "frame-ancestors 'none'";
                bytes("text/html; charset=utf-8", self.page.as_bytes().to_vec())
                    .with_header(field("Content-Security-Policy", policy))
            }
            (Method::Get, "state") => match serde_json::to_vec(&self.desk.status()) {
                Ok(status) => bytes("application/json", status),
                Err(error) => text(500, &error.to_string()),
            },
            (Method::Get, "document") => match self.desk.opened() {
                Some(opened) => bytes("application/json", opened.document.compressed().to_vec())
                    .with_header(field("Content-Encoding", "gzip")),
                None => text(404, "nothing is open"),
            },
            (Method::Get, "series") => match self.series(query) {
                Ok(answer) => bytes("application/json", answer),
                Err(why) => text(404, &why),
            },
            (Method::Get, "compare") => match self.compare(query) {
                Ok(answer) => bytes("application/json", answer),
                Err(why) => text(404, &why),
            },
            (Method::Get, "slice") => match self.slice(query) {
                Ok(slice) => slice,
                Err(why) => text(404, &why),
            },
            (Method::Post, "open") => match self.upload(query, request) {
                Ok(()) => text(202, "taken"),
                Err(error) => text(500, &format!("the file could not be kept: {error}")),
            },
            (_, "" | "state" | "document" | "series" | "compare" | "slice" | "open") => text(405, "not in this way"),
            _ => text(404, "there is nothing of this name"),
        }
    }

    fn series(&self, query: Query<'_>) -> Result<Vec<u8>, String> {
        let opened = self.desk.opened().ok_or("nothing is open")?;
        let id = query.number("c").ok_or("which connection?")?;
        let columns = query.number("columns").unwrap_or(COLUMNS);
        let answer = opened.answer(id, range(query), columns)?;
        serde_json::to_vec(&answer).map_err(|error| error.to_string())
    }

    /// Two transfers side by side, named as on the command line: `a=3.2&b=5.1`.
    fn compare(&self, query: Query<'_>) -> Result<Vec<u8>, String> {
        let opened = self.desk.opened().ok_or("nothing is open")?;
        let which = |name| query.get(name).and_then(|text| Which::read(&text)).ok_or("which two transfers?");
        let comparison = opened.compare([which("a")?, which("b")?])?;
        serde_json::to_vec(&comparison).map_err(|error| error.to_string())
    }

    /// A connection's packets in a time range. They go through a file without a name: they may be more than memory holds.
    fn slice(&self, query: Query<'_>) -> Result<Answer, String> {
        let opened = self.desk.opened().ok_or("nothing is open")?;
        let (place, connection) = opened.place(query.number("c").ok_or("which connection?")?)?;
        let range = range(query).ok_or("from when to when?")?;
        let unkept = |error: io::Error| format!("the slice could not be kept: {error}");
        let file = tempfile::tempfile().map_err(unkept)?;
        let mut slice = Slice::new(io::BufWriter::new(file));
        whyslow_io::pick(&place, range, &mut |packet| slice.push(packet)).map_err(|error| error.to_string())?;
        let packets = slice.packets;
        let mut file = slice.finish().map_err(unkept)?.into_inner().map_err(|error| unkept(error.into_error()))?;
        file.rewind().map_err(unkept)?;
        let name = format!("connection-{}-{packets}-packets.pcapng", connection.id);
        Ok(Response::from_file(file)
            .boxed()
            .with_header(field("Content-Type", "application/x-pcapng"))
            .with_header(field("Cache-Control", "no-store"))
            .with_header(field("Content-Disposition", &format!("attachment; filename=\"{name}\""))))
    }

    /// Keeps a file that was dropped on the page, as long as it is open: it may be larger than memory.
    fn upload(&self, query: Query<'_>, request: &mut Request) -> io::Result<()> {
        let name = query.get("name").unwrap_or_else(|| "capture".to_owned());
        let folder = tempfile::Builder::new().prefix("whyslow-").tempdir()?;
        let path = folder.path().join("capture");
        io::copy(request.as_reader(), &mut File::create(&path)?)?;
        let beside = query.get("beside").map(|which| Which::read(&which).unwrap_or_default());
        self.desk.take(Upload { name, path, _folder: folder }, query.number::<u32>("rest").unwrap_or(0) == 0, beside);
        Ok(())
    }
}

/// A time range, as seconds from the first packet.
fn range(query: Query<'_>) -> Option<(Nanos, Nanos)> {
    let [from, to] = ["from", "to"].map(|name| query.number::<f64>(name).filter(|seconds| seconds.is_finite()));
    let (from, to) = (Nanos::from_secs_f64(from?), Nanos::from_secs_f64(to?));
    (from <= to).then_some((from, to))
}

/// A header of our own: its text is fixed and fit for one.
fn field(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).unwrap_or_else(|()| unreachable!("{name}: {value} is no header"))
}

fn bytes(kind: &str, body: Vec<u8>) -> Answer {
    let response = Response::from_data(body).boxed();
    [
        ("Content-Type", kind),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    .into_iter()
    .fold(response, |response, (name, value)| response.with_header(field(name, value)))
}

fn text(status: u16, body: &str) -> Answer {
    bytes("text/plain; charset=utf-8", format!("{body}\n").into_bytes()).with_status_code(status)
}

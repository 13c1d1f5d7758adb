//! [`Site`]: routes requests to answers.
//!
//! Long work, and work that waits for the disk, runs on a limited number of other threads. Waiting
//! for a client takes no thread.

use super::answer::{self, Answer, Content, refusal, text};
use super::connection_limit::ConnectionSlot;
use super::limits::Limits;
use super::upload;
use crate::live::Live;
use crate::page;
use crate::request_guard::RequestGuard;
use crate::session::{Session, Upload, UploadPart};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};
use serde::Serialize;
use std::io::{self, Seek};
use std::sync::{Arc, OnceLock};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use whyslow_diagnosis::compare::TransferName;
use whyslow_io::Scratch;
use whyslow_page::{OpenCaptures, Query, is_question, range, slice_name};
use whyslow_report::render;
use whyslow_units::Nanos;

pub(super) const JSON: &str = "application/json";
const NOTHING_OPEN: &str = "nothing is open";

/// The state that requests are answered from.
pub(super) struct Site {
    pub(super) guard: RequestGuard,
    pub(super) session: Arc<Session>,
    /// What is watched, in place of a session's captures.
    pub(super) live: OnceLock<Arc<Live>>,
    pub(super) page: &'static str,
    pub(super) scratch: Scratch,
    pub(super) limits: Limits,
    /// Permits for long work.
    pub(super) work: Arc<Semaphore>,
}

impl Site {
    /// Answers a request. Its sender is judged by the head; if that is wrong, the body is not read.
    pub(super) async fn answer(&self, request: Request<Incoming>, slot: &Arc<ConnectionSlot>) -> Answer {
        let (head, body) = request.into_parts();
        match self.guard.authorize(&head) {
            Ok(wanted) => {
                let busy = slot.busy();
                self.route(wanted, &head, body).await.map(|content| content.held(busy))
            }
            Err(refused) => refusal(refused.status, refused.why),
        }
    }

    async fn route(&self, wanted: &str, head: &Parts, body: Incoming) -> Answer {
        let query = Query::new(head.uri.query().unwrap_or_default());
        if let Some(live) = self.live.get().filter(|_| !wanted.is_empty()) {
            let is_empty = body.is_end_stream();
            return self.route_live(live, wanted, (&head.method, is_empty), query).await;
        }
        if (&head.method, wanted) == (&Method::POST, "open") {
            return self.take(query, head, body).await;
        }
        if !body.is_end_stream() {
            return refusal(StatusCode::BAD_REQUEST, "nothing is to be sent with this");
        }
        match (&head.method, wanted) {
            (&Method::GET | &Method::HEAD, "") => {
                let mut page = answer::of("text/html; charset=utf-8", Bytes::from_static(self.page.as_bytes()));
                let policy = HeaderValue::from_static("frame-ancestors 'none'");
                page.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
                page
            }
            (&Method::GET, "state") => found(json(&self.session.status())),
            (&Method::GET, "document") => match self.session.opened() {
                Some(opened) => compressed(opened.captures.document().bytes().clone()),
                None => text(StatusCode::NOT_FOUND, NOTHING_OPEN),
            },
            (&Method::GET, wanted) if is_about_opened(wanted) => self.look(wanted, query).await,
            (_, "" | "state" | "document" | "open") => text(StatusCode::METHOD_NOT_ALLOWED, "not in this way"),
            (_, wanted) if is_about_opened(wanted) => text(StatusCode::METHOD_NOT_ALLOWED, "not in this way"),
            _ => text(StatusCode::NOT_FOUND, "there is nothing of this name"),
        }
    }

    /// Answers a question about the open captures.
    async fn look(&self, wanted: &str, query: Query<'_>) -> Answer {
        match wanted {
            "report" => {
                let page = self.page;
                self.of_opened(move |opened| {
                    let report = page::fill(page, &opened.as_file(&mut |_| {}));
                    Ok(answer::of("text/html; charset=utf-8", Bytes::from(report)))
                })
                .await
            }
            "slice" => {
                let (id, range) = (query.number("c"), range(query));
                self.of_opened(move |opened| slice(opened, id.ok_or("which connection?")?, range)).await
            }
            _ => {
                let (wanted, query) = (wanted.to_owned(), query.text().to_owned());
                self.of_opened(move |opened| {
                    let json = whyslow_page::answer(opened, &wanted, Query::new(&query))?;
                    Ok(answer::of(JSON, Bytes::from(json)))
                })
                .await
            }
        }
    }

    /// Runs a job on the open captures, which may read them again.
    async fn of_opened(&self, job: impl FnOnce(&OpenCaptures) -> Result<Answer, String> + Send + 'static) -> Answer {
        let Some(opened) = self.session.opened() else { return text(StatusCode::NOT_FOUND, NOTHING_OPEN) };
        self.work(move || job(&opened.captures)).await
    }

    /// Runs a job that takes long, or waits for the disk.
    pub(super) async fn work(&self, job: impl FnOnce() -> Result<Answer, String> + Send + 'static) -> Answer {
        // A waiting request holds no thread. The permit goes with the work, which does not end
        // when its client leaves.
        let permit = Arc::clone(&self.work).acquire_owned().await;
        let done = spawn_blocking(move || {
            let answer = job();
            drop(permit);
            answer
        });
        match done.await {
            Ok(answer) => found(answer),
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    }

    /// Saves a file that was dropped on the page, which may be larger than memory. The page changes
    /// once all files are there.
    async fn take(&self, query: Query<'_>, head: &Parts, body: Incoming) -> Answer {
        let part = UploadPart {
            set: query.get("set").unwrap_or_default(),
            rest: query.number("rest").unwrap_or(0),
            of: query.number("of"),
        };
        let received = match upload::length(&head.headers, &self.scratch) {
            Ok(length) => upload::receive(body, length, self.scratch.clone(), self.limits.upload).await,
            Err(failure) => Err(failure),
        };
        let path = match received {
            Ok(path) => path,
            Err(failure) => {
                self.session.forget(&part);
                return refusal(failure.status(), &failure.to_string());
            }
        };
        let name = query.get("name").unwrap_or_else(|| "capture".to_owned());
        let beside = query.get("beside").map(|which| TransferName::read(&which).unwrap_or_default());
        let session = Arc::clone(&self.session);
        // The memory of the previous captures is returned to the system.
        match spawn_blocking(move || session.take(Upload { name, path }, &part, beside)).await {
            Ok(Ok(())) => text(StatusCode::ACCEPTED, "taken"),
            Ok(Err(why)) => text(StatusCode::CONFLICT, why),
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    }
}

/// Whether this is answered from the open captures, read again.
fn is_about_opened(wanted: &str) -> bool {
    matches!(wanted, "report" | "slice") || is_question(wanted)
}

fn found(answer: Result<Answer, String>) -> Answer {
    answer.unwrap_or_else(|why| text(StatusCode::NOT_FOUND, &why))
}

pub(super) fn json(value: &impl Serialize) -> Result<Answer, String> {
    let mut json = Vec::new();
    render::json::to_people(value, &mut json).map_err(|error| error.to_string())?;
    Ok(answer::of(JSON, Bytes::from(json)))
}

/// A connection's packets in a time range. They go through an unnamed file, because they may not
/// fit into memory.
fn slice(opened: &OpenCaptures, id: u64, range: Option<(Nanos, Nanos)>) -> Result<Answer, String> {
    let unkept = |error: io::Error| format!("the slice could not be kept: {error}");
    let file = tempfile::tempfile().map_err(unkept)?;
    let (file, packets) = opened.slice(id, range, io::BufWriter::new(file))?;
    let mut file = file.into_inner().map_err(|error| unkept(error.into_error()))?;
    let bytes = file.stream_position().map_err(unkept)?;
    file.rewind().map_err(unkept)?;
    pcapng(Content::file(file, bytes), &slice_name(id, packets))
}

/// A capture of this name, to be saved.
pub(super) fn pcapng(content: impl Into<Content>, name: &str) -> Result<Answer, String> {
    let mut answer = answer::of("application/x-pcapng", content);
    let name = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")).map_err(|error| error.to_string())?;
    answer.headers_mut().insert(CONTENT_DISPOSITION, name);
    Ok(answer)
}

/// JSON that was compressed.
pub(super) fn compressed(json: Bytes) -> Answer {
    let mut answer = answer::of(JSON, json);
    answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    answer
}

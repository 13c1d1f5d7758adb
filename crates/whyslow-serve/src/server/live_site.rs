//! What the page of a watch asks for.

use super::answer::{Answer, refusal, text};
use super::site::{Site, compressed, json, pcapng};
use crate::live::Live;
use hyper::body::Bytes;
use hyper::{Method, StatusCode};
use serde::Serialize;
use std::sync::Arc;
use whyslow_page::{COLUMNS, Query, range, slice_name};
use whyslow_units::Nanos;

/// The page's status in place of the progress of a reading.
#[derive(Serialize)]
struct Watching {
    number: u64,
    state: &'static str,
    error: Option<String>,
}

impl Site {
    /// Routes a request; `how` is its method, and whether it is without a body.
    pub(super) async fn route_live(
        &self,
        live: &Arc<Live>,
        wanted: &str,
        (method, is_empty): (&Method, bool),
        query: Query<'_>,
    ) -> Answer {
        if !is_empty {
            return refusal(StatusCode::BAD_REQUEST, "this page shows what is watched, and takes no files");
        }
        match (method, wanted) {
            (&Method::GET, "state") => {
                let watching = Watching { number: 0, state: "ready", error: None };
                json(&watching).unwrap_or_else(|why| text(StatusCode::INTERNAL_SERVER_ERROR, &why))
            }
            (&Method::GET, "document") => compressed(live.document()),
            (&Method::GET, "news") => compressed(live.news(Live::since(query)).await),
            (&Method::GET, "connection" | "series" | "packet" | "slice" | "save") => {
                let Some(id) = query.number("c") else { return text(StatusCode::NOT_FOUND, "which connection?") };
                self.look_live(live, wanted, id, query).await
            }
            (_, "state" | "document" | "news" | "connection" | "series" | "packet" | "slice" | "save") => {
                text(StatusCode::METHOD_NOT_ALLOWED, "not in this way")
            }
            _ => text(StatusCode::NOT_FOUND, "there is nothing of this name while something is watched"),
        }
    }

    /// Answers a question about a connection.
    async fn look_live(&self, live: &Arc<Live>, wanted: &str, id: u64, query: Query<'_>) -> Answer {
        let live = Arc::clone(live);
        let range = range(query);
        match wanted {
            "connection" => self.work(move || json(&live.open(id)?.to_page())).await,
            "series" => {
                let columns = query.number("columns").unwrap_or(COLUMNS);
                self.work(move || json(&live.opened(id)?.answer(range, columns)?)).await
            }
            "packet" => {
                let (frame, time) = (query.number("frame"), query.number::<f64>("t"));
                self.work(move || {
                    let time = time.filter(|time| time.is_finite()).ok_or("when?")?;
                    json(&live.opened(id)?.detail(frame.ok_or("which frame?")?, Nanos::from_secs_f64(time))?)
                })
                .await
            }
            "slice" => {
                self.work(move || {
                    let range = range.ok_or("from when to when?")?;
                    let (bytes, packets) = live.opened(id)?.write(Some(range), Vec::new())?;
                    pcapng(Bytes::from(bytes), &slice_name(id, packets))
                })
                .await
            }
            // What is in memory now, and not when it was opened.
            _ => {
                self.work(move || {
                    let (bytes, _) = live.open(id)?.write(None, Vec::new())?;
                    pcapng(Bytes::from(bytes), &format!("whyslow-{id}.pcapng"))
                })
                .await
            }
        }
    }
}

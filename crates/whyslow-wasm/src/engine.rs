//! [`Engine`]: opens captures and answers questions about them.

use crate::browser_file::{BrowserFile, ReadAt};
use bytes::Bytes;
use serde::Deserialize;
use whyslow_diagnosis::compare::TransferName;
use whyslow_io::{Progress, Stop};
use whyslow_page::{OpenCaptures, Opening, Query, SoughtTransfer, answer, range};

/// What to open.
#[derive(Debug, Deserialize)]
pub struct OpenRequest {
    /// Files of a group are explained together.
    groups: Vec<Vec<RequestedFile>>,
    /// The last group is compared with this transfer of those before (`3.2`; empty: the largest of
    /// the first group).
    beside: Option<String>,
}

/// A file to open.
#[derive(Debug, Deserialize)]
pub struct RequestedFile {
    /// How it is named when it is read.
    number: u32,
    name: String,
    /// Bytes.
    size: u64,
}

/// Captures that are open, if any.
pub struct Engine {
    read: ReadAt,
    opened: Option<OpenCaptures>,
}

impl Engine {
    /// One that reads files in this way.
    pub fn new(read: ReadAt) -> Self {
        Self { read, opened: None }
    }

    /// Opens captures, and returns the page's document: JSON.
    ///
    /// # Errors
    /// If the request is invalid, or the captures cannot be read.
    pub fn open(&mut self, request: &[u8], progress: &mut dyn FnMut(Progress)) -> Result<Bytes, String> {
        let request: OpenRequest = serde_json::from_slice(request).map_err(|error| error.to_string())?;
        let input = |file: &RequestedFile| BrowserFile::input(file.number, &file.name, file.size, &self.read);
        let groups = request.groups.iter().map(|files| files.iter().map(input).collect()).collect();
        let compare = request.beside.as_deref().map(|which| sought(which, request.groups.len()));
        let opening = Opening { groups, compare, ..Opening::default() };
        let opening = opening.with_key_logs().map_err(|error| error.to_string())?;
        let reading = whyslow_io::read_on(opening.options(), &opening.groups(), &Stop::default(), progress)
            .map_err(|error| error.to_string())?;
        let opened = self.opened.insert(OpenCaptures::in_browser(reading, opening));
        Ok(opened.document().bytes().clone())
    }

    /// Answers a question: one of [`whyslow_page::answer`], as JSON; `slice?c=1&from=0&to=2`, as
    /// pcapng; `report`, as a document for the page's own file.
    ///
    /// # Errors
    /// When nothing is open, and as [`whyslow_page::answer`].
    pub fn ask(&self, question: &str, progress: &mut dyn FnMut(Progress)) -> Result<Bytes, String> {
        let opened = self.opened.as_ref().ok_or("nothing is open")?;
        let (wanted, query) = question.split_once('?').unwrap_or((question, ""));
        let query = Query::new(query);
        match wanted {
            "slice" => {
                let id = query.number("c").ok_or("which connection?")?;
                Ok(opened.slice(id, range(query), Vec::new())?.0.into())
            }
            "report" => Ok(opened.as_file(progress).bytes().clone()),
            _ => answer(opened, wanted, query).map(Bytes::from),
        }
    }
}

/// The transfers to compare: this one, and the largest of the last group.
fn sought(which: &str, groups: usize) -> [SoughtTransfer; 2] {
    let which = TransferName::read(which).unwrap_or_default();
    // Without a transfer the first open group is meant.
    let group = which.connection.is_none().then_some(0);
    let other = SoughtTransfer { group: Some(groups.saturating_sub(1)), which: TransferName::default() };
    [SoughtTransfer { group, which }, other]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use flate2::read::GzDecoder;
    use serde_json::{Value, json};
    use std::path::Path;
    use std::sync::Arc;

    fn sample(name: &str) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
        std::fs::read(folder.join(name).with_extension("pcap")).unwrap()
    }

    /// An engine for these files, which are given in pieces.
    fn engine(files: Vec<Vec<u8>>) -> Engine {
        Engine::new(Arc::new(move |number, offset, to: &mut [u8]| {
            let bytes = files.get(number as usize).ok_or_else(|| std::io::Error::other("it is gone"))?;
            let rest = bytes.get(offset as usize..).unwrap_or_default();
            let length = rest.len().min(to.len()).min(1_000);
            to[..length].copy_from_slice(&rest[..length]);
            Ok(length)
        }))
    }

    fn open(engine: &mut Engine, request: &Value) -> Result<Value, String> {
        let document = engine.open(request.to_string().as_bytes(), &mut |_| {})?;
        Ok(serde_json::from_slice(&document).unwrap())
    }

    #[test]
    fn a_file_is_opened_and_asked_about() {
        let bytes = sample("loss-client");
        let mut engine = engine(vec![bytes.clone()]);
        let file = json!({"number": 0, "name": "a.pcap", "size": bytes.len()});
        assert_eq!(engine.ask("connection?c=1", &mut |_| {}), Err("nothing is open".to_owned()));
        let content = open(&mut engine, &json!({"groups": [[file]]})).unwrap();
        assert_eq!((&content["name"], &content["compare"]), (&json!("a.pcap"), &Value::Null));
        let json = |question| serde_json::from_slice::<Value>(&engine.ask(question, &mut |_| {}).unwrap()).unwrap();
        assert_eq!(json("connection?c=1")["id"], 1);
        assert_eq!(json("analysis")["captures"][0]["path"], "a.pcap");
        assert!(engine.ask("slice?c=1&from=0&to=9", &mut |_| {}).unwrap().starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]));
        let report = engine.ask("report", &mut |_| {}).unwrap();
        let report: Value = serde_json::from_reader(GzDecoder::new(report.as_ref())).unwrap();
        assert!(report["series"]["1"][0]["packets"].is_number());
    }

    #[test]
    fn key_log_dropped_with_a_capture_decrypts_it() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../whyslow-diagnosis/tests/keys/http2-tls13.pcapng");
        let (capture, keys) = whyslow_testing::without_secrets(&std::fs::read(file).unwrap());
        let named = |number: usize, bytes: &[u8]| json!({"number": number, "name": "file", "size": bytes.len()});
        let (first, second) = (named(0, &keys), named(1, &capture));
        let mut engine = engine(vec![keys, capture]);
        open(&mut engine, &json!({"groups": [[second.clone()]]})).unwrap();
        let requests = |engine: &Engine| {
            let answer = engine.ask("connection?c=1", &mut |_| {}).unwrap();
            serde_json::from_slice::<Value>(&answer).unwrap()["requests"].as_array().map_or(0, Vec::len)
        };
        assert_eq!(requests(&engine), 0);
        open(&mut engine, &json!({"groups": [[first.clone(), second]]})).unwrap();
        assert!(requests(&engine) > 0);
        assert!(open(&mut engine, &json!({"groups": [[first]]})).is_err(), "a key log alone is no capture");
    }

    #[test]
    fn two_of_one_name_are_compared() {
        let (loss, healthy) = (sample("loss-client"), sample("healthy-server"));
        let file = |number: usize, bytes: &Vec<u8>| json!([{"number": number, "name": "a.pcap", "size": bytes.len()}]);
        let groups = [file(0, &loss), file(1, &healthy)];
        let mut engine = engine(vec![loss, healthy]);
        let content = open(&mut engine, &json!({"groups": groups, "beside": ""})).unwrap();
        assert_eq!(content["compare"], json!([[1, 2], [2, 2]]));
        assert!(engine.ask("compare?a=1.2&b=2.2", &mut |_| {}).is_ok());
    }

    #[test]
    fn what_cannot_be_read_is_an_error_with_its_name() {
        let mut engine = engine(vec![b"no capture at all, but some text that is long enough".to_vec()]);
        let open = |engine: &mut Engine, number| {
            let file = json!({"number": number, "name": "a.pcap", "size": 9});
            open(engine, &json!({"groups": [[file]]})).unwrap_err()
        };
        assert!(open(&mut engine, 0).starts_with("a.pcap"));
        assert!(open(&mut engine, 1).contains("it is gone"));
        assert!(engine.open(b"{}", &mut |_| {}).is_err());
    }
}

//! [`Upload`]: what is sent with a request, and the body that hyper takes it from.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Bytes that are handed to the connection at once.
const PIECE: usize = 64 << 10;

/// The body to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upload {
    /// This many bytes that do not compress.
    Bytes(u64),
    /// A file.
    File(PathBuf),
    /// Parts, as a form has them.
    Form(Vec<Form>),
}

impl Upload {
    /// The files that are read for it.
    pub fn files(&self) -> Vec<&Path> {
        match self {
            Self::Bytes(_) => Vec::new(),
            Self::File(path) => vec![path],
            Self::Form(parts) => parts.iter().filter_map(Form::file).collect(),
        }
    }
}

/// A part of a form (multipart/form-data, RFC 7578).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    name: String,
    value: Value,
    content_type: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Text(String),
    File(PathBuf),
}

impl Form {
    /// Reads `NAME=TEXT` or `NAME=@FILE`, with `;type=MIME` at the end, as curl's `--form`.
    ///
    /// # Errors
    /// The error in the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not NAME=VALUE or NAME=@FILE"))?;
        if name.is_empty() || name.contains(['"', '\r', '\n']) || value.contains(['\r', '\n']) {
            return Err(format!("`{text}` is not NAME=VALUE or NAME=@FILE"));
        }
        let (value, content_type) = match value.rsplit_once(";type=") {
            Some((value, kind)) => (value, Some(kind.to_owned())),
            None => (value, None),
        };
        let value = match value.strip_prefix('@') {
            Some(path) => Value::File(path.into()),
            None => Value::Text(value.to_owned()),
        };
        Ok(Self { name: name.to_owned(), value, content_type })
    }

    /// The file that is its value, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match &self.value {
            Value::File(path) => Some(path),
            Value::Text(_) => None,
        }
    }

    fn head(&self, boundary: &str) -> String {
        let file = match &self.value {
            Value::File(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy().replace(['"', '\r', '\n'], "_");
                format!("; filename=\"{name}\"")
            }
            Value::Text(_) => String::new(),
        };
        let kind = match (&self.content_type, &self.value) {
            (Some(kind), _) => format!("Content-Type: {kind}\r\n"),
            (None, Value::File(_)) => "Content-Type: application/octet-stream\r\n".to_owned(),
            (None, Value::Text(_)) => String::new(),
        };
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"{file}\r\n{kind}\r\n", self.name)
    }
}

/// A stretch of a body.
#[derive(Debug)]
enum Part {
    Bytes(Bytes),
    File(File, u64),
    Noise(u64),
}

impl Part {
    fn file(path: &Path) -> io::Result<Self> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let file = File::open(path).map_err(named)?;
        let metadata = file.metadata().map_err(named)?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{}: no regular file", path.display())));
        }
        Ok(Self::File(file, metadata.len()))
    }

    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(_, left) | Self::Noise(left) => *left,
        }
    }
}

/// A request's body, of a size that is known before.
#[derive(Debug, Default)]
pub(crate) struct SendBody {
    parts: VecDeque<Part>,
    left: u64,
    /// The content type of a form.
    pub(crate) content_type: Option<String>,
}

impl SendBody {
    /// Makes the body of an upload; files are opened here, and read while it is sent.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn new(upload: Option<&Upload>) -> io::Result<Self> {
        let (parts, content_type) = match upload {
            None => (VecDeque::new(), None),
            Some(Upload::Bytes(size)) => (VecDeque::from([Part::Noise(*size)]), None),
            Some(Upload::File(path)) => (VecDeque::from([Part::file(path)?]), None),
            Some(Upload::Form(form)) => {
                let boundary = "------------------------whyslow7MA4YWxkTrZu0gW";
                let mut parts = VecDeque::new();
                for part in form {
                    parts.push_back(Part::Bytes(part.head(boundary).into()));
                    parts.push_back(match &part.value {
                        Value::Text(text) => Part::Bytes(text.clone().into()),
                        Value::File(path) => Part::file(path)?,
                    });
                    parts.push_back(Part::Bytes("\r\n".into()));
                }
                parts.push_back(Part::Bytes(format!("--{boundary}--\r\n").into()));
                (parts, Some(format!("multipart/form-data; boundary={boundary}")))
            }
        };
        let left = parts.iter().map(Part::len).sum();
        Ok(Self { parts, left, content_type })
    }

    pub(crate) fn len(&self) -> u64 {
        self.left
    }

    fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let piece = match self.parts.front_mut() {
                None => return Ok(None),
                Some(Part::Bytes(bytes)) => std::mem::take(bytes),
                Some(Part::File(_, 0) | Part::Noise(0)) => Bytes::new(),
                Some(Part::File(file, left)) => {
                    let mut piece = vec![0; PIECE.min(usize::try_from(*left).unwrap_or(PIECE))];
                    file.read_exact(&mut piece)?;
                    *left -= piece.len() as u64;
                    piece.into()
                }
                Some(Part::Noise(left)) => {
                    let size = PIECE.min(usize::try_from(*left).unwrap_or(PIECE));
                    *left -= size as u64;
                    noise(self.left, size)
                }
            };
            if piece.is_empty() {
                self.parts.pop_front();
                continue;
            }
            self.left -= piece.len() as u64;
            return Ok(Some(piece));
        }
    }
}

/// Bytes that do not compress (xorshift64).
fn noise(seed: u64, size: usize) -> Bytes {
    let mut state = seed | 1;
    let mut out = Vec::with_capacity(size + 8);
    while out.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out.extend(state.to_le_bytes());
    }
    out.truncate(size);
    out.into()
}

impl Body for SendBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(self.next().map(|piece| piece.map(Frame::data)).transpose())
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn all(mut body: SendBody) -> Vec<u8> {
        let mut out = Vec::new();
        while let Some(piece) = body.next().unwrap() {
            out.extend(piece);
        }
        assert!(body.is_end_stream());
        out
    }

    #[test]
    fn a_form_has_its_parts() {
        let form = ["data=@Cargo.toml;type=application/json", "note=as it is"].map(|part| Form::parse(part).unwrap());
        let body = SendBody::new(Some(&Upload::Form(form.to_vec()))).unwrap();
        let (size, kind) = (body.len(), body.content_type.clone().unwrap());
        assert!(kind.starts_with("multipart/form-data; boundary="));
        let text = String::from_utf8(all(body)).unwrap();
        assert_eq!(text.len() as u64, size);
        assert!(
            text.contains("name=\"data\"; filename=\"Cargo.toml\"\r\nContent-Type: application/json\r\n\r\n[package]")
        );
        assert!(text.contains("name=\"note\"\r\n\r\nas it is\r\n--"));
        for wrong in ["", "x", "=y", "a\"b=c"] {
            assert!(Form::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bytes_are_as_many_as_asked_for_and_do_not_repeat() {
        let bytes = all(SendBody::new(Some(&Upload::Bytes(200_001))).unwrap());
        assert_eq!(bytes.len(), 200_001);
        assert_ne!(bytes[..1000], bytes[65_536..66_536]);
        assert!(all(SendBody::new(None).unwrap()).is_empty());
        assert!(SendBody::new(Some(&Upload::File("/nonexistent".into()))).is_err());
    }
}

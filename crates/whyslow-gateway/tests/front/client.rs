//! A client that signs as it should, and as it should not.

use crate::server::{KEY, SECRET, Server};
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    SessionTokenMode, SignableBody, SignableRequest, SignatureLocation, SigningSettings, sign,
};
use aws_sigv4::sign::v4;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, SystemTime};

/// A request that is to be signed and sent.
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) key: &'static str,
    pub(crate) secret: &'static str,
    pub(crate) at: SystemTime,
    /// How long a link is good for.
    pub(crate) expires: Duration,
    /// Added behind the signature's back.
    pub(crate) unsigned: Vec<(String, String)>,
}

#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn ask(method: &'static str, path: &str) -> Ask {
    let (path, fields, body, unsigned) = (path.to_owned(), Vec::new(), Vec::new(), Vec::new());
    Ask {
        method,
        path,
        fields,
        body,
        key: KEY,
        secret: SECRET,
        at: SystemTime::now(),
        expires: Duration::from_secs(60),
        unsigned,
    }
}

pub(crate) fn put(path: &str, body: impl Into<Vec<u8>>) -> Ask {
    Ask { body: body.into(), ..ask("PUT", path) }
}

impl Ask {
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn unsigned(mut self, name: &str, value: &str) -> Self {
        self.unsigned.push((name.to_owned(), value.to_owned()));
        self
    }

    fn settings(&self, location: SignatureLocation) -> SigningSettings {
        let mut settings = SigningSettings::default();
        settings.signature_location = location;
        settings.session_token_mode = SessionTokenMode::Include;
        settings.percent_encoding_mode = aws_sigv4::http_request::PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = aws_sigv4::http_request::UriPathNormalizationMode::Disabled;
        if location == SignatureLocation::QueryParams {
            settings.expires_in = Some(self.expires);
        }
        settings
    }

    /// The path with its query, and the fields that the signature adds.
    fn signed(&self, host: &str, location: SignatureLocation) -> (String, Vec<(String, String)>) {
        let identity = Credentials::new(self.key, self.secret, None, None, "test").into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region("us-east-1")
            .name("s3")
            .time(self.at)
            .settings(self.settings(location))
            .build()
            .unwrap()
            .into();
        let payload = self.field("x-amz-content-sha256").unwrap_or("UNSIGNED-PAYLOAD");
        let mut fields = vec![("host", host)];
        fields.extend(self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let url = format!("http://{host}{}", self.path);
        let body = SignableBody::Precomputed(payload.to_owned());
        let request = SignableRequest::new(self.method, &url, fields.into_iter(), body).unwrap();
        let mut made = http::Request::builder().method(self.method).uri(&url).body(()).unwrap();
        sign(request, &parameters).unwrap().into_parts().0.apply_to_request_http1x(&mut made);
        let text = |value: &http::HeaderValue| value.to_str().unwrap().to_owned();
        let added = made.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        (made.uri().path_and_query().unwrap().to_string(), added)
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    /// All bytes of the request.
    pub(crate) fn bytes(self, server: &Server) -> Vec<u8> {
        self.bytes_for(&server.address.to_string())
    }

    fn bytes_for(mut self, host: &str) -> Vec<u8> {
        if self.field("x-amz-content-sha256").is_none() {
            self.fields.push(("x-amz-content-sha256".to_owned(), "UNSIGNED-PAYLOAD".to_owned()));
        }
        let (path, added) = self.signed(host, SignatureLocation::Headers);
        self.assemble(host, &path, added)
    }

    fn assemble(self, host: &str, path: &str, added: Vec<(String, String)>) -> Vec<u8> {
        let mut head = format!("{} {path} HTTP/1.1\r\nhost: {host}\r\n", self.method);
        let length = self.body.len().to_string();
        let all = self.fields.iter().chain(&added).chain(&self.unsigned);
        let mut has_length = false;
        for (name, value) in all {
            has_length |= name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("transfer-encoding");
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !has_length {
            head.push_str(&format!("content-length: {length}\r\n"));
        }
        head.push_str("\r\n");
        [head.into_bytes(), self.body].concat()
    }

    pub(crate) fn send(self, server: &Server) -> Got {
        let method = self.method;
        let bytes = self.bytes(server);
        send(server, &bytes, method)
    }

    /// The same to another name of the server's.
    pub(crate) fn send_as(self, server: &Server, host: &str) -> Got {
        let method = self.method;
        send(server, &self.bytes_for(host), method)
    }

    /// The same by a link, whose signature is in the query.
    pub(crate) fn send_link(self, server: &Server) -> Got {
        let (host, method) = (server.address.to_string(), self.method);
        let (path, _) = self.signed(&host, SignatureLocation::QueryParams);
        send(server, &self.assemble(&host, &path, Vec::new()), method)
    }
}

pub(crate) fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

pub(crate) fn send(server: &Server, bytes: &[u8], method: &str) -> Got {
    let mut stream = connect(server);
    // A client that is refused early may be cut off while it sends.
    let _ = stream.write_all(bytes);
    receive(&mut stream, method).expect("an answer")
}

/// An answer; `None` if the connection ends before there is one.
pub(crate) fn receive(stream: &mut TcpStream, method: &str) -> Option<Got> {
    let mut all = Vec::new();
    let mut piece = [0; 64 << 10];
    loop {
        if let Some(end) = all.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&all[..end]).into_owned();
            let status: u16 = head.split(' ').nth(1)?.parse().ok()?;
            if status == 100 {
                all.drain(..end + 4);
                continue;
            }
            let length = field(&head, "content-length").and_then(|value| value.parse::<usize>().ok());
            let wanted = if method == "HEAD" || status == 304 || status == 204 { Some(0) } else { length };
            if wanted.is_some_and(|wanted| all.len() >= end + 4 + wanted) {
                return Some(Got { status, head, body: all.split_off(end + 4) });
            }
        }
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => all.extend_from_slice(&piece[..count]),
            _ => {
                let end = all.windows(4).position(|four| four == b"\r\n\r\n")?;
                let head = String::from_utf8_lossy(&all[..end]).into_owned();
                let status = head.split(' ').nth(1)?.parse().ok()?;
                return Some(Got { status, head, body: all.split_off(end + 4) });
            }
        }
    }
}

pub(crate) fn field(head: &str, name: &str) -> Option<String> {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.filter(|(one, _)| one.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned()).next()
}

impl Got {
    pub(crate) fn field(&self, name: &str) -> Option<String> {
        field(&self.head, name)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The text between two tags of a document.
    pub(crate) fn tag(&self, name: &str) -> Option<String> {
        let text = self.text();
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(found, _)| found.to_owned())
    }

    /// Asserts an error.
    #[track_caller]
    pub(crate) fn is(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.tag("Code").as_deref()), (status, Some(code)), "{}\n{}", self.head, self.text());
        assert_eq!(self.field("x-amz-request-id").map(|id| id.len()), Some(16), "{}", self.head);
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert!((200..300).contains(&self.status), "{}\n{}", self.head, self.text());
        self
    }
}

//! [`Options`]: what holds for all requests of a client.

use crate::client::proxy::Proxies;
use crate::client::resolve::{Family, Pinned, Reroute};
use crate::client::target::Target;
use http::{HeaderName, HeaderValue};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use whyslow_live::capture::Recorder;

/// Options of all requests.
#[derive(Clone, Debug)]
pub struct Options {
    /// Addresses of one family alone.
    pub family: Option<Family>,
    /// Names that are not looked up.
    pub pinned: Vec<Pinned>,
    /// Proxies.
    pub proxies: Proxies,
    /// Trust any certificate.
    pub insecure: bool,
    /// Trust the authorities in this file, and no others.
    pub authorities: Option<PathBuf>,
    /// A certificate of one's own and its key, in these files.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The name for TLS (SNI, and of the certificate) if it is not the URL's host.
    pub server_name: Option<String>,
    /// Whether a new connection resumes the TLS session of an earlier one.
    pub resumption: Resumption,
    /// The address to connect to instead.
    pub reroutes: Vec<Reroute>,
    /// Ask for compressed answers. They are counted as they come.
    pub compressed: bool,
    /// Which HTTP: 1.1, 2, or what the server would rather have.
    pub http: Option<u8>,
    /// Header fields to add or to replace.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Maximum number of redirects that are followed.
    pub redirects: usize,
    /// For the name, the connection and TLS together.
    pub connect_timeout: Duration,
    /// For all of a request, redirects included.
    pub timeout: Duration,
    /// How often the kernel is asked about the connection.
    pub sample_every: Duration,
    /// Samples that are kept of a connection: beyond it every second one goes, and half as many
    /// come.
    pub most_samples: usize,
    /// Records packets.
    pub recorder: Option<Arc<Recorder>>,
}

/// Whether a new connection resumes the TLS session of an earlier one of the same client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resumption {
    /// Each handshake is a whole one, so that new connections compare.
    #[default]
    Never,
    /// A session is resumed if the server gave a ticket, as browsers do.
    IfOffered,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            family: None,
            pinned: Vec::new(),
            proxies: Proxies::default(),
            insecure: false,
            authorities: None,
            identity: None,
            server_name: None,
            resumption: Resumption::default(),
            reroutes: Vec::new(),
            compressed: false,
            http: None,
            headers: Vec::new(),
            redirects: 10,
            connect_timeout: Duration::from_secs(30),
            timeout: Duration::from_secs(300),
            sample_every: Duration::from_millis(2),
            most_samples: 4_000,
            recorder: None,
        }
    }
}

impl Options {
    /// The protocols to offer in TLS.
    pub(crate) fn protocols(&self) -> &'static [&'static str] {
        match self.http {
            Some(1) => &["http/1.1"],
            Some(2) => &["h2"],
            _ => &["h2", "http/1.1"],
        }
    }

    /// Whether HTTP/2 is spoken without having been agreed on (RFC 9113 section 3.3).
    pub(crate) fn http2_at_once(&self, target: &Target) -> bool {
        self.http == Some(2) && !target.tls
    }
}

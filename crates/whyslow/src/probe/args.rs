//! The command line of `whyslow probe`.

use super::threshold;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use whyslow_cli::output::OutputPath;
use whyslow_cli::quantity;
use whyslow_probe::{
    Ask, Detail, Family, Form, MOST_REQUESTS, Options, Pinned, Plan, Proxies, Reroute, Resumption, Series, Target,
    Threshold, Upload,
};
use whyslow_units::Nanos;

/// Samples of TCP_INFO in a line of a monitor.
const MONITOR_SAMPLES: usize = 64;

/// What to ask for, and how.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Exit status: 0 all was answered, 1 a threshold of --fail-on was passed, 2 something was not \
answered, or with an error (4xx, 5xx).\n\
Proxies come from the environment: http_proxy, https_proxy, all_proxy, no_proxy.")]
pub(crate) struct Probe {
    /// What to ask for; of several, the answers stand side by side.
    #[arg(value_name = "URL", required = true)]
    urls: Vec<String>,

    /// The method [default: GET, or PUT with --upload, POST with --form].
    #[arg(long, short = 'X', value_name = "METHOD")]
    method: Option<String>,
    /// Add a header field, or replace one, as `Name: value`.
    #[arg(long, short = 'H', value_name = "FIELD", value_parser = field)]
    header: Vec<(http::HeaderName, http::HeaderValue)>,
    /// Send a file, or this many bytes (`1MB`).
    #[arg(long, value_name = "FILE|SIZE", conflicts_with = "form")]
    upload: Option<String>,
    /// Send a form: `name=text` or `name=@FILE`, with `;type=MIME` behind it.
    #[arg(long, short = 'F', value_name = "PART", value_parser = Form::parse)]
    form: Vec<Form>,
    /// Send these sizes one after the other with PUT, if --upload or --method PUT is given;
    /// otherwise ask for this many first bytes: `1kB,100kB,1MB`.
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = size, conflicts_with = "form")]
    sizes: Vec<u64>,

    /// Make the request this many times [default: 1; with --every, until Ctrl-C].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: Option<u32>,
    /// Repeat for this time, with at most 10,000 requests.
    #[arg(long = "for", value_name = "TIME", value_parser = quantity::time, conflicts_with = "repeat")]
    over: Option<Nanos>,
    /// Make this many requests at the same time, each on a connection of its own.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    concurrency: u32,
    /// Make each request on a new connection (the default); with --reuse, do both.
    #[arg(long)]
    new: bool,
    /// Make all requests on one connection.
    #[arg(long)]
    reuse: bool,
    /// Wait between requests.
    #[arg(long, value_name = "TIME", value_parser = quantity::pause)]
    idle: Option<Nanos>,

    /// Make the request at this interval, and print a line for each: a monitor, until Ctrl-C. It
    /// records no packets.
    #[arg(long, value_name = "TIME", value_parser = quantity::time,
        conflicts_with_all = ["concurrency", "idle", "capture", "report", "view", "format", "snaplen", "full"])]
    every: Option<Nanos>,
    /// With --every, offer metrics to Prometheus at this address, as `127.0.0.1:9465`.
    #[arg(long, value_name = "ADDR", requires = "every")]
    pub(super) metrics: Option<SocketAddr>,

    /// Use IPv4 alone.
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Use IPv6 alone.
    #[arg(short = '6', long)]
    ipv6: bool,
    /// Do not look up a name: `HOST:PORT:ADDRESS[,ADDRESS]`.
    #[arg(long, value_name = "PIN", value_parser = Pinned::parse)]
    resolve: Vec<Pinned>,
    /// Which HTTP to speak [default: what the server chooses in TLS, 1.1 without TLS].
    #[arg(long, value_enum, value_name = "VERSION")]
    http: Option<Http>,
    /// Ask this proxy, and none of the environment: `http://`, `socks5://` or, if the proxy is to
    /// look up names, `socks5h://`.
    #[arg(long, short = 'x', value_name = "PROXY")]
    proxy: Option<String>,
    /// Hosts that are asked without a proxy; `*` is all.
    #[arg(long, value_name = "HOSTS")]
    noproxy: Option<String>,
    /// Connect to another host and port: `HOST1:PORT1:HOST2:PORT2`, each of which may be empty.
    #[arg(long, value_name = "MAP", value_parser = Reroute::parse)]
    connect_to: Vec<Reroute>,
    /// Ask for compressed answers (gzip, deflate, br, zstd); bytes are counted as they come.
    #[arg(long)]
    compressed: bool,
    /// Show this certificate to the server (PEM, with its chain).
    #[arg(long, value_name = "FILE", requires = "key", value_hint = clap::ValueHint::FilePath)]
    cert: Option<PathBuf>,
    /// The key of --cert (PEM).
    #[arg(long, value_name = "FILE", requires = "cert", value_hint = clap::ValueHint::FilePath)]
    key: Option<PathBuf>,
    /// Use this name in TLS (SNI, and for the certificate) instead of the URL's host.
    #[arg(long, value_name = "NAME")]
    sni: Option<String>,
    /// Resume the TLS session of an earlier request on a new connection, as browsers do.
    #[arg(long)]
    resume_tls: bool,
    /// Trust any certificate.
    #[arg(long, short = 'k')]
    insecure: bool,
    /// Trust the authorities in this file (PEM), and no others.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) cacert: Option<PathBuf>,
    /// Follow at most this many redirects.
    #[arg(long, value_name = "N", default_value_t = 10)]
    max_redirs: usize,
    /// For the name, the connection and TLS together.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = quantity::time)]
    connect_timeout: Nanos,
    /// For a request, redirects included.
    #[arg(long, value_name = "TIME", default_value = "5min", value_parser = quantity::time)]
    max_time: Nanos,

    /// Keep the packets in this file (pcapng; pcap if it is named so).
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) capture: Option<OutputPath>,
    /// Record this many bytes of each packet, IP header included [default: all].
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(64..=262_144))]
    pub(super) snaplen: Option<u32>,

    /// Write the page with all of it to this file.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) report: Option<OutputPath>,
    /// Show it on a local page, until Ctrl-C.
    #[arg(long, conflicts_with_all = ["report", "json", "format"])]
    pub(super) view: bool,

    /// Print the findings of the packets with their evidence, and all requests.
    #[arg(long, conflicts_with_all = ["json", "format"])]
    full: bool,
    /// Print a JSON object (schema whyslow-probe/1); with --every, one a line.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print what another tool prints.
    #[arg(long, value_enum, value_name = "TOOL")]
    format: Option<Format>,
    /// Exit with status 1 if a request passes this: `total>1s`, `first-byte>=200ms`,
    /// `speed<10mbit`; may be given more than once.
    #[arg(long, value_name = "LIMIT", value_parser = threshold::parse)]
    pub(super) fail_on: Vec<Threshold>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Http {
    #[value(name = "1.1")]
    One,
    #[value(name = "2")]
    Two,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// `0 DNS connect response transfer bytes speed URL`, a line a request.
    Httptest,
    /// The variables of `curl -w`, a line each.
    Curl,
}

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Page,
    Json,
    Httptest,
    Curl,
}

impl Probe {
    pub(super) fn style(&self) -> Style {
        match self.format {
            _ if self.json => Style::Json,
            Some(Format::Httptest) => Style::Httptest,
            Some(Format::Curl) => Style::Curl,
            None => Style::Page,
        }
    }

    /// The time between two requests of a monitor; `None` if it is not one.
    pub(super) fn every(&self) -> Option<Duration> {
        self.every.map(duration)
    }

    pub(super) fn detail(&self) -> Detail {
        if self.full { Detail::Full } else { Detail::Screen }
    }

    /// What it comes to.
    ///
    /// # Errors
    /// When it makes no sense.
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let mut asks = Vec::new();
        let uploads = self.uploads()?;
        let method = self.method(&uploads)?;
        for url in &self.urls {
            let target = Target::parse(url)?;
            // A password is printed nowhere.
            let url = if target.user.is_some() { target.to_string() } else { url.clone() };
            for (upload, first_bytes) in &uploads {
                let (target, method, upload) = (target.clone(), method.clone(), upload.clone());
                asks.push((url.clone(), Ask { target, method, upload, first_bytes: *first_bytes }));
            }
        }
        let series = match (self.new, self.reuse) {
            (true, true) => vec![Series::New, Series::Reuse],
            (false, true) => vec![Series::Reuse],
            _ => vec![Series::New],
        };
        let idle = duration(self.idle.unwrap_or_default());
        let unlimited = match (self.every, self.over) {
            (Some(_), _) => u32::MAX,
            (None, Some(_)) => MOST_REQUESTS,
            (None, None) => 1,
        };
        let repeat = self.repeat.unwrap_or(unlimited);
        let over = self.over.map(duration);
        let mut options = self.options();
        if self.every.is_some() {
            options.most_samples = MONITOR_SAMPLES;
        }
        Ok(Plan { options, asks, series, repeat, over, concurrency: self.concurrency, idle })
    }

    /// Files that are read while requests are made.
    #[cfg(target_os = "linux")]
    pub(super) fn inputs(&self) -> Vec<PathBuf> {
        let upload = self.upload.as_ref().map(PathBuf::from).filter(|path| path.is_file());
        let form = self.form.iter().filter_map(|part| part.file().map(std::path::Path::to_owned));
        self.secrets().cloned().chain(upload).chain(form).collect()
    }

    /// Files with certificates and keys.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.cacert, &self.cert, &self.key].into_iter().flatten()
    }

    /// What is sent, or how many bytes are asked for: one of it a request.
    fn uploads(&self) -> anyhow::Result<Vec<(Option<Upload>, Option<u64>)>> {
        if !self.form.is_empty() {
            return Ok(vec![(Some(Upload::Form(self.form.clone())), None)]);
        }
        let upload = self.upload.as_deref().map(upload).transpose()?;
        let is_put = upload.is_some() || self.method.as_deref() == Some("PUT");
        if self.sizes.is_empty() {
            return Ok(vec![(upload, None)]);
        }
        if matches!(upload, Some(Upload::File(_))) {
            bail!("--sizes and --upload FILE contradict each other: a file has its size");
        }
        let each = |size: &u64| if is_put { (Some(Upload::Bytes(*size)), None) } else { (None, Some(*size)) };
        Ok(self.sizes.iter().map(each).collect())
    }

    fn method(&self, uploads: &[(Option<Upload>, Option<u64>)]) -> anyhow::Result<http::Method> {
        let own = match uploads.first() {
            Some((Some(Upload::Form(_)), _)) => "POST",
            Some((Some(_), _)) => "PUT",
            _ => "GET",
        };
        let name = self.method.as_deref().unwrap_or(own);
        if name == "CONNECT" {
            bail!("--method CONNECT asks for a tunnel, not for an answer");
        }
        http::Method::from_bytes(name.as_bytes()).with_context(|| format!("--method {name}"))
    }

    fn options(&self) -> Options {
        let except = self.noproxy.clone().unwrap_or_default();
        let proxies = match &self.proxy {
            Some(proxy) => Proxies::always(proxy, &except),
            None if except == "*" => Proxies::default(),
            None => Proxies::from_environment().but(&except),
        };
        Options {
            family: match (self.ipv4, self.ipv6) {
                (true, _) => Some(Family::V4),
                (_, true) => Some(Family::V6),
                _ => None,
            },
            pinned: self.resolve.clone(),
            proxies,
            insecure: self.insecure,
            authorities: self.cacert.clone(),
            identity: self.cert.clone().zip(self.key.clone()),
            server_name: self.sni.clone(),
            resumption: if self.resume_tls { Resumption::IfOffered } else { Resumption::Never },
            reroutes: self.connect_to.clone(),
            compressed: self.compressed,
            http: self.http.map(|http| if http == Http::One { 1 } else { 2 }),
            headers: self.header.clone(),
            redirects: self.max_redirs,
            connect_timeout: duration(self.connect_timeout),
            timeout: duration(self.max_time),
            ..Options::default()
        }
    }
}

fn duration(time: Nanos) -> Duration {
    Duration::from_nanos(u64::try_from(time.0).unwrap_or(0))
}

/// A size with a unit is one; anything else is a file.
fn upload(text: &str) -> anyhow::Result<Upload> {
    match quantity::size(text) {
        Ok(size) => Ok(Upload::Bytes(size)),
        Err(why) => {
            let path = PathBuf::from(text);
            if !path.exists() {
                bail!("--upload {text}: there is no such file, and as a size: {why}");
            }
            Ok(Upload::File(path))
        }
    }
}

/// A size as series are written: `100k` is `100kB`.
fn size(text: &str) -> Result<u64, String> {
    let with_unit = match text.chars().last() {
        Some('k' | 'K') => format!("{}kB", &text[..text.len() - 1]),
        Some('M' | 'G') => format!("{text}B"),
        Some('0'..='9') => format!("{text}B"),
        _ => text.to_owned(),
    };
    quantity::size(&with_unit)
}

fn field(text: &str) -> Result<(http::HeaderName, http::HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or_else(|| format!("`{text}` is not `Name: value`"))?;
    let name = name.trim().parse().map_err(|error| format!("`{text}`: {error}"))?;
    let value = value.trim().parse().map_err(|error| format!("`{text}`: {error}"))?;
    Ok((name, value))
}

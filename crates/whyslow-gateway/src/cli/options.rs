//! The gateway's settings: arguments, environment variables, and a file.

use super::place::Place;
use super::quantities::{self, Age, Size};
use super::source::Source;
use clap::{Args, ValueEnum, ValueHint};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use whyslow_gateway::front::Grant;

/// Uses these settings, and the other ones for those that are missing.
macro_rules! or_else {
    ($here:ident, $there:ident: $($one:ident)*; $($list:ident)*) => {
        Self {
            $($one: $here.$one.or($there.$one),)*
            $($list: if $here.$list.is_empty() { $there.$list } else { $here.$list },)*
        }
    };
}

/// Settings of the store.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConfigFile {
    /// A TOML file of settings: each option under its name; an option or a variable goes before it
    /// [default: gateway.toml in ~/.config/whyslow/gateway, if it is there].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "WHYSLOW_GATEWAY_CONFIG", hide_env_values = true)]
    pub config: Option<PathBuf>,
}

/// The storage behind.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Storage")]
pub(crate) struct Storage {
    /// Where sealed objects are stored: file:FOLDER, s3://BUCKET (s3:// for all buckets), gs://BUCKET,
    /// az://CONTAINER.
    #[arg(long, value_name = "STORE", env = "WHYSLOW_GATEWAY_STORE", hide_env_values = true)]
    pub store: Option<Place>,

    /// The S3 service's URL [default: `https://s3.REGION.amazonaws.com`].
    #[arg(long, value_name = "URL", env = "WHYSLOW_GATEWAY_ENDPOINT", hide_env_values = true)]
    pub endpoint: Option<String>,

    /// The S3 service's region [default: AWS_REGION, the profile's, or us-east-1].
    #[arg(long, value_name = "REGION", env = "WHYSLOW_GATEWAY_REGION", hide_env_values = true)]
    pub region: Option<String>,

    /// How the S3 service has its buckets named [default: virtual-host at amazonaws.com, else
    /// path].
    #[arg(long, value_enum, value_name = "STYLE", env = "WHYSLOW_GATEWAY_ADDRESSING", hide_env_values = true)]
    pub addressing: Option<Addressing>,

    /// The gateways that this one is of, as `production`: a bucket that gateways of another id
    /// began is refused [default: any bucket is taken].
    #[arg(long, value_name = "ID", env = "WHYSLOW_GATEWAY_GATEWAY_ID", hide_env_values = true)]
    pub gateway_id: Option<String>,
}

/// How buckets are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Addressing {
    /// `https://HOST/BUCKET/KEY`
    Path,
    /// `https://BUCKET.HOST/KEY`
    VirtualHost,
}

impl Storage {
    pub(super) fn or(self, there: Self) -> Self {
        or_else!(self, there: store endpoint region addressing gateway_id;)
    }
}

/// The keys that objects are sealed to.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Keys")]
pub(crate) struct KeyFiles {
    /// An epoch's file; may be given more than once. Objects are sealed to the first, and opened
    /// with any.
    #[arg(long = "epoch", value_name = "FILE", value_hint = ValueHint::FilePath, env = "WHYSLOW_GATEWAY_EPOCH", hide_env_values = true)]
    pub epochs: Vec<PathBuf>,

    /// Where an operator's identity is, which opens the epochs: `file:PATH`, `env:NAME`, or
    /// `command:PROGRAM` for what a program prints; may be given more than once.
    #[arg(long = "identity", short = 'i', value_name = "SOURCE", value_parser = Source::new, env = "WHYSLOW_GATEWAY_IDENTITY", hide_env_values = true)]
    pub identities: Vec<Source>,

    /// Encrypt the names of objects too; buckets keep theirs. Lists are then sorted here.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, env = "WHYSLOW_GATEWAY_ENCRYPT_NAMES", hide_env_values = true)]
    pub encrypt_names: Option<bool>,
}

impl KeyFiles {
    pub(super) fn or(self, there: Self) -> Self {
        or_else!(self, there: encrypt_names; epochs identities)
    }
}

/// Access, and its limits.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Clients")]
pub(crate) struct Clients {
    /// Where clients connect [default: 127.0.0.1:9000].
    #[arg(long, value_name = "ADDRESS", env = "WHYSLOW_GATEWAY_LISTEN", hide_env_values = true)]
    pub listen: Option<SocketAddr>,

    /// A client's access key, and where its secret is: `file:PATH`, `env:NAME`, or
    /// `command:PROGRAM`; may be given more than once.
    #[arg(long = "access-key", value_name = "NAME=SOURCE", env = "WHYSLOW_GATEWAY_ACCESS_KEY", hide_env_values = true)]
    pub access_keys: Vec<NamedSource>,

    /// What an access key may do: NAME=RIGHTS, or NAME=RIGHTS:BUCKET/PREFIX for the keys that begin
    /// so, as `web=read,list:photos/public/`; rights are read, write and list; may be given more
    /// than once [default: everything].
    #[arg(long = "allow", value_name = "NAME=RIGHTS", env = "WHYSLOW_GATEWAY_ALLOW", hide_env_values = true)]
    pub allowed: Vec<NamedGrant>,

    /// Let every user of this machine in; only where clients connect to a loopback address.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, env = "WHYSLOW_GATEWAY_NO_AUTH", hide_env_values = true)]
    pub no_auth: Option<bool>,

    /// The certificate chain that clients are shown (PEM); with it TLS is spoken.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "WHYSLOW_GATEWAY_TLS_CERT", hide_env_values = true)]
    pub tls_cert: Option<PathBuf>,

    /// Its private key (PEM).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "WHYSLOW_GATEWAY_TLS_KEY", hide_env_values = true)]
    pub tls_key: Option<PathBuf>,

    /// A name under which buckets are hosts, as BUCKET.NAME; may be given more than once [default:
    /// localhost].
    #[arg(long = "domain", value_name = "NAME", env = "WHYSLOW_GATEWAY_DOMAIN", hide_env_values = true)]
    pub domains: Vec<String>,

    /// Where `POST /upload/files` stores what names no bucket.
    #[arg(long, value_name = "BUCKET", env = "WHYSLOW_GATEWAY_FORM_BUCKET", hide_env_values = true)]
    pub form_bucket: Option<String>,

    /// Most bytes that all requests hold together [default: 512MiB].
    #[arg(long, value_name = "SIZE", env = "WHYSLOW_GATEWAY_MEMORY", hide_env_values = true)]
    pub memory: Option<Size>,

    /// Most bytes of an object or a part that is sent in one request [default: 5 TiB].
    #[arg(long, value_name = "SIZE", env = "WHYSLOW_GATEWAY_MAX_OBJECT", hide_env_values = true)]
    pub max_object: Option<Size>,

    /// Most connections of clients [default: 1024].
    #[arg(long, value_name = "N", env = "WHYSLOW_GATEWAY_MAX_CONNECTIONS", hide_env_values = true)]
    pub max_connections: Option<usize>,

    /// How long requests may go on when the gateway ends [default: 30s].
    #[arg(long, value_name = "TIME", env = "WHYSLOW_GATEWAY_DRAIN", hide_env_values = true)]
    pub drain: Option<Age>,
}

impl Clients {
    /// A source that sets either `no-auth` or access keys decides both.
    pub(super) fn or(self, mut there: Self) -> Self {
        if self.no_auth == Some(true) {
            there.access_keys.clear();
        }
        if !self.access_keys.is_empty() {
            there.no_auth = None;
        }
        or_else!(self, there:
            listen no_auth tls_cert tls_key form_bucket memory max_object max_connections drain;
            access_keys allowed domains)
    }
}

/// What the access key of this name may do.
#[derive(Clone, Debug)]
pub(crate) struct NamedGrant {
    pub name: String,
    pub grant: Grant,
}

impl FromStr for NamedGrant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, grant) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("write NAME=RIGHTS")?;
        Ok(Self { name: name.to_owned(), grant: grant.parse()? })
    }
}

/// A name, and the source of its secret.
#[derive(Clone, Debug)]
pub(crate) struct NamedSource {
    pub name: String,
    pub source: Source,
}

impl FromStr for NamedSource {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text.split_once('=') {
            Some((name, source)) if !name.is_empty() => {
                let Ok(source) = Source::new(source) else { return Err("write NAME=SOURCE") };
                Ok(Self { name: name.to_owned(), source })
            }
            // The source may be the secret itself, which clap would print.
            _ => Ok(Self { name: String::new(), source: Source(Err(whyslow_gateway::keys::SourceSyntax)) }),
        }
    }
}

/// The way to the storage.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "The way to the storage")]
pub(crate) struct Way {
    /// Connections to the S3 service that stay open, with wide windows [default: 4]; 0: none.
    #[arg(long, value_name = "N", env = "WHYSLOW_GATEWAY_KEEP_WARM", hide_env_values = true)]
    pub keep_warm: Option<usize>,

    /// What a kept connection should be able to send at once [default: 1MiB].
    #[arg(long, value_name = "SIZE", env = "WHYSLOW_GATEWAY_WINDOW", hide_env_values = true)]
    pub window: Option<Size>,

    /// Most bytes that opening windows may cost in an hour [default: 1GiB].
    #[arg(long, value_name = "SIZE", env = "WHYSLOW_GATEWAY_BURST_BYTES", hide_env_values = true)]
    pub burst_bytes: Option<Size>,

    /// Set net.ipv4.tcp_slow_start_after_idle to 0 for the whole network namespace, where that is
    /// allowed: idle connections then keep their windows.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, env = "WHYSLOW_GATEWAY_MAY_SET_SYSCTL", hide_env_values = true)]
    pub may_set_sysctl: Option<bool>,

    /// Leave the congestion control as it is where windows do not keep, instead of BBR.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, env = "WHYSLOW_GATEWAY_NO_BBR", hide_env_values = true)]
    pub no_bbr: Option<bool>,

    /// Most connections to the storage [default: 64].
    #[arg(long, value_name = "N", env = "WHYSLOW_GATEWAY_STORE_CONNECTIONS", hide_env_values = true)]
    pub store_connections: Option<usize>,
}

impl Way {
    pub(super) fn or(self, there: Self) -> Self {
        or_else!(self, there: keep_warm window burst_bytes may_set_sysctl no_bbr store_connections;)
    }
}

/// What operators see.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Operations")]
pub(crate) struct Operations {
    /// Where health, metrics and statistics are [default: 127.0.0.1:9001]; off: nowhere. Anyone
    /// with access to it sees the names of objects.
    #[arg(long, value_name = "ADDRESS", env = "WHYSLOW_GATEWAY_ADMIN", hide_env_values = true)]
    pub admin: Option<Admin>,

    /// Where to write a line for each request [default: stderr]; opened again on SIGHUP.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "WHYSLOW_GATEWAY_LOG", hide_env_values = true)]
    pub log: Option<PathBuf>,

    /// As what [default: text].
    #[arg(long, value_enum, value_name = "FORMAT", env = "WHYSLOW_GATEWAY_LOG_FORMAT", hide_env_values = true)]
    pub log_format: Option<LogFormat>,

    /// Write the packets of slow transfers to and from the store to this pcapng file, from memory,
    /// with their handshakes and the packets before. Needs the right to capture (CAP_NET_RAW).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "WHYSLOW_GATEWAY_KEEP", hide_env_values = true)]
    pub keep: Option<PathBuf>,

    /// A transfer is slow that takes longer than this [default: 1s].
    #[arg(long, value_name = "TIME", value_parser = quantities::time, env = "WHYSLOW_GATEWAY_SLOWER_THAN", hide_env_values = true)]
    pub slower_than: Option<Duration>,

    /// Most that this file and the one before it, FILE.previous, take together: the older packets
    /// go first [default: 1GiB].
    #[arg(long, value_name = "SIZE", env = "WHYSLOW_GATEWAY_KEEP_SIZE", hide_env_values = true)]
    pub keep_size: Option<Size>,
}

impl Operations {
    pub(super) fn or(self, there: Self) -> Self {
        or_else!(self, there: admin log log_format keep slower_than keep_size;)
    }
}

/// The address for operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admin {
    At(SocketAddr),
    Off,
}

impl FromStr for Admin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::Off),
            _ => text.parse().map(Self::At).map_err(|_| "write ADDRESS:PORT, as 127.0.0.1:9001, or off".to_owned()),
        }
    }
}

/// How the lines of the log are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// An object a line.
    Json,
}

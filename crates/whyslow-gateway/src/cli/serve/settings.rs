//! [`Settings`]: the options, with every default filled in and every secret read.

use super::super::args::ServeArgs;
use super::super::backend::Backend;
use super::super::config::{self, Options};
use super::super::options::{Admin, Clients, KeyFiles, LogFormat, NamedGrant, NamedSource, Operations, Storage, Way};
use super::super::place::Place;
use super::super::{init, secrets};
use super::keep::Keep;
use crate::complain::complain;
use anyhow::{Context, bail};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use whyslow_gateway::front::{Access, AccessKey, FrontOptions, Limits, Sink, Tls};
use whyslow_gateway::keys::{Keyring, SecretSource};
use whyslow_gateway::memory::Memory;
use whyslow_gateway::pool::{PoolOptions, Warmth};
use whyslow_gateway::sealed::SealedOptions;
use whyslow_output::Sources;

const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9000);
const ADMIN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9001);
const MEMORY: u64 = 512 << 20;
/// Minimum memory: two parts of a large upload need it.
const LEAST_MEMORY: u64 = 32 << 20;

/// A transfer that takes longer is slow.
const SLOW: Duration = Duration::from_secs(1);
/// Maximum size of written packets, bytes.
const KEEP_SIZE: u64 = 1 << 30;

/// All settings.
pub(super) struct Settings {
    pub storage: Storage,
    pub keyring: Arc<Keyring>,
    /// Files that secrets were read from.
    pub secret_files: Vec<PathBuf>,
    pub encrypt_names: bool,
    pub listen: SocketAddr,
    pub access: Access,
    pub tls: Option<Tls>,
    pub domains: Vec<String>,
    pub form_bucket: Option<String>,
    pub limits: Limits,
    pub memory: Memory,
    pub pool: PoolOptions,
    pub admin: Admin,
    pub log: Option<PathBuf>,
    pub log_format: LogFormat,
    pub keep: Option<Keep>,
}

impl Settings {
    /// Reads files, variables and programs.
    ///
    /// # Errors
    /// If something is missing, invalid, or cannot be read.
    pub(super) fn resolve(args: &ServeArgs) -> anyhow::Result<Self> {
        let options = with_keys(args.options.clone().with_file(args.file.config.as_deref())?)?;
        let Options { storage, keys, clients, way, operations } = options;
        if keys.identities.is_empty() {
            bail!("an epoch needs the identity of an operator who may open it: --identity file:PATH");
        }
        if let Some(log) = &operations.log {
            let read = Sources::default().and_files(&args.file.config).and_files(&keys.epochs);
            let read = read.and_files(&clients.tls_cert).and_files(&clients.tls_key);
            read.refuse(log).with_context(|| format!("--log {}", log.display()))?;
        }
        let keyring = Arc::new(secrets::keyring(&keys.epochs, &keys.identities)?);
        let secret_files = secret_files(&keys, &clients);
        let listen = clients.listen.unwrap_or(LISTEN);
        let memory = clients.memory.map_or(MEMORY, |size| size.0);
        if memory < LEAST_MEMORY {
            bail!("--memory: at least {} MiB, for two parts of a large upload", LEAST_MEMORY >> 20);
        }
        Ok(Self {
            access: access(&clients, listen)?,
            tls: tls(&clients)?,
            limits: limits(&clients)?,
            listen,
            keyring,
            secret_files,
            encrypt_names: keys.encrypt_names.unwrap_or(false),
            domains: if clients.domains.is_empty() { vec!["localhost".to_owned()] } else { clients.domains },
            form_bucket: clients.form_bucket,
            memory: Memory::new(memory),
            pool: pool(&way)?,
            admin: operations.admin.unwrap_or(Admin::At(ADMIN)),
            log: operations.log.clone(),
            log_format: operations.log_format.unwrap_or_default(),
            keep: keep(&operations)?,
            storage,
        })
    }

    /// Adopts the access keys and the certificate of newer settings. Returns the other changed
    /// settings, which need a restart.
    pub(super) fn reload(&self, newer: &Self) -> Vec<&'static str> {
        let mut left = Vec::new();
        match (&self.access, &newer.access) {
            (Access::Keys(keys), Access::Keys(other)) => keys.replace(other),
            (Access::Everybody, Access::Everybody) => {}
            _ => left.push("--no-auth"),
        }
        match (&self.tls, &newer.tls) {
            (Some(tls), Some(other)) => tls.replace(other),
            (None, None) => {}
            _ => left.push("--tls-cert"),
        }
        let epochs = |one: &Self| one.keyring.epochs().map(|epoch| epoch.id()).collect::<Vec<_>>();
        for (is_other, option) in [
            (epochs(self) != epochs(newer), "--epoch"),
            (self.listen != newer.listen, "--listen"),
            (self.encrypt_names != newer.encrypt_names, "--encrypt-names"),
            (self.storage.endpoint != newer.storage.endpoint, "--endpoint"),
        ] {
            left.extend(is_other.then_some(option));
        }
        left
    }

    /// How objects are sealed.
    pub(super) fn sealed(&self, backend: &Backend) -> SealedOptions {
        SealedOptions {
            encrypt_names: self.encrypt_names,
            memory: self.memory.clone(),
            least_part: backend.least_part,
            gateway: self.storage.gateway_id.clone(),
            ..SealedOptions::default()
        }
    }

    /// How clients are served.
    pub(super) fn front(&self, sink: Arc<dyn Sink>) -> FrontOptions {
        FrontOptions {
            domains: self.domains.clone(),
            tls: self.tls.clone(),
            limits: self.limits,
            form_bucket: self.form_bucket.clone(),
            sink,
            ..FrontOptions::new(self.access.clone())
        }
    }
}

/// If a folder is the only setting, keys are generated at the first start. They are never made in
/// the folder of the objects: a copy of that folder would have both.
fn with_keys(options: Options) -> anyhow::Result<Options> {
    if !options.keys.epochs.is_empty() {
        return Ok(options);
    }
    let folder = config::usual_folder().filter(|folder| !folder.join(config::NAME).exists());
    match (&options.storage.store, folder) {
        (Some(Place::Folder(_)), Some(folder)) => {
            init::make(&folder, None)?;
            complain(&format!(
                "made keys, and settings for them, in {}: keep copies of operator.key and epoch.age elsewhere, without \
                 them nobody opens what is stored",
                folder.display()
            ));
            options.with_file(Some(&folder.join(config::NAME)))
        }
        _ => bail!(
            "there are no keys: `whyslow-gateway init FOLDER` makes them, and settings that name them; then \
             `whyslow-gateway serve --config FOLDER/{}`",
            config::NAME
        ),
    }
}

fn access(clients: &Clients, listen: SocketAddr) -> anyhow::Result<Access> {
    match (clients.no_auth.unwrap_or(false), clients.access_keys.as_slice()) {
        (true, [_, ..]) => {
            bail!("--no-auth lets everybody in, and --access-key those who have one: it is one or the other")
        }
        (true, []) if !listen.ip().is_loopback() => bail!(
            "--no-auth lets everybody in who reaches {listen}: that is for loopback addresses alone, as 127.0.0.1:9000"
        ),
        (true, []) => Ok(Access::Everybody),
        (false, []) => bail!(
            "no client could come in: name an access key and where its secret is, as \
             `--access-key backup=file:backup.key`, or let everybody of this machine in with --no-auth"
        ),
        (false, keys) => keys.iter().map(access_key).collect::<anyhow::Result<Vec<_>>>().and_then(|mut keys| {
            grant(&mut keys, &clients.allowed)?;
            let names: std::collections::HashSet<_> = keys.iter().map(|key| key.id.as_str()).collect();
            if names.len() < keys.len() {
                bail!("--access-key: a name is there twice");
            }
            Ok(Access::Keys(keys.into()))
        }),
    }
}

fn grant(keys: &mut [AccessKey], allowed: &[NamedGrant]) -> anyhow::Result<()> {
    for NamedGrant { name, grant } in allowed {
        let key = keys.iter_mut().find(|key| key.id == *name);
        let key = key.with_context(|| format!("--allow {name}: there is no access key of this name"))?;
        key.grants.push(grant.clone());
    }
    Ok(())
}

fn access_key(key: &NamedSource) -> anyhow::Result<AccessKey> {
    let option = format!("--access-key {}", key.name);
    let source = key.source.get(option.trim_end())?;
    // S3's signatures use `/`, `,` and blanks to end a name.
    if !key.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+=@".contains(c)) {
        bail!("{option}: letters, digits and -_.+=@ make a name");
    }
    let text = source.read().with_context(|| option.clone())?;
    let secret = text.trim();
    if secret.is_empty() || secret.contains(char::is_whitespace) {
        bail!("{option}: {source} has no secret: one line without blanks");
    }
    Ok(AccessKey::new(key.name.clone(), secret))
}

/// Files with unencrypted secrets; an epoch's file is encrypted.
fn secret_files(keys: &KeyFiles, clients: &Clients) -> Vec<PathBuf> {
    let sources = keys.identities.iter().chain(clients.access_keys.iter().map(|key| &key.source));
    let files = sources.filter_map(|source| match &source.0 {
        Ok(SecretSource::File(path)) => Some(path.clone()),
        _ => None,
    });
    files.chain(clients.tls_key.clone()).collect()
}

fn tls(clients: &Clients) -> anyhow::Result<Option<Tls>> {
    match (&clients.tls_cert, &clients.tls_key) {
        (Some(chain), Some(key)) => Ok(Some(Tls::from_files(chain, key)?)),
        (None, None) => Ok(None),
        (Some(_), None) => bail!("--tls-cert needs the certificate's private key: --tls-key FILE"),
        (None, Some(_)) => bail!("--tls-key needs the certificate chain: --tls-cert FILE"),
    }
}

fn keep(operations: &Operations) -> anyhow::Result<Option<Keep>> {
    let Some(path) = operations.keep.clone() else {
        let given =
            [("--slower-than", operations.slower_than.is_some()), ("--keep-size", operations.keep_size.is_some())];
        if let Some((option, _)) = given.into_iter().find(|(_, is_there)| *is_there) {
            bail!("{option} is for the packets that --keep FILE writes");
        }
        return Ok(None);
    };
    Ok(Some(Keep {
        path,
        slower_than: operations.slower_than.unwrap_or(SLOW),
        most_bytes: operations.keep_size.map_or(KEEP_SIZE, |size| size.0),
    }))
}

fn limits(clients: &Clients) -> anyhow::Result<Limits> {
    let usual = Limits::default();
    if clients.max_connections == Some(0) {
        bail!("--max-connections: at least 1");
    }
    Ok(Limits {
        connections: clients.max_connections.unwrap_or(usual.connections),
        object_bytes: clients.max_object.map_or(usual.object_bytes, |size| size.0),
        drain: clients.drain.map_or(usual.drain, |time| time.0),
        ..usual
    })
}

fn pool(way: &Way) -> anyhow::Result<PoolOptions> {
    let (usual, warmth) = (PoolOptions::default(), Warmth::default());
    let max_connections = way.store_connections.unwrap_or(usual.max_connections);
    let connections = way.keep_warm.unwrap_or(warmth.connections.min(max_connections));
    if max_connections == 0 || connections > max_connections {
        bail!("--store-connections: at least 1, and no fewer than --keep-warm, which is {connections}");
    }
    let warmth = Warmth {
        connections,
        window: way.window.map_or(warmth.window, |size| size.0),
        burst_bytes_an_hour: way.burst_bytes.map_or(warmth.burst_bytes_an_hour, |size| size.0),
        may_set_sysctl: way.may_set_sysctl.unwrap_or(false),
        may_use_bbr: !way.no_bbr.unwrap_or(false),
        ..warmth
    };
    Ok(PoolOptions { max_connections, warmth, ..usual })
}

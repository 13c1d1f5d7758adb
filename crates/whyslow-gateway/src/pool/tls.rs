//! TLS for the pool: the trusted authorities, and the settings that all its connections share.

use std::path::PathBuf;
use std::sync::Arc;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto, version};

/// The trusted authorities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// The authorities of this system.
    #[default]
    System,
    /// The authorities in a PEM file alone.
    File(PathBuf),
}

/// An error of TLS.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum TlsError {
    /// No certificate authority would be trusted.
    #[error("{0}: no certificate authority can be read")]
    NoAuthority(String),
    /// The host is not a name that a certificate can have.
    #[error("{0} is no name that a certificate can have")]
    Name(String),
    /// The handshake failed.
    #[error("{0}")]
    Handshake(String),
    /// It took too long.
    #[error("no handshake within {} ms", .0.as_millis())]
    TimedOut(std::time::Duration),
}

/// The settings of all connections: TLS 1.2 and 1.3, HTTP/1.1 alone.
pub(crate) fn config(trust: &Trust) -> Result<Arc<ClientConfig>, TlsError> {
    let mut roots = RootCertStore::empty();
    let place = match trust {
        Trust::System => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            "this system".to_owned()
        }
        Trust::File(file) => {
            let place = file.display().to_string();
            let failed = |error| TlsError::NoAuthority(format!("{place}: {error:?}"));
            for certificate in CertificateDer::pem_file_iter(file).map_err(failed)? {
                let added = roots.add(certificate.map_err(failed)?);
                added.map_err(|error| TlsError::NoAuthority(format!("{place}: {error}")))?;
            }
            place
        }
    };
    if roots.is_empty() {
        return Err(TlsError::NoAuthority(place));
    }
    let provider = Arc::new(crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&version::TLS13, &version::TLS12])
        .map_err(|error| TlsError::Handshake(error.to_string()))?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The name that the certificate must have.
pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(host.to_owned()).map_err(|_| TlsError::Name(host.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_file_without_authorities_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in [file.path().to_owned(), "/nonexistent".into()] {
            assert!(matches!(config(&Trust::File(path)), Err(TlsError::NoAuthority(_))));
        }
        assert!(server_name("not a name").is_err());
    }
}

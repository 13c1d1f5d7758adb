//! [`Tls`]: a server's certificate and key, from files.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto, version};

/// An error of a certificate or its key.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{file}: {why}")]
pub struct TlsFileError {
    /// Which file.
    pub file: String,
    /// The error.
    pub why: String,
}

impl TlsFileError {
    fn new(file: &Path, why: impl fmt::Display) -> Self {
        Self { file: file.display().to_string(), why: why.to_string() }
    }
}

/// What a server shows: TLS 1.2 and 1.3, HTTP/1.1 alone.
///
/// The certificate may be replaced while connections are served. Clones are the same.
#[derive(Clone)]
pub struct Tls(Arc<RwLock<Arc<ServerConfig>>>);

impl Tls {
    /// Reads a chain of certificates, the server's own first, and its private key; both in PEM.
    pub fn from_files(chain: &Path, key: &Path) -> Result<Self, TlsFileError> {
        let unreadable = |error| TlsFileError::new(chain, format!("no certificate can be read: {error}"));
        let certificates = CertificateDer::pem_file_iter(chain).map_err(unreadable)?;
        let certificates = certificates.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
        if certificates.is_empty() {
            return Err(TlsFileError::new(chain, "there is no certificate in it"));
        }
        let secret = PrivateKeyDer::from_pem_file(key)
            .map_err(|error| TlsFileError::new(key, format!("no private key can be read: {error}")))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_protocol_versions(&[&version::TLS13, &version::TLS12])
            .map_err(|error| TlsFileError::new(chain, error))?
            .with_no_client_auth()
            .with_single_cert(certificates, secret)
            .map_err(|error| TlsFileError::new(key, error))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(RwLock::new(Arc::new(config)))))
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.current())
    }

    fn current(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Connections that begin from now on are shown the other certificate.
    pub fn replace(&self, other: &Self) {
        let config = other.current();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = config;
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn files_that_are_no_certificate_or_key_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let [chain, key, empty] = ["chain.pem", "key.pem", "empty.pem"].map(|name| folder.path().join(name));
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(&chain, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        std::fs::write(&empty, "nothing").unwrap();
        assert!(Tls::from_files(&chain, &key).is_ok());
        for (chain, key, wrong) in [
            (&empty, &key, &empty),
            (&chain, &empty, &empty),
            (&folder.path().join("none"), &key, &folder.path().join("none")),
        ] {
            let error = Tls::from_files(chain, key).unwrap_err();
            assert_eq!(error.file, wrong.display().to_string(), "{error}");
        }
        let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(&key, other.signing_key.serialize_pem()).unwrap();
        assert_eq!(Tls::from_files(&chain, &key).unwrap_err().file, key.display().to_string());
    }
}

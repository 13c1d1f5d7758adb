//! TLS: whom to trust, what to offer, and what its errors mean.

use crate::client::failure::{Failure, Phase};
use crate::client::options::Resumption;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{self, WebPkiServerVerifier, verify_server_name};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

/// Servers whose sessions are remembered: those of a request and its redirects.
const MOST_SESSIONS: usize = 32;

/// Whom to trust.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trust<'a> {
    /// Accept any certificate.
    pub insecure: bool,
    /// These authorities, and not the system's.
    pub authorities: Option<&'a Path>,
    /// A certificate of one's own and its key.
    pub identity: Option<&'a (PathBuf, PathBuf)>,
}

/// Makes a configuration that offers these protocols.
///
/// # Errors
/// If there is no trusted certificate.
pub(crate) fn config(
    trust: Trust<'_>,
    protocols: &[&str],
    resumption: Resumption,
) -> Result<Arc<ClientConfig>, Failure> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::new(Phase::Tls, error.to_string()))?
        .dangerous();
    let verifier: Arc<dyn ServerCertVerifier> = if trust.insecure {
        Arc::new(AnyCertificate(Arc::clone(&provider)))
    } else {
        let roots = Arc::new(roots(trust.authorities)?);
        let by_authority = WebPkiServerVerifier::builder_with_provider(roots, provider)
            .build()
            .map_err(|error| Failure::new(Phase::Tls, error.to_string()))?;
        Arc::new(Named { certificates: trust.authorities.map_or(Ok(Vec::new()), certificates)?, by_authority })
    };
    let builder = builder.with_custom_certificate_verifier(verifier);
    let mut config = match trust.identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let wrong = |why: String| Failure::new(Phase::Tls, format!("--key {}: {why}", key.display()));
            let chain = own_chain(certificate)?;
            let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(error.to_string()))?;
            builder.with_client_auth_cert(chain, secret).map_err(|error| wrong(error.to_string()))?
        }
    };
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    config.resumption = match resumption {
        Resumption::Never => client::Resumption::disabled(),
        Resumption::IfOffered => client::Resumption::in_memory_sessions(MOST_SESSIONS),
    };
    Ok(Arc::new(config))
}

fn roots(authorities: Option<&Path>) -> Result<RootCertStore, Failure> {
    let mut roots = RootCertStore::empty();
    let Some(path) = authorities else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(Failure::new(Phase::Tls, "this system has no certificate authorities to trust")
                .look_at("the package ca-certificates; or --cacert FILE"));
        }
        return Ok(roots);
    };
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| wrong_file("--cacert", path, &error.to_string()))?;
    }
    Ok(roots)
}

fn wrong_file(option: &str, path: &Path, why: &str) -> Failure {
    Failure::new(Phase::Tls, format!("{option} {}: {why}", path.display()))
}

/// The certificates of `--cacert`; at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    read_certificates("--cacert", path)
}

/// The certificates of `--cert`, one's own first.
fn own_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    read_certificates("--cert", path)
}

fn read_certificates(option: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let text = fs::read(path).map_err(|error| wrong_file(option, path, &error.to_string()))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(found) if found.is_empty() => Err(wrong_file(option, path, "there is no certificate in it")),
        Ok(found) => Ok(found),
        Err(error) => Err(wrong_file(option, path, &error.to_string())),
    }
}

/// The name that the server's certificate must have.
///
/// # Errors
/// When the host can have none.
pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, Failure> {
    ServerName::try_from(host.to_owned())
        .map_err(|_| Failure::new(Phase::Url, format!("{host} is no name that a certificate can have")))
}

/// The error of a handshake, as a sentence.
pub(crate) fn failure(host: &str, error: &io::Error) -> Failure {
    let failed = Failure::new(Phase::Tls, format!("the handshake with {host} failed: {error}"));
    let Some(reason) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) else {
        return match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                let what = format!("{host} closed the connection within the handshake");
                Failure::new(Phase::Tls, what).look_at("whether this port speaks TLS, and the server's log")
            }
            _ => failed,
        };
    };
    match reason {
        Error::InvalidCertificate(wrong) => failed.look_at(certificate(host, wrong)),
        Error::InvalidMessage(_) => failed.look_at("whether this port speaks TLS at all: the answer is none of TLS"),
        Error::AlertReceived(_) => failed.look_at("the server's log: it refused what was offered"),
        Error::PeerIncompatible(_) => failed.look_at("the server's TLS versions: 1.2 and 1.3 are offered"),
        _ => failed,
    }
}

fn certificate(host: &str, wrong: &CertificateError) -> String {
    match wrong {
        CertificateError::UnknownIssuer => {
            "whether the server sends its intermediate certificates; --cacert FILE names an authority of your own, \
             --insecure trusts anybody"
                .to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the certificate's end date, and this machine's clock".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!("which names the certificate has: `openssl s_client -connect {host}:443`")
        }
        _ => "the certificate: `openssl s_client -showcerts`".to_owned(),
    }
}

/// Trusts what an authority signed, and a certificate that `--cacert` names itself, as curl does: a
/// self-signed one is usually marked as an authority, which a server's own may not be.
#[derive(Debug)]
struct Named {
    certificates: Vec<CertificateDer<'static>>,
    by_authority: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for Named {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.by_authority.verify_server_cert(certificate, chain, name, ocsp, now);
        match verified {
            // Other errors (a date, a name) stay errors.
            Err(Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::Other(_)))
                if self.certificates.iter().any(|named| named.as_ref() == certificate.as_ref()) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_authority.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_authority.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_authority.supported_verify_schemes()
    }
}

/// Accepts any certificate; signatures must still be right.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

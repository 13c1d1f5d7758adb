//! TLS and the transport.

use crate::{Failure, Given};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{TransportConfig, VarInt};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Arc, Mutex};

const HTTP_3: &[u8] = b"h3";

fn transport(given: &Given) -> Result<Arc<TransportConfig>, Failure> {
    let mut transport = TransportConfig::default();
    transport.receive_window(VarInt::try_from(given.count("window", 16 << 20)? as u64)?);
    transport.stream_receive_window(VarInt::try_from(given.count("stream_window", 16 << 20)? as u64)?);
    if given.text("congestion") == Some("bbr") {
        transport.congestion_controller_factory(Arc::new(quinn::congestion::BbrConfig::default()));
    }
    Ok(Arc::new(transport))
}

/// A key log at a named place; rustls' own is at the one that the environment names.
#[derive(Debug)]
struct Secrets(Mutex<std::fs::File>);

impl rustls::KeyLog for Secrets {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        if let Ok(mut file) = self.0.lock()
            && let Err(error) = writeln!(file, "{label} {} {}", hex(client_random), hex(secret))
        {
            eprintln!("key log: {error}");
        }
    }
}

fn key_log(given: &Given) -> Result<Arc<dyn rustls::KeyLog>, Failure> {
    let Some(file) = given.text("keys") else { return Ok(Arc::new(rustls::NoKeyLog)) };
    Ok(Arc::new(Secrets(Mutex::new(OpenOptions::new().create(true).append(true).open(file)?))))
}

pub fn of_server(given: &Given) -> Result<quinn::ServerConfig, Failure> {
    let signed = rcgen::generate_simple_self_signed(["quic.example".to_owned()])?;
    let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![signed.cert.der().clone()], key)?;
    tls.alpn_protocols = vec![HTTP_3.to_vec()];
    tls.key_log = key_log(given)?;
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config.transport_config(transport(given)?);
    Ok(config)
}

pub fn of_client(given: &Given) -> Result<quinn::ClientConfig, Failure> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    tls.alpn_protocols = vec![HTTP_3.to_vec()];
    tls.key_log = key_log(given)?;
    let mut config = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport(given)?);
    Ok(config)
}

/// The server signs its own certificate, anew each time.
#[derive(Debug)]
struct AnyCertificate(Arc<rustls::crypto::CryptoProvider>);

impl rustls::client::danger::ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

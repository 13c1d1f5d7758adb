//! [`Verify`]: how to see that a fix worked, by the protocol of the transfer.

use crate::cause::Cause;
use crate::types::Application;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// The measurement to repeat after a fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Verify {
    /// The protocol; null if unknown.
    pub application: Option<Application>,
    /// The address of the server, if it is safe to be pasted.
    pub host: Option<String>,
    /// Its port; 0 if unknown.
    pub port: u16,
}

/// The effect of a cause's fix that a client of the protocol can measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The first byte of the response comes earlier.
    FirstByte,
    /// The connection opens sooner.
    Connect,
    /// The connection is used again.
    Reuse,
}

impl Check {
    /// Verification of a cause; `None` if the cause has its own clause.
    pub fn of(cause: Cause) -> Option<Self> {
        match cause {
            Cause::ProxySplit | Cause::ServerThink | Cause::TlsRecordBuffering => Some(Self::FirstByte),
            Cause::PathLatency => Some(Self::Connect),
            Cause::NewConnectionEachTime => Some(Self::Reuse),
            _ => None,
        }
    }
}

impl Verify {
    /// Whether the connection uses QUIC, which the kernel's TCP counters do not cover.
    pub fn is_over_quic(&self) -> bool {
        matches!(self.application, Some(Application::Http3 | Application::Quic))
    }

    /// The command that repeats it.
    pub fn command(&self, check: Check) -> String {
        let host = self.host.as_deref().unwrap_or("HOST");
        let port = if self.port == 0 { "PORT".to_owned() } else { self.port.to_string() };
        let tls = |starttls: &str| format!("time openssl s_client -connect {}{starttls} </dev/null", at(host, &port));
        match (self.application, check) {
            (Some(Application::Http | Application::Https), Check::FirstByte) => {
                "curl -so /dev/null -w '%{time_starttransfer} %{time_total}\\n' URL".to_owned()
            }
            (Some(Application::Http | Application::Https), Check::Connect) => {
                "curl -so /dev/null -w '%{time_connect}\\n' URL".to_owned()
            }
            (Some(Application::Http | Application::Https), Check::Reuse) => "curl -v URL URL".to_owned(),
            (Some(Application::Http3), Check::FirstByte) => {
                "curl --http3-only -so /dev/null -w '%{time_starttransfer} %{time_total}\\n' URL".to_owned()
            }
            (Some(Application::Http3), Check::Connect) => {
                "curl --http3-only -so /dev/null -w '%{time_appconnect}\\n' URL".to_owned()
            }
            (Some(Application::Http3), Check::Reuse) => "curl --http3-only -v URL URL".to_owned(),
            (Some(Application::Ssh), _) => format!("time ssh -p {port} {host} true"),
            (Some(Application::Postgresql), Check::Connect) => format!("time pg_isready -h {host} -p {port}"),
            (Some(Application::Postgresql), _) => format!("psql -h {host} -p {port} -c '\\timing on' -c 'SELECT 1'"),
            (Some(Application::Mysql), _) => format!("time mysql -h {host} -P {port} -e 'SELECT 1'"),
            (Some(Application::Redis), _) => format!("redis-cli -h {host} -p {port} --latency"),
            (Some(Application::Kafka), _) => {
                format!("time kafka-broker-api-versions.sh --bootstrap-server {}", at(host, &port))
            }
            (Some(Application::Imaps | Application::Smtps | Application::Tls), _) => tls(""),
            (Some(Application::Imap), _) => tls(" -starttls imap"),
            (Some(Application::Smtp), _) => tls(" -starttls smtp"),
            (Some(Application::Ftp), _) => format!("time curl -sI ftp://{}/", at(host, &port)),
            (Some(Application::Rsync), _) => format!("time rsync --port={port} rsync://{host}/"),
            (Some(Application::Iperf), _) => format!("iperf3 -c {host} -p {port}"),
            (None | Some(Application::Quic), _) => {
                format!("tcpdump -i any -w again.pcap host {host} and port {port}; whyslow again.pcap")
            }
        }
    }
}

/// An address and a port, with an IPv6 address in brackets.
fn at(host: &str, port: &str) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_command_matches_the_protocol() {
        let verify = |application, port| {
            Verify { application, host: Some("192.0.2.1".to_owned()), port }.command(Check::FirstByte)
        };
        assert!(verify(Some(Application::Postgresql), 5432).starts_with("psql -h 192.0.2.1 -p 5432 "));
        assert_eq!(verify(Some(Application::Ssh), 22), "time ssh -p 22 192.0.2.1 true");
        assert!(verify(Some(Application::Imap), 143).ends_with("-connect 192.0.2.1:143 -starttls imap </dev/null"));
        assert!(verify(None, 7).starts_with("tcpdump "));
        assert!(verify(Some(Application::Http3), 443).starts_with("curl --http3-only "));
        for application in [Application::Ssh, Application::Postgresql, Application::Imaps, Application::Redis] {
            assert!(!verify(Some(application), 1).contains("curl"));
        }
    }
}

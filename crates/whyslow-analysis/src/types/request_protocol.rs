//! [`RequestProtocol`]: the protocol of requests.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// The protocol of requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestProtocol {
    /// HTTP/1.0 or HTTP/1.1.
    Http1,
    /// HTTP/2, gRPC included.
    Http2,
    /// HTTP/3.
    Http3,
    /// PostgreSQL.
    Postgresql,
    /// MySQL or MariaDB.
    Mysql,
    /// Redis.
    Redis,
    /// MongoDB.
    Mongodb,
    /// Kafka.
    Kafka,
    /// AMQP 0-9-1, used by RabbitMQ.
    Amqp,
    /// MQTT.
    Mqtt,
    /// SMTP.
    Smtp,
    /// IMAP.
    Imap,
    /// FTP's control connection.
    Ftp,
    /// SMB 2 or 3.
    Smb2,
    /// ONC RPC: NFS and its companion protocols.
    OncRpc,
    /// DNS over TCP.
    Dns,
}

impl RequestProtocol {
    /// Display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http1 | Self::Http2 | Self::Http3 => "HTTP",
            Self::Postgresql => "PostgreSQL",
            Self::Mysql => "MySQL",
            Self::Redis => "Redis",
            Self::Mongodb => "MongoDB",
            Self::Kafka => "Kafka",
            Self::Amqp => "AMQP",
            Self::Mqtt => "MQTT",
            Self::Smtp => "SMTP",
            Self::Imap => "IMAP",
            Self::Ftp => "FTP",
            Self::Smb2 => "SMB",
            Self::OncRpc => "RPC",
            Self::Dns => "DNS",
        }
    }
}

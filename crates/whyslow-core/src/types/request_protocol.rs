//! [`RequestProtocol`]: what requests are written in.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// What requests and responses are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RequestProtocol {
    /// HTTP/1.0 or 1.1.
    Http1,
    /// HTTP/2; gRPC in it.
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
    /// AMQP 0-9-1, as RabbitMQ has it.
    Amqp,
    /// MQTT.
    Mqtt,
    /// SMTP.
    Smtp,
    /// IMAP.
    Imap,
    /// FTP's commands.
    Ftp,
    /// SMB 2 or 3.
    Smb2,
    /// ONC RPC: NFS, and what belongs to it.
    OncRpc,
    /// DNS over TCP.
    Dns,
}

impl RequestProtocol {
    /// Its name.
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

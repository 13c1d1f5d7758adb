//! [`Reader`]: the parser of a connection, as an enum of all parsers.

use super::framed::Framed;
use super::reading::Messages;
use super::{amqp, dns, http1, http2, http3, kafka, lines, mongodb, mqtt, mysql, postgres, redis, rpc, smb2};
use whyslow_analysis::types::RequestProtocol;

/// The parser of a connection.
#[derive(Clone, Debug, Default)]
pub(super) enum Reader {
    /// The protocol is not recognised so far.
    #[default]
    Unknown,
    /// The protocol is unknown.
    Other,
    Http1(Box<http1::Http1>),
    Http2(Box<http2::Http2>),
    Http3(Box<http3::Http3>),
    Postgres(Box<Framed<postgres::Postgres>>),
    MySql(Box<Framed<mysql::MySql>>),
    Redis(Box<Framed<redis::Redis>>),
    MongoDb(Box<Framed<mongodb::MongoDb>>),
    Kafka(Box<Framed<kafka::Kafka>>),
    Amqp(Box<Framed<amqp::Amqp>>),
    Mqtt(Box<Framed<mqtt::Mqtt>>),
    Lines(Box<Framed<lines::Lines>>),
    Smb2(Box<Framed<smb2::Smb2>>),
    Rpc(Box<Framed<rpc::Rpc>>),
    Dns(Box<Framed<dns::Dns>>),
}

impl Reader {
    pub(super) fn messages(&mut self) -> Option<&mut dyn Messages> {
        Some(match self {
            Self::Unknown | Self::Other => return None,
            Self::Http1(reader) => reader.as_mut(),
            Self::Http2(reader) => reader.as_mut(),
            Self::Http3(reader) => reader.as_mut(),
            Self::Postgres(reader) => reader.as_mut(),
            Self::MySql(reader) => reader.as_mut(),
            Self::Redis(reader) => reader.as_mut(),
            Self::MongoDb(reader) => reader.as_mut(),
            Self::Kafka(reader) => reader.as_mut(),
            Self::Amqp(reader) => reader.as_mut(),
            Self::Mqtt(reader) => reader.as_mut(),
            Self::Lines(reader) => reader.as_mut(),
            Self::Smb2(reader) => reader.as_mut(),
            Self::Rpc(reader) => reader.as_mut(),
            Self::Dns(reader) => reader.as_mut(),
        })
    }

    /// Like [`messages`](Self::messages), without mutable access.
    pub(super) fn known(&self) -> Option<&dyn Messages> {
        Some(match self {
            Self::Unknown | Self::Other => return None,
            Self::Http1(reader) => reader.as_ref(),
            Self::Http2(reader) => reader.as_ref(),
            Self::Http3(reader) => reader.as_ref(),
            Self::Postgres(reader) => reader.as_ref(),
            Self::MySql(reader) => reader.as_ref(),
            Self::Redis(reader) => reader.as_ref(),
            Self::MongoDb(reader) => reader.as_ref(),
            Self::Kafka(reader) => reader.as_ref(),
            Self::Amqp(reader) => reader.as_ref(),
            Self::Mqtt(reader) => reader.as_ref(),
            Self::Lines(reader) => reader.as_ref(),
            Self::Smb2(reader) => reader.as_ref(),
            Self::Rpc(reader) => reader.as_ref(),
            Self::Dns(reader) => reader.as_ref(),
        })
    }

    pub(super) fn protocol(&self) -> Option<RequestProtocol> {
        Some(match self {
            Self::Unknown | Self::Other => return None,
            Self::Http1(_) => RequestProtocol::Http1,
            Self::Http2(_) => RequestProtocol::Http2,
            Self::Http3(_) => RequestProtocol::Http3,
            Self::Postgres(_) => RequestProtocol::Postgresql,
            Self::MySql(_) => RequestProtocol::Mysql,
            Self::Redis(_) => RequestProtocol::Redis,
            Self::MongoDb(_) => RequestProtocol::Mongodb,
            Self::Kafka(_) => RequestProtocol::Kafka,
            Self::Amqp(_) => RequestProtocol::Amqp,
            Self::Mqtt(_) => RequestProtocol::Mqtt,
            Self::Lines(reader) => reader.format().protocol(),
            Self::Smb2(_) => RequestProtocol::Smb2,
            Self::Rpc(_) => RequestProtocol::OncRpc,
            Self::Dns(_) => RequestProtocol::Dns,
        })
    }
}

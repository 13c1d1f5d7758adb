//! [`Messages`](reading::Messages): the requests and responses of a protocol above TCP, in clear or
//! decrypted.
//!
//! Each protocol has a small parser that implements this trait. It gets the bytes of both sides in
//! order, and finds the start and end of messages, the request of each response, and its label. A
//! label names the operation and contains no data: the query of a path is removed, SQL literals
//! become `?`, and arguments of commands are removed.
//!
//! Each parser must not panic. It keeps at most [`HEAD_MAX`](reading::HEAD_MAX) bytes of a message
//! per side and [`MAX_PENDING`](reading::MAX_PENDING) pending requests. Its result does not depend
//! on how bytes are split. It stops at bytes that are not of its protocol, because it never guesses
//! where the next message begins.

mod amqp;
mod clear;
mod conversation;
mod dns;
mod facts;
mod framed;
mod http1;
mod http2;
mod http3;
mod kafka;
mod lines;
mod mongodb;
mod mqtt;
mod mysql;
mod opening;
mod postgres;
mod reader;
mod reading;
mod redis;
mod requests;
mod rpc;
mod smb2;
mod sql;
#[cfg(test)]
mod tests;

pub(super) use clear::ClearReader;
pub(super) use conversation::Conversation;
#[cfg(feature = "unstable")]
pub use conversation::{ClearPiece, read_clear, read_http3, read_plaintext};
pub use facts::MessageFacts;
pub use http2::UsedWindow;
#[cfg(any(test, feature = "unstable"))]
pub use http2::WindowWait;
pub use requests::RequestFacts;

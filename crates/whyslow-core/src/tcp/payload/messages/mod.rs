//! [`Messages`](reading::Messages): the requests and responses of a protocol above TCP, in clear or
//! decrypted.
//!
//! A small reader a protocol implements it. It is given the bytes of both sides in order, and knows
//! where messages begin and end, which request a response answers, and what to call it. A label
//! names the operation and never its data: the query of a path is cut, literals of SQL become `?`,
//! arguments of commands are left out.
//!
//! Each promises not to panic, to keep at most [`HEAD_MAX`](reading::HEAD_MAX) bytes of a message a
//! side and [`MAX_PENDING`](reading::MAX_PENDING) requests that wait, to read bytes in any pieces
//! alike, and to stop at what is not of its protocol: it never guesses where the next message
//! begins.

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
pub use conversation::read_plaintext;
pub use facts::MessageFacts;
pub use http2::UsedWindow;
#[cfg(any(test, feature = "unstable"))]
pub use http2::WindowWait;
pub use requests::RequestFacts;

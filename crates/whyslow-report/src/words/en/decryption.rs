//! How far TLS was decrypted.

use crate::words::quantity::thousands;
use whyslow_analysis::{Decryption, Undecrypted};

pub(in crate::words) fn decryption(of: &Decryption) -> String {
    let version = version(of.version);
    let [client, server] = of.directions.each_ref().map(|direction| thousands(direction.bytes));
    match of.stopped() {
        None if of.version.is_none() => {
            format!("the endpoint's log: {client} bytes from the client, {server} bytes from the server")
        }
        None => format!("{version} decrypted: {client} bytes from the client, {server} bytes from the server"),
        Some(why) if of.bytes() == 0 => format!("{version} not decrypted: {}", reason(why)),
        Some(why) => format!(
            "{version} decrypted in part ({client} bytes from the client, {server} bytes from the server): {}",
            reason(why)
        ),
    }
}

fn version(version: Option<u16>) -> &'static str {
    match version {
        Some(0x0304) => "TLS 1.3",
        Some(0x0303) => "TLS 1.2",
        _ => "TLS",
    }
}

fn reason(why: Undecrypted) -> &'static str {
    match why {
        Undecrypted::NoKeys => "the key log has no secret of this connection",
        Undecrypted::HandshakeNotCaptured => "its handshake was not captured, which identifies its secret",
        Undecrypted::WrongKeys => "the secrets in the key log do not fit this connection",
        Undecrypted::UnsupportedVersion => "versions before TLS 1.2 are not read",
        Undecrypted::UnsupportedCipher => "its cipher suite is not read, only those with AES-GCM or ChaCha20-Poly1305",
        Undecrypted::PacketsCut => "the capture cut its packets (snapshot length)",
        Undecrypted::BytesMissing => "packets are missing from the capture",
        Undecrypted::DamagedRecord => "a record is damaged, or its keys changed in a way that is not read",
    }
}

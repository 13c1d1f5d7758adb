//! How far TLS was decrypted.

use crate::words::quantity::thousands;
use whyslow_analysis::{Decryption, Undecrypted};

pub(in crate::words) fn decryption(of: &Decryption) -> String {
    let version = version(of.version);
    let [client, server] = of.directions.each_ref().map(|direction| thousands(direction.bytes));
    match of.stopped() {
        None if of.version.is_none() => format!("端点日志：客户端 {client} 字节，服务器 {server} 字节"),
        None => format!("{version} 已解密：客户端 {client} 字节，服务器 {server} 字节"),
        Some(why) if of.bytes() == 0 => format!("{version} 未解密：{}", reason(why)),
        Some(why) => format!("{version} 只解密了一部分（客户端 {client} 字节，服务器 {server} 字节）：{}", reason(why)),
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
        Undecrypted::NoKeys => "密钥日志中没有这个连接的密钥",
        Undecrypted::HandshakeNotCaptured => "没有抓到握手，无法确定属于它的密钥",
        Undecrypted::WrongKeys => "密钥日志中的密钥与这个连接不符",
        Undecrypted::UnsupportedVersion => "不支持 TLS 1.2 之前的版本",
        Undecrypted::UnsupportedCipher => "不支持它的密码套件，只支持 AES-GCM 和 ChaCha20-Poly1305",
        Undecrypted::PacketsCut => "抓包截断了报文（快照长度）",
        Undecrypted::BytesMissing => "抓包中缺少报文",
        Undecrypted::DamagedRecord => "有一条记录已损坏，或密钥以不支持的方式更换了",
    }
}

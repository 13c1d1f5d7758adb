//! 请求的各个阶段。

use whyslow_evidence::Phase;

pub(super) fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Blocked => "等待空闲连接",
        Phase::Dns => "DNS 查询",
        Phase::Connect => "建立连接",
        Phase::Tls => "TLS 握手",
        Phase::Redirect => "重定向",
        Phase::Send => "发送请求",
        Phase::Wait => "等待第一个字节",
        Phase::Download => "接收响应",
    }
}

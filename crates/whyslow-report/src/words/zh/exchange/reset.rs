//! Resets.

use crate::words::quantity::{thousands, time};
use crate::words::zh::ends::name;
use whyslow_analysis::{End, MessageKind, UnansweredRequest};
use whyslow_units::Nanos;

pub(super) fn amid(by: End, message: MessageKind, into: Option<Nanos>, unacknowledged: u64) -> String {
    let message = match message {
        MessageKind::Request => "客户端的请求",
        MessageKind::Response => "服务器的响应",
    };
    let (by, bytes) = (name(by), thousands(unacknowledged));
    match into {
        Some(into) => {
            format!("{message}开始 {} 后{by}重置了连接：其中 {bytes} B 从未得到确认", time(into))
        }
        None => format!("{message}还有 {bytes} B 在途时，{by}重置了连接"),
    }
}

pub(super) fn behind_full_segment(into: Nanos) -> String {
    format!("响应开始 {} 后，服务器紧接一个满长的报文段重置了连接；已发送的数据全部到达", time(into))
}

pub(super) fn closed_before_request(request: &UnansweredRequest) -> String {
    format!("请求（{}）到达时服务器已关闭连接，并回以 RST", label(request))
}

pub(super) fn request_reset(request: &UnansweredRequest) -> String {
    format!("服务器对请求（{}）回以 RST", label(request))
}

pub(super) fn without_response(request: &UnansweredRequest, waited: Nanos) -> String {
    format!("请求（{}）之后 {} 服务器重置了连接，没有响应", label(request), time(waited))
}

pub(super) fn client_left(waited: Nanos) -> String {
    format!("客户端在请求之后 {} 结束了连接，此时响应尚未到达", time(waited))
}

pub(super) fn before_data(waited: Nanos) -> String {
    format!("SYN 之后 {} 服务器重置了连接，此时尚未传输任何数据", time(waited))
}

/// `GET /`, or else its size.
fn label(request: &UnansweredRequest) -> String {
    request.line.clone().unwrap_or_else(|| format!("{} B", thousands(request.bytes)))
}

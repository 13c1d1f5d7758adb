//! The role of one side's small message, if its bytes are readable: a request that expects a
//! response, or flow-control credit and housekeeping of an application protocol, after which the
//! other side only continues.
//!
//! Recognises text commands (HTTP/1, SMTP, FTP, Redis), HTTP/2 frames in the clear, and TLS records
//! by their lengths. For unreadable messages, time and sizes decide (see `turns`).

use super::protocol::Protocol;
use super::tls;

/// Larger messages are not credit: an HTTP/2 WINDOW_UPDATE has 13 bytes (RFC 9113 section 6.9), an
/// SSH window adjust 36 to 68, both including encryption.
pub(in crate::tcp) const SMALL: u64 = 100;

/// The role of a segment's payload in the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PayloadKind {
    /// Unknown.
    #[default]
    Unread,
    /// It begins a message that expects a response.
    Request,
    /// Credit or housekeeping of a protocol above TCP, which gets no response.
    Credit,
    /// It continues a message with a known length.
    Continuation,
    /// Encrypted, with a length that credit has.
    MaybeCredit,
    /// It announces that no more data follows (TLS close_notify), and expects no response.
    CloseNotify,
    /// It follows the unrequested data of a TLS 1.3 server, and may answer the message that this
    /// data seemed to answer.
    BehindGreeting,
}

impl PayloadKind {
    /// Converts back from its number.
    pub fn of(number: u8) -> Self {
        match number {
            1 => Self::Request,
            2 => Self::Credit,
            3 => Self::Continuation,
            4 => Self::MaybeCredit,
            5 => Self::CloseNotify,
            6 => Self::BehindGreeting,
            _ => Self::Unread,
        }
    }
}

/// The role of a message whose first segment has `len` bytes of payload, of which `payload` was
/// captured.
pub(super) fn kind_of(payload: &[u8], len: u64, protocol: Option<Protocol>) -> PayloadKind {
    if len >= SMALL || payload.is_empty() {
        return PayloadKind::Unread;
    }
    let whole = payload.len() as u64 >= len;
    match protocol {
        Some(Protocol::Tls) => of_records(payload, len),
        Some(Protocol::Ssh) => PayloadKind::Unread,
        None | Some(Protocol::Http) if is_command(payload, whole) => PayloadKind::Request,
        None | Some(Protocol::Http) if whole => of_frames(payload),
        None | Some(Protocol::Http) => PayloadKind::Unread,
    }
}

/// Whether the captured part of a message is ASCII text.
pub(in crate::tcp) fn is_text(payload: &[u8]) -> bool {
    let of_text = |byte: &u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    payload.iter().all(of_text)
}

/// Whether it consists of lines of text, or is a Redis command, whose arguments may be binary.
fn is_command(payload: &[u8], whole: bool) -> bool {
    let redis = matches!(payload, [b'*', digit, ..] if digit.is_ascii_digit());
    whole && payload.ends_with(b"\n") && (redis || is_text(payload))
}

/// Length of a frame header (RFC 9113 section 4.1), and lengths of frames that are not requests.
const FRAME_HEADER: usize = 9;
const WINDOW_UPDATE: usize = FRAME_HEADER + 4;
const PING: usize = FRAME_HEADER + 8;

/// The role of HTTP/2 frames that fill the message exactly.
fn of_frames(payload: &[u8]) -> PayloadKind {
    let (mut rest, mut credit, mut request) = (payload, false, false);
    while let &[a, b, c, kind, flags, stream, _, _, _, ref behind @ ..] = rest {
        let body = u32::from_be_bytes([0, a, b, c]) as usize;
        let Some(next) = behind.get(body..) else { return PayloadKind::Unread };
        let settings = kind == 4 && stream == 0 && body.is_multiple_of(6) && (flags == 0 || (flags == 1 && body == 0));
        match kind {
            8 if body + FRAME_HEADER == WINDOW_UPDATE && flags == 0 && behind.get(..4) != Some(&[0; 4]) => {
                credit = true
            }
            6 if body + FRAME_HEADER == PING && flags <= 1 && stream == 0 => credit = true,
            4 if settings => credit = true,
            // HEADERS and DATA, with the flags END_STREAM, END_HEADERS, PADDED and PRIORITY.
            0 | 1 if flags & !0x2d == 0 && body > 0 => request = true,
            _ => return PayloadKind::Unread,
        }
        rest = next;
    }
    match (rest, request, credit) {
        ([], true, _) => PayloadKind::Request,
        ([], false, true) => PayloadKind::Credit,
        _ => PayloadKind::Unread,
    }
}

/// Whether a segment is only credit or housekeeping of HTTP/2 in the clear.
pub(super) fn is_credit(payload: &[u8], len: u64) -> bool {
    // The highest byte of a frame's length, which is 0 in usual frames.
    payload.first() == Some(&0) && payload.len() as u64 >= len && of_frames(payload) == PayloadKind::Credit
}

/// The role of TLS records by their lengths: credit if each record of application data has a length
/// of HTTP/2 credit, otherwise a message.
fn of_records(payload: &[u8], len: u64) -> PayloadKind {
    let (mut rest, mut left, mut kind) = (payload, len, PayloadKind::Unread);
    loop {
        let Some(header) = tls::Header::read(rest) else { return kind };
        let record = tls::HEADER_LEN as u64 + u64::from(header.len);
        match header.kind {
            tls::APPLICATION_DATA if header.len == ALERT => return PayloadKind::CloseNotify,
            tls::APPLICATION_DATA if may_be_credit(header.len) => kind = PayloadKind::MaybeCredit,
            tls::APPLICATION_DATA | tls::HANDSHAKE => return PayloadKind::Request,
            // It precedes the end of the handshake.
            tls::CHANGE_CIPHER_SPEC => {}
            _ => return PayloadKind::CloseNotify,
        }
        if record >= left {
            return kind;
        }
        left -= record;
        let Some(next) = usize::try_from(record).ok().and_then(|record| rest.get(record..)) else { return kind };
        rest = next;
    }
}

/// Overhead of ciphers per record: TLS 1.3 a byte and a tag of 16 (RFC 8446 section 5.2), TLS 1.2
/// with GCM 8 bytes and the tag (RFC 5288), with ChaCha20 only the tag (RFC 7905).
const ADDED: [u16; 3] = [17, 24, 16];

/// A TLS 1.3 record with an alert of two bytes, which looks like application data.
const ALERT: u16 = 19;

/// A TLS 1.3 record with HTTP/2's SETTINGS acknowledgment (RFC 9113 section 6.5.3).
const SETTINGS_ACK: u16 = FRAME_HEADER as u16 + ADDED[0];

/// Whether a record of this length may contain only a WINDOW_UPDATE of the connection or of a
/// stream or both, with or without a PING, or a SETTINGS acknowledgment.
fn may_be_credit(len: u16) -> bool {
    let credit = [WINDOW_UPDATE, 2 * WINDOW_UPDATE, WINDOW_UPDATE + PING, 2 * WINDOW_UPDATE + PING];
    let holds_credit = |bytes: u16| credit.contains(&bytes.into());
    len == SETTINGS_ACK || ADDED.into_iter().filter_map(|added| len.checked_sub(added)).any(holds_credit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(payload: &[u8], protocol: Option<Protocol>) -> PayloadKind {
        kind_of(payload, payload.len() as u64, protocol)
    }

    #[test]
    fn commands_are_requests() {
        for text in
            [&b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"[..], b"RETR 1\r\n", b"*2\r\n$3\r\nGET\r\n$1\r\n\x81\r\n", b"a\n"]
        {
            assert_eq!(kind(text, None), PayloadKind::Request, "{text:?}");
        }
        for other in [&b"GET / HTTP/1.1"[..], &[0; 13], b"", &[b'a'; 150]] {
            assert_eq!(kind(other, None), PayloadKind::Unread, "{other:?}");
        }
        assert_eq!(kind_of(b"RETR 1\r\n", 30, None), PayloadKind::Unread, "cut by the snapshot length");
    }

    #[test]
    fn http2_frames_are_credit_or_requests() {
        let update = [0, 0, 4, 8, 0, 0, 0, 0, 1, 0, 0, 0x80, 0];
        let both = [update, update].concat();
        assert_eq!((kind(&update, None), kind(&both, None)), (PayloadKind::Credit, PayloadKind::Credit));
        let headers = [0, 0, 2, 1, 5, 0, 0, 0, 3, 0x82, 0x84];
        assert_eq!(kind(&headers, None), PayloadKind::Request);
        assert_eq!(kind(&[&update[..], &headers].concat(), None), PayloadKind::Request);
        assert_eq!(kind(&update[..12], None), PayloadKind::Unread);
        for flags in [0, 1] {
            assert_eq!(
                kind(&[0, 0, 0, 4, flags, 0, 0, 0, 0], None),
                PayloadKind::Credit,
                "SETTINGS, acknowledged or not"
            );
        }
    }

    #[test]
    fn only_records_with_a_credit_length_may_be_credit() {
        let record =
            |kind: u8, len: u16| [&[kind, 3, 3, (len >> 8) as u8, len as u8][..], &vec![0; len.into()]].concat();
        for credit in [26, 30, 43, 37, 50, 29, 47, 60] {
            assert_eq!(kind(&record(23, credit), Some(Protocol::Tls)), PayloadKind::MaybeCredit, "{credit}");
        }
        let pair = [record(23, 30), record(23, 30)].concat();
        assert_eq!(kind(&pair, Some(Protocol::Tls)), PayloadKind::MaybeCredit);
        for request in [33, 57, 58, 62, 88] {
            assert_eq!(kind(&record(23, request), Some(Protocol::Tls)), PayloadKind::Request, "{request}");
        }
        assert_eq!(kind(&record(22, 40), Some(Protocol::Tls)), PayloadKind::Request);
        for (content, len) in [(21, 26), (23, 19)] {
            assert_eq!(kind(&record(content, len), Some(Protocol::Tls)), PayloadKind::CloseNotify, "close_notify");
        }
    }
}

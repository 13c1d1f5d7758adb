//! `TCP_INFO`: the kernel's own account of a connection.
//!
//! The structure grew with Linux: it is parsed by the length that the kernel returned, and fields
//! beyond it are `None`, never zero.

use serde::{Deserialize, Serialize};

/// Larger than any `struct tcp_info` so far (280 bytes in Linux 6.18).
#[cfg(target_os = "linux")]
const SPACE: usize = 512;

/// No threshold yet (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// `TCPI_OPT_WSCALE`.
const OPTION_WINDOW_SCALE: u8 = 4;

/// C puts the first field of bits where the machine's order of bytes begins.
const FIRST_BIT: u8 = if cfg!(target_endian = "little") { 1 } else { 0x80 };

/// The kernel's data on a connection at one instant. Names are those of `include/uapi/linux/tcp.h`,
/// without `tcpi_`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpInfo {
    /// TCP state; 1 is ESTABLISHED.
    pub state: Option<u8>,
    /// 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: Option<u8>,
    /// Timeouts of the oldest data in flight, without an answer.
    pub retransmits: Option<u8>,
    /// Probes of a window of zero, or of an idle peer, without an answer.
    pub probes: Option<u8>,
    /// How often the timeout was doubled.
    pub backoff: Option<u8>,
    /// Options that both ends offered (`TCPI_OPT_*`): 1 timestamps, 2 SACK, 4 window scale, 8 ECN.
    pub options: Option<u8>,
    /// The peer's window scale, where both scale.
    pub snd_wscale: Option<u8>,
    /// The own window scale, where both scale.
    pub rcv_wscale: Option<u8>,
    /// 1: `delivery_rate` is held down by what the program wrote.
    pub delivery_rate_app_limited: Option<u8>,
    /// Retransmission timeout, µs.
    pub rto: Option<u32>,
    /// Bytes of a full segment that this end sends.
    pub snd_mss: Option<u32>,
    /// Bytes of a full segment that the peer sends, as estimated.
    pub rcv_mss: Option<u32>,
    /// Segments in flight.
    pub unacked: Option<u32>,
    /// Segments held lost.
    pub lost: Option<u32>,
    /// Segments that the peer holds out of order (SACK).
    pub sacked: Option<u32>,
    /// Retransmitted segments in flight.
    pub retrans: Option<u32>,
    /// Since the last data was sent, ms.
    pub last_data_sent: Option<u32>,
    /// Since the last data was received, ms.
    pub last_data_recv: Option<u32>,
    /// Since the last ACK was received, ms.
    pub last_ack_recv: Option<u32>,
    /// Path MTU, bytes.
    pub pmtu: Option<u32>,
    /// The window that this end comes to offer at most, as it stands, bytes.
    pub rcv_ssthresh: Option<u32>,
    /// Smoothed round trip, µs.
    pub rtt: Option<u32>,
    /// Its variation, µs.
    pub rttvar: Option<u32>,
    /// Slow-start threshold, segments; `None` if there is none.
    pub snd_ssthresh: Option<u32>,
    /// Congestion window, segments.
    pub snd_cwnd: Option<u32>,
    /// Bytes of a full segment that this end announced.
    pub advmss: Option<u32>,
    /// Maximum number of segments by which the path reorders.
    pub reordering: Option<u32>,
    /// Round trip as the receiver estimates it, µs.
    pub rcv_rtt: Option<u32>,
    /// What the application reads in a round trip, bytes.
    pub rcv_space: Option<u32>,
    /// Segments retransmitted since the beginning.
    pub total_retrans: Option<u32>,
    /// Bytes per second.
    pub pacing_rate: Option<u64>,
    /// Bytes acknowledged since the beginning; the SYN counts one.
    pub bytes_acked: Option<u64>,
    /// Bytes received since the beginning.
    pub bytes_received: Option<u64>,
    /// Segments sent since the beginning.
    pub segs_out: Option<u32>,
    /// Segments received since the beginning.
    pub segs_in: Option<u32>,
    /// Bytes written by the program, and not yet sent.
    pub notsent_bytes: Option<u32>,
    /// Minimum round trip of the last 300 s, µs.
    pub min_rtt: Option<u32>,
    /// Segments with data received since the beginning.
    pub data_segs_in: Option<u32>,
    /// Segments with data sent since the beginning.
    pub data_segs_out: Option<u32>,
    /// Bytes per second.
    pub delivery_rate: Option<u64>,
    /// µs with data outstanding; both limited times are part of it.
    pub busy_time: Option<u64>,
    /// µs of it limited by the peer's window.
    pub rwnd_limited: Option<u64>,
    /// µs of it limited by the send buffer.
    pub sndbuf_limited: Option<u64>,
    /// Segments that have reached the peer, as far as it acknowledged them.
    pub delivered: Option<u32>,
    /// Segments of these with a congestion mark (ECN).
    pub delivered_ce: Option<u32>,
    /// Bytes sent since the beginning, retransmitted ones included.
    pub bytes_sent: Option<u64>,
    /// Bytes retransmitted since the beginning.
    pub bytes_retrans: Option<u64>,
    /// Segments that the peer reported as received twice.
    pub dsack_dups: Option<u32>,
    /// How often the path was found to reorder.
    pub reord_seen: Option<u32>,
    /// Segments received out of order.
    pub rcv_ooopack: Option<u32>,
    /// The window that the peer offers, bytes.
    pub snd_wnd: Option<u32>,
    /// The window that this end offers, bytes.
    pub rcv_wnd: Option<u32>,
    /// Timeouts.
    pub total_rto: Option<u16>,
    /// Pauses that ended with a timeout, several timeouts in a row counted once.
    pub total_rto_recoveries: Option<u16>,
    /// Time in these pauses, ms.
    pub total_rto_time: Option<u32>,
}

impl TcpInfo {
    /// Reads what the kernel returned.
    pub fn parse(bytes: &[u8]) -> Self {
        let u16_at = |at| field(bytes, at).map(u16::from_ne_bytes);
        let u32_at = |at| field(bytes, at).map(u32::from_ne_bytes);
        let u64_at = |at| field(bytes, at).map(u64::from_ne_bytes);
        Self {
            state: bytes.first().copied(),
            ca_state: bytes.get(1).copied(),
            retransmits: bytes.get(2).copied(),
            probes: bytes.get(3).copied(),
            backoff: bytes.get(4).copied(),
            options: bytes.get(5).copied(),
            snd_wscale: scales(bytes).map(|(peers, _)| peers),
            rcv_wscale: scales(bytes).map(|(_, own)| own),
            delivery_rate_app_limited: bytes.get(7).map(|byte| u8::from(byte & FIRST_BIT != 0)),
            rto: u32_at(8),
            snd_mss: u32_at(16),
            rcv_mss: u32_at(20),
            unacked: u32_at(24),
            sacked: u32_at(28),
            lost: u32_at(32),
            retrans: u32_at(36),
            last_data_sent: u32_at(44),
            last_data_recv: u32_at(52),
            last_ack_recv: u32_at(56),
            pmtu: u32_at(60),
            rcv_ssthresh: u32_at(64),
            rtt: u32_at(68),
            rttvar: u32_at(72),
            snd_ssthresh: u32_at(76).filter(|&threshold| threshold < NO_THRESHOLD),
            snd_cwnd: u32_at(80),
            advmss: u32_at(84),
            reordering: u32_at(88),
            rcv_rtt: u32_at(92),
            rcv_space: u32_at(96),
            total_retrans: u32_at(100),
            pacing_rate: u64_at(104).filter(|&rate| rate != u64::MAX),
            bytes_acked: u64_at(120),
            bytes_received: u64_at(128),
            segs_out: u32_at(136),
            segs_in: u32_at(140),
            notsent_bytes: u32_at(144),
            min_rtt: u32_at(148).filter(|&rtt| rtt != u32::MAX),
            data_segs_in: u32_at(152),
            data_segs_out: u32_at(156),
            delivery_rate: u64_at(160),
            busy_time: u64_at(168),
            rwnd_limited: u64_at(176),
            sndbuf_limited: u64_at(184),
            delivered: u32_at(192),
            delivered_ce: u32_at(196),
            bytes_sent: u64_at(200),
            bytes_retrans: u64_at(208),
            dsack_dups: u32_at(216),
            reord_seen: u32_at(220),
            rcv_ooopack: u32_at(224),
            snd_wnd: u32_at(228),
            rcv_wnd: u32_at(232),
            total_rto: u16_at(240),
            total_rto_recoveries: u16_at(242),
            total_rto_time: u32_at(244),
        }
    }
}

/// The peer's window scale and the own one: two fields of four bits, that mean something where
/// the option is in force.
fn scales(bytes: &[u8]) -> Option<(u8, u8)> {
    let (&options, &byte) = (bytes.get(5)?, bytes.get(6)?);
    let (low, high) = (byte & 0xf, byte >> 4);
    let scales = if cfg!(target_endian = "little") { (low, high) } else { (high, low) };
    (options & OPTION_WINDOW_SCALE != 0).then_some(scales)
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// Reads `TCP_INFO` of a connection; `None` if unavailable.
#[cfg(target_os = "linux")]
pub fn of(connection: &tokio::net::TcpStream) -> Option<TcpInfo> {
    read(std::os::fd::AsFd::as_fd(connection))
}

/// Always `None`: only Linux offers it.
#[cfg(not(target_os = "linux"))]
pub fn of(_: &tokio::net::TcpStream) -> Option<TcpInfo> {
    None
}

/// Reads `TCP_INFO` of a socket; `None` if unavailable, or if it is not a TCP socket.
#[cfg(target_os = "linux")]
pub fn read(socket: std::os::fd::BorrowedFd<'_>) -> Option<TcpInfo> {
    let mut space = [0; SPACE];
    let length = crate::sys::getsockopt(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut space).ok()?;
    Some(TcpInfo::parse(&space[..length]))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn fields_that_a_kernel_lacks_are_none() {
        let mut bytes = vec![0; 280];
        bytes[0] = 1;
        bytes[68..72].copy_from_slice(&25_800_u32.to_ne_bytes());
        bytes[76..80].copy_from_slice(&NO_THRESHOLD.to_ne_bytes());
        bytes[232..236].copy_from_slice(&65_535_u32.to_ne_bytes());
        let new = TcpInfo::parse(&bytes);
        assert_eq!((new.rtt, new.snd_ssthresh, new.rcv_wnd), (Some(25_800), None, Some(65_535)));
        // Linux 2.6.
        let old = TcpInfo::parse(&bytes[..104]);
        assert_eq!((old.rtt, old.bytes_acked, old.rcv_wnd), (Some(25_800), None, None));
        assert_eq!(TcpInfo::parse(&[]), TcpInfo::default());
    }
    #[test]
    fn fields_of_bits_are_read() {
        let mut raw = vec![0; 8];
        (raw[5], raw[6], raw[7]) = (7, 0xa7, 1);
        let info = TcpInfo::parse(&raw);
        assert_eq!((info.snd_wscale, info.rcv_wscale, info.delivery_rate_app_limited), (Some(7), Some(10), Some(1)));
        // Without the option the scales mean nothing.
        raw[5] = 3;
        assert_eq!((TcpInfo::parse(&raw).snd_wscale, TcpInfo::parse(&raw).options), (None, Some(3)));
    }
}

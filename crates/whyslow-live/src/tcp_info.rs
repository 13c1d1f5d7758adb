//! `TCP_INFO`: the kernel's own account of a connection.
//!
//! The structure grew with Linux: it is parsed by the length that the kernel returned, and what a
//! kernel does not tell is none, never zero.

use serde::Serialize;

/// Larger than any `struct tcp_info` so far (280 bytes in Linux 6.18).
#[cfg(target_os = "linux")]
const SPACE: usize = 512;

/// No threshold yet (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// What the kernel knows of a connection at one instant. Names are those of
/// `include/uapi/linux/tcp.h`, without `tcpi_`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TcpInfo {
    /// TCP state; 1 is ESTABLISHED.
    pub state: Option<u8>,
    /// 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: Option<u8>,
    /// Retransmission timeout, µs.
    pub rto: Option<u32>,
    /// Bytes of a full segment that this end sends.
    pub snd_mss: Option<u32>,
    /// Segments in flight.
    pub unacked: Option<u32>,
    /// Segments held lost.
    pub lost: Option<u32>,
    /// Path MTU, bytes.
    pub pmtu: Option<u32>,
    /// The window that this end comes to offer at most, as it stands, bytes.
    pub rcv_ssthresh: Option<u32>,
    /// Smoothed round trip, µs.
    pub rtt: Option<u32>,
    /// Its variation, µs.
    pub rttvar: Option<u32>,
    /// Slow-start threshold, segments; none while there is none.
    pub snd_ssthresh: Option<u32>,
    /// Congestion window, segments.
    pub snd_cwnd: Option<u32>,
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
    /// Bytes written by the program, and not yet sent.
    pub notsent_bytes: Option<u32>,
    /// Least round trip of the last 300 s, µs.
    pub min_rtt: Option<u32>,
    /// Bytes per second.
    pub delivery_rate: Option<u64>,
    /// µs with data outstanding; both limited times are part of it.
    pub busy_time: Option<u64>,
    /// µs of it limited by the peer's window.
    pub rwnd_limited: Option<u64>,
    /// µs of it limited by the send buffer.
    pub sndbuf_limited: Option<u64>,
    /// Segments that the peer told it received twice.
    pub dsack_dups: Option<u32>,
    /// Segments received out of order.
    pub rcv_ooopack: Option<u32>,
    /// The window that the peer offers, bytes.
    pub snd_wnd: Option<u32>,
    /// The window that this end offers, bytes.
    pub rcv_wnd: Option<u32>,
    /// Timeouts.
    pub total_rto: Option<u16>,
}

impl TcpInfo {
    /// Reads what the kernel returned.
    pub fn parse(told: &[u8]) -> Self {
        let u16_at = |at| field(told, at).map(u16::from_ne_bytes);
        let u32_at = |at| field(told, at).map(u32::from_ne_bytes);
        let u64_at = |at| field(told, at).map(u64::from_ne_bytes);
        Self {
            state: told.first().copied(),
            ca_state: told.get(1).copied(),
            rto: u32_at(8),
            snd_mss: u32_at(16),
            unacked: u32_at(24),
            lost: u32_at(32),
            pmtu: u32_at(60),
            rcv_ssthresh: u32_at(64),
            rtt: u32_at(68),
            rttvar: u32_at(72),
            snd_ssthresh: u32_at(76).filter(|&threshold| threshold < NO_THRESHOLD),
            snd_cwnd: u32_at(80),
            rcv_rtt: u32_at(92),
            rcv_space: u32_at(96),
            total_retrans: u32_at(100),
            pacing_rate: u64_at(104).filter(|&rate| rate != u64::MAX),
            bytes_acked: u64_at(120),
            bytes_received: u64_at(128),
            notsent_bytes: u32_at(144),
            min_rtt: u32_at(148).filter(|&rtt| rtt != u32::MAX),
            delivery_rate: u64_at(160),
            busy_time: u64_at(168),
            rwnd_limited: u64_at(176),
            sndbuf_limited: u64_at(184),
            dsack_dups: u32_at(216),
            rcv_ooopack: u32_at(224),
            snd_wnd: u32_at(228),
            rcv_wnd: u32_at(232),
            total_rto: u16_at(240),
        }
    }
}

fn field<const N: usize>(told: &[u8], at: usize) -> Option<[u8; N]> {
    told.get(at..at + N)?.try_into().ok()
}

/// Asks the kernel; none where it does not tell, or the socket is no TCP socket.
#[cfg(target_os = "linux")]
pub(crate) fn read(socket: std::os::fd::BorrowedFd<'_>) -> Option<TcpInfo> {
    let mut space = [0; SPACE];
    let length = crate::sys::getsockopt(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut space).ok()?;
    Some(TcpInfo::parse(&space[..length]))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_a_kernel_does_not_tell_is_none() {
        let mut told = vec![0; 280];
        told[0] = 1;
        told[68..72].copy_from_slice(&25_800_u32.to_ne_bytes());
        told[76..80].copy_from_slice(&NO_THRESHOLD.to_ne_bytes());
        told[232..236].copy_from_slice(&65_535_u32.to_ne_bytes());
        let new = TcpInfo::parse(&told);
        assert_eq!((new.rtt, new.snd_ssthresh, new.rcv_wnd), (Some(25_800), None, Some(65_535)));
        // Linux 2.6.
        let old = TcpInfo::parse(&told[..104]);
        assert_eq!((old.rtt, old.bytes_acked, old.rcv_wnd), (Some(25_800), None, None));
        assert_eq!(TcpInfo::parse(&[]), TcpInfo::default());
    }
}

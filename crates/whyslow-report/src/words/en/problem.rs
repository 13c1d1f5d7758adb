//! Problems of a capture.

use crate::words::quantity::{count, thousands, time};
use whyslow_analysis::{
    Frame, MissingHandshake, NotCompared, Problem, ProblemDetail, Rewritten, TextField, UnmatchedIcmp,
};

pub(in crate::words) fn problem(problem: &Problem) -> String {
    use ProblemDetail as D;
    let number = problem.count;
    match &problem.detail {
        D::BytesNotCaptured { bytes, first } => not_captured(*bytes, number, *first),
        D::TimesGoBack => format!("{} {TIMES_GO_BACK}", count(number, "packet")),
        D::NotInOrder { earlier_s } => format!(
            "packets are not in the order of their times: the earliest is {} before the first; times count from the first, so some are negative",
            time(*earlier_s)
        ),
        D::NoTimes => NO_TIMES.to_owned(),
        D::LeftOutOfText { bytes } => left_out(*bytes),
        D::FieldsNotInText { fields } => {
            let fields: Vec<&str> = fields.iter().map(|field| text_field(*field)).collect();
            format!("the text has {}", fields.join("; and "))
        }
        D::HandshakeIncomplete { missing, window_unit } => handshake(*missing, *window_unit),
        D::LargerThanMss => format!("{} {LARGER_THAN_MSS}", count(number, "segment")),
        D::CongestionMarks { marked, echoes, reductions } => format!(
            "{} marked with CE, {} with ECE, {} with CWR (ECN: a queue on the path was congested)",
            count(*marked, "packet"),
            count(*echoes, "ACK"),
            count(*reductions, "segment")
        ),
        D::OneDirection => ONE_DIRECTION.to_owned(),
        D::CapturedTwice => format!("{} {CAPTURED_TWICE}", count(number, "packet")),
        D::OutsideWindow => format!("{} {OUTSIDE_WINDOW}", count(number, "segment")),
        D::SegmentsNotTracked => format!(
            "{} (or hole between segments) not tracked: more were outstanding at once than are remembered",
            count(number, "segment")
        ),
        D::DamagedOptions => format!("{} {DAMAGED_OPTIONS}", count(number, "segment")),
        D::WindowScaleOver14 => format!("{} {SCALE_OVER_14}", count(number, "SYN")),
        D::WrongChecksums => format!("{} {WRONG_CHECKSUMS}", count(number, "segment")),
        D::MeaninglessChecksums { connections, rewritten } => checksums(number, *connections, *rewritten),
        D::DamagedPackets => format!("{} {DAMAGED_PACKETS}", count(number, "packet")),
        D::IcmpUnmatched { reason, first } => icmp(*reason, *first),
        D::ConnectionsLetGo => LET_GO.to_owned(),
        D::ConnectionsNotListed { bytes } => format!(
            "only the connections with the largest cost are listed; the others carried {} B of payload, copies included",
            thousands(*bytes)
        ),
        D::DroppedMeanwhile => format!("this machine dropped {} {DROPPED_MEANWHILE}", count(number, "packet")),
        D::NotCompared { reason } => format!("{NOT_COMPARED}: {}", not_compared(*reason)),
        D::Text { text } => text.clone(),
    }
}

const TIMES_GO_BACK: &str = "with a time before that of the previous packet: they get the previous packet's time, and do not count for round trips; findings are less certain";
const NO_TIMES: &str =
    "the capture has no usable times (`tcpdump -t`, or whole seconds only): only bytes and packets are counted";
const LARGER_THAN_MSS: &str =
    "larger than the MSS (TSO or GRO on the capturing host): packet sizes and spacing differ from those on the link";
const ONE_DIRECTION: &str =
    "packets of only one end were captured: rates and bytes are known, what limited the transfer is not";
const CAPTURED_TWICE: &str =
    "captured twice (several interfaces or mirror ports), as the receiver reports no duplicate: the copies are ignored";
const OUTSIDE_WINDOW: &str = "ignored: the sequence number is far outside the window";
const DAMAGED_OPTIONS: &str =
    "with a TCP option list that is cut or damaged: only the options before the damage are used";
const SCALE_OVER_14: &str = "with a window scale shift over 14, which counts as 14 (RFC 7323 section 2.3)";
const WRONG_CHECKSUMS: &str =
    "ignored: the TCP checksum is wrong, others of that side are right, and nothing shows that the segment arrived";
const DAMAGED_PACKETS: &str =
    "of no connection ignored: the checksum is wrong, and nearly all others in the capture are right";
const LET_GO: &str = "connections were silent for very long, or too many were open at once: their later packets count as new connections";
const DROPPED_MEANWHILE: &str = "during this connection, of any connection: the network did not lose the missing ones";
const NOT_COMPARED: &str = "another capture has this connection too, and the two cannot be compared";

fn not_captured(bytes: u64, places: u64, first: Frame) -> String {
    let places = if places == 1 { "1 stretch".to_owned() } else { format!("{} stretches", thousands(places)) };
    let bytes = thousands(bytes);
    format!(
        "{bytes} B in {places} were acknowledged and never captured (first noticed in frame {first}): the capture lost packets, so they do not count as lost by the network"
    )
}

fn left_out(bytes: u64) -> String {
    let what = match bytes {
        0 => "packets were left out of the text".to_owned(),
        bytes => {
            format!("packets with {} B are not in the text, and later ones show that they were sent", thousands(bytes))
        }
    };
    format!("{what}: bytes and total times are known, the events between are not")
}

fn text_field(field: TextField) -> &'static str {
    match field {
        TextField::IpId => {
            "no IP identification (tcpdump without -v), so it is unknown whether segments of a silence were lost on the way here, and whether the sender or the network made a second copy"
        }
        TextField::Payload => {
            "no payload (tcpdump without -x), so TLS handshakes count as transfers, and TLS records are unknown"
        }
    }
}

fn handshake(missing: MissingHandshake, window_unit: Option<u64>) -> String {
    let missing = match missing {
        MissingHandshake::Options => "the options of the SYNs are cut or damaged",
        MissingHandshake::BothSyns => "the connection was open before the capture began",
        MissingHandshake::OneSyn => {
            return "only one of the two SYNs was captured: the window scale is unknown unless that SYN lacks the option"
                .to_owned();
        }
    };
    let windows = match window_unit {
        Some(unit) => format!(
            "windows are assumed to count in {}, the smallest unit that allows the data in flight",
            count(unit, "byte")
        ),
        None => "full windows cannot be recognized".to_owned(),
    };
    format!("{missing}: window scale and MSS are unknown, so {windows}")
}

fn checksums(segments: u64, connections: u64, rewritten: Rewritten) -> String {
    let why = match rewritten {
        Rewritten::Addresses => {
            "all of a connection's are off by the same amount, so addresses or ports were rewritten after the capture"
        }
        Rewritten::Packets => {
            "most of a side's are, so packets were rewritten after the capture, or captured before the network card completed them"
        }
    };
    format!(
        "{} in {} with a wrong TCP checksum, used nevertheless: {why}",
        count(segments, "segment"),
        count(connections, "connection")
    )
}

fn icmp(reason: UnmatchedIcmp, first: u64) -> String {
    let about = match reason {
        UnmatchedIcmp::NoConnection => "segments of connections that are not in the capture, or no longer open",
        UnmatchedIcmp::NotInFlight => {
            "segments that were not in flight: they are late or forged, and their senders ignore them"
        }
    };
    format!("ICMP errors about {about} (first in frame {first})")
}

fn not_compared(reason: NotCompared) -> &'static str {
    match reason {
        NotCompared::Stopped => "reading was stopped before the second pass",
        NotCompared::ReadOnce => "one of the captures came through a pipe, which cannot be read twice",
        NotCompared::LeftOutOfText => "packets were left out of one of them, a text",
        NotCompared::NothingInCommon => "they have no packets in common in one direction",
        NotCompared::ClockJumps => "one of the clocks jumps, so the order of the packets is unknown",
        NotCompared::Overlaps => "their segments overlap more than those of any sender",
    }
}

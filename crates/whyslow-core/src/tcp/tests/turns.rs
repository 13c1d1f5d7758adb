//! Rules for the beginning of another transfer, and for a transfer that continues.

use super::*;
use proptest::prelude::*;

/// Side B sends when side A allows it.
struct Talk {
    script: Script,
    ms: f64,
    /// Next relative sequence number of each side.
    next: [u32; 2],
}

impl Talk {
    /// After the handshake, captured next to side B, with a round trip of 100 ms.
    fn new() -> Self {
        Self { script: Script::opened(), ms: 100.0, next: [1, 1] }
    }

    /// Side A sends a message, `after` milliseconds after the previous event.
    fn fields(&mut self, len: u32, after: f64) {
        self.ms += after;
        self.script.line(self.ms, A, [self.next[0], self.next[1]], len);
        self.next[0] += len;
    }

    /// Side B sends a flight immediately. All of it is acknowledged a round trip later, with an ACK
    /// for every second segment.
    fn sends(&mut self, bytes: u32) {
        let mut left = bytes;
        while left > 0 {
            let len = left.min(MSS);
            self.script.line(self.ms, B, [self.next[1], self.next[0]], len);
            self.next[1] += len;
            left -= len;
        }
        self.ms += 100.0;
    }

    fn is_acknowledged(&mut self) {
        self.script.line(self.ms, A, [self.next[0], self.next[1]], 0);
    }

    fn sizes(&self) -> Vec<u64> {
        self.facts().directions[1].transfers.iter().map(TransferFacts::bytes).collect()
    }

    fn facts(&self) -> Facts {
        self.script.run()
    }
}

/// An HTTP/2 PING, and a WINDOW_UPDATE.
const PING: &[u8] = &[0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
const WINDOW_UPDATE: &[u8] = &[0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 64, 0];

impl Talk {
    /// A side sends frames that are credit or housekeeping.
    fn frames(&mut self, from: Side, payload: &'static [u8], after: f64) {
        self.ms += after;
        let len = payload.len() as u32;
        self.script.line(self.ms, from, [self.next[from], self.next[!from]], len).payload = payload;
        self.next[from] += len;
    }
}

#[test]
fn http2_credit_before_a_late_rest_is_not_a_request() {
    let mut talk = Talk::new();
    talk.fields(300, 0.0);
    for _ in 0..4 {
        talk.sends(12_000);
        talk.is_acknowledged();
        talk.frames(A, WINDOW_UPDATE, 0.1);
        // It follows the last segment of its own side.
        talk.frames(A, PING, 20.0);
        talk.ms += 300.0;
    }
    assert_eq!(talk.sizes(), [48_000]);
    talk.fields(300, 150.0);
    talk.sends(5_000);
    talk.is_acknowledged();
    assert_eq!(talk.sizes(), [48_000, 5_000], "a request after credit is a request");
}

#[test]
fn server_settings_are_not_a_response() {
    const SETTINGS: &[u8] = &[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100];
    let mut talk = Talk::new();
    talk.fields(300, 0.0);
    talk.frames(B, SETTINGS, 1.0);
    talk.ms += 400.0;
    talk.sends(2_000);
    talk.is_acknowledged();
    let facts = talk.facts();
    let [settings, answer] = &facts.directions[1].transfers[..] else { panic!("{:?}", talk.sizes()) };
    assert!(settings.is_housekeeping && settings.answered.is_none());
    assert_eq!(answer.answered.map(|asked| asked.bytes), Some(300));
}

#[test]
fn ping_that_crosses_a_message_is_not_its_response() {
    let mut talk = Talk::new();
    for nth in 0..3 {
        talk.fields(300, 0.0);
        talk.sends(2_000);
        talk.is_acknowledged();
        // The next request is in flight.
        let read = talk.next;
        talk.script.line(talk.ms, B, [read[1], read[0]], PING.len() as u32).payload = PING;
        talk.next[1] += PING.len() as u32;
        talk.ms += 30.0;
        talk.script.line(talk.ms, A, [read[0], read[1]], 300 + nth);
        talk.next[0] += 300 + nth;
        talk.sends(2_000);
        talk.is_acknowledged();
    }
    let facts = talk.facts();
    let answers = &facts.directions[1].transfers;
    assert_eq!(talk.sizes(), [2_017, 2_000, 2_017, 2_000, 2_017, 2_000]);
    assert!(answers.iter().all(|answer| answer.answered.is_some()), "{answers:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A request may have any size: it comes at the time chosen by its application, and not when
    /// bytes were read.
    #[test]
    fn request_after_everything_was_acknowledged_begins_a_transfer(
        requests in prop::collection::vec((1..2_000u32, 1..60_000u32, 101.0..9_000.0f64), 2..12),
    ) {
        let mut talk = Talk::new();
        let mut answers = Vec::new();
        for (bytes, answer, pause) in requests {
            talk.fields(bytes, pause);
            talk.sends(answer);
            talk.is_acknowledged();
            answers.push(u64::from(answer));
        }
        prop_assert_eq!(talk.sizes(), answers);
    }

    /// A request may come soon: a message like the previous one is another such request.
    #[test]
    fn equal_requests_are_not_credit(bytes in 1..2_000u32, answer in 1..60_000u32, number in 2..12usize) {
        let mut talk = Talk::new();
        for _ in 0..number {
            talk.fields(bytes, 0.0);
            talk.sends(answer);
        }
        prop_assert_eq!(talk.sizes(), vec![u64::from(answer); number]);
    }

    /// Responses of different sizes do not come from a quota.
    #[test]
    fn small_requests_with_different_responses_are_not_credit(first in 12_000..90_000u32, number in 2..12usize) {
        let mut talk = Talk::new();
        let answers: Vec<u32> = (0..number as u32).map(|n| first + 3_000 * n).collect();
        for (n, &answer) in answers.iter().enumerate() {
            talk.fields(if n == 0 { 200 } else { 20 }, 0.0);
            talk.sends(answer);
        }
        prop_assert_eq!(talk.sizes(), answers.iter().map(|&answer| u64::from(answer)).collect::<Vec<_>>());
    }

    #[test]
    fn credits_that_come_as_soon_as_all_was_read_are_one_transfer(
        (quota, message, reads) in (10_000..70_000u32, 1..99u32, 0.0..40.0f64),
        (number, rest) in (3..12u32, 1..9_000u32),
        again in any::<bool>(),
    ) {
        let mut talk = Talk::new();
        talk.fields(200, 0.0);
        for n in 0..number {
            if n > 0 {
                talk.fields(message, reads);
            }
            // Framing changes the sizes by less than one percent.
            talk.sends(quota + n % 3 * (quota / 400));
        }
        talk.fields(message, reads);
        talk.sends(rest);
        talk.is_acknowledged();
        let whole = u64::from(talk.next[1]) - 1;
        // It stopped although it had credit left; so the message that resumes it is a request.
        let mut expected = vec![whole];
        if again {
            talk.fields(message, reads);
            talk.sends(5_000);
            expected.push(5_000);
        }
        prop_assert_eq!(talk.sizes(), expected);
        let facts = talk.facts();
        let transfer = &facts.directions[1].transfers[0];
        prop_assert_eq!(transfer.peer_resumes, u64::from(number));
        prop_assert_eq!(transfer.rounds.iter().map(|round| round.bytes).sum::<u64>(), whole);
        prop_assert_eq!(transfer.rounds_total, u64::from(number) + 1);
        prop_assert_eq!(transfer.pauses.len() as u32, number, "each wait for credit is recorded");
        prop_assert!(transfer.pauses.iter().all(|gap| gap.release == Release::Peer));
        prop_assert_eq!(transfer.segments, u64::from(talk.script.lines.iter().filter(|l| l.from == B && l.len > 0).count() as u32) - u64::from(again) * 5);
    }

    #[test]
    fn credits_in_mid_stream_are_one_transfer(
        credits in prop::collection::vec((0..30u32, 1..99u32), 1..20),
        segments in 40..200u32,
    ) {
        let mut talk = Talk::new();
        talk.fields(200, 0.0);
        let mut credits = credits.into_iter();
        let (mut acked, mut due) = (1, 20);
        for n in 0..segments {
            talk.script.line(talk.ms, B, [talk.next[1], talk.next[0]], MSS);
            talk.next[1] += MSS;
            talk.ms += 5.0;
            if n == due && let Some((apart, len)) = credits.next() {
                // It acknowledges everything except the newest segment.
                acked = talk.next[1] - MSS;
                talk.script.line(talk.ms, A, [talk.next[0], acked], len);
                talk.next[0] += len;
                due += 1 + apart;
            } else if n % 7 == 0 {
                talk.script.line(talk.ms, A, [talk.next[0], acked.max(talk.next[1].saturating_sub(3 * MSS))], 0);
            }
        }
        talk.ms += 100.0;
        talk.is_acknowledged();
        prop_assert_eq!(talk.sizes(), vec![u64::from(segments * MSS)]);
    }

    /// There is no request, and nothing is outstanding.
    #[test]
    fn pushes_are_separate_transfers(pushes in prop::collection::vec((1..60_000u32, 1_210.0..60_000.0f64), 2..12)) {
        let mut talk = Talk::new();
        let mut sizes = Vec::new();
        for (bytes, pause) in pushes {
            talk.ms += pause;
            talk.sends(bytes);
            talk.is_acknowledged();
            sizes.push(u64::from(bytes));
        }
        prop_assert_eq!(talk.sizes(), sizes);
    }

    #[test]
    fn short_pause_does_not_end_a_transfer(pushes in prop::collection::vec((1..60_000u32, 0.0..900.0f64), 2..12)) {
        let mut talk = Talk::new();
        let mut whole = 0;
        for (bytes, pause) in pushes {
            talk.ms += pause;
            talk.sends(bytes);
            talk.is_acknowledged();
            whole += u64::from(bytes);
        }
        prop_assert_eq!(talk.sizes(), vec![whole]);
    }
}

/// A request, and a response in parts of these sizes after these silences.
fn response_in_parts(parts: &[(u32, f64)]) -> Talk {
    let mut talk = Talk::new();
    talk.fields(200, 0.0);
    for &(bytes, silence) in parts {
        talk.ms += silence;
        talk.sends(bytes);
        talk.is_acknowledged();
    }
    talk
}

const WINDOW: u32 = 10 * MSS;

#[test]
fn more_than_an_initial_window_after_a_silence_continues_the_response() {
    let talk = response_in_parts(&[(30_000, 0.0), (WINDOW + 1, 3_000.0), (40_000, 9_000.0)]);
    assert_eq!(talk.sizes(), [u64::from(70_000 + WINDOW + 1)]);
    let facts = talk.facts();
    let transfer = &facts.directions[1].transfers[0];
    assert!(transfer.answered.is_some());
    // A response that stalls for 3 s and for 9 s, measured from its last segments.
    let stalled = transfer.inferred_stalls.as_secs_f64();
    assert!((11.9..12.5).contains(&stalled), "{stalled}");
    assert_eq!(transfer.pauses.iter().filter(|gap| gap.end - gap.start > Nanos::from_millis(2_900)).count(), 2);
    assert!(transfer.rounds.iter().map(|round| round.bytes).sum::<u64>() == transfer.bytes());
}

#[test]
fn small_messages_after_silences_are_pushes() {
    let talk = response_in_parts(&[(30_000, 0.0), (WINDOW, 3_000.0), (500, 3_000.0), (500, 3_000.0)]);
    assert_eq!(talk.sizes(), [30_000, u64::from(WINDOW), 500, 500]);
    assert!(talk.facts().directions[1].transfers.iter().all(|one| one.inferred_stalls == Nanos::ZERO));
}

#[test]
fn first_message_in_parts_is_one_if_it_is_answered() {
    let upload = |is_answered: bool| {
        let mut talk = Talk::new();
        for silence in [0.0, 3_000.0] {
            talk.ms += silence;
            talk.sends(30_000);
            talk.is_acknowledged();
        }
        if is_answered {
            talk.fields(60, 50.0);
        }
        talk.sizes()
    };
    assert_eq!((upload(true), upload(false)), (vec![60_000], vec![30_000, 30_000]));
}

#[test]
fn a_request_after_a_silence_begins_another_response() {
    let mut talk = response_in_parts(&[(30_000, 0.0)]);
    talk.fields(200, 3_000.0);
    talk.sends(30_000);
    talk.is_acknowledged();
    assert_eq!(talk.sizes(), [30_000, 30_000]);
}

#[test]
fn closed_window_and_outstanding_data_are_not_idle() {
    let pushed_after = |change: fn(&mut Talk)| {
        let mut talk = Talk::new();
        talk.sends(20_000);
        change(&mut talk);
        talk.ms += 5_000.0;
        talk.sends(20_000);
        talk.is_acknowledged();
        talk.sizes().len()
    };
    assert_eq!(pushed_after(Talk::is_acknowledged), 2);
    assert_eq!(pushed_after(|_| ()), 1, "not acknowledged");
    let closed = |talk: &mut Talk| talk.script.line(talk.ms, A, [talk.next[0], talk.next[1]], 0).window = 0;
    assert_eq!(pushed_after(closed), 1, "the window is closed");
}

#[test]
fn data_within_a_record_is_not_a_push() {
    let talk = |record: usize| {
        let mut connection: Option<Connection> = None;
        let body = [&[23, 3, 3, (record >> 8) as u8, record as u8][..], &vec![7; 30_000]].concat();
        let hello = [22, 3, 3, 0, 4, 2, 0, 0, 0];
        let mut push = |ms: f64, from: Side, seq: u32, ack: u32, flags: Flags, payload: &[u8]| {
            let (src, dst) = (end(from), end(!from));
            let segment = Segment {
                src: src.0,
                dst: dst.0,
                src_port: src.1,
                dst_port: dst.1,
                seq: SeqNumber(seq),
                ack: SeqNumber(ack),
                flags,
                window: 60_000,
                payload_len: payload.len() as u32,
                payload,
                options: Options { mss: Some(1000), ..Options::default() },
                ip_id: None,
                ttl: 64,
                ecn: 0,
                checksum: Checksum::Unknown,
                fragment: false,
                tunnels: 0,
            };
            let time = Time::ZERO + Nanos::from_secs_f64(ms / 1e3);
            let connection = connection.get_or_insert_with(|| Connection::new(&segment, time, Frame::default()));
            connection.push(&segment, from, time, Frame::default());
        };
        push(0.0, A, 0, 0, Flags::SYN, &[]);
        push(0.0, B, 0, 1, Flags::SYN | Flags::ACK, &[]);
        push(100.0, A, 1, 1, Flags::ACK, &[]);
        push(100.0, B, 1, 1, Flags::ACK, &[&hello[..], &body[..900]].concat());
        push(200.0, A, 1, 910, Flags::ACK, &[]);
        push(4_000.0, B, 910, 1, Flags::ACK, &body[900..1800]);
        push(4_100.0, A, 1, 1810, Flags::ACK, &[]);
        connection.unwrap().finish([end(A), end(B)]).directions[1].transfers.len()
    };
    assert_eq!(talk(16_000), 1, "the record continues");
    assert_eq!(talk(895), 2, "the record was complete");
}

#[test]
fn request_of_unknown_length_continues_until_the_server_sends() {
    let sizes = |head: &'static [u8], spoken: u32| {
        let mut script = Script::opened();
        script.line(100.0, A, [1, 1], MSS).payload = head;
        script.line(100.0, A, [1 + MSS, 1], 400);
        script.line(100.1, B, [1, 1401], spoken);
        script.line(2_500.0, A, [1401, 1 + spoken], 900);
        script.line(2_500.1, B, [1 + spoken, 2301], 0);
        script.run().directions[0].transfers.iter().map(TransferFacts::bytes).collect::<Vec<_>>()
    };
    let cut = b"POST /up HTTP/1.1\r\nHost: a\r\n";
    assert_eq!(sizes(cut, 0), [2_300], "a stall within it");
    assert_eq!(sizes(cut, 200), [1_400, 900], "it was answered");
    assert_eq!(sizes(b"anything else", 0), [1_400, 900], "another message");
}

//! Random segments, printed in tcpdump's form and read again; random text.

use super::*;
use proptest::prelude::*;
use std::collections::HashMap;
use std::fmt::Write;

/// A segment to print; `up`: sent by the client.
#[derive(Clone, Debug)]
struct Sent {
    up: bool,
    flags: u8,
    seq: u32,
    ack: u32,
    window: u16,
    len: u16,
    timestamps: Option<(u32, u32)>,
    sack: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Form {
    v6: bool,
    absolute: bool,
    verbose: bool,
    old: bool,
    time: u8,
}

fn sent() -> impl Strategy<Value = Sent> {
    let flags = prop::sample::select(vec![0x10_u8, 0x18, 0x11, 0x14, 0x19, 0x50, 0x90]);
    let sack = prop::collection::vec((0..1_000_000_u32, 1..100_000_u32), 0..3);
    (
        any::<bool>(),
        flags,
        0..1_000_000_u32,
        0..1_000_000_u32,
        any::<u16>(),
        0..9_000_u16,
        any::<Option<(u32, u32)>>(),
        sack,
    )
        .prop_map(|(up, flags, seq, ack, window, len, timestamps, sack)| Sent {
            up,
            flags,
            seq,
            ack,
            window,
            len,
            timestamps,
            sack: sack.into_iter().map(|(left, len)| (left, left + len)).collect(),
        })
}

fn form() -> impl Strategy<Value = Form> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), 0..4_u8)
        .prop_map(|(v6, absolute, verbose, old, time)| Form { v6, absolute, verbose, old, time })
}

const CLIENT_ISN: u32 = 3_000_000_000;
const SERVER_ISN: u32 = 4_294_900_000;

impl Form {
    fn print(&self, out: &mut String, index: usize, sent: &Sent, syn: bool) {
        let (own, peer) = if sent.up { (CLIENT_ISN, SERVER_ISN) } else { (SERVER_ISN, CLIENT_ISN) };
        let flags = if syn { if sent.up { 0x02 } else { 0x12 } } else { sent.flags };
        let time = match self.time {
            0 => format!("10:00:{:02}.{index:06} ", index % 60),
            1 => format!("1658816767.{index:06} "),
            2 => format!("2022-07-26 06:26:07.{index:09} "),
            _ => String::new(),
        };
        let [client, server] =
            if self.v6 { ["2001:db8::1.4000", "2001:db8::2.80"] } else { ["192.0.2.1.4000", "192.0.2.2.80"] };
        let (src, dst) = if sent.up { (client, server) } else { (server, client) };
        let ip = if self.v6 { "IP6" } else { "IP" };
        let relative = !self.absolute && !syn;
        let seq = if relative { sent.seq } else { own.wrapping_add(sent.seq) };
        let ack = if relative { sent.ack } else { peer.wrapping_add(sent.ack) };
        write!(out, "{time}{ip} ").unwrap();
        if self.verbose && !self.v6 {
            let options = self.options(sent, 0).1.next_multiple_of(4);
            let length = 40 + options + usize::from(sent.len);
            write!(out, "(tos 0x0, ttl 64, id 7, offset 0, flags [DF], proto TCP (6), length {length})\n    ").unwrap();
        }
        write!(out, "{src} > {dst}: ").unwrap();
        let sack_zero = if self.absolute { peer } else { 0 };
        let (options, _) = self.options(sent, sack_zero);
        let end = seq.wrapping_add(sent.len.into());
        let letters = |order: &[(u8, char)]| {
            order.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, c)| *c).collect::<String>()
        };
        if self.old {
            let letters = letters(&[(2, 'S'), (1, 'F'), (4, 'R'), (8, 'P'), (128, 'W'), (64, 'E')]);
            write!(out, "{}", if letters.is_empty() { "." } else { &letters }).unwrap();
            write!(out, " {seq}:{end}({})", sent.len).unwrap();
            if flags & 0x10 != 0 {
                write!(out, " ack {ack}").unwrap();
            }
            write!(out, " win {}", sent.window).unwrap();
            if !options.is_empty() {
                write!(out, " <{}>", options.replace("TS val ", "timestamp ").replace(" ecr", "")).unwrap();
            }
        } else {
            let letters = letters(&[(1, 'F'), (2, 'S'), (4, 'R'), (8, 'P'), (16, '.'), (64, 'E'), (128, 'W')]);
            write!(out, "Flags [{letters}], seq {seq}").unwrap();
            if sent.len > 0 {
                write!(out, ":{end}").unwrap();
            }
            if flags & 0x10 != 0 {
                write!(out, ", ack {ack}").unwrap();
            }
            write!(out, ", win {}", sent.window).unwrap();
            if !options.is_empty() {
                write!(out, ", options [{options}]").unwrap();
            }
            write!(out, ", length {}", sent.len).unwrap();
        }
        out.push('\n');
    }

    /// The options' text, and their bytes before padding.
    fn options(&self, sent: &Sent, sack_zero: u32) -> (String, usize) {
        let mut items = Vec::new();
        let mut len = 0;
        if let Some((val, ecr)) = sent.timestamps {
            items.push(format!("nop,nop,TS val {val} ecr {ecr}"));
            len += 12;
        }
        if !sent.sack.is_empty() {
            let blocks: String = sent
                .sack
                .iter()
                .map(|(left, right)| format!("{{{}:{}}}", left.wrapping_add(sack_zero), right.wrapping_add(sack_zero)))
                .collect();
            items.push(format!("sack {} {blocks}", sent.sack.len()));
            len += 2 + 8 * sent.sack.len();
        }
        (items.join(","), len)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn printed_segments_roundtrip(segments in prop::collection::vec(sent(), 1..20), form in form(), step in 1..200_usize) {
        let mut text = String::new();
        let syn = |up| Sent { up, flags: 0, seq: 0, ack: 1, window: 5, len: 0, timestamps: None, sack: vec![] };
        form.print(&mut text, 0, &syn(true), true);
        form.print(&mut text, 1, &syn(false), true);
        // As in real text, the first segment distinguishes relative numbers from absolute ones.
        let first = Sent { flags: 0x10, seq: 1, ..syn(true) };
        let segments: Vec<_> = std::iter::once(first).chain(segments).collect();
        for (index, sent) in segments.iter().enumerate() {
            form.print(&mut text, index + 2, sent, false);
        }
        let read = try_read(text.as_bytes(), step).unwrap();
        prop_assert_eq!(&read.summary.problems, &[]);
        let got = read.segments();
        prop_assert_eq!(got.len(), segments.len() + 2);
        for (got, sent) in got[2..].iter().zip(&segments) {
            let (own, peer) = if sent.up { (CLIENT_ISN, SERVER_ISN) } else { (SERVER_ISN, CLIENT_ISN) };
            prop_assert_eq!(got.seq, own.wrapping_add(sent.seq), "{}", text);
            prop_assert_eq!(got.ack, peer.wrapping_add(sent.ack), "{}", text);
            prop_assert_eq!((got.window, got.len), (sent.window, u32::from(sent.len)));
            let option = |word: &str| got.options.iter().find(|option| option.starts_with(word)).cloned();
            prop_assert_eq!(option("TS"), sent.timestamps.map(|(val, ecr)| format!("TS {val} {ecr}")));
            let blocks = sent.sack.iter().map(|(a, b)| format!(" {}:{}", peer.wrapping_add(*a), peer.wrapping_add(*b)));
            let sack = (!sent.sack.is_empty()).then(|| format!("sack{}", blocks.collect::<String>()));
            prop_assert_eq!(option("sack"), sack);
            let bits: HashMap<_, _> = "FSRP.UEW".chars().enumerate().map(|(bit, c)| (c, 1_u8 << bit)).collect();
            prop_assert_eq!(got.flags.chars().map(|c| bits[&c]).sum::<u8>(), sent.flags);
        }
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..2_000), step in 1..100_usize) {
        let (whole, split) = (try_read(&bytes, usize::MAX), try_read(&bytes, step));
        prop_assert_eq!(whole.map(|read| read.packets), split.map(|read| read.packets));
    }

    #[test]
    fn damaged_text_does_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..12),
        step in 1..100_usize,
    ) {
        let mut text = format!(
            "{}10:00:01.000000 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto TCP (6), length 60)\n    \
             a.b.1 > c.d.80: Flags [P.], cksum 0x1 (correct), seq 5:6, ack 7, win 1, options [nop,nop,sack 1 {{9:10}}], \
             length 1: HTTP, length: 1\n\tGET / HTTP/1.1\n\t0x0000:  4500 0028 0000 4000 4006 0000 c000 0201\n\
             10:00:02 IP 192.0.2.1.4 > 192.0.2.2.80: P 1:3(2) ack 4 win 5 <mss 5,timestamp 1 2>\n\
             7 0.5 192.0.2.1 → 192.0.2.2 TCP 74 4 → 80 [SYN] Seq=0 Win=9 Len=0 MSS=1460 WS=128 TSval=1 TSecr=0\n\
             8 0.6 192.0.2.2 → 192.0.2.1 TCP 66 80 → 4 [SYN, ACK] Seq=0 Ack=1 Win=9\n> Len=0 SLE=1 SRE=2\n\
             9 0.7 192.0.2.1 → 192.0.2.2 TLSv1.3 166 Application Data\n", handshake()
        ).into_bytes();
        for (index, byte, kind) in changes {
            let at = index.index(text.len());
            match kind {
                0 => text[at] = byte,
                1 => { text.remove(at); }
                2 => text.insert(at, byte),
                _ => { let piece: Vec<_> = text[at..].iter().take(40).copied().collect(); text.extend(piece); }
            }
        }
        let (whole, split) = (try_read(&text, usize::MAX), try_read(&text, step));
        prop_assert_eq!(whole.map(|read| (read.packets, read.summary.problems)),
                        split.map(|read| (read.packets, read.summary.problems)));
    }
}

#![allow(clippy::unwrap_used)]

use super::*;

fn line(name: &str, processor: u8, micros: u32, rest: &str) -> String {
    format!("  {name}-923     [00{processor}] ..s2. 1795257126.{micros:06}: {rest}\n")
}

fn resend(processor: u8, micros: u32, port: u16, error: i32) -> String {
    let addresses = "saddr=10.77.0.2 daddr=10.77.0.1 saddrv6=::ffff:10.77.0.2 daddrv6=::ffff:10.77.0.1";
    let fields = format!("family=AF_INET sport=5001 dport={port} {addresses} state=TCP_ESTABLISHED err={error}");
    line("link 0", processor, micros, &format!("tcp_retransmit_skb: skbaddr=00000000927d2773 {fields}"))
}

fn state(micros: u32, port: u16, state: u8) -> String {
    let fields = format!("family=AF_INET sport=5001 dport={port} saddr=10.77.0.2 daddr=10.77.0.1 cong_state={state}");
    line("<idle>", 0, micros, &format!("tcp_cong_state_set: {fields}"))
}

fn stack(name: &str, processor: u8, micros: u32, by: &str) -> String {
    line(name, processor, micros, "<stack trace>") + &format!(" => __tcp_retransmit_skb\n => {by}\n => tcp_ack\n")
}

fn kinds(text: &str) -> Vec<(u16, Why)> {
    parse(text, 0).events.iter().map(|event| (event.destination_port, event.why)).collect()
}

#[test]
fn the_stack_gives_the_mechanism_and_the_state_the_rest() {
    let text = [
        "# entries-in-buffer/entries-written: 117/120   #P:2\n".to_owned(),
        state(1, 40_000, 3),
        resend(0, 2, 40_000, 0),
        stack("link 0", 0, 3, "tcp_xmit_retransmit_queue.part.0"),
        resend(0, 4, 40_001, 0),
        stack("link 0", 0, 5, "tcp_send_loss_probe"),
        state(6, 40_000, 4),
        resend(0, 7, 40_000, 0),
        stack("link 0", 0, 8, "tcp_retransmit_timer"),
        resend(0, 9, 40_000, 0),
        stack("link 0", 0, 10, "tcp_xmit_retransmit_queue.part.0"),
        resend(0, 11, 40_000, -105),
        stack("link 0", 0, 12, "tcp_xmit_retransmit_queue.part.0"),
        state(13, 40_001, 4),
        resend(0, 14, 40_001, 0),
        stack("link 0", 0, 15, "tcp_simple_retransmit"),
        // As ACKs for those arrive.
        resend(0, 16, 40_001, 0),
        stack("link 0", 0, 17, "tcp_xmit_retransmit_queue.part.0"),
        state(18, 40_000, 0),
        state(19, 40_000, 3),
        resend(0, 20, 40_000, 0),
        stack("link 0", 0, 21, "tcp_xmit_retransmit_queue.part.0"),
    ];
    let expected = [Why::Fast, Why::TailProbe, Why::Timeout, Why::Timeout, Why::Other, Why::Other, Why::Fast];
    let ports = [40_000, 40_001, 40_000, 40_000, 40_001, 40_001, 40_000];
    assert_eq!(kinds(&text.concat()), ports.into_iter().zip(expected).collect::<Vec<_>>());
    assert_eq!(parse(&text.concat(), 0).lost, 3);
}

#[test]
fn two_processors_lines_may_be_mixed() {
    let text = [
        resend(0, 1, 40_000, 0),
        resend(1, 2, 40_001, 0),
        stack("a [001] b: c", 1, 3, "tcp_send_loss_probe"),
        stack("link 0", 0, 4, "tcp_retransmit_timer"),
    ];
    assert_eq!(kinds(&text.concat()), [(40_000, Why::Timeout), (40_001, Why::TailProbe)]);
}

#[test]
fn times_are_the_captures_clock() {
    let event = parse(&resend(0, 972_553, 40_000, 0), 37_000_000_000).events.remove(0);
    assert_eq!(event.t, 1_795_257_089_972_553_000);
    assert_eq!((event.source.as_str(), event.source_port), ("10.77.0.2", 5001));
}

#[test]
fn an_invalid_line_is_not_an_event() {
    for text in ["", "\n\n", ": tcp_retransmit_skb: ", "=> x", "[0] . 1.0: tcp_retransmit_skb: sport=1 dport=2 saddr=a"]
    {
        assert_eq!(parse(text, 0), Trace::default(), "{text}");
    }
}

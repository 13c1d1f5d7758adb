//! Files that come through the page, whole or not.

use super::{View, cut, loss, reply, until};
use rustix::process::Signal;
use std::io::Write;

#[test]
fn a_file_whose_length_is_not_right_replaces_nothing() {
    let Some(view) = View::of_sample() else { return };
    let (open, memory) = (view.document(), view.most_memory());
    let chunked = "Transfer-Encoding: chunked\r\n";
    let wrong: &[(&str, &str, &[u16])] = &[
        ("negative", "Content-Length: -1\r\n", &[400]),
        ("missing", "", &[411]),
        ("unequal", "Content-Length: 5\r\nContent-Length: 6\r\n", &[400]),
        ("unequal, the right one first", "Content-Length: 5\r\nContent-Length: 0\r\n", &[400]),
        ("a list", "Content-Length: 5, 5\r\n", &[400]),
        ("signed", "Content-Length: +5\r\n", &[400]),
        ("hexadecimal", "Content-Length: 0x5\r\n", &[400]),
        ("none", "Content-Length:\r\n", &[400]),
        ("chunks", chunked, &[411]),
        ("chunks and a length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", &[411]),
        ("a length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", &[411]),
        ("chunks within", "Transfer-Encoding: chunked, identity\r\nContent-Length: 5\r\n", &[400]),
        ("more than any disk has", "Content-Length: 1000000000000000000\r\n", &[507]),
        ("more than a number has", "Content-Length: 1000000000000000000000000000000\r\n", &[400]),
        ("the most that a number has", "Content-Length: 18446744073709551615\r\n", &[400, 413, 431, 507]),
    ];
    for (what, headers, statuses) in wrong {
        let body = if headers.contains("chunked") { "5\r\nhello\r\n0\r\n\r\n" } else { "hello" };
        let reply = view.ask(view.upload_with(headers, "name=a&rest=0") + body);
        assert!(statuses.contains(&reply.status), "{what}: {reply:?}");
        let state = view.state();
        assert_eq!((&state["number"], &state["state"]), (&1.into(), &"ready".into()), "{what}");
    }
    assert!(view.document() == open);
    assert!(view.most_memory() < memory + (24 << 20));
    assert_eq!(view.stored_files().len(), 0, "what was refused was kept: {:?}", view.stored_files());
    // A valid upload is accepted.
    let file = loss();
    assert_eq!(view.ask([view.upload(file.len()).into_bytes(), file].concat()).status, 202);
    assert_eq!(view.settled()["state"], "ready");
    assert!(view.document() != open);
    view.end(Signal::INT);
}

#[test]
fn half_a_file_is_none() {
    let Some(view) = View::of_sample() else { return };
    let (open, file) = (view.document(), loss());
    let half = [view.upload(file.len()).into_bytes(), file[..file.len() / 2].to_vec()].concat();
    // It announces the end of its data, and waits for a response.
    let mut stream = view.send(&half);
    cut(&stream);
    assert_eq!(reply(&mut stream).status, 400);
    // It disconnects without reading the response: the connection is reset.
    for _ in 0..8 {
        drop(view.send(&half));
    }
    until("no file is kept", || view.stored_files().iter().all(|path| path.is_dir()).then_some(()));
    let state = view.state();
    assert_eq!((&state["number"], &state["state"]), (&1.into(), &"ready".into()));
    assert!(view.document() == open);
    view.end(Signal::TERM);
}

#[test]
fn slow_files_do_not_delay_others() {
    let Some(view) = View::of_sample() else { return };
    let slow: Vec<_> = (0..64).map(|_| view.send(view.upload(1_000_000) + "x")).collect();
    assert_eq!(view.state()["state"], "ready");
    assert_eq!(view.get("series?c=1&columns=100").status, 200);
    let file = loss();
    assert_eq!(view.ask([view.upload(file.len()).into_bytes(), file].concat()).status, 202);
    assert_eq!(view.settled()["number"], 2);
    drop(slow);
    view.end(Signal::INT);
}

#[test]
fn a_drop_counts_once_all_its_files_came() {
    let Some(view) = View::of_sample() else { return };
    let file = loss();
    let part = |set: &str, of: u32, rest: u32, length: usize| {
        let query = format!("name=part-{rest}.pcap&set={set}&of={of}&rest={rest}");
        view.upload_with(&format!("Content-Length: {length}\r\n"), &query).into_bytes()
    };
    let whole = |set, of, rest| view.ask([part(set, of, rest, file.len()), file.clone()].concat()).status;
    assert_eq!(whole("a", 3, 2), 202);
    // The second breaks off: the first is of no use any more, and the third has none to follow.
    let mut torn = view.send([part("a", 3, 1, file.len()), file[..100].to_vec()].concat());
    cut(&torn);
    assert_eq!(reply(&mut torn).status, 400);
    assert_eq!(whole("a", 3, 0), 409);
    assert_eq!(view.state()["number"], 1);
    // Another drop between two files of one.
    assert_eq!(whole("b", 2, 1), 202);
    assert_eq!(whole("c", 1, 0), 202);
    assert_eq!(view.settled()["number"], 2);
    assert_eq!(whole("b", 2, 0), 409);
    assert_eq!(whole("d", 2, 1), 202);
    assert_eq!(whole("d", 2, 0), 202);
    assert_eq!(view.settled()["number"], 3);
    // Nothing is kept but the two files, in the program's one folder.
    assert_eq!(view.stored_files().len(), 3, "{:?}", view.stored_files());
    view.end(Signal::INT);
}

#[test]
fn an_answer_is_asked_for_before_a_long_file_is_sent() {
    let Some(view) = View::of_sample() else { return };
    let file = loss();
    let headers = format!("Content-Length: {}\r\nExpect: 100-continue\r\n", file.len());
    let mut stream = view.send(view.upload_with(&headers, "name=a.pcap&rest=0"));
    let mut first = [0; 25];
    std::io::Read::read_exact(&mut stream, &mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(&file).unwrap();
    assert_eq!(reply(&mut stream).status, 202);
    let refused = "Content-Length: 1000000000000000000\r\nExpect: 100-continue\r\n";
    assert_eq!(view.ask(view.upload_with(refused, "name=a.pcap&rest=0")).status, 507);
    view.end(Signal::INT);
}

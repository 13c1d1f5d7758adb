#![allow(clippy::unwrap_used)]
//! Runs every workload over loopback: checks its bytes, and that both ends finish.
use super::stream::{Stream, Tls};
use super::transfers::{Client, Direction, Server};
use super::*;
use crate::sample::Sampler;
use crate::scenario::host::SocketOptions;
use crate::scenario::script::{Growth, Message, Reading, Script, Stop};
use crate::scenario::units::{BitRate, Size, Time};
use crate::scenario::work::{Connection, Credit, Pace, Protocol, Reader, Side, Transfers, Turns, WriteWriteRead};
use std::net::{SocketAddr, TcpListener};

fn options() -> SocketOptions {
    SocketOptions { congestion: "reno".into(), ..SocketOptions::default() }
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = socket::listen("127.0.0.1:0".parse().unwrap(), &options()).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn client(
    work: &Transfers,
    direction: Direction,
    peer: SocketAddr,
    tls: Option<&Tls>,
    sampler: &Sampler,
) -> std::io::Result<(Vec<Opened>, Vec<Transfer>)> {
    Client { work, direction, peer, options: &options(), tls, sampler }.run()
}

fn run(work: &Transfers, direction: Direction) -> (Vec<Opened>, Vec<Transfer>, Vec<Series>) {
    let (listener, address) = listener();
    let (mut client_tls, mut server_tls) = (None, None);
    if work.protocol.tls() {
        let (der, key) = stream::certificate().unwrap();
        client_tls = Some(Tls::client(&der, work.record.len()).unwrap());
        server_tls = Some(Tls::server(der, key, work.record.len()).unwrap());
    }
    let server_work = work.clone();
    let server = std::thread::spawn(move || {
        let sampler = Sampler::start(Duration::from_millis(1));
        let tls = server_tls.as_ref();
        let server = Server { work: &server_work, direction, listener: &listener, tls, sampler: &sampler };
        let opened = server.run().unwrap();
        (opened, sampler.finish().0)
    });
    let sampler = Sampler::start(Duration::from_millis(1));
    let (opened, transfers) = client(work, direction, address, client_tls.as_ref(), &sampler).unwrap();
    drop(sampler);
    let (accepted, series) = server.join().unwrap();
    assert_eq!(opened.len(), accepted.len());
    (opened, transfers, series)
}

#[test]
fn downloads_and_uploads_in_every_protocol() {
    for protocol in [Protocol::Plain, Protocol::Http, Protocol::Tls, Protocol::Https] {
        for direction in [Direction::Down, Direction::Up] {
            for (connection, closes) in [(Connection::New, Side::Server), (Connection::Reused, Side::Client)] {
                let sizes = vec![Size(1), Size(100_000), Size(3_000)];
                let work = Transfers { sizes, protocol, connection, closes, ..Transfers::default() };
                let (opened, transfers, series) = run(&work, direction);
                assert_eq!(opened.len(), if connection == Connection::New { 3 } else { 1 });
                assert_eq!(transfers.iter().map(|t| t.bytes).collect::<Vec<_>>(), [1, 100_000, 3_000]);
                assert!(
                    transfers
                        .iter()
                        .all(|t| t.start <= t.request && t.request <= t.first_byte && t.first_byte <= t.end)
                );
                assert_eq!(opened[0].secured.is_some(), protocol.tls());
                assert_eq!(opened[0].congestion, "reno");
                let column = if direction == Direction::Down { "bytes_acked" } else { "bytes_received" };
                let carried: u64 = series.iter().map(|s| s.last(column).unwrap()).sum();
                assert!((103_001..110_000).contains(&carried), "{protocol:?} {direction:?}: {carried}");
            }
        }
    }
}

#[test]
fn pauses_thinking_and_paces_take_their_time() {
    let took = |work: Transfers| {
        let (_, transfers, _) = run(&work, Direction::Down);
        (transfers.last().unwrap().end - transfers[0].start) as f64 / 1e6
    };
    let base = Transfers { size: Size(20_000), ..Transfers::default() };
    assert!(took(base.clone()) < 50.0);
    assert!(took(Transfers { think: Time(60_000_000), ..base.clone() }) >= 60.0);
    assert!(took(Transfers { count: 2, pause: Time(60_000_000), ..base.clone() }) >= 60.0);
    let write = Pace { chunk: Size(5_000), every: Time(20_000_000) };
    assert!(took(Transfers { write, ..base.clone() }) >= 60.0, "four writes, three pauses");
    let read = Reader { rate: Some(BitRate(2_000_000)), chunk: Size(1000), ..Reader::default() };
    assert!(took(Transfers { read, ..base.clone() }) >= 80.0, "160 kbit at 2 Mbit/s");
    let read = Reader { pause_after: Some(Size(1000)), pause: Time(60_000_000), ..Reader::default() };
    assert!(took(Transfers { read, ..base }) >= 60.0);
}

#[test]
fn several_clients_at_the_same_time() {
    let work = Transfers { size: Size(50_000), count: 2, parallel: 3, think: Time(50_000_000), ..Transfers::default() };
    let (opened, transfers, _) = run(&work, Direction::Down);
    assert_eq!((opened.len(), transfers.len()), (6, 6));
    let mut connections: Vec<_> = transfers.iter().map(|transfer| transfer.connection).collect();
    connections.sort_unstable();
    assert_eq!(connections, [0, 1, 2, 3, 4, 5]);
    // The first of each client wait for the server together.
    let firsts = [0, 2, 4].map(|nth| &transfers[nth]);
    assert!(firsts.map(|t| t.start).iter().max() < firsts.map(|t| t.end).iter().min(), "{firsts:?}");
}

#[test]
fn an_exchange_may_be_cut_short() {
    let base = Transfers { size: Size(1_000_000), ..Transfers::default() };
    for closes in [Side::Client, Side::Server] {
        let work = Transfers { reset_after: Some(Size(100_000)), closes, ..base.clone() };
        let (_, transfers, _) = run(&work, Direction::Down);
        assert!(transfers[0].bytes <= 100_000, "{closes:?}: {transfers:?}");
    }
    let work = Transfers { think: Time(120_000_000), patience: Some(Time(60_000_000)), ..base };
    let (_, transfers, _) = run(&work, Direction::Down);
    assert_eq!(transfers[0].bytes, 0);
    assert!(transfers[0].end - transfers[0].request >= 60_000_000, "{transfers:?}");
}

#[test]
fn one_answer_may_be_late_and_the_last_one_missing() {
    let base = Transfers {
        size: Size(5_000),
        count: 3,
        request: Size(8),
        connection: Connection::Reused,
        ..Transfers::default()
    };
    let millis = |transfers: &[Transfer]| -> Vec<u64> {
        transfers.iter().map(|transfer| (transfer.end - transfer.start) / 1_000_000).collect()
    };
    let late = Transfers { thinks: vec![Time(0), Time(80_000_000), Time(0)], ..base.clone() };
    let (opened, transfers, _) = run(&late, Direction::Down);
    let times = millis(&transfers);
    assert_eq!(opened.len(), 1);
    assert!(times[1] >= 80 && times[0] < 80 && times[2] < 80, "{times:?}");
    let thinks = vec![Time(0), Time(0), Time(160_000_000)];
    for protocol in [Protocol::Plain, Protocol::Http] {
        let work = Transfers { thinks: thinks.clone(), patience: Some(Time(80_000_000)), protocol, ..base.clone() };
        let (_, transfers, _) = run(&work, Direction::Down);
        assert_eq!(transfers.iter().map(|transfer| transfer.bytes).collect::<Vec<_>>(), [5_000, 5_000, 0]);
        assert!((80..160).contains(&millis(&transfers)[2]), "{protocol:?}: {transfers:?}");
    }
}

#[test]
fn a_server_pushes_unasked() {
    let write = Pace { chunk: Size(20_000), every: Time(40_000_000) };
    let work = Transfers { size: Size(60_000), request: Size(0), write, ..Transfers::default() };
    let (_, transfers, series) = run(&work, Direction::Down);
    assert!(transfers[0].end - transfers[0].start >= 80_000_000, "{transfers:?}");
    assert_eq!(series[0].last("bytes_received"), Some(1), "nothing was asked for; the FIN counts");
}

#[test]
fn a_refused_or_reset_client_has_no_response() {
    let work = Transfers { reset_after: Some(Size(0)), closes: Side::Server, ..Transfers::default() };
    let (_, transfers, _) = run(&work, Direction::Down);
    assert_eq!(transfers[0].bytes, 0);
    let address = listener().1;
    let sampler = Sampler::start(Duration::from_millis(1));
    let work = Transfers { refused: true, count: 2, ..Transfers::default() };
    let (opened, transfers) = client(&work, Direction::Down, address, None, &sampler).unwrap();
    assert_eq!((opened.len(), transfers.len()), (2, 2));
    assert!(transfers.iter().all(|transfer| transfer.bytes == 0 && transfer.start <= transfer.end));
    let work = Transfers { refused: false, ..work };
    let error = client(&work, Direction::Down, address, None, &sampler).unwrap_err();
    assert!(error.to_string().contains("connect"), "{error}");
}

#[test]
fn turns_and_write_write_read() {
    for work in [
        turns::Exchange::from(&Turns { count: 5, think: Time(5_000_000), ..Turns::default() }),
        turns::Exchange::from(&WriteWriteRead { count: 5, ..WriteWriteRead::default() }),
    ] {
        let (listener, address) = listener();
        let server_work = work.clone();
        let server = std::thread::spawn(move || {
            let sampler = Sampler::start(Duration::from_millis(1));
            one::accept(&listener, &sampler, |stream| turns::server(&server_work, stream)).unwrap()
        });
        let sampler = Sampler::start(Duration::from_millis(1));
        let part = |stream: &mut Stream, start| turns::client(&work, stream, start);
        let (_, turns) = one::connect(address, &options(), &sampler, part).unwrap();
        assert_eq!(turns.len(), 5);
        assert!(turns.windows(2).all(|w| w[0].end <= w[1].start));
        server.join().unwrap();
    }
}

#[test]
fn credit_is_never_exceeded() {
    let (listener, address) = listener();
    // The client never grants (its grant is as large as the window and the size larger), so the
    // server must stop there.
    let work = Credit { size: Size(300_000), window: Size(100_000), grant: Size(50_000), message: Size(10_000) };
    let server_work = work.clone();
    let server = std::thread::spawn(move || {
        let sampler = Sampler::start(Duration::from_millis(1));
        one::accept(&listener, &sampler, |stream| credit::server(&server_work, stream)).map(drop)
    });
    let sampler = Sampler::start(Duration::from_millis(1));
    let mut stream = Stream::connect(address, &options(), None, &sampler).unwrap();
    stream.send(100, &Pace::default()).unwrap();
    stream.receive(100_000, &Reader::default()).unwrap();
    stream.tcp().set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(stream.receive(1, &Reader::default()).is_err(), "nothing may come without credit");
    drop(sampler);
    drop(stream);
    assert!(server.join().unwrap().is_err(), "a client that leaves ends the server too");

    let (listener, address) = self::listener();
    let server_work = work.clone();
    let server = std::thread::spawn(move || {
        let sampler = Sampler::start(Duration::from_millis(1));
        one::accept(&listener, &sampler, |stream| credit::server(&server_work, stream)).unwrap()
    });
    let sampler = Sampler::start(Duration::from_millis(1));
    let part = |stream: &mut Stream, start| credit::client(&work, stream, start);
    let (_, transfers) = one::connect(address, &options(), &sampler, part).unwrap();
    assert_eq!(transfers[0].bytes, 300_000);
    server.join().unwrap();
}

#[test]
fn a_buffer_that_the_kernel_does_not_grant_is_an_error() {
    let options = SocketOptions { rcvbuf: Some(Size(1 << 30)), ..options() };
    let error = socket::listen("127.0.0.1:0".parse().unwrap(), &options).unwrap_err();
    assert!(error.to_string().contains("net.core.rmem_max"), "{error}");
}

fn message(from: Side, size: u64, wait_ms: u64, after: Option<u64>) -> Message {
    Message { from, size: Size(size), wait: Time(wait_ms * 1_000_000), after: after.map(Size) }
}

/// Plays a script; the client's transfers.
fn converse(work: &Script) -> Vec<Transfer> {
    let (listener, address) = listener();
    let server_work = work.clone();
    let server = std::thread::spawn(move || {
        let sampler = Sampler::start(Duration::from_millis(1));
        one::accept(&listener, &sampler, |stream| script::server(&server_work, stream)).unwrap()
    });
    let sampler = Sampler::start(Duration::from_millis(1));
    let part = |stream: &mut Stream, start| script::client(work, stream, start);
    let (opened, transfers) = one::connect(address, &options(), &sampler, part).unwrap();
    assert_eq!((opened.len(), server.join().unwrap().len()), (1, 1));
    transfers
}

#[test]
fn a_conversation_is_played_in_its_order_with_its_pauses() {
    use Side::{Client, Server};
    let messages = vec![
        message(Server, 20, 0, None),
        message(Client, 100, 0, None),
        message(Server, 300_000, 50, None),
        message(Server, 1_000, 20, None),
        // Amid the server's answer, and the server waits for it.
        message(Client, 13, 0, Some(100_000)),
        message(Server, 5_000, 0, Some(113)),
        message(Client, 50, 30, None),
        message(Server, 2_000, 0, None),
    ];
    let transfers = converse(&Script { messages, ..Script::default() });
    let bytes: Vec<u64> = transfers.iter().map(|transfer| transfer.bytes).collect();
    assert_eq!(bytes, [20, 301_000, 5_000, 2_000]);
    // A pause is never shorter than it should be, and a machine may make it longer.
    assert!(transfers[1].first_byte - transfers[1].request >= 50_000_000);
    assert!(transfers[1].end - transfers[1].request >= 70_000_000);
    assert!(transfers[3].request - transfers[2].end >= 30_000_000);
}

#[test]
fn a_reader_stops_at_its_scripted_place() {
    let stops =
        vec![Stop { at: Size(50_000), length: Time(60_000_000) }, Stop { at: Size(90_000), length: Time(40_000_000) }];
    let messages = vec![message(Side::Client, 10, 0, None), message(Side::Server, 100_000, 0, None)];
    let reads = Reading { stops, ..Reading::default() };
    let transfers = converse(&Script { messages, client_reads: reads, ..Script::default() });
    assert_eq!(transfers.len(), 1);
    assert!(transfers[0].end - transfers[0].first_byte >= 100_000_000);
}

#[test]
fn window_of_a_slow_stack_opens_by_a_part_of_the_acknowledged_bytes() {
    let window = Growth { initial: Size(2_000), by: 0.5 };
    assert_eq!([0, 2_000, 5_000].map(|acked| window.window(acked)), [2_000, 3_000, 4_500]);
    assert_eq!(Growth { by: 1.0, ..window }.window(u64::MAX), u64::MAX);
    let messages = vec![message(Side::Client, 10, 0, None), message(Side::Server, 100_001, 0, None)];
    let transfers = converse(&Script { messages, server_window: Some(window), ..Script::default() });
    assert_eq!((transfers.len(), transfers[0].bytes), (1, 100_001));
}

#[test]
fn an_upload_alone_is_a_transfer_too() {
    let transfers = converse(&Script { messages: vec![message(Side::Client, 40_000, 0, None)], ..Script::default() });
    assert_eq!((transfers.len(), transfers[0].bytes), (1, 40_000));
}

#![allow(clippy::unwrap_used)]

use super::retained::RetainedTransfers;
use super::row::identity;
use super::*;
use flate2::read::GzDecoder;
use serde_json::Value;
use whyslow_analysis::{Analysis, Connection, Frame};
use whyslow_core::capture::{Packet, Reader, Sink};
use whyslow_page::testing::{path, sample};
use whyslow_units::{Nanos, Time};

/// The transfers of a sample, as a watch reports them.
fn transfers(analysis: &Analysis) -> Vec<EndedTransfer> {
    let each = analysis.connections.iter().flat_map(|connection| {
        let alone = |transfer| Connection { transfers: vec![transfer], ..connection.clone() };
        connection.transfers.iter().cloned().map(alone)
    });
    each.map(|connection| {
        let (took, lost) = (connection.transfers[0].waited(), connection.transfers[0].cost());
        EndedTransfer { connection, process: None, revised: false, took, lost }
    })
    .collect()
}

/// One with this start, duration and cost.
fn timed(like: &EndedTransfer, start: i64, took: i64, lost: i64) -> EndedTransfer {
    let mut ended = like.clone();
    ended.connection.transfers[0].start_s = Nanos::from_millis(start);
    (ended.took, ended.lost) = (Nanos::from_millis(took), Nanos::from_millis(lost));
    ended
}

#[test]
fn of_too_many_the_newest_the_slowest_and_the_costliest_stay() {
    let like = transfers(&sample("loss-client")).remove(0);
    let mut held = RetainedTransfers::default();
    let slow = timed(&like, 1, 90_000, 0);
    let costly = timed(&like, 2, 1, 80_000);
    held.add(1, vec![slow.clone(), costly.clone()]);
    for number in 2..12 {
        held.add(number, (0..500).map(|at| timed(&like, number as i64 * 1_000 + at, 10, 5)).collect());
    }
    let all = held.since(0, 11);
    assert!(all.is_all && all.held.len() <= 2_000 && all.held.len() > 1_000, "{}", all.held.len());
    assert_eq!(all.left_out + all.held.len() as u64, 5_002);
    let has =
        |ended: &EndedTransfer| all.held.iter().any(|held| identity(&held.connection) == identity(&ended.connection));
    assert!(has(&slow) && has(&costly) && has(&timed(&like, 11_499, 10, 5)) && !has(&timed(&like, 2_000, 10, 5)));
    // A request with an earlier state gets the difference, which leads to the same state.
    let before = RetainedTransfers::default();
    assert_eq!(before.since(0, 0).held.len(), 0);
    let change = held.since(10, 11);
    assert!(!change.is_all && change.held.len() == 500);
    assert!(change.removed.iter().all(|serial| all.held.iter().all(|held| held.row.serial != *serial)));
    // The number of another run, or one that is too long ago.
    assert!(held.since(12, 11).is_all);
    for number in 12..24 {
        held.add(number, (0..500).map(|at| timed(&like, number as i64 * 1_000 + at, 10, 5)).collect());
    }
    assert!(held.since(3, 23).is_all && !held.since(22, 23).is_all);
}

#[test]
fn a_page_that_takes_what_is_new_has_what_a_reload_has() {
    let like = transfers(&sample("loss-client")).remove(0);
    let mut held = RetainedTransfers::default();
    let mut page: std::collections::BTreeSet<u64> = std::collections::BTreeSet::new();
    for number in 1..9 {
        held.add(number, (0..600).map(|at| timed(&like, number as i64 * 1_000 + at, at, 600 - at)).collect());
        let change = held.since(number - 1, number);
        if change.is_all {
            page.clear();
        }
        page.extend(change.held.iter().map(|held| held.row.serial));
        change.removed.iter().for_each(|serial| assert!(page.remove(serial) || *serial > 0));
        let whole: std::collections::BTreeSet<u64> =
            held.since(0, number).held.iter().map(|held| held.row.serial).collect();
        assert_eq!(page, whole);
    }
}

#[test]
fn a_transfer_that_continues_replaces_its_earlier_row() {
    let like = transfers(&sample("loss-client")).remove(0);
    let mut held = RetainedTransfers::default();
    held.add(1, vec![timed(&like, 1, 10, 5), timed(&like, 2, 10, 5)]);
    held.add(2, vec![EndedTransfer { revised: true, ..timed(&like, 1, 70, 5) }]);
    let change = held.since(1, 2);
    let serials: Vec<_> = change.held.iter().map(|held| (held.row.serial, held.row.took_s)).collect();
    assert_eq!(serials, [(1, Nanos::from_millis(70))]);
    assert_eq!(held.since(0, 2).held.len(), 2);
}

/// All packets of a sample, of one connection.
struct Copied(Option<HeldPackets>, Vec<(u64, Time)>);

impl Sink for Copied {
    fn packet(&mut self, packet: &Packet<'_>) {
        let packets = self.0.get_or_insert_with(|| HeldPackets::new(packet.time));
        self.1.push((packet.frame, packet.time));
        packets.push(&HeldPacket {
            frame: Frame { file: None, number: packet.frame },
            time: packet.time,
            link: packet.link,
            length: packet.original_len,
            bytes: packet.data,
            is_handshake: packet.frame <= 3,
        });
    }
}

fn copy(name: &str) -> HeldPackets {
    let (mut reader, mut copied) = (Reader::new(), Copied(None, Vec::new()));
    reader.push(&std::fs::read(path(name)).unwrap(), &mut copied).unwrap();
    reader.finish(&mut copied).unwrap();
    copied.0.unwrap()
}

fn live(analysis: &Analysis, supply: PacketSupply) -> Live {
    let live = Live::new("a test".to_owned(), supply);
    let state = LiveState { packets: 7, ..LiveState::default() };
    live.update(LiveUpdate { transfers: transfers(analysis), state });
    live
}

#[test]
fn a_connection_is_opened_with_its_graphs_and_packets() {
    let analysis = sample("loss-client");
    let supply = Box::new(|_: &Connection, _: Option<&str>| {
        Ok(copy("loss-client").described(0, true, "whyslow: it lost packets".to_owned()))
    });
    let live = live(&analysis, supply);
    let opened = live.open(1).unwrap();
    let page = serde_json::to_value(opened.to_page()).unwrap();
    let whole = serde_json::to_value(&analysis.connections[0]).unwrap();
    assert_eq!(page["connection"]["transfers"], whole["transfers"]);
    assert_eq!(page["packets"], analysis.captures[0].tcp_packets);
    let answer = serde_json::to_value(opened.answer(None, 100).unwrap()).unwrap();
    assert_eq!(answer["packets"], analysis.captures[0].tcp_packets);
    assert!(opened.detail(1, Nanos::ZERO).unwrap().mss.is_some());
    assert!(opened.detail(1, Nanos::from_millis(1)).is_err());
    // As a file it is explained as it was.
    let file = tempfile::NamedTempFile::new().unwrap();
    let (bytes, packets) = opened.write(None, Vec::new()).unwrap();
    assert_eq!(packets, analysis.captures[0].tcp_packets);
    assert!(bytes.windows(16).any(|window| window == b"it lost packets\0"));
    std::fs::write(file.path(), bytes).unwrap();
    let input = whyslow_io::Input::Path(file.path().to_owned());
    let again = whyslow_io::explain(&[input], &whyslow_io::Stop::default(), &mut |_| {}).unwrap();
    let slugs =
        |analysis: &Analysis| analysis.captures[0].problems.iter().map(|one| one.slug.to_string()).collect::<Vec<_>>();
    assert_eq!(slugs(&again), slugs(&analysis));
    assert_eq!(serde_json::to_value(&again.connections).unwrap(), serde_json::json!([whole]));
    let (_, some) = opened.write(Some((Nanos::ZERO, Nanos::from_millis(300))), Vec::new()).unwrap();
    assert!(some > 0 && some < packets);
    assert!(live.open(2).is_err());
}

#[test]
fn packets_of_another_connection_between_the_same_ends_are_not_taken_for_it() {
    let analysis = sample("loss-client");
    let supply = Box::new(|connection: &Connection, _: Option<&str>| {
        // They begin an hour later.
        let other = copy("loss-client").described(0, true, String::new());
        assert!(other.are_of(connection));
        let mut later = connection.clone();
        later.start_s = Nanos::from_millis(3_600_000);
        assert!(!other.are_of(&later));
        Err::<HeldPackets, _>("none".to_owned())
    });
    let opened = live(&analysis, supply).open(1).unwrap();
    assert_eq!(opened.answer(None, 100).unwrap_err(), "none");
    assert_eq!(serde_json::to_value(opened.to_page()).unwrap()["packets"], Value::Null);
}

#[test]
fn news_wait_until_there_are_some() {
    let analysis = sample("loss-client");
    let live = Arc::new(live(&analysis, Box::new(|_: &Connection, _: Option<&str>| Err(String::new()))));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let read = |bytes: Bytes| -> Value { serde_json::from_reader(GzDecoder::new(bytes.as_ref())).unwrap() };
    let all = read(runtime.block_on(live.news(0)));
    assert_eq!((&all["number"], &all["is_all"], &all["state"]["packets"]), (&1.into(), &true.into(), &7.into()));
    assert_eq!(all["transfers"].as_array().unwrap().len(), analysis.connections[0].transfers.len());
    let later = Arc::clone(&live);
    let news = runtime.block_on(async {
        let waiting = tokio::spawn(async move { later.news(1).await });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        live.update(LiveUpdate::default());
        waiting.await.unwrap()
    });
    let news = read(news);
    assert_eq!((&news["number"], &news["is_all"]), (&2.into(), &false.into()));
    assert_eq!(news["transfers"], serde_json::json!([]));
}

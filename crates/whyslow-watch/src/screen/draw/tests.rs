#![allow(clippy::unwrap_used)]
use super::*;
use crate::batch::{Batch, Counts, Drops};
use crate::record::Record;
use crate::screen::view::Does;
use crate::tally::Tally;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use whyslow_core::capture::Reader;
use whyslow_diagnosis::explain::live::LiveExplainer;
use whyslow_units::Time;

const SAMPLES: [&str; 5] =
    ["loss-client", "slow-start-client", "timeout-server", "nagle-delayed-ack-client", "healthy-server"];

/// The reports of a watch of a capture.
fn records(name: &str, id: u64) -> Vec<Record> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(format!("{name}.pcap"));
    let (mut reader, mut explainer) = (Reader::new(), LiveExplainer::new());
    explainer.begin_capture(name);
    reader.push(&std::fs::read(path).unwrap(), &mut explainer).unwrap();
    reader.finish(&mut explainer).unwrap();
    // As if they had been captured at the same time.
    let first = Time(1_700_000_000_000_000_000);
    let mut all: Vec<_> =
        explainer.finish().connections.into_iter().flat_map(|ended| Record::split(ended, first)).collect();
    all.iter_mut().for_each(|record| record.connection.id = id);
    all
}

fn view(color: bool) -> View {
    let (mut tally, mut view) = (Tally::default(), View::new(5, color));
    let records: Vec<_> = SAMPLES.iter().zip(1..).flat_map(|(name, id)| records(name, id)).collect();
    records.iter().for_each(|record| tally.add(record));
    let drops = Drops { ring: 12_345, ..Drops::default() };
    let counts = Counts { packets: 1_234_567, connections: 5, drops, ..Counts::default() };
    let first = Time(1_700_000_000_000_000_000);
    view.add(Batch { records, counts, first, now: first + Nanos::from_millis(14_000), ..Batch::default() }, &mut tally);
    view
}

fn drawn(view: &mut View, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(view, frame)).unwrap();
    terminal.backend().to_string()
}

fn press(view: &mut View, keys: &[KeyCode]) {
    for key in keys {
        let _ = view.press(KeyEvent::from(*key));
    }
}

#[test]
fn the_screen_is_as_it_should_be() {
    insta::assert_snapshot!("wide", drawn(&mut view(true), 132, 24));
    insta::assert_snapshot!("narrow", drawn(&mut view(true), 60, 20));
}

#[test]
fn one_is_opened_and_scrolled_to_its_end() {
    let mut view = view(true);
    press(&mut view, &[KeyCode::Enter]);
    let open = drawn(&mut view, 100, 30);
    assert!(open.contains("evidence") || open.contains("round"), "{open}");
    press(&mut view, &[KeyCode::PageDown; 50]);
    let end = drawn(&mut view, 100, 30);
    assert_ne!(open, end);
    press(&mut view, &[KeyCode::Up]);
    assert_ne!(drawn(&mut view, 100, 30), end, "it is scrolled no farther than it goes");
    press(&mut view, &[KeyCode::Esc]);
    assert_eq!(view.mode, Mode::List);
}

#[test]
fn keys_sort_filter_freeze_and_save() {
    let mut view = view(true);
    let costs = |view: &View| view.shown().map(Record::lost).collect::<Vec<_>>();
    let all = view.shown().len();
    press(&mut view, &[KeyCode::Char('o')]);
    assert!(costs(&view).is_sorted_by(|one, other| one >= other));
    press(
        &mut view,
        &[KeyCode::Char('/'), KeyCode::Char('l'), KeyCode::Char('o'), KeyCode::Char('s'), KeyCode::Char('s')],
    );
    press(&mut view, &[KeyCode::Enter]);
    let shown: Vec<_> = view.shown().map(|record| record.worst().unwrap().cause.slug()).collect();
    assert!(!shown.is_empty() && shown.len() < all && shown.iter().all(|cause| cause.contains("loss")), "{shown:?}");
    let saved = view.press(KeyEvent::from(KeyCode::Char('s')));
    assert!(matches!(saved, Does::Save(..)), "{saved:?}");
    press(&mut view, &[KeyCode::Esc]);
    assert_eq!(view.shown().len(), all);
    // Transfers that come while it is frozen appear afterwards.
    press(&mut view, &[KeyCode::Char('f')]);
    let batch = Batch { records: records("codel-server", 9), ..Batch::default() };
    view.add(batch, &mut Tally::default());
    assert_eq!(view.shown().len(), all);
    press(&mut view, &[KeyCode::Char('f')]);
    assert!(view.shown().len() > all);
    assert!(matches!(view.press(KeyEvent::from(KeyCode::Char('q'))), Does::End));
}

#[test]
fn bytes_of_a_large_transfer_are_shown_whole() {
    let (mut view, mut records) = (View::new(5, true), records("loss-client", 1));
    records.retain(|record| record.transfer().is_some());
    for record in &mut records {
        record.connection.transfers[0].bytes = 9_876_543_210_123;
    }
    view.add(Batch { records, ..Batch::default() }, &mut Tally::default());
    for width in [80, 132] {
        let drawn = drawn(&mut view, width, 24);
        assert!(drawn.contains("↓9,876,543,210,123"), "{drawn}");
    }
}

#[test]
fn it_is_drawn_at_any_size_and_without_colour() {
    let mut view = view(false);
    for (width, height) in [(1, 1), (10, 3), (60, 5), (80, 24), (200, 60)] {
        for keys in [&[][..], &[KeyCode::Char('?')], &[KeyCode::Char('x')], &[KeyCode::Enter], &[KeyCode::Esc]] {
            press(&mut view, keys);
            drawn(&mut view, width, height);
        }
    }
    let mut terminal = Terminal::new(TestBackend::new(132, 24)).unwrap();
    terminal.draw(|frame| draw(&mut view, frame)).unwrap();
    let cells = terminal.backend().buffer().content();
    assert!(cells.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
}

#![allow(clippy::unwrap_used)]

use super::*;
use crate::render::example::points;
use whyslow_diagnosis::series::SeriesBuilder;

fn series() -> Series {
    let points = points::lossy();
    let mut builder = SeriesBuilder::new((points[0].time, points.last().unwrap().time), points.len() as u64);
    points.iter().for_each(|point| builder.push(point));
    builder.finish()
}

fn picture(track: Track) -> Picture<'static> {
    Picture {
        track,
        of: End::Server,
        range: None,
        size: (640, 320),
        title: "a <b> & \"c\"\u{1b}",
        subtitle: "loss: something",
        interval: None,
        rtt: Some(Nanos::from_millis(20)),
    }
}

#[test]
fn time_and_sequence() {
    insta::assert_snapshot!(svg(&series(), &picture(Track::Sequence)));
}

#[test]
fn every_track_is_drawn_and_text_is_escaped() {
    for track in [Track::Sequence, Track::InFlight, Track::RoundTrip, Track::Throughput, Track::Window, Track::Packets]
    {
        let svg = svg(&series(), &picture(track));
        assert!(svg.contains("a &lt;b&gt; &amp; &quot;c&quot;\\u{1b}") && !svg.contains('\u{1b}'), "{svg}");
        assert!(svg.matches("<path").count() > 3, "{track:?}: {svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{track:?}: {svg}");
    }
}

#[test]
fn what_was_sent_again_has_its_letter_at_any_zoom() {
    for size in [(320, 200), (8192, 400)] {
        let svg = svg(&series(), &Picture { size, ..picture(Track::Sequence) });
        for letter in [">F</text>", ">Z</text>", ">FIN</text>"] {
            assert!(svg.contains(letter), "{letter} at {size:?}");
        }
    }
}

#[test]
fn nothing_to_draw_is_an_empty_picture() {
    let empty = SeriesBuilder::new((Nanos::ZERO, Nanos::ZERO), 0).finish();
    let svg = svg(&empty, &picture(Track::RoundTrip));
    assert!(svg.contains("no round trip was measured"), "{svg}");
    assert!(!svg.contains("NaN"));
}

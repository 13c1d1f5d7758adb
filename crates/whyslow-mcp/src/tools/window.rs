//! [`Window`]: the packets around a frame, of those that pass one after the other.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use whyslow_analysis::Frame;
use whyslow_diagnosis::series::Point;
use whyslow_io::{Error, PacketSource, Progress, Stop, follow_until};

/// The packets of one connection around a frame.
#[derive(Debug)]
pub(super) struct Window {
    frame: Frame,
    around: usize,
    before: VecDeque<Point>,
    /// From the frame on; from the next one if the frame is not of this connection.
    from: Vec<Point>,
}

impl Window {
    pub(super) fn new(frame: Frame, around: usize) -> Self {
        Self { frame, around, before: VecDeque::new(), from: Vec::new() }
    }

    /// The next packet.
    fn push(&mut self, point: Point) {
        if point.frame < self.frame {
            if self.before.len() >= self.around {
                self.before.pop_front();
            }
            if self.around > 0 {
                self.before.push_back(point);
            }
        } else if !self.is_full() {
            self.from.push(point);
        }
    }

    fn is_full(&self) -> bool {
        self.from.len() > self.around
    }

    /// Whether the frame is one of them.
    pub(super) fn is_found(&self) -> bool {
        self.from.first().is_some_and(|first| first.frame == self.frame)
    }

    /// All of them, in their order.
    pub(super) fn points(&self) -> impl Iterator<Item = &Point> {
        self.before.iter().chain(&self.from)
    }
}

/// Reads connections again, each into a window: those of the same files in one reading, and no more
/// than it takes to find the frame.
pub(super) fn read(
    places: &[PacketSource],
    (frame, around): (Frame, usize),
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Window>, Error> {
    let mut windows: Vec<_> = places.iter().map(|_| Window::new(frame, around)).collect();
    let end = stop.flag();
    let mut left: Vec<usize> = (0..places.len()).collect();
    while let Some(&first) = left.first()
        && !end.load(Ordering::Relaxed)
    {
        let (group, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|&place| places[place].shares_files(&places[first]));
        left = others;
        let sources: Vec<_> = group.iter().map(|&place| &places[place]).collect();
        let give = &mut |place: usize, point: Point| {
            let Some(window) = group.get(place).and_then(|&place| windows.get_mut(place)) else { return };
            window.push(point);
            if window.is_full() && window.is_found() {
                end.store(true, Ordering::Relaxed);
            }
        };
        follow_until(&sources, stop, give, progress)?;
    }
    Ok(windows)
}

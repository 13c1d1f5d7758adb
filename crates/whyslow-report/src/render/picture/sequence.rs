//! Time and sequence numbers: segments, the ACKs' staircase, the window's edge.

use super::*;

impl DrawnRange<'_> {
    pub(super) fn sequence(&self) -> Canvas {
        let drawn = |lane: &Lane| {
            let both = [lane.segments.get(), lane.ack.get(), lane.edge.get().filter(|_| self.knows_window())];
            both.into_iter().flatten().reduce(|one, two| (one.0.min(two.0), one.1.max(two.1)))
        };
        // A window far above the data would press it flat, and one that is soon out of sight needs
        // no room.
        let data = Self::spread(self.lanes().map(|(_, lane)| lane.segments.get()));
        let all = Self::spread(self.lanes().map(|(_, lane)| drawn(lane))).unwrap_or((0.0, 1.0));
        let top = data.map_or(all.1, |data| {
            let near = data.1 + 0.35 * (data.1 - data.0).max(1.0);
            let edges: Vec<u64> = self.lanes().filter_map(|(_, lane)| Some(lane.edge.get()?.0)).collect();
            let in_sight = edges.iter().filter(|edge| **edge as f64 <= near).count();
            if in_sight * 4 < edges.len() { data.1 } else { all.1.min(near) }
        });
        let low = data.map_or(all.0, |data| data.0);
        let mut canvas = self.canvas((low, top.max(low + 1.0)), Unit::Bytes, "sequence");
        self.zero_windows(&mut canvas);
        match self.view.points {
            Some(points) => self.draw_points(&mut canvas, points),
            None => self.draw_columns(&mut canvas),
        }
        self.draw_marks(&mut canvas);
        canvas.legend(DATA, "", "", "segments");
        canvas.legend(ACK, "", "", "ACKs");
        if self.knows_window() {
            let least = Self::spread(self.lanes().map(|(_, lane)| lane.edge.get()));
            let above = least.is_some_and(|least| canvas.is_above(least.0));
            let words = if above { "window's edge: above the picture" } else { "window's edge" };
            canvas.legend(EDGE, "", "stroke-dasharray=\"5 2\"", words);
        } else {
            canvas.remark("window scale unknown: no edge is drawn");
        }
        self.mark_legend(&mut canvas);
        canvas
    }

    fn draw_points(&self, canvas: &mut Canvas, points: &[Point]) {
        let (mut bars, mut acks, mut edges, mut ticks) = (String::new(), String::new(), String::new(), String::new());
        let zoomed = points.len() <= ZOOMED;
        let of = self.picture.of;
        for point in points {
            let x = canvas.x(point.time);
            if point.from == of {
                let (Some(start), Some(end)) = (point.seq, point.end()) else { continue };
                if end > start && !point.kind.is_retransmit() {
                    let (low, high) = (canvas.y(start as f64), canvas.y(end as f64));
                    let _ = write!(bars, "M{x:.1} {low:.1}V{high:.1}");
                    if zoomed {
                        let _ = write!(bars, "M{:.1} {low:.1}h5M{:.1} {high:.1}h5", x - 2.5, x - 2.5);
                    }
                }
                continue;
            }
            let Some(ack) = point.ack else { continue };
            let y = canvas.y(ack as f64);
            let _ = if acks.is_empty() { write!(acks, "M{x:.1} {y:.1}") } else { write!(acks, "H{x:.1}V{y:.1}") };
            if let Some(window) = point.window.filter(|_| self.knows_window()) {
                let y = canvas.y(ack.saturating_add(window) as f64);
                let _ =
                    if edges.is_empty() { write!(edges, "M{x:.1} {y:.1}") } else { write!(edges, "H{x:.1}V{y:.1}") };
            }
            if point.duplicate_ack {
                let _ = write!(ticks, "M{x:.1} {y:.1}v5");
            }
        }
        canvas.path(&edges, &format!("stroke=\"{EDGE}\" stroke-width=\"1.3\" stroke-dasharray=\"5 2\""));
        canvas.path(&acks, &format!("stroke=\"{ACK}\" stroke-width=\"1.3\""));
        canvas.path(&ticks, &format!("stroke=\"{ACK}\" stroke-width=\"1.3\""));
        canvas.path(&bars, &format!("stroke=\"{DATA}\" stroke-width=\"1.6\""));
    }

    fn draw_columns(&self, canvas: &mut Canvas) {
        if self.knows_window() {
            let edges = self.staircase(canvas, |lane| lane.edge.get());
            canvas.path(&edges, &format!("stroke=\"{EDGE}\" stroke-width=\"1.3\" stroke-dasharray=\"5 2\""));
        }
        let acks = self.staircase(canvas, |lane| lane.ack.get());
        canvas.path(&acks, &format!("stroke=\"{ACK}\" stroke-width=\"1.3\""));
        let mut bars = String::new();
        for (time, lane) in self.lanes() {
            if let Some((low, high)) = lane.segments.get() {
                let _ = write!(bars, "M{:.1} {:.1}V{:.1}", canvas.x(time), canvas.y(low as f64), canvas.y(high as f64));
            }
        }
        canvas.path(&bars, &format!("stroke=\"{DATA}\" stroke-width=\"1.6\""));
    }
}

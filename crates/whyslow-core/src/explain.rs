//! The whole flow behind one door: packets in, [`Analysis`] out.
//!
//! An [`Explainer`] can take all connections, or be one of several that share them: each is given all packets, takes up the
//! connections whose four-tuples fall to it, and ends as a [`Fragment`]; [`Fragment::merge`] puts the fragments together. What
//! comes out does not depend on how many there are.

mod accounts;
mod fragment;
mod open;
mod openings;
mod shares;

pub use fragment::{Fragment, Merged};

use crate::analysis::{Analysis, Frame};
use crate::assemble::{self, Names};
use crate::capture::{Clock, Packet, Sink, Summary};
use crate::flow::{self, ConnectionId, Gone, Kept, Recalled, Table};
use crate::pair::Mark;
use crate::rules::{self, Flows};
use crate::tcp;
use crate::units::Nanos;
use crate::whatif::Replays;
use crate::wire::{self, Ends, Glance, Icmp, Segment, Skip};
use accounts::{Account, Accounts, Size};
use fragment::CaptureState;
use open::Open;
use openings::Openings;
use shares::{Move, Shares};
use std::net::IpAddr;

/// Names held for addresses; a capture that names more is not believed.
const MOST_NAMES: usize = 65_536;

/// Takes the packets of one or more captures that continue each other, and explains their connections.
#[derive(Debug)]
pub struct Explainer {
    shares: Shares,
    captures: Vec<CaptureState>,
    /// The last capture's, as frames tell it.
    file: Option<u16>,
    start: tcp::Place,
    /// Segments of the last capture.
    segments: u64,
    /// Counts packets over all captures: a connection is known by its first one.
    packets: Count,
    /// Those before this one are looked at closely: the first ones of each capture.
    close_until: u64,
    table: Table<Open>,
    gone: Gone<Open>,
    /// Of all connections that fell to this explainer.
    openings: Openings,
    accounts: Accounts,
    names: Names,
    replays: Replays,
    flows: Flows,
    /// The first packet of all: times are told from it.
    first_time: Option<Nanos>,
    /// What the path carries, payload bits per second, where somebody said so.
    path_rate: Option<f64>,
}

impl Default for Explainer {
    fn default() -> Self {
        Self {
            shares: Shares::default(),
            captures: Vec::new(),
            file: None,
            start: tcp::Place::default(),
            segments: 0,
            packets: Count::default(),
            close_until: 1,
            table: Table::default(),
            gone: Gone::new(),
            openings: Openings::default(),
            accounts: Accounts::default(),
            names: Names::default(),
            replays: Replays::default(),
            flows: Flows::default(),
            first_time: None,
            path_rate: None,
        }
    }
}

/// How many packets came before the newest one. There is none yet one short of zero, so that a step tells whether it is the first.
#[derive(Debug)]
struct Count(u64);

impl Default for Count {
    fn default() -> Self {
        Self(u64::MAX)
    }
}

impl Count {
    /// One more has come: whether fewer than `until` came before it.
    #[inline(always)]
    fn is_before(&mut self, until: u64) -> bool {
        self.0 = self.0.wrapping_add(1);
        self.0 < until
    }

    /// How many there are, the newest one included.
    fn all(&self) -> u64 {
        self.0.wrapping_add(1)
    }
}

/// A part of the connections, on its way from one explainer to another.
#[derive(Debug)]
pub struct Parcel(flow::Part<Open>);

/// Which part goes to which explainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    part: usize,
    to: usize,
}

/// Parts that change hands between explainers.
#[derive(Debug, Default)]
pub struct Deal {
    /// What this one has no more.
    pub given: Vec<(Ticket, Parcel)>,
    /// What it is to be given, before it takes any more packets.
    pub awaited: Vec<Ticket>,
}

impl Explainer {
    /// Nothing read yet; takes all connections.
    pub fn new() -> Self {
        Self::default()
    }

    /// Several that share the connections; each must be given all packets. At least one, and at most [`flow::PARTS`].
    pub fn sharing(count: usize) -> Vec<Self> {
        let of = count.clamp(1, flow::PARTS);
        (0..of).map(|own| Self { shares: Shares::new(own, of), ..Self::default() }).collect()
    }

    /// The path of the connections carries no more than this, payload bits per second: what fixes are promised to bring respects it, and
    /// buffers are made for it. All that share the connections are told the same.
    pub fn set_path_rate(&mut self, rate: Option<f64>) {
        self.path_rate = rate.filter(|rate| *rate > 0.0);
    }

    /// Evens out what there is to do, where several share the connections: each must be asked at the same places between packets.
    /// What one gives another awaits.
    pub fn deal(&mut self) -> Deal {
        let mut deal = Deal::default();
        for Move { part, from, to } in self.shares.deal(self.packets.all()) {
            if from == self.shares.own() {
                deal.given.push((Ticket { part, to }, Parcel(self.table.take_part(part))));
            } else if to == self.shares.own() {
                deal.awaited.push(Ticket { part, to });
            }
        }
        deal
    }

    /// Takes over a part that was [awaited](Deal::awaited).
    pub fn take_over(&mut self, ticket: Ticket, Parcel(connections): Parcel) {
        self.table.put_part(ticket.part, connections);
    }

    /// The packets that follow come from this capture; the first one has index 0.
    pub fn begin_capture(&mut self, path: &str) {
        self.count_segments();
        self.file = u16::try_from(self.captures.len()).ok();
        self.start = tcp::Place::start(self.file);
        self.captures.push(CaptureState::new(path));
        self.close_until = self.packets.all() + wire::Sample::PACKETS;
    }

    /// Hands the last capture what was counted for it.
    fn count_segments(&mut self) {
        let segments = std::mem::take(&mut self.segments);
        if let Some(capture) = self.captures.last_mut() {
            capture.tcp_packets += segments;
        }
    }

    /// The capture that was begun last has ended.
    pub fn end_capture(&mut self, summary: Summary) {
        if let Some(capture) = self.captures.last_mut() {
            capture.summary = Some(summary);
        }
    }

    /// Everything was read.
    pub fn finish(self) -> Analysis {
        self.finish_marked().0
    }

    /// Everything was read: what was found, and what each connection that has times is recognised by in other captures.
    pub fn finish_marked(self) -> (Analysis, Vec<Mark>) {
        Fragment::merge(vec![self.into_fragment()]).finish()
    }

    /// Everything was read: closes the connections that are still open.
    pub fn close_all(&mut self) {
        let end = self.end();
        for kept in self.table.drain() {
            self.close(kept, end);
        }
    }

    /// Of several that share the connections and have [closed](Self::close_all) all of theirs: what will not be listed of all of them
    /// together is left out, so that none need account for more than its share. Without, the outcome is the same.
    pub fn leave_out(explainers: &mut [Self]) {
        Accounts::thin_together(explainers.iter_mut().map(|explainer| &mut explainer.accounts));
    }

    /// The last packet of all captures that have ended.
    fn end(&self) -> Nanos {
        let ends = self.captures.iter().filter_map(|capture| capture.summary.as_ref()?.last_time);
        ends.max().unwrap_or(Nanos(i64::MIN))
    }

    /// Everything was read: [closes](Self::close_all) what is still open, and accounts for what is listed.
    pub fn into_fragment(mut self) -> Fragment {
        self.count_segments();
        self.close_all();
        let accounts = std::mem::take(&mut self.accounts).tell(|size, kept| {
            let account = self.account(size, kept);
            debug_assert!(account.lost() == Nanos::ZERO, "{:?} lost {:?}", account.id(), account.lost());
            account
        });
        Fragment {
            captures: self.captures,
            openings: self.openings,
            accounts,
            replays: self.replays,
            flows: self.flows,
            evicted: self.table.evicted,
            first_time: self.first_time,
            path_rate: self.path_rate,
        }
    }

    /// No more packets of this connection come, and none came up to `until`: what is left of it is its account, if it may be listed.
    fn close(&mut self, kept: Box<Kept<Open>>, until: Nanos) {
        // Looked at where it is: most of very many are not accounted for.
        let tcp = &kept.value.tcp;
        if let Some(wrong) = tcp.wrong_sums()
            && let Some(capture) = self.captures.get_mut(kept.value.capture)
            && capture.note_wrong_sums(wrong)
        {
            return;
        }
        let size = Size { id: kept.id, until, active: tcp.active_until(until), bytes: tcp.payload() };
        if !self.accounts.may_list(&size, size.active) {
            self.accounts.pass_over(&size);
        } else if tcp.brief(until, &kept.ends.told()).is_some_and(|brief| rules::cost_nothing(&brief)) {
            self.accounts.push_free(size, kept);
        } else {
            let account = self.account(size, kept);
            self.accounts.push(account);
        }
    }

    fn account(&mut self, size: Size, kept: Box<Kept<Open>>) -> Account {
        let Kept { id, value: open, ends, .. } = *kept;
        let capture = self.captures.get(open.capture);
        let clock = capture.and_then(|capture| capture.text.or(Some(capture.summary.as_ref()?.clock)));
        let first = self.first_time.unwrap_or_default();
        let mut facts = open.tcp.finish(ends.told());
        facts.timeless |= clock == Some(Clock::None);
        if let Some(capture) = capture.filter(|capture| capture.text.is_some()) {
            facts.is_of_text(&capture.left_out);
        }
        facts.until = facts.until.max(size.until);
        facts.end_with(facts.until);
        let mark = (!facts.timeless).then(|| Mark::new(id.0, &facts));
        let (connection, outline) = assemble::connection(
            &facts,
            id.0,
            open.capture,
            first,
            (&self.names, self.path_rate),
            (&mut self.replays, &mut self.flows),
        );
        Account::new(size, connection, outline, mark)
    }

    fn take(&mut self, packet: &Packet<'_>, segment: &Segment<'_>, ends: &Ends, hash: u64) {
        self.segments += 1;
        let capture = self.captures.len() - 1;
        let frame = Frame { file: self.file, number: packet.frame };
        let begin = || Open { capture, tcp: tcp::Connection::new(segment, packet.time, frame) };
        let id = ConnectionId(self.packets.0);
        let routed = self.table.route(segment, (ends, hash), packet.time, id, &mut self.gone, begin);
        if routed.new {
            self.openings.push(id);
        }
        let checksum = self.captures[capture].sample.told(segment, packet, routed.new);
        if checksum == segment.checksum {
            routed.value.tcp.push(segment, routed.from, packet.time, frame);
        } else {
            routed.value.tcp.push(&Segment { checksum, ..*segment }, routed.from, packet.time, frame);
        }
        if !self.gone.is_empty() {
            self.close_gone(packet.time);
        }
    }

    /// A packet of which a glance tells the connection.
    #[inline(always)]
    fn glanced(&mut self, packet: &Packet<'_>, glance: Glance<'_>) {
        self.tick(packet.time);
        match self.table.recall(&glance.heading()) {
            Recalled::Here(part, found) => {
                self.shares.count(part);
                let Some(plain) = glance.plain() else { return self.take_other(*packet, glance) };
                self.segments += 1;
                let (from, place) = (found.from, self.start.frame_at(packet.frame));
                found.plain(packet.time).tcp.push_plain(&plain, from, packet.time, place);
            }
            Recalled::Elsewhere(part) => self.shares.count(part),
            Recalled::Unknown => self.find(*packet, glance),
        }
    }

    /// As [`glanced`](Self::glanced), where nothing was known of its heading. What it is given it has of its own, so that for the
    /// others nothing need be written down.
    #[inline(never)]
    fn find(&mut self, packet: Packet<'_>, glance: Glance<'_>) {
        let (heading, ends) = (glance.heading(), glance.ends());
        let hash = ends.hash();
        if !self.shares.takes(hash) {
            self.table.leave(&heading, hash);
        } else if let Some(found) = self.table.find_by(&heading, &ends, hash)
            && let Some(plain) = glance.plain()
        {
            self.segments += 1;
            let (from, place) = (found.from, self.start.frame_at(packet.frame));
            found.plain(packet.time).tcp.push_plain(&plain, from, packet.time, place);
        } else {
            self.take_any(&packet, &glance, &ends, hash);
        }
    }

    /// One whose connection is known, and which is not plain.
    #[cold]
    fn take_other(&mut self, packet: Packet<'_>, glance: Glance<'_>) {
        let ends = glance.ends();
        self.take_any(&packet, &glance, &ends, ends.hash());
    }

    /// One that is not plain, or the first of its connection.
    #[inline(never)]
    fn take_any(&mut self, packet: &Packet<'_>, glance: &Glance<'_>, ends: &Ends, hash: u64) {
        // Every connection that ends as it should has two such segments, and many have few others.
        if let Some(closing) = glance.closing()
            && let Some(found) = self.table.find(ends, hash)
        {
            self.segments += 1;
            let (from, place) = (found.from, self.start.frame_at(packet.frame));
            found.closing(packet.time).tcp.push_closing(&closing, from, packet.time, place);
        } else if let Err(skip) = glance.decode_to(|segment| self.take(packet, segment, ends, hash)) {
            self.skip(skip, packet.frame);
        }
    }

    /// Looks for connections that have been silent for too long.
    #[inline(always)]
    fn tick(&mut self, time: Nanos) {
        if self.table.tick(time, &mut self.gone) {
            self.close_gone(time);
        }
    }

    #[cold]
    fn close_gone(&mut self, time: Nanos) {
        for kept in std::mem::take(&mut self.gone) {
            self.close(kept, time);
        }
    }

    /// One of a capture's first packets comes.
    #[cold]
    fn look_closely(&mut self, packet: &Packet<'_>) {
        if self.packets.0 == 0 {
            self.first_time = Some(packet.time);
            if self.captures.is_empty() {
                self.begin_capture("");
            }
        }
        // All who share the packets do so, and know the same.
        if let (Some(capture), Ok(segment)) = (self.captures.last_mut(), wire::decode_verified(packet)) {
            capture.sample.take(&segment);
        }
    }

    fn skip(&mut self, skip: Skip, frame: u64) {
        if let Some(capture) = self.captures.last_mut() {
            capture.skipped.entry(skip).or_insert((0, frame)).0 += 1;
        }
    }

    /// What an ICMP error says of a segment goes to the segment's connection, if there is one that may have sent it.
    /// It is no segment, so that connections stay and leave as if it had not come.
    fn take_error(&mut self, packet: &Packet<'_>, error: &Icmp) {
        let ends = error.ends();
        let hash = ends.hash();
        if !self.shares.takes(hash) {
            return;
        }
        let frame = Frame { file: self.file, number: packet.frame };
        let told = self.table.find(&ends, hash).map(|found| {
            let about = found.from;
            found.value().tcp.note_error(error, about, packet.time, frame)
        });
        if let Some(capture) = self.captures.last_mut() {
            match told {
                Some(true) => {}
                Some(false) => capture.not_in_flight.note(packet.frame),
                None => capture.of_no_connection.note(packet.frame),
            }
        }
    }

    /// A packet that a glance is not enough for. Each of those who share the packets looks at it, and one counts it.
    #[cold]
    fn look(&mut self, packet: Packet<'_>) {
        match wire::decode(&packet) {
            Ok(segment) => {
                let ends = Ends::of(&segment);
                let hash = ends.hash();
                self.tick(packet.time);
                if self.shares.takes(hash) {
                    self.take(&packet, &segment, &ends, hash);
                }
            }
            Err(skip) => {
                if let Skip::Icmp(error) = skip {
                    self.take_error(&packet, &error);
                }
                if self.shares.is_first() {
                    self.skip(skip.counted(), packet.frame);
                }
            }
        }
    }
}

impl Sink for Explainer {
    #[inline(always)]
    fn packet(&mut self, packet: &Packet<'_>) {
        if self.packets.is_before(self.close_until) {
            self.look_closely(packet);
        }
        // Two calls, each inlined for its IP version.
        match wire::glance(packet) {
            Some(glance @ Glance::V4(_)) => self.glanced(packet, glance),
            Some(glance @ Glance::V6(_)) => self.glanced(packet, glance),
            None => self.look(*packet),
        }
    }

    fn text(&mut self, clock: Clock) {
        if self.captures.is_empty() {
            self.begin_capture("");
        }
        if let Some(capture) = self.captures.last_mut() {
            capture.text = Some(clock);
        }
    }

    fn left_out(&mut self, of: Option<[(IpAddr, u16); 2]>, from: Nanos, until: Nanos) {
        if let Some(capture) = self.captures.last_mut() {
            capture.left_out.add(of, (from, until));
        }
    }

    fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        if self.names.len() < MOST_NAMES {
            self.names.entry(address).or_insert_with(|| (name.to_owned(), stand_in));
        }
    }
}

#[cfg(test)]
mod tests;

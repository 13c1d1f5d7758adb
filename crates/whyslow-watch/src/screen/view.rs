//! [`View`]: what is on the screen, and what keys do to it.

use crate::batch::{Batch, Counts};
use crate::record::Record;
use crate::tally::{Table, Tally};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::cmp::Reverse;
use std::path::PathBuf;
use whyslow_units::{Nanos, Time};

/// Transfers that are remembered: the slowest, and the newest.
const MAX_RECORDS: usize = 2_000;

/// In which order transfers stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// What took longest.
    Slowest,
    /// What lost most to one cause.
    Costliest,
    /// What ended last.
    Newest,
    /// What carried most.
    Largest,
}

impl Order {
    const ALL: [Self; 4] = [Self::Slowest, Self::Costliest, Self::Newest, Self::Largest];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Slowest => "slowest",
            Self::Costliest => "costliest",
            Self::Newest => "newest",
            Self::Largest => "largest",
        }
    }

    fn next(self) -> Self {
        let place = Self::ALL.iter().position(|one| *one == self).unwrap_or_default();
        Self::ALL[(place + 1) % Self::ALL.len()]
    }

    fn rank(self, record: &Record) -> Reverse<i64> {
        Reverse(match self {
            Self::Slowest => record.took().0,
            Self::Costliest => record.lost().0,
            Self::Newest => record.end().0,
            Self::Largest => record.transfer().map_or(0, |transfer| transfer.bytes.cast_signed()),
        })
    }
}

/// The line above the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Nothing.
    List,
    /// A filter is typed.
    Filter,
    /// One transfer, scrolled so far.
    Open { scroll: u16 },
    /// What the keys do.
    Help,
}

/// The action of a key.
#[derive(Debug)]
pub(super) enum Does {
    Nothing,
    /// Write the packets of this one there.
    Save(Box<Record>, PathBuf),
    End,
}

/// What is on the screen.
#[derive(Debug)]
pub(super) struct View {
    records: Vec<Record>,
    /// The shown records: places in `records`, in order.
    shown: Vec<usize>,
    pub(super) order: Order,
    pub(super) filter: String,
    pub(super) mode: Mode,
    /// Among those that are shown.
    pub(super) selected: usize,
    /// What is open.
    pub(super) open: Option<Box<Record>>,
    pub(super) frozen: bool,
    /// Records that came while it was frozen.
    held: Vec<Record>,
    pub(super) counts: Counts,
    pub(super) now: Time,
    pub(super) first: Time,
    pub(super) minute: Table,
    pub(super) transfers: u64,
    pub(super) slow: u64,
    /// The last thing worth knowing.
    pub(super) note: Option<String>,
    pub(super) top: usize,
    pub(super) color: bool,
}

impl View {
    pub(super) fn new(top: usize, color: bool) -> Self {
        Self {
            records: Vec::new(),
            shown: Vec::new(),
            order: Order::Slowest,
            filter: String::new(),
            mode: Mode::List,
            selected: 0,
            open: None,
            frozen: false,
            held: Vec::new(),
            counts: Counts::default(),
            now: Time::ZERO,
            first: Time::ZERO,
            minute: Table::default(),
            transfers: 0,
            slow: 0,
            note: None,
            top,
            color,
        }
    }

    /// Adds reports; while frozen, to a separate list.
    pub(super) fn add(&mut self, batch: Batch, tally: &mut Tally) {
        (self.counts, self.now, self.first) = (batch.counts, batch.now, batch.first);
        if let Some(note) = batch.notes.last() {
            self.note = Some(note.clone());
        }
        self.held.extend(batch.records);
        if !self.frozen {
            self.refresh(tally);
            self.take_held();
        } else {
            trim(&mut self.held);
        }
    }

    /// Brings the tables up to date.
    pub(super) fn refresh(&mut self, tally: &mut Tally) {
        if !self.frozen {
            self.minute = tally.minute(self.now);
            (self.transfers, self.slow) = (tally.transfers, tally.slow);
        }
    }

    fn take_held(&mut self) {
        let selected = self.selected().map(identity);
        for record in std::mem::take(&mut self.held) {
            let known = record.revised.then(|| identity(&record));
            match known.and_then(|known| self.records.iter().position(|one| identity(one) == known)) {
                Some(place) => self.records[place] = record,
                None => self.records.push(record),
            }
        }
        trim(&mut self.records);
        self.sort();
        // The cursor stays on its transfer while others come.
        if let Some(selected) = selected.filter(|_| self.selected > 0)
            && let Some(place) = self.shown.iter().position(|&place| identity(&self.records[place]) == selected)
        {
            self.selected = place;
        }
    }

    fn sort(&mut self) {
        let words: Vec<String> = self.filter.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let fits = |record: &Record| {
            let text = searched(record);
            words.iter().all(|word| text.contains(word))
        };
        let mut shown: Vec<usize> = (0..self.records.len()).filter(|&place| fits(&self.records[place])).collect();
        shown.sort_by_key(|&place| (self.order.rank(&self.records[place]), Reverse(self.records[place].end())));
        self.shown = shown;
        self.selected = self.selected.min(self.shown.len().saturating_sub(1));
    }

    /// The shown records, in order.
    pub(super) fn shown(&self) -> impl ExactSizeIterator<Item = &Record> {
        self.shown.iter().map(|&place| &self.records[place])
    }

    fn selected(&self) -> Option<&Record> {
        Some(&self.records[*self.shown.get(self.selected)?])
    }

    /// Does what a key asks for.
    pub(super) fn press(&mut self, key: KeyEvent) -> Does {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Does::End;
        }
        match &mut self.mode {
            Mode::Filter => self.type_filter(key.code),
            Mode::Help => self.mode = Mode::List,
            Mode::Open { scroll } => match key.code {
                KeyCode::Down | KeyCode::Char('j') => *scroll = scroll.saturating_add(1),
                KeyCode::Up | KeyCode::Char('k') => *scroll = scroll.saturating_sub(1),
                KeyCode::PageDown | KeyCode::Char(' ') => *scroll = scroll.saturating_add(10),
                KeyCode::PageUp => *scroll = scroll.saturating_sub(10),
                KeyCode::Char('s') => return self.save(),
                KeyCode::Esc | KeyCode::Enter | KeyCode::Backspace | KeyCode::Char('q') => self.close(),
                _ => {}
            },
            Mode::List => return self.press_in_list(key.code),
        }
        Does::Nothing
    }

    fn press_in_list(&mut self, key: KeyCode) -> Does {
        let last = self.shown.len().saturating_sub(1);
        match key {
            KeyCode::Char('q') => return Does::End,
            KeyCode::Char('?' | 'h') => self.mode = Mode::Help,
            KeyCode::Down | KeyCode::Char('j') => self.selected = (self.selected + 1).min(last),
            KeyCode::Up | KeyCode::Char('k') => self.selected = self.selected.saturating_sub(1),
            KeyCode::PageDown => self.selected = (self.selected + 10).min(last),
            KeyCode::PageUp => self.selected = self.selected.saturating_sub(10),
            KeyCode::Home => self.selected = 0,
            KeyCode::End => self.selected = last,
            KeyCode::Char('o') => {
                self.order = self.order.next();
                self.selected = 0;
                self.sort();
            }
            KeyCode::Char('/') => self.mode = Mode::Filter,
            KeyCode::Esc => {
                self.filter.clear();
                self.sort();
            }
            KeyCode::Char('f' | ' ') => {
                self.frozen = !self.frozen;
                if !self.frozen {
                    self.take_held();
                }
            }
            KeyCode::Char('c') => {
                self.records.clear();
                self.sort();
            }
            KeyCode::Char('s') => return self.save(),
            KeyCode::Enter => {
                if let Some(record) = self.selected() {
                    self.open = Some(Box::new(record.clone()));
                    self.mode = Mode::Open { scroll: 0 };
                }
            }
            _ => {}
        }
        Does::Nothing
    }

    fn type_filter(&mut self, key: KeyCode) {
        match key {
            KeyCode::Enter => self.mode = Mode::List,
            KeyCode::Esc => {
                self.filter.clear();
                self.mode = Mode::List;
            }
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(letter) => self.filter.push(letter),
            _ => {}
        }
        self.sort();
    }

    fn close(&mut self) {
        (self.open, self.mode) = (None, Mode::List);
    }

    fn save(&mut self) -> Does {
        let Some(record) = self.open.as_deref().or(self.selected()).cloned() else { return Does::Nothing };
        let path = PathBuf::from(format!("whyslow-{}.pcapng", record.connection.id));
        self.note = Some(format!("writing {}", path.display()));
        Does::Save(Box::new(record), path)
    }
}

/// Its connection, its sender, and its beginning.
fn identity(record: &Record) -> (u64, Option<(usize, Nanos)>) {
    (record.connection.id, record.transfer().map(|transfer| (transfer.from as usize, transfer.start_s)))
}

/// What the filter looks for its words in.
fn searched(record: &Record) -> String {
    let connection = &record.connection;
    let mut text = format!("{} {}", connection.client.host_and_port(), connection.server.host_and_port());
    for part in [
        Some(connection.server.address.as_str()),
        record.worst().map(|worst| worst.cause.slug()),
        record.transfer().and_then(|transfer| transfer.label.as_deref()),
    ] {
        text.push(' ');
        text += part.unwrap_or_default();
    }
    for holder in record.holders.all() {
        text.push(' ');
        text += &holder.text();
    }
    text.to_lowercase()
}

/// Of too many the slowest stay, and the newest.
fn trim(records: &mut Vec<Record>) {
    if records.len() <= MAX_RECORDS {
        return;
    }
    let newest = records.split_off(records.len() - MAX_RECORDS / 4);
    records.sort_by_key(|record| Order::Slowest.rank(record));
    records.truncate(MAX_RECORDS / 2);
    records.extend(newest);
}

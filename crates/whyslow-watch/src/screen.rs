//! [`Screen`]: the live view of a terminal.
//!
//! What is on it is a [`view::View`], which keys change and packets fill; [`draw`] draws it, and
//! computes nothing. The terminal is given back as it was whatever ends the program.

mod draw;
mod view;

use super::batch::{Batch, Order};
use super::tally::Tally;
use anyhow::Context;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use view::{Does, View};

/// Minimum interval of redraws without a key.
const FRAME: Duration = Duration::from_millis(200);

/// The screen.
pub(super) struct Screen {
    terminal: DefaultTerminal,
    view: View,
    orders: Sender<Order>,
    drawn: Option<Instant>,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it cannot be had.
    pub(super) fn open(orders: Sender<Order>, top: usize) -> anyhow::Result<Self> {
        let terminal = ratatui::try_init().context("the terminal")?;
        let color = std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
        Ok(Self { terminal, view: View::new(top, color), orders, drawn: None })
    }

    /// Adds reports.
    pub(super) fn add(&mut self, batch: Batch, tally: &mut Tally) {
        self.view.add(batch, tally);
    }

    /// Handles keys and draws. Returns whether the user has quit.
    ///
    /// # Errors
    /// Errors of the terminal.
    pub(super) fn turn(&mut self, tally: &mut Tally) -> anyhow::Result<bool> {
        let mut is_enough = false;
        while event::poll(Duration::ZERO).context("the terminal")? {
            match event::read().context("the terminal")? {
                Event::Key(key) if key.kind != KeyEventKind::Release => match self.view.press(key) {
                    Does::Nothing => {}
                    Does::Save(record, path) => drop(self.orders.send(Order::Save(record, path))),
                    Does::End => is_enough = true,
                },
                _ => {}
            }
            self.drawn = None;
        }
        if self.drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME) {
            self.drawn = Some(Instant::now());
            self.view.refresh(tally);
            self.terminal.draw(|frame| draw::draw(&mut self.view, frame)).context("the terminal")?;
        }
        Ok(is_enough)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

//! Draws a [`View`].

use super::view::{Mode, View};
use crate::holder::Holder;
use crate::lines::clock;
use crate::record::Record;
use crate::tally::Loss;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Cell, Clear, Paragraph, Row, Table, TableState};
use whyslow_analysis::End;
use whyslow_report::render::terminal;
use whyslow_report::text::{harmless, units};
use whyslow_report::words::Lang;
use whyslow_units::Nanos;

const KEYS: &[(&str, &str)] = &[
    ("↑ ↓ PgUp PgDn", "select a transfer"),
    ("Enter", "open it: its rounds, its limits, its findings"),
    ("o", "order: slowest, costliest, newest, largest"),
    ("/", "filter by words: server, client, cause, label, program"),
    ("Esc", "drop the filter, or close what is open"),
    ("f, space", "freeze, and go on"),
    ("s", "save the packets of its connection: whyslow-ID.pcapng"),
    ("c", "clear the list"),
    ("q, Ctrl-C", "end: a summary stays on the terminal"),
];

/// Maximum number of rows of the list: no terminal shows more.
const ROWS: usize = 500;

/// Draws all of it.
pub(super) fn draw(view: &mut View, frame: &mut Frame<'_>) {
    let tables = view.top.min(usize::from(frame.area().height) / 3).max(1);
    let tables = u16::try_from(tables).unwrap_or(u16::MAX).saturating_add(1);
    let [head, list, costs, foot] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Min(3),
        Constraint::Length(tables),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    draw_head(view, frame, head);
    draw_list(view, frame, list);
    draw_costs(view, frame, costs);
    draw_foot(view, frame, foot);
    match &mut view.mode {
        Mode::Help => draw_help(frame),
        Mode::Open { scroll } => {
            if let Some(record) = &view.open {
                *scroll = draw_open(record, *scroll, view.color, frame);
            }
        }
        Mode::List | Mode::Filter => {}
    }
}

fn draw_head(view: &View, frame: &mut Frame<'_>, area: Rect) {
    let counts = &view.counts;
    let lasted = if counts.packets > 0 { view.now - view.first } else { Nanos::ZERO };
    let mut first = vec![
        Span::from("whyslow watch").bold(),
        Span::from(format!(
            "  {}  {}  {}, {} lost time",
            units::short(lasted),
            units::count(counts.packets, "packet"),
            units::count(view.transfers, "transfer"),
            units::thousands(view.slow)
        )),
    ];
    if view.frozen {
        first.push(Span::from("  frozen").bold());
    }
    let drops = counts.drops;
    let mut second = vec![Span::from(units::count(counts.connections as u64, "connection"))];
    for (count, what) in [(drops.ring, "dropped by the ring"), (drops.interface, "dropped by the interface")] {
        if count > 0 {
            let text = format!("  {} {what}", units::thousands(count));
            second.push(Span::styled(text, view.style(Color::Red).add_modifier(Modifier::BOLD)));
        }
    }
    frame.render_widget(Paragraph::new(vec![Line::from(first), Line::from(second)]), area);
}

fn draw_list(view: &mut View, frame: &mut Frame<'_>, area: Rect) {
    let width = area.width;
    let rows: Vec<Row<'_>> = view.shown().take(ROWS).map(|record| row(record, width, view.color)).collect();
    let (shown, order) = (view.shown().len(), view.order.name());
    let mut title = format!(" {order} first: {} ", units::thousands(shown as u64));
    if !view.filter.is_empty() {
        title += &format!("with “{}” ", harmless(&view.filter));
    }
    let mut columns = vec![Constraint::Length(9), Constraint::Min(18), Constraint::Length(9)];
    let mut titles = vec!["ended", "server", "took"];
    columns.extend([Constraint::Length(if width >= 100 { 24 } else { 15 }), Constraint::Length(8)]);
    titles.extend(["cause", "cost"]);
    if width >= 80 {
        // As wide as the largest one: a figure that is cut is another figure.
        let widest = view.shown().take(ROWS).map(|record| bytes(record).chars().count()).max().unwrap_or(0);
        columns.push(Constraint::Length(u16::try_from(widest).unwrap_or(u16::MAX).max(13)));
        titles.push("bytes");
    }
    if width >= 120 {
        columns.extend([Constraint::Length(22), Constraint::Fill(1)]);
        titles.extend(["client", "what"]);
    }
    let table = Table::new(rows, columns)
        .header(Row::new(titles).style(Style::new().add_modifier(Modifier::DIM)))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .block(Block::new().borders(Borders::TOP).title(title));
    let mut state = TableState::new().with_selected(Some(view.selected));
    frame.render_stateful_widget(table, area, &mut state);
}

fn row(record: &Record, width: u16, color: bool) -> Row<'static> {
    let connection = &record.connection;
    let text = |text: &str| Cell::from(harmless(text).into_owned());
    let (cause, cost) = match record.worst() {
        Some(worst) => (worst.cause.slug(), units::short(worst.cost_s)),
        None if record.transfer().is_some_and(|transfer| transfer.is_verdict_unknown()) => ("unknown", String::new()),
        None => ("none", String::new()),
    };
    let style = match (color, record.lost()) {
        (true, lost) if lost >= Nanos::from_millis(1_000) => Style::new().fg(Color::Red),
        (true, lost) if lost > Nanos::ZERO => Style::new().fg(Color::Yellow),
        _ => Style::new(),
    };
    let ended = clock(record.end());
    let mut cells = vec![
        text(ended.get(..8).unwrap_or_default()),
        text(&connection.server.host_and_port()),
        text(&units::short(record.took())),
        text(cause).style(style),
        text(&cost).style(style),
    ];
    if width >= 80 {
        cells.push(text(&bytes(record)));
    }
    if width >= 120 {
        cells.push(text(&connection.client.host_and_port()));
        let label = record.transfer().and_then(|transfer| transfer.label.as_deref());
        let holder = record.holders.all().next().map(Holder::text);
        cells.push(text(holder.as_deref().or(label).unwrap_or_default()));
    }
    Row::new(cells)
}

/// Payload of a transfer, with its direction.
fn bytes(record: &Record) -> String {
    record.transfer().map_or("connection".to_owned(), |transfer| {
        format!("{}{}", if transfer.from == End::Client { "↑" } else { "↓" }, units::thousands(transfer.bytes))
    })
}

fn draw_costs(view: &View, frame: &mut Frame<'_>, area: Rect) {
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).spacing(1).areas(area);
    let causes = view.minute.worst_causes(view.top).into_iter().map(|(cause, loss)| (cause.slug(), loss)).collect();
    draw_cost("this minute, by cause", causes, frame, left);
    draw_cost("by server", view.minute.worst_servers(view.top), frame, right);
}

fn draw_cost(title: &str, rows: Vec<(&str, Loss)>, frame: &mut Frame<'_>, area: Rect) {
    let rows = rows.into_iter().map(|(name, loss)| {
        let seconds = format!("{:>9}", units::short(loss.seconds));
        Row::new([harmless(name).into_owned(), seconds, format!("{:>5}", units::thousands(loss.transfers))])
    });
    let columns = [Constraint::Min(8), Constraint::Length(9), Constraint::Length(6)];
    let table = Table::new(rows, columns)
        .header(Row::new([title, "     lost", "times"]).style(Style::new().add_modifier(Modifier::DIM)));
    frame.render_widget(table, area);
}

fn draw_foot(view: &View, frame: &mut Frame<'_>, area: Rect) {
    let text = match (&view.mode, &view.note) {
        (Mode::Filter, _) => format!("filter: {}▏ Enter keeps it, Esc drops it", harmless(&view.filter)),
        (Mode::Open { .. }, _) => "↑ ↓ scroll   s save its packets   Esc back".to_owned(),
        (_, Some(note)) => harmless(note).into_owned(),
        _ => "Enter open   o order   / filter   f freeze   s save   ? help   q end".to_owned(),
    };
    frame.render_widget(Paragraph::new(text).dim(), area);
}

fn draw_help(frame: &mut Frame<'_>) {
    let area = frame.area();
    let width = area.width.min(76);
    let height = area.height.min(KEYS.len() as u16 + 2);
    let place = Rect::new((area.width - width) / 2, (area.height - height) / 2, width, height);
    let lines =
        KEYS.iter().map(|(key, does)| Line::from(vec![Span::from(format!(" {key:<15}")).bold(), Span::from(*does)]));
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()).block(Block::bordered().title(" keys ")), place);
}

/// One transfer, as `whyslow explain` prints it. Returns how far it is scrolled, no farther than it
/// goes.
fn draw_open(record: &Record, scroll: u16, color: bool, frame: &mut Frame<'_>) -> u16 {
    let area = frame.area();
    let area = Rect { height: area.height.saturating_sub(1), ..area };
    let view = terminal::View { width: area.width.into(), top: None, full: true, transfer: None, lang: Lang::En };
    let page = terminal::page(&record.analysis(), view);
    let lines: Vec<Line<'static>> = page.lines().map(|line| ansi(line, color)).collect();
    let last = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_sub(area.height);
    let scroll = scroll.min(last);
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(Text::from(lines)).scroll((scroll, 0)), area);
    scroll
}

/// A line with the styles of ECMA-48 (SGR), which is all that a page has.
fn ansi(line: &str, color: bool) -> Line<'static> {
    let mut spans = Vec::new();
    let mut style = Style::new();
    for (index, part) in line.split("\u{1b}[").enumerate() {
        let text = match part.split_once('m') {
            Some((codes, text)) if index > 0 => {
                codes.split(';').for_each(|code| style = restyle(style, code, color));
                text
            }
            _ => part,
        };
        if !text.is_empty() {
            spans.push(Span::styled(text.to_owned(), style));
        }
    }
    Line::from(spans)
}

fn restyle(style: Style, code: &str, color: bool) -> Style {
    const COLORS: [Color; 8] =
        [Color::Black, Color::Red, Color::Green, Color::Yellow, Color::Blue, Color::Magenta, Color::Cyan, Color::Gray];
    match code.parse::<usize>().unwrap_or(0) {
        0 => Style::new(),
        1 => style.add_modifier(Modifier::BOLD),
        2 => style.add_modifier(Modifier::DIM),
        3 => style.add_modifier(Modifier::ITALIC),
        4 => style.add_modifier(Modifier::UNDERLINED),
        code @ 30..=37 if color => style.fg(COLORS[code - 30]),
        code @ 90..=97 if color => style.fg(COLORS[code - 90]),
        _ => style,
    }
}

impl View {
    fn style(&self, color: Color) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new() }
    }
}

#[cfg(test)]
mod tests;

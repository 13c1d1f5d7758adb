//! [`Table`]: columns as wide as their content; without room, the least important are left out.

use super::{Line, Page, width};
use anstyle::{Effects, Style};

/// Blanks between two columns.
const GAP: usize = 2;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text, to the left.
    Left,
    /// Figures, to the right.
    Right,
}

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its title.
    pub title: &'static str,
    /// Its alignment.
    pub align: Align,
    /// It may be left out of a narrow page; of several such columns, the last one first.
    pub optional: bool,
}

impl Column {
    /// A column of figures.
    pub const fn figures(title: &'static str) -> Self {
        Self { title, align: Align::Right, optional: false }
    }

    /// A column of words.
    pub const fn words(title: &'static str) -> Self {
        Self { title, align: Align::Left, optional: false }
    }

    /// Marks the column as one that may be left out.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
}

/// Rows under titles.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    /// A row, or a remark in place of rows that were left out.
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
enum Row {
    Cells(Vec<(Style, String)>),
    Remark(String),
}

impl Table {
    /// A table without rows.
    pub fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row: one cell a column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.styled_row(cells.into_iter().map(|cell| (Style::new(), cell)));
    }

    /// Adds a row whose cells have styles.
    pub fn styled_row(&mut self, cells: impl IntoIterator<Item = (Style, String)>) {
        self.rows.push(Row::Cells(cells.into_iter().collect()));
    }

    /// Adds a line of its own, for omitted rows.
    pub fn remark(&mut self, text: String) {
        self.rows.push(Row::Remark(text));
    }

    /// Prints the table, indented.
    pub fn print(&self, page: &mut Page, indent: usize) {
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.column_width(column)).collect();
        let mut shown: Vec<usize> = (0..self.columns.len()).filter(|&column| !self.is_empty(column)).collect();
        let total = |shown: &[usize]| {
            indent + shown.iter().filter_map(|&column| widths.get(column)).map(|width| width + GAP).sum::<usize>()
        };
        while total(&shown).saturating_sub(GAP) > page.width() {
            let Some(place) = shown.iter().rposition(|&column| self.columns[column].optional) else { break };
            shown.remove(place);
        }
        let dim = Style::new().effects(Effects::DIMMED);
        let titles: Vec<_> = self.columns.iter().map(|column| (dim, column.title.to_owned())).collect();
        if titles.iter().any(|(_, title)| !title.is_empty()) {
            page.line(&self.print_row(&titles, &shown, &widths, indent));
        }
        for row in &self.rows {
            match row {
                Row::Cells(cells) => page.line(&self.print_row(cells, &shown, &widths, indent)),
                Row::Remark(text) => page.line(&Line::new().pad(indent).styled(dim, text)),
            }
        }
    }

    fn print_row(&self, cells: &[(Style, String)], shown: &[usize], widths: &[usize], indent: usize) -> Line {
        let mut line = Line::new().pad(indent);
        let mut start = indent;
        for &column in shown {
            let (style, cell) = cells.get(column).cloned().unwrap_or_default();
            let room = widths[column];
            let cell_line = Line::new().styled(style, &cell);
            line = match self.columns[column].align {
                Align::Left => line.pad(start).line(&cell_line),
                Align::Right => line.pad(start + room.saturating_sub(cell_line.width())).line(&cell_line),
            };
            start += room + GAP;
        }
        line
    }

    /// Whether any row has something in this column; else it is not shown.
    fn is_empty(&self, column: usize) -> bool {
        self.cells(column).all(str::is_empty)
    }

    fn column_width(&self, column: usize) -> usize {
        let title = self.columns.get(column).map_or(0, |column| width(column.title));
        self.cells(column).map(|cell| Line::new().plain(cell).width()).max().unwrap_or(0).max(title)
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().filter_map(move |row| match row {
            Row::Cells(cells) => cells.get(column).map(|(_, cell)| cell.as_str()),
            Row::Remark(_) => None,
        })
    }
}

//! Markdown, as the documentation of a cause is written in, laid out for the terminal.

use crate::text::styles::DIM;
use crate::text::{Line, Page, width};
use anstyle::{AnsiColor, Effects, Style};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

const CODE: Style = AnsiColor::Cyan.on_default();
const HEADING: Style = Style::new().effects(Effects::BOLD);

/// Formats a document for a width: bold headings, wrapped paragraphs, indented lists, code
/// unchanged, a link's address after its text.
pub fn terminal(markdown: &str, width: usize) -> String {
    let mut layout = Layout::new(width);
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        layout.event(event);
    }
    layout.page.finish()
}

/// The same document as HTML. The text is the project's own, so HTML in it stays.
pub fn html(markdown: &str) -> String {
    let mut page = String::new();
    pulldown_cmark::html::push_html(&mut page, Parser::new_ext(markdown, Options::ENABLE_TABLES));
    page
}

/// The state at one place of the document.
struct Layout {
    page: Page,
    /// Words of the current paragraph with their styles; a word may have several pieces.
    words: Vec<Vec<(Style, String)>>,
    /// Whether the next text begins a new word.
    apart: bool,
    /// Styles around the text, the innermost last.
    styles: Vec<Style>,
    /// Open lists: the next number of an ordered one.
    lists: Vec<Option<u64>>,
    /// The mark of a list item that is not printed yet.
    mark: Option<String>,
    /// Inside a code block.
    code: bool,
    /// The targets of the open links.
    links: Vec<String>,
    /// Inside a table: the cells of the current row.
    cells: Option<Vec<String>>,
}

impl Layout {
    fn new(width: usize) -> Self {
        Self {
            page: Page::new(width),
            words: Vec::new(),
            apart: true,
            styles: Vec::new(),
            lists: Vec::new(),
            mark: None,
            code: false,
            links: Vec::new(),
            cells: None,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code => self.code_lines(&text),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(Style::new(), &text),
            Event::Code(text) => self.text(CODE, &text),
            Event::SoftBreak => self.apart = true,
            Event::HardBreak => self.flush(),
            Event::Rule => self.page.gap(),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } => {
                self.flush();
                self.page.gap();
                self.styles.push(HEADING);
            }
            Tag::Paragraph if self.mark.is_none() => self.page.gap(),
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.page.gap();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.mark = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number += 1;
                        mark
                    }
                    _ => "- ".to_owned(),
                });
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.page.gap();
                self.code = true;
            }
            Tag::Strong => self.styles.push(Style::new().bold()),
            Tag::Emphasis => self.styles.push(Style::new().italic()),
            Tag::Link { dest_url, .. } => self.links.push(dest_url.to_string()),
            Tag::Table(_) => {
                self.flush();
                self.page.gap();
                self.cells = Some(Vec::new());
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
            }
            TagEnd::Paragraph | TagEnd::Item => self.flush(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::CodeBlock => self.code = false,
            TagEnd::Strong | TagEnd::Emphasis => {
                self.styles.pop();
            }
            TagEnd::Link => self.end_link(),
            TagEnd::TableCell => {
                let words = self.words.drain(..).map(|word| word.into_iter().map(|(_, text)| text).collect::<String>());
                let cell = words.collect::<Vec<_>>().join(" ");
                self.cells.get_or_insert_default().push(cell);
                self.apart = true;
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                let row = self.cells.replace(Vec::new()).unwrap_or_default().join("  |  ");
                self.page.wrapped(&Line::new().plain("  "), Style::new(), &row);
            }
            TagEnd::Table => self.cells = None,
            _ => {}
        }
    }

    /// Adds a link's address in brackets if its text is not the address.
    fn end_link(&mut self) {
        let Some(address) = self.links.pop() else { return };
        let last: String = self.words.last().into_iter().flatten().map(|(_, text)| text.as_str()).collect();
        if last != address && self.cells.is_none() {
            self.apart = true;
            self.text(DIM, &format!("({address})"));
        }
    }

    fn text(&mut self, style: Style, text: &str) {
        let style = if style == Style::new() { self.styles.last().copied().unwrap_or_default() } else { style };
        self.apart |= text.starts_with(char::is_whitespace);
        for (index, word) in text.split_whitespace().enumerate() {
            if index > 0 || self.apart {
                self.words.push(Vec::new());
            }
            self.apart = false;
            if self.words.is_empty() {
                self.words.push(Vec::new());
            }
            if let Some(open) = self.words.last_mut() {
                open.push((style, word.to_owned()));
            }
        }
        self.apart |= text.ends_with(char::is_whitespace);
    }

    fn code_lines(&mut self, text: &str) {
        let indent = self.indent() + 4;
        for line in text.lines() {
            self.page.line(&Line::new().pad(indent).styled(CODE, line));
        }
    }

    fn indent(&self) -> usize {
        2 * self.lists.len()
    }

    /// Prints the collected words as one wrapped paragraph.
    fn flush(&mut self) {
        self.apart = true;
        if self.cells.is_some() || self.words.is_empty() {
            return;
        }
        let indent = self.indent();
        let mark = self.mark.take().unwrap_or_default();
        let mut line = Line::new().pad(indent.saturating_sub(2)).plain(&mark).pad(indent);
        let mut empty = true;
        for word in self.words.drain(..) {
            let columns: usize = word.iter().map(|(_, text)| width(text)).sum();
            if !empty && line.width() + 1 + columns > self.page.width() {
                self.page.line(&line);
                line = Line::new().pad(indent);
                empty = true;
            }
            if !empty {
                line = line.plain(" ");
            }
            for (style, text) in &word {
                line = line.styled(*style, text);
            }
            empty = false;
        }
        self.page.line(&line);
    }
}

#[cfg(test)]
mod tests;

//! Problems of the capture: next to the verdict if they bear on it, else at the end.

use crate::problems::{SELECTION, is_grave, is_minor};
use crate::text::styles::{DIM, WARNING};
use crate::text::{Line, Page, first_clause, units};
use crate::words;
use anstyle::Style;
use whyslow_analysis::{Analysis, Problem};

/// Prints the problems that bear on the verdict; those of a connection where it is the only one.
pub(super) fn print_grave(page: &mut Page, analysis: &Analysis) {
    for problem in problems(analysis).filter(|problem| is_grave(problem)) {
        print(page, problem, 0);
    }
}

/// Prints the others in a line; in `full`, each in full.
pub(super) fn print_others(page: &mut Page, analysis: &Analysis, full: bool) {
    let others: Vec<_> = problems(analysis).filter(|problem| is_minor(problem)).collect();
    let selection = analysis.captures.iter().flat_map(|capture| &capture.problems).find(|one| one.slug == SELECTION);
    if others.is_empty() && selection.is_none() {
        return;
    }
    page.gap();
    if let Some(selection) = selection {
        page.wrapped(&Line::new(), DIM, &words::problem(selection, page.lang()));
    }
    if full {
        others.iter().for_each(|problem| print(page, problem, 0));
    } else if !others.is_empty() {
        print_notes(page, &others);
    }
}

/// A line for each kind.
fn print_notes(page: &mut Page, others: &[&Problem]) {
    let mut head = Line::new().styled(DIM, "notes  ");
    for (index, problem) in others.iter().enumerate() {
        if others.iter().take(index).any(|other| other.slug == problem.slug) {
            continue;
        }
        let more = others.iter().skip(index + 1).filter(|other| other.slug == problem.slug).count();
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        let text = words::problem(problem, page.lang());
        page.wrapped(&head, DIM, &format!("{}: {}{more}", problem.slug, first_clause(&text)));
        head = Line::new().pad(head.width());
    }
}

/// A connection's problems that bear on its verdict, where there are other connections.
pub(super) fn print_of_connection(page: &mut Page, problems: &[Problem], indent: usize) {
    problems.iter().filter(|problem| is_grave(problem)).for_each(|problem| print(page, problem, indent));
}

/// The captures' problems, and those of a single connection.
fn problems(analysis: &Analysis) -> impl Iterator<Item = &Problem> {
    let of_one = match analysis.connections.as_slice() {
        [one] => one.problems.as_slice(),
        _ => &[],
    };
    analysis.captures.iter().flat_map(|capture| &capture.problems).chain(of_one)
}

fn print(page: &mut Page, problem: &Problem, indent: usize) {
    let mut text = words::problem(problem, page.lang());
    let count = units::thousands(problem.count);
    let is_told = text.contains(&count) || text.contains(&problem.count.to_string());
    if problem.count > 1 && !is_told {
        text += &format!(" ({count} times)");
    }
    let head = Line::new().pad(indent).styled(WARNING, &format!("! {}: ", problem.slug));
    page.hanging(&head, Style::new(), &text, indent + 2);
}

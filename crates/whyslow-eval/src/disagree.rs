//! `whyslow lab disagree`: captures that contradict their explanation, and how often that is so of
//! explanations that were made wrong on purpose.

use anyhow::Context;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use whyslow_analysis::Cause;
use whyslow_cli::output::{Output, complain};
use whyslow_lab::net;
use whyslow_lab::progress::Bar;
use whyslow_prove::{Judgement, Supposition};
use whyslow_report::text::harmless_lines;

use crate::args::Disagree;

/// Endings of capture files, in front of those of compression.
const CAPTURES: &[&str] = &["pcap", "pcapng", "cap"];
/// Folders below the given one are read to this depth.
const DEPTH: usize = 8;

/// One capture, judged with one explanation.
#[derive(Clone, Debug, Serialize)]
struct Row {
    capture: PathBuf,
    /// The cause that was tested.
    explained: Option<Cause>,
    /// Whether the explanation differs from the analysis.
    wrong: bool,
    /// Whether the run with this explanation agrees with the captured transfer.
    agrees: bool,
    /// Another cause whose run is.
    behaves_like: Option<Cause>,
}

/// How often an explanation was contradicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Counts {
    /// Explanations of the analysis.
    own: u32,
    /// Number of the analysis's explanations that agree with their run.
    own_agree: u32,
    /// Number of the analysis's explanations that were contradicted.
    own_contradicted: u32,
    /// Explanations that were made wrong.
    wrong: u32,
    /// Number of wrong explanations that were contradicted.
    wrong_contradicted: u32,
}

impl Counts {
    fn of(rows: &[Row]) -> Self {
        let mut counts = Self::default();
        for row in rows {
            let contradicted = u32::from(row.behaves_like.is_some());
            if row.wrong {
                counts.wrong += 1;
                counts.wrong_contradicted += contradicted;
            } else {
                counts.own += 1;
                counts.own_agree += u32::from(row.agrees);
                counts.own_contradicted += contradicted;
            }
        }
        counts
    }

    /// Share of contradicted explanations that were made wrong; `None` without any.
    fn precision(&self) -> Option<f64> {
        part(self.wrong_contradicted, self.wrong_contradicted + self.own_contradicted)
    }

    /// Share of wrong explanations that were contradicted.
    fn recall(&self) -> Option<f64> {
        part(self.wrong_contradicted, self.wrong)
    }
}

fn part(some: u32, all: u32) -> Option<f64> {
    (all > 0).then(|| f64::from(some) / f64::from(all))
}

#[derive(Serialize)]
struct Report<'a> {
    captures: &'a [Row],
    #[serde(flatten)]
    counts: Counts,
    precision: Option<f64>,
    recall: Option<f64>,
    /// Captures that were not judged.
    skipped: usize,
}

/// Judges the verdicts of captures by runs of them.
///
/// # Errors
/// When there is no capture, namespaces are forbidden, or stdout cannot be written.
pub fn disagree(task: &Disagree, mut out: Output) -> anyhow::Result<ExitCode> {
    let captures = task.captures.iter().map(|path| below(path)).collect::<anyhow::Result<Vec<_>>>()?.concat();
    anyhow::ensure!(!captures.is_empty(), "there is no capture (*.pcap, *.pcapng, *.cap) in what was given");
    net::enter()?;
    let bar = Bar::waiting("disagree");
    let mut rows: Vec<Row> = Vec::new();
    let mut skipped = 0;
    for (number, capture) in captures.iter().enumerate() {
        for wrong in [false, true] {
            if wrong && !task.wrong_labels {
                continue;
            }
            bar.message(&format!("{} of {}: {}", number + 1, captures.len(), capture.display()));
            let limit = Duration::from_secs_f64(task.max_time.as_secs_f64());
            let tested = |own| if wrong { other_than(own, number + task.seed as usize) } else { own };
            match whyslow_prove::judge(capture, tested, limit) {
                Ok(Some(Judgement { explained, agrees, behaves_like })) => {
                    let row = Row { capture: capture.clone(), explained, wrong, agrees, behaves_like };
                    // Line by line: the next one takes its time.
                    if !task.json && (wrong || !agrees) {
                        out.write(&harmless_lines(&line(&row)))?;
                    }
                    rows.push(row);
                }
                Ok(None) => {
                    skipped += 1;
                    break;
                }
                Err(error) => {
                    complain(&format!("{}: {error:#}", capture.display()));
                    skipped += 1;
                    break;
                }
            }
        }
    }
    let counts = Counts::of(&rows);
    if task.json {
        let (precision, recall) = (counts.precision(), counts.recall());
        out.json(&Report { captures: &rows, counts, precision, recall, skipped })?;
    } else {
        out.write(&harmless_lines(&summary(counts, skipped, task.wrong_labels)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One of the other explanations; they take turns.
fn other_than(own: Supposition, turn: usize) -> Supposition {
    let others = Supposition::ALL.iter().filter(|other| **other != own);
    others.cycle().nth(turn % (Supposition::ALL.len() - 1)).copied().unwrap_or(own)
}

fn line(row: &Row) -> String {
    let explained = row.explained.map_or("nothing", Cause::slug);
    let label = if row.wrong { " (made wrong)" } else { "" };
    let result = match (row.agrees, row.behaves_like) {
        (true, _) => "agrees".to_owned(),
        (false, Some(like)) => format!("behaves like {like}"),
        (false, None) => "differs, and so do the others".to_owned(),
    };
    format!("{}: {explained}{label}: {result}\n", row.capture.display())
}

fn summary(counts: Counts, skipped: usize, has_wrong: bool) -> String {
    let Counts { own, own_agree, own_contradicted, wrong, wrong_contradicted } = counts;
    let mut text = format!(
        "\nexplanations: {own}, agree with their run: {own_agree}, contradicted: {own_contradicted}; captures not judged: {skipped}\n"
    );
    if has_wrong {
        let percent = |part: Option<f64>| part.map_or("-".to_owned(), |part| format!("{:.0} %", part * 100.0));
        text += &format!(
            "made wrong: {wrong}, contradicted: {wrong_contradicted}; precision {}, recall {}\n",
            percent(counts.precision()),
            percent(counts.recall())
        );
    }
    text
}

/// A capture, or those in a folder and below, in order of their names.
///
/// # Errors
/// When it cannot be read.
fn below(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let entry = entry.with_context(|| folder.display().to_string())?;
            // A link may lead back up.
            let kind = entry.file_type().with_context(|| entry.path().display().to_string())?;
            if kind.is_dir() && depth < DEPTH {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() && is_capture(&entry.path()) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_capture(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    CAPTURES.iter().any(|ending| {
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        name.ends_with(&format!(".{ending}"))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Counts, Row, below, is_capture, line, other_than, summary};
    use std::path::Path;
    use whyslow_analysis::Cause;
    use whyslow_prove::Supposition;

    fn row(wrong: bool, agrees: bool, behaves_like: Option<Cause>) -> Row {
        Row { capture: "a.pcap".into(), explained: Some(Cause::Bandwidth), wrong, agrees, behaves_like }
    }

    #[test]
    fn contradicted_wrong_explanations_give_precision_and_recall() {
        let like = Some(Cause::ReceiveWindow);
        let rows = [row(false, true, None), row(true, false, like), row(true, false, like), row(false, false, like)];
        let counts = Counts::of(&rows);
        assert_eq!((counts.precision(), counts.recall()), (Some(2.0 / 3.0), Some(1.0)));
        assert_eq!(Counts::of(&rows[..1]).precision(), None);
        assert_eq!(line(&rows[1]), "a.pcap: bandwidth (made wrong): behaves like receive-window\n");
        assert_eq!(
            summary(counts, 1, true),
            "\nexplanations: 2, agree with their run: 1, contradicted: 1; captures not judged: 1\n\
             made wrong: 2, contradicted: 2; precision 67 %, recall 100 %\n"
        );
    }

    #[test]
    fn wrong_explanations_take_turns_and_are_never_the_own_one() {
        for own in Supposition::ALL {
            let mut others: Vec<_> = (0..4).map(|turn| other_than(own, turn)).collect();
            assert!(!others.contains(&own));
            others.sort_unstable();
            others.dedup();
            assert_eq!(others.len(), 4);
        }
    }

    #[test]
    fn captures_of_a_folder_are_found_below_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("run")).unwrap();
        for name in ["b.pcap", "run/a.PCAPNG.gz", "run/truth.json", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = below(folder.path()).unwrap();
        assert_eq!(found, [folder.path().join("b.pcap"), folder.path().join("run/a.PCAPNG.gz")]);
        assert!(below(&folder.path().join("absent")).is_ok(), "an absent file is named when it is read");
        assert!(!is_capture(Path::new("x.gz")));
    }
}

//! The rules of `promtool check metrics`, for metrics in Prometheus' text format.

use std::collections::{BTreeMap, BTreeSet};

/// A sample: its name, its labels, its value.
pub type Sample = (String, BTreeMap<String, String>, f64);

/// The samples of a text, or the first rule that it breaks.
///
/// # Errors
/// Names the rule and the line.
pub fn check(text: &str) -> Result<Vec<Sample>, String> {
    if !text.ends_with('\n') {
        return Err("the last line has no end".to_owned());
    }
    let mut page = Page::default();
    for line in text.lines() {
        page.line(line).map_err(|why| format!("{why}: {line}"))?;
    }
    page.finish()
}

#[derive(Default)]
struct Page {
    help: BTreeSet<String>,
    types: BTreeMap<String, String>,
    /// Families in the order of their samples.
    families: Vec<String>,
    series: BTreeSet<String>,
    samples: Vec<Sample>,
}

impl Page {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            return match (words.next(), words.next(), words.next()) {
                (Some("HELP"), Some(name), Some(text)) if !text.is_empty() => {
                    new(self.help.insert(name.to_owned()), "a second HELP")
                }
                (Some("TYPE"), Some(name), Some("counter" | "gauge" | "histogram")) => {
                    let kind = comment.rsplit(' ').next().unwrap_or_default().to_owned();
                    new(self.types.insert(name.to_owned(), kind).is_none(), "a second TYPE")
                }
                _ => Err("neither HELP with a text nor TYPE with a known type".to_owned()),
            };
        }
        let (name, labels, value) = sample(line)?;
        let family = self.family(&name)?;
        if self.families.last() != Some(&family) {
            new(!self.families.contains(&family), "its family is in two places")?;
            self.families.push(family);
        }
        new(self.series.insert(format!("{name}{labels:?}")), "a series twice")?;
        self.samples.push((name, labels, value));
        Ok(())
    }

    /// The family of a sample, with its rules.
    fn family(&self, name: &str) -> Result<String, String> {
        let histogram = ["_bucket", "_sum", "_count"].iter().find_map(|end| {
            let family = name.strip_suffix(end)?;
            (self.types.get(family)? == "histogram").then(|| family.to_owned())
        });
        let family = histogram.unwrap_or_else(|| name.to_owned());
        let kind = self.types.get(&family).ok_or("no TYPE before it")?;
        new(self.help.contains(&family), "no HELP before it")?;
        new((kind == "counter") == family.ends_with("_total"), "counters alone end in _total")?;
        new(!family.contains(':') && !family.contains(|c: char| c.is_ascii_uppercase()), "not a name in snake_case")?;
        let units = ["ms", "us", "s", "sec", "kb", "mb", "bits", "percent", "minutes", "hours"];
        let last = family.trim_end_matches("_total").rsplit('_').next().unwrap_or_default();
        new(!units.contains(&last), "not a base unit: seconds, bytes, ratio")?;
        Ok(family)
    }

    fn finish(self) -> Result<Vec<Sample>, String> {
        let with_samples: BTreeSet<&String> = self.families.iter().collect();
        for (family, kind) in self.types.iter().filter(|(family, _)| with_samples.contains(family)) {
            let of_family = |end: &str| {
                let name = format!("{family}{end}");
                self.samples.iter().filter(move |(other, ..)| *other == name)
            };
            if kind != "histogram" {
                new(of_family("").all(|(_, labels, _)| !labels.contains_key("le")), "`le` of no histogram")?;
                continue;
            }
            let totals: f64 = of_family("_count").map(|(.., value)| value).sum();
            let all = of_family("_bucket").filter(|(_, labels, _)| labels.get("le").is_some_and(|le| le == "+Inf"));
            new((all.map(|(.., value)| value).sum::<f64>() - totals).abs() < 1e-9, "+Inf is not the count")?;
        }
        Ok(self.samples)
    }
}

fn new(holds: bool, why: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why.to_owned()) }
}

fn is_name(text: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    text.starts_with(is_first) && text.chars().all(|c| is_first(c) || c.is_ascii_digit())
}

fn sample(line: &str) -> Result<Sample, String> {
    let end = line.find(['{', ' ']).ok_or("no value")?;
    let (name, mut rest) = line.split_at(end);
    new(is_name(name), "not a name of a metric")?;
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (label, value) = rest.split_once("=\"").ok_or("a label without a value")?;
            new(is_name(label) && !label.contains(':'), "not a name of a label")?;
            let (value, after) = unquoted(value)?;
            new(labels.insert(label.to_owned(), value).is_none(), "a label twice")?;
            rest = after.strip_prefix(',').unwrap_or(after);
            new(rest.starts_with('}') || after.starts_with(','), "no comma between labels")?;
        }
        rest = &rest[1..];
    }
    let value = rest.strip_prefix(' ').ok_or("no blank before the value")?;
    let value = value.parse().map_err(|_| "not a number".to_owned())?;
    Ok((name.to_owned(), labels, value))
}

/// A label's value, and the text behind its quotation mark.
fn unquoted(text: &str) -> Result<(String, &str), String> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => match chars.next() {
                Some((_, '\\')) => value.push('\\'),
                Some((_, '"')) => value.push('"'),
                Some((_, 'n')) => value.push('\n'),
                _ => return Err("an escape that there is not".to_owned()),
            },
            c => value.push(c),
        }
    }
    Err("a value has no end".to_owned())
}

//! Turns text into experiments. The matrix is crossed on the parsed text, so every value keeps its
//! place in the file and an error can point at it.

use super::{Expectation, Experiment, Scenario, ScenarioError, Variant};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// More runs than this are a mistake, not an experiment.
const MAX_RUNS: usize = 10_000;

/// A file after the matrix has been taken out of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    about: String,
    #[serde(default)]
    columns: Vec<crate::figures::Name>,
    #[serde(default)]
    expect: Vec<Expectation>,
    // The scenario's own keys. Spelled out because `flatten` would lose the places in the file.
    #[serde(default)]
    cause: Option<String>,
    #[serde(default)]
    path: Option<super::PathSpec>,
    #[serde(default)]
    client: Option<super::HostSpec>,
    #[serde(default)]
    server: Option<super::HostSpec>,
    #[serde(default)]
    proxy: Option<super::ProxySpec>,
    #[serde(default)]
    cross: Option<super::CrossSpec>,
    #[serde(default)]
    work: Option<super::Work>,
    #[serde(default)]
    emulator: Option<super::EmulatorSpec>,
    #[serde(default)]
    snaplen: Option<super::Size>,
    #[serde(default)]
    sample_every: Option<super::Time>,
    #[serde(default)]
    timeout: Option<super::Time>,
    #[serde(default)]
    verify: Option<Vec<crate::figures::Claim>>,
}

impl Document {
    /// The common part of all runs of the file, without runs.
    fn header(&self, file: &str) -> Experiment {
        Experiment {
            name: self.name.clone().unwrap_or_else(|| stem(file)),
            title: self.title.clone(),
            about: self.about.trim().to_owned(),
            columns: self.columns.iter().map(|c| c.0.clone()).collect(),
            expect: self.expect.clone(),
            runs: Vec::new(),
        }
    }

    fn scenario(self) -> Scenario {
        let d = Scenario::default();
        Scenario {
            cause: self.cause.unwrap_or(d.cause),
            path: self.path.unwrap_or(d.path),
            client: self.client.unwrap_or(d.client),
            server: self.server.unwrap_or(d.server),
            proxy: self.proxy,
            cross: self.cross,
            work: self.work.unwrap_or(d.work),
            emulator: self.emulator.unwrap_or(d.emulator),
            snaplen: self.snaplen.unwrap_or(d.snaplen),
            sample_every: self.sample_every.unwrap_or(d.sample_every),
            timeout: self.timeout.unwrap_or(d.timeout),
            verify: self.verify.unwrap_or(d.verify),
        }
    }
}

type Table<'t> = DeTable<'t>;
type Node<'t> = Spanned<DeValue<'t>>;

/// One setting of a variant.
#[derive(Clone)]
struct Setting<'t> {
    key: String,
    /// The place of the key.
    span: Range<usize>,
    value: Node<'t>,
}

/// One key of the matrix.
struct Axis<'t> {
    key: String,
    /// The place of the key.
    span: Range<usize>,
    values: Vec<Node<'t>>,
}

/// One `[[case]]`; a file without any has one that sets nothing and has no name.
#[derive(Default)]
struct Case<'t> {
    name: Option<String>,
    settings: Vec<Setting<'t>>,
}

/// The file that is being read and the command line over it, for error messages.
struct Source<'t> {
    file: &'t str,
    text: &'t str,
    overrides: &'t [(String, String)],
}

impl<'t> Source<'t> {
    fn error(
        &self,
        span: Option<Range<usize>>,
        key: &str,
        what: impl Into<String>,
        allowed: impl Into<String>,
    ) -> ScenarioError {
        let (what, allowed) = (what.into(), allowed.into());
        match span.as_ref().and_then(|span| self.overridden(span.start)) {
            Some((key, value)) => command_line(key, value, what, allowed),
            None => ScenarioError::whole(self.file, what, allowed).at(key, self.text, span),
        }
    }

    /// The place of the value of the n-th override: after the text, one place for each.
    fn place(&self, nth: usize) -> Range<usize> {
        let start = self.text.len() + 1 + nth;
        start..start + 1
    }

    /// The override whose place this is.
    fn overridden(&self, at: usize) -> Option<&'t (String, String)> {
        self.overrides.get(at.checked_sub(self.text.len() + 1)?)
    }

    /// A value of the command line: TOML when it is TOML, else the bare word.
    fn override_value(&self, nth: usize, text: &'t str) -> Node<'t> {
        let value = DeValue::parse(text).map_or_else(|_| DeValue::String(Cow::Borrowed(text)), Spanned::into_inner);
        moved(value, &self.place(nth))
    }
}

/// Returns the same value with all its spans set to `place`.
fn moved<'t>(value: DeValue<'t>, place: &Range<usize>) -> Node<'t> {
    let value = match value {
        DeValue::Array(list) => DeValue::Array(list.into_iter().map(|item| moved(item.into_inner(), place)).collect()),
        DeValue::Table(table) => {
            let entry = |(key, value): (Spanned<_>, Node<'t>)| {
                (Spanned::new(place.clone(), key.into_inner()), moved(value.into_inner(), place))
            };
            DeValue::Table(table.into_iter().map(entry).collect())
        }
        plain => plain,
    };
    Spanned::new(place.clone(), value)
}

/// Reads an experiment. `file` is only for messages; `overrides` are `key=value` as on the command
/// line.
pub fn load(file: &str, text: &str, overrides: &[(String, String)]) -> Result<Experiment, ScenarioError> {
    let source = Source { file, text, overrides };
    let document = DeTable::parse(text).map_err(|e| from_toml(&source, &DeTable::new(), &e))?;
    let span = document.span();
    let mut base = document.into_inner();
    let matrix = take(&mut base, "matrix");
    let cases = take(&mut base, "case");
    for (nth, (key, value)) in overrides.iter().enumerate() {
        let set = set(&mut base, key, source.override_value(nth, value));
        set.map_err(|what| source.error(Some(source.place(nth)), key, what, ""))?;
    }
    let mut axes = axes(&source, matrix)?;
    let mut cases = cases_of(&source, cases)?;
    // The command line has the last word: over the file, its cases and its matrix.
    for (nth, (key, value)) in overrides.iter().enumerate() {
        for case in &mut cases {
            case.settings.retain(|setting| setting.key != *key);
        }
        for axis in axes.iter_mut().filter(|axis| axis.key == *key) {
            axis.values = vec![source.override_value(nth, value)];
        }
    }
    let count = axes.iter().map(|axis| axis.values.len()).product::<usize>().saturating_mul(cases.len().max(1));
    if count > MAX_RUNS {
        let what = format!("the matrix gives {count} runs");
        return Err(source.error(None, "matrix", what, format!("at most {MAX_RUNS}")));
    }
    let base = Base { source: &source, table: &base, span };
    let mut header: Option<Experiment> = None;
    let mut runs = Vec::with_capacity(count);
    for case in &cases {
        for combination in combinations(&axes) {
            let (named, run) = base.run(case, &combination)?;
            header.get_or_insert(named);
            runs.push(run);
        }
    }
    let mut experiment = header.ok_or_else(|| source.error(None, "case", "no run at all", "at least one [[case]]"))?;
    experiment.runs = runs;
    check_expectations(&source, base.table, &experiment)?;
    Ok(experiment)
}

/// A file whose matrix and cases have been taken out.
struct Base<'a, 't> {
    source: &'a Source<'t>,
    table: &'a Table<'t>,
    /// The span of the whole file.
    span: Range<usize>,
}

impl<'t> Base<'_, 't> {
    /// The name of the experiment, the settings of all its runs, and one run.
    fn run(&self, case: &Case<'t>, combination: &[Setting<'t>]) -> Result<(Experiment, Variant), ScenarioError> {
        let source = self.source;
        let mut table = self.table.clone();
        for Setting { key, span, value } in case.settings.iter().chain(combination) {
            set(&mut table, key, value.clone()).map_err(|what| source.error(Some(span.clone()), key, what, ""))?;
        }
        let document = Document::deserialize(toml::Deserializer::from(Spanned::new(self.span.clone(), table.clone())))
            .map_err(|e| from_toml(source, &table, &e))?;
        let header = document.header(source.file);
        let scenario = document.scenario();
        scenario.resolve().map_err(|(key, allowed)| {
            source.error(find(&table, &key), &key, "a value that is not possible", allowed)
        })?;
        let mut label: Vec<String> = case.name.iter().cloned().collect();
        let mut values: BTreeMap<String, String> =
            case.name.iter().map(|name| ("case".to_owned(), name.clone())).collect();
        for Setting { key, value, .. } in combination {
            let written = text_of(value.get_ref());
            label.push(format!("{key}={written}"));
            values.insert(key.clone(), written);
        }
        let label = if label.is_empty() { header.name.clone() } else { label.join(" ") };
        Ok((header, Variant { label, values, scenario }))
    }
}

/// An expectation that speaks of no run would never be printed: a misspelt key.
fn check_expectations(source: &Source<'_>, base: &Table<'_>, experiment: &Experiment) -> Result<(), ScenarioError> {
    for expectation in &experiment.expect {
        crate::figures::Name::check(&expectation.figure)
            .map_err(|what| source.error(find(base, "expect"), "expect.figure", what, crate::figures::allowed()))?;
        if !experiment.runs.iter().any(|run| run.is_meant(expectation)) && !experiment.runs.is_empty() {
            let what = format!("no run has {:?}", expectation.when);
            let labels: Vec<_> = experiment.runs.iter().take(20).map(|r| r.label.as_str()).collect();
            return Err(source.error(find(base, "expect"), "expect.when", what, labels.join(", ")));
        }
    }
    Ok(())
}

fn stem(file: &str) -> String {
    std::path::Path::new(file).file_stem().map_or_else(|| file.to_owned(), |s| s.to_string_lossy().into_owned())
}

/// An error in a value that was given as `KEY=VALUE`.
fn command_line(key: &str, value: &str, what: String, allowed: String) -> ScenarioError {
    let text = format!("{key}={value}");
    let value = key.len() + 1..text.len();
    ScenarioError::whole("the command line", what, allowed).at(key, &text, Some(value))
}

fn take<'t>(table: &mut Table<'t>, key: &str) -> Option<(Range<usize>, Node<'t>)> {
    let found = table.keys().find(|k| k.get_ref() == key)?.clone();
    let span = found.span();
    table.remove(&found).map(|value| (span, value))
}

/// Puts `value` at a dotted key, making tables on the way.
fn set<'t>(table: &mut Table<'t>, key: &str, value: Node<'t>) -> Result<(), String> {
    let (first, rest) = match key.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (key, None),
    };
    if first.is_empty() {
        return Err(format!("`{key}` is not a key"));
    }
    let existing = table.keys().find(|k| k.get_ref() == first).cloned();
    let Some(rest) = rest else {
        if let Some(existing) = existing {
            table.remove(&existing);
        }
        table.insert(Spanned::new(value.span(), Cow::Owned(first.to_owned())), value);
        return Ok(());
    };
    let name = existing.unwrap_or_else(|| Spanned::new(value.span(), Cow::Owned(first.to_owned())));
    let slot = table.entry(name).or_insert_with(|| Spanned::new(value.span(), DeValue::Table(DeTable::new())));
    match slot.get_mut() {
        DeValue::Table(inner) => set(inner, rest, value),
        _ => Err(format!("`{first}` is not a table, so it has no `{rest}`")),
    }
}

fn axes<'t>(source: &Source<'_>, matrix: Option<(Range<usize>, Node<'t>)>) -> Result<Vec<Axis<'t>>, ScenarioError> {
    const ALLOWED: &str = r#"dotted keys with lists of values: "path.rtt" = ["10ms", "100ms"]"#;
    let Some((span, node)) = matrix else { return Ok(Vec::new()) };
    let DeValue::Table(table) = node.into_inner() else {
        return Err(source.error(Some(span), "matrix", "not a table", ALLOWED));
    };
    let mut axes = Vec::new();
    for (key, value) in table {
        let span = key.span();
        let name = format!("matrix.{}", key.get_ref());
        match value.into_inner() {
            DeValue::Array(values) if !values.is_empty() => {
                let key = key.into_inner().into_owned();
                axes.push(Axis { key, span, values: values.into_iter().collect() });
            }
            DeValue::Array(_) => return Err(source.error(Some(span), &name, "an empty list", "at least one value")),
            _ => return Err(source.error(Some(span), &name, "not a list of values", ALLOWED)),
        }
    }
    // As in the file: the parser sorts keys by name.
    axes.sort_by_key(|axis: &Axis<'_>| axis.span.start);
    Ok(axes)
}

/// Every combination of the axes; the last axis changes fastest.
fn combinations<'t>(axes: &[Axis<'t>]) -> Vec<Vec<Setting<'t>>> {
    axes.iter().fold(vec![Vec::new()], |all, Axis { key, span, values }| {
        all.into_iter()
            .flat_map(|begun: Vec<Setting<'t>>| {
                values.iter().map(move |value| {
                    let mut next = begun.clone();
                    next.push(Setting { key: key.clone(), span: span.clone(), value: value.clone() });
                    next
                })
            })
            .collect()
    })
}

fn cases_of<'t>(source: &Source<'_>, cases: Option<(Range<usize>, Node<'t>)>) -> Result<Vec<Case<'t>>, ScenarioError> {
    const ALLOWED: &str = r#"[[case]] with a `name` and `set = { "path.rtt" = "100ms", … }`"#;
    let Some((span, node)) = cases else { return Ok(vec![Case::default()]) };
    let DeValue::Array(list) = node.into_inner() else {
        return Err(source.error(Some(span), "case", "not a list of cases", ALLOWED));
    };
    let mut all = Vec::new();
    for case in list {
        let place = case.span();
        let wrong = |place: Range<usize>, what: String| source.error(Some(place), "case", what, ALLOWED);
        let DeValue::Table(table) = case.into_inner() else { return Err(wrong(place, "not a table".into())) };
        let mut name = None;
        let mut settings = Vec::new();
        for (key, value) in table {
            let span = key.span();
            match (key.get_ref().as_ref(), value.into_inner()) {
                ("name", DeValue::String(text)) => name = Some(text.into_owned()),
                ("set", DeValue::Table(set)) => {
                    for (key, value) in set {
                        let (name, span) = (key.get_ref(), key.span());
                        if name.contains('.') {
                            settings.push(Setting { key: name.to_string(), span, value });
                        } else {
                            flatten(name, span, value, &mut settings);
                        }
                    }
                }
                (other, _) => return Err(wrong(span, format!("`{other}` is unknown or of another type"))),
            }
        }
        let Some(name) = name else { return Err(wrong(place, "a case without a name".into())) };
        if all.iter().any(|other: &Case<'_>| other.name.as_ref() == Some(&name)) {
            return Err(wrong(place, format!("a second case `{name}`")));
        }
        all.push(Case { name: Some(name), settings });
    }
    Ok(all)
}

/// A table under `set` is a set of keys below it, so that it is merged with the file's table and
/// does not replace it; a quoted key (`"path.down.loss" = { … }`) replaces.
fn flatten<'t>(key: &str, span: Range<usize>, value: Node<'t>, into: &mut Vec<Setting<'t>>) {
    let place = value.span();
    match value.into_inner() {
        DeValue::Table(table) if !table.is_empty() => {
            for (inner, value) in table {
                let name = format!("{key}.{}", inner.get_ref());
                flatten(&name, inner.span(), value, into);
            }
        }
        other => into.push(Setting { key: key.to_owned(), span, value: Spanned::new(place, other) }),
    }
}

/// A value as it stands in a label.
fn text_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(s) => s.to_string(),
        DeValue::Integer(i) => i.to_string(),
        DeValue::Float(x) => x.to_string(),
        DeValue::Boolean(b) => b.to_string(),
        DeValue::Datetime(d) => d.to_string(),
        DeValue::Array(list) => list.iter().map(|v| text_of(v.get_ref())).collect::<Vec<_>>().join("+"),
        DeValue::Table(table) => {
            let parts: Vec<_> =
                table.iter().map(|(k, v)| format!("{}:{}", k.get_ref(), text_of(v.get_ref()))).collect();
            parts.join("+")
        }
    }
}

/// The place of a dotted key: of its value, or of the nearest parent that is written down.
fn find(table: &Table<'_>, key: &str) -> Option<Range<usize>> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let (name, value) = table.iter().find(|(k, _)| k.get_ref() == first)?;
    let here = name.span();
    match (rest, value.get_ref()) {
        (Some(rest), DeValue::Table(inner)) => find(inner, rest).or(Some(here)),
        (_, DeValue::Table(_) | DeValue::Array(_)) => Some(here),
        _ => Some(value.span()),
    }
}

/// The dotted key that stands at a place.
fn key_at(table: &Table<'_>, at: usize) -> Option<String> {
    let within = |span: Range<usize>| span.start <= at && at < span.end.max(span.start + 1);
    for (name, value) in table {
        let inner = match value.get_ref() {
            DeValue::Table(inner) => key_at(inner, at),
            DeValue::Array(list) => list.iter().find_map(|item| match item.get_ref() {
                DeValue::Table(inner) => key_at(inner, at),
                _ => None,
            }),
            _ => None,
        };
        if let Some(inner) = inner {
            return Some(format!("{}.{inner}", name.get_ref()));
        }
        if within(name.span()) || within(value.span()) {
            return Some(name.get_ref().to_string());
        }
    }
    None
}

/// The parser's message, split into the error and the allowed values.
fn from_toml(source: &Source<'_>, table: &Table<'_>, error: &toml::de::Error) -> ScenarioError {
    let message = error.message();
    let (what, allowed) = match message.split_once(", expected ") {
        Some((what, allowed)) => (what, allowed),
        None => (message, ""),
    };
    let what = what.replacen("unknown field", "unknown key", 1).replacen("missing field", "missing key", 1);
    let allowed = allowed.strip_prefix("one of ").unwrap_or(allowed).to_owned();
    let what = match nearest(&what, &allowed) {
        Some(name) => format!("{what}: did you mean `{name}`?"),
        None => what,
    };
    let span = error.span().filter(|s| s.end > 0);
    let key = span.as_ref().and_then(|s| key_at(table, s.start)).unwrap_or_default();
    source.error(span, &key, what, allowed)
}

/// The allowed key that an unknown one was most likely meant to be: a third of its letters differ
/// at most.
fn nearest<'a>(what: &str, allowed: &'a str) -> Option<&'a str> {
    let unknown = what.strip_prefix("unknown key `")?.strip_suffix('`')?;
    let names = allowed.split(", ").map(|name| name.trim_matches('`'));
    let distance = |name: &&str| strsim::damerau_levenshtein(unknown, name);
    let name = names.min_by_key(distance)?;
    (distance(&name) * 3 <= unknown.chars().count().max(3)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_gets_the_nearest_allowed_one() {
        let allowed = "`rate`, `queue`, `delay`, `jitter`";
        assert_eq!(nearest("unknown key `rat`", allowed), Some("rate"));
        assert_eq!(nearest("unknown key `dealy`", allowed), Some("delay"));
        assert_eq!(nearest("unknown key `bandwidth`", allowed), None);
        assert_eq!(nearest("missing key `rate`", allowed), None);
    }
}

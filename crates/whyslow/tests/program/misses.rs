//! Lists of known errors: an error that is not on its list fails the test, and so does an entry
//! without an error.
//!
//! `MISSES=update` removes the fixed ones, and writes the tables in docs/accuracy.md. New ones are
//! entered by hand, with their mechanism.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Before each entry.
const ENTRY: &str = "[[miss]]\n";

/// Names another build of the program to judge.
pub const ANOTHER: &str = "WHYSLOW_BINARY";
/// Two tests write into docs/accuracy.md.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Whether the lists and the tables are to be written.
fn update() -> bool {
    std::env::var("MISSES").is_ok_and(|what| what == "update")
}

/// The misses that a list knows, with their mechanism.
fn known(text: &str) -> BTreeMap<String, String> {
    let file: serde_json::Value = toml::from_str(text).unwrap();
    let entries = file.get("miss").and_then(|entries| entries.as_array()).cloned().unwrap_or_default();
    let field = |entry: &serde_json::Value, name: &str| entry[name].as_str().unwrap().to_owned();
    let known: BTreeMap<_, _> = entries.iter().map(|entry| (field(entry, "what"), field(entry, "mechanism"))).collect();
    assert_eq!(known.len(), entries.len(), "a miss is listed twice");
    assert!(known.values().all(|mechanism| mechanism.len() > 10), "a miss has no mechanism");
    known
}

/// A list without some of its entries.
fn without(text: &str, mended: &[&String]) -> String {
    let (head, entries) = text.split_once(ENTRY).unwrap_or((text, ""));
    let mut left = head.trim_end().to_owned();
    for entry in entries.split(ENTRY).filter(|entry| !entry.is_empty()) {
        let what = known(&format!("{ENTRY}{entry}")).into_keys().next().unwrap();
        if !mended.contains(&&what) {
            write!(left, "\n\n{ENTRY}{}", entry.trim_end()).unwrap();
        }
    }
    left + "\n"
}

/// Compares judgements, by name, with the list of known misses next to the tests. `judged` has the
/// error, or `None`.
///
/// # Panics
/// Where the list is not exact, with all that differs.
#[track_caller]
pub fn settle(list: &str, judged: &BTreeMap<String, Option<String>>) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/program").join(list);
    let text = fs::read_to_string(&path).unwrap();
    let differs = compare(&text, judged, &path);
    assert!(differs.is_empty(), "{list} is not exact:\n{differs}");
}

/// Compares a table with the one in docs/accuracy.md between `<!-- NAME -->` and `<!-- /NAME -->`,
/// or writes it there. Another build of the program has another table.
#[track_caller]
pub fn table(name: &str, table: &str) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/accuracy.md");
    let text = fs::read_to_string(&page).unwrap();
    let [start, end] = [format!("<!-- {name} -->\n"), format!("<!-- /{name} -->\n")];
    let (before, rest) = text.split_once(&start).unwrap();
    let (written, after) = rest.split_once(&end).unwrap();
    if update() {
        fs::write(&page, format!("{before}{start}{table}{end}{after}")).unwrap();
    } else if std::env::var_os(ANOTHER).is_none() {
        assert_eq!(written, table, "MISSES=update writes the table {name} into docs/accuracy.md");
    }
}

fn compare(text: &str, judged: &BTreeMap<String, Option<String>>, path: &Path) -> String {
    let known = known(text);
    let (mut differs, mut still, mut mended) = (String::new(), String::new(), Vec::new());
    for (what, wrong) in judged {
        match (wrong, known.get(what)) {
            (Some(wrong), None) => writeln!(differs, "  wrong: {what}: {wrong}").unwrap(),
            (Some(wrong), Some(mechanism)) => writeln!(still, "  {what}: {wrong} ({mechanism})").unwrap(),
            (None, Some(_)) => mended.push(what),
            (None, None) => {}
        }
    }
    println!("wrong, as the list knows:\n{still}");
    for what in known.keys().filter(|what| !judged.contains_key(*what)) {
        writeln!(differs, "  never judged: {what}").unwrap();
    }
    if update() {
        fs::write(path, without(text, &mended)).unwrap();
    } else {
        for what in mended {
            writeln!(differs, "  right now, MISSES=update takes it off: {what}").unwrap();
        }
    }
    differs
}

#[test]
fn a_list_must_be_exact() {
    let list = "# Known.\n\n[[miss]]\nwhat = \"a\"\nmechanism = \"idle counts as lost\"\n\n[[miss]]\nwhat = \"b\"\nmechanism = \"idle counts as lost\"\n";
    let judged = |wrong: &[(&str, bool)]| {
        wrong.iter().map(|(what, wrong)| ((*what).to_owned(), wrong.then(|| "application".to_owned()))).collect()
    };
    let differs = |wrong: &[(&str, bool)]| compare(list, &judged(wrong), Path::new("/nowhere"));
    assert_eq!(differs(&[("a", true), ("b", true), ("c", false)]), "");
    assert_eq!(differs(&[("a", true), ("b", true), ("c", true)]), "  wrong: c: application\n");
    assert_eq!(differs(&[("a", true)]), "  never judged: b\n");
    if !update() {
        let mended = differs(&[("a", true), ("b", false)]);
        assert_eq!(mended, "  right now, MISSES=update takes it off: b\n");
    }
    assert_eq!(
        without(list, &[&"a".to_owned()]),
        "# Known.\n\n[[miss]]\nwhat = \"b\"\nmechanism = \"idle counts as lost\"\n"
    );
    assert_eq!(without(list, &[]), list);
}

//! Hints about an input that cannot be read.

use crate::cause_pages;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use whyslow_io::Error;

/// Similarity above which a name is suggested.
const SIMILARITY_MIN: f64 = 0.85;
/// Names of a folder that are compared.
const MOST_NAMES: usize = 10_000;

/// The error with a hint, where there is one.
pub fn with_hint(error: &Error) -> String {
    match hint(error) {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

/// The same for any error of a command.
pub fn of(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| cause.downcast_ref::<Error>()).and_then(hint)
}

fn hint(error: &Error) -> Option<String> {
    match error {
        Error::Open { name, cause } => match cause.kind() {
            ErrorKind::NotFound => Some(missing(name)),
            ErrorKind::PermissionDenied => {
                Some("read it as its owner or as root, or ask for a copy that you may read".to_owned())
            }
            _ => None,
        },
        Error::Empty { name } if name == "-" => {
            Some("name a capture file, or check the program that writes to the pipe".to_owned())
        }
        Error::Compressed { .. } => Some("it is damaged: fetch or copy it again".to_owned()),
        Error::Empty { .. } => Some("check that the capture was not stopped before the first packet came".to_owned()),
        _ => None,
    }
}

/// The probable meaning of the name of a file that does not exist.
fn missing(name: &str) -> String {
    if cause_pages::is_cause(name) {
        return format!("`whyslow causes {name}` explains this cause; a capture is a file");
    }
    if matches!(name, "version" | "help") {
        return format!("did you mean `whyslow --{name}`?");
    }
    if name.contains(['*', '?']) {
        return "no file matches this pattern".to_owned();
    }
    if let Some((file, number)) = name.rsplit_once('#').filter(|(file, _)| Path::new(file).exists()) {
        return format!(
            "a connection of {file} is chosen by --connection {}",
            number.split('.').next().unwrap_or(number)
        );
    }
    if let Some(near) = near_file(Path::new(name)) {
        return format!("did you mean {near}?");
    }
    if name.starts_with("www.") || name.contains(".com/") {
        return format!("a URL begins with its scheme: https://{name}");
    }
    "check the name; `whyslow --help` lists the kinds of input".to_owned()
}

/// The file of the same folder whose name is most like this one.
fn near_file(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let names = fs::read_dir(folder).ok()?.take(MOST_NAMES).flatten();
    let near = nearest(path.file_name()?.to_str()?, names.filter_map(|entry| entry.file_name().into_string().ok()))?;
    Some(path.with_file_name(near).display().to_string())
}

fn nearest(name: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let likeness = names.map(|other| (strsim::jaro_winkler(name, &other), other));
    let nearest = likeness.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1)));
    nearest.filter(|(likeness, _)| *likeness > SIMILARITY_MIN).map(|(_, name)| name)
}

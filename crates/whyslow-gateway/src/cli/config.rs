//! The file of settings: each option of the command line under its name.
//!
//! A value is read as the command line reads it, so that both accept the same values with the same
//! errors. Paths are relative to the file's folder.

use super::options::{Clients, KeyFiles, Operations, Storage, Way};
use super::place::Place;
use anyhow::{Context, anyhow, bail};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, Command, FromArgMatches};
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use whyslow_gateway::keys::SecretSource;

/// All settings of a file, and of arguments.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub storage: Storage,
    #[command(flatten)]
    pub keys: KeyFiles,
    #[command(flatten)]
    pub clients: Clients,
    #[command(flatten)]
    pub way: Way,
    #[command(flatten)]
    pub operations: Operations,
}

/// The name of the file that `init` writes.
pub(super) const NAME: &str = "gateway.toml";

/// The folder of keys and settings if none is named.
pub(super) fn usual_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(base.join("whyslow/gateway"))
}

impl Options {
    /// Uses these settings, and `there`'s for those that are missing.
    pub(super) fn or(self, there: Self) -> Self {
        Self {
            storage: self.storage.or(there.storage),
            keys: self.keys.or(there.keys),
            clients: self.clients.or(there.clients),
            way: self.way.or(there.way),
            operations: self.operations.or(there.operations),
        }
    }

    /// Adds the settings of a file: the named one, or the usual one if it is there.
    ///
    /// # Errors
    /// If it cannot be read, or has a setting that is not valid.
    pub(super) fn with_file(self, named: Option<&Path>) -> anyhow::Result<Self> {
        match named {
            Some(file) => Ok(self.or(read(file)?)),
            None if self.keys.epochs.is_empty() => match usual_folder().map(|folder| folder.join(NAME)) {
                Some(file) if file.exists() => Ok(self.or(read(&file)?)),
                _ => Ok(self),
            },
            None => Ok(self),
        }
    }
}

/// Reads a file of settings.
///
/// # Errors
/// As [`Options::with_file`].
pub(super) fn read(file: &Path) -> anyhow::Result<Options> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| name.to_string())?;
    let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    // The message does not repeat the lines: they may contain a secret by mistake.
    let table = DeTable::parse(&text).map_err(|error| {
        let at = error.span().map_or(1, |span| line(span.start));
        anyhow!("{name}:{at}: {}", error.message())
    })?;
    // The command line reads the variables.
    let command = Options::augment_args(Command::new("settings").no_binary_name(true));
    let command = command.mut_args(|arg| arg.env(None::<&str>));
    let mut arguments = Vec::new();
    for (key, value) in table.get_ref() {
        let at = line(key.span().start);
        let place = || format!("{name}:{at}: {}", key.get_ref());
        let Some(arg) = command.get_arguments().find(|arg| arg.get_long() == Some(key.get_ref())) else {
            bail!("{}: there is no such setting{}", place(), near(key.get_ref(), &command));
        };
        let given = values(value.get_ref(), arg).with_context(place)?;
        let given: Vec<String> = given.into_iter().map(|value| format!("--{}={value}", key.get_ref())).collect();
        command.clone().try_get_matches_from(&given).map_err(|error| anyhow!("{}: {}", place(), why(&error)))?;
        arguments.extend(given);
    }
    let matches = command.try_get_matches_from(arguments).map_err(|error| anyhow!("{name}: {}", why(&error)))?;
    let mut options = Options::from_arg_matches(&matches).map_err(|error| anyhow!("{name}: {}", why(&error)))?;
    options.relative_to(file.parent().unwrap_or_else(|| Path::new("")));
    Ok(options)
}

/// The value of a setting, as arguments.
fn values(value: &DeValue<'_>, arg: &Arg) -> anyhow::Result<Vec<String>> {
    let is_list = matches!(arg.get_action(), clap::ArgAction::Append);
    match value {
        DeValue::String(text) => Ok(vec![text.to_string()]),
        DeValue::Boolean(value) => Ok(vec![value.to_string()]),
        DeValue::Integer(value) => Ok(vec![value.to_string()]),
        DeValue::Array(all) if is_list => {
            let lists = all.iter().map(|one| values(one.get_ref(), arg)).collect::<anyhow::Result<Vec<_>>>()?;
            Ok(lists.concat())
        }
        DeValue::Table(all) if is_list => {
            let pairs = |(name, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
                let pair = |text: &str| format!("{}={text}", name.get_ref());
                match value.get_ref() {
                    DeValue::String(text) => Ok(vec![pair(text)]),
                    DeValue::Array(all) => {
                        let texts = all.iter().map(|one| one.get_ref().as_str().map(pair)).collect::<Option<_>>();
                        texts.with_context(|| format!("texts are wanted behind `{}`", name.get_ref()))
                    }
                    _ => Err(anyhow!("a text is wanted behind `{}`", name.get_ref())),
                }
            };
            Ok(all.iter().map(pairs).collect::<anyhow::Result<Vec<_>>>()?.concat())
        }
        DeValue::Array(_) | DeValue::Table(_) => bail!("one value is wanted, and no list or table"),
        DeValue::Float(_) | DeValue::Datetime(_) => bail!("a text is wanted, as \"512MiB\""),
    }
}

fn near(key: &str, command: &Command) -> String {
    let names = command.get_arguments().filter_map(Arg::get_long);
    let near = names.map(|name| (strsim::jaro_winkler(key, name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    near.filter(|(likeness, _)| *likeness > 0.8).map_or_else(String::new, |(_, name)| format!("; `{name}` perhaps?"))
}

/// Clap's reason why a value is wrong, without the argument and its usage.
fn why(error: &clap::Error) -> String {
    let value = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value.clone(),
        _ => String::new(),
    };
    let source = std::error::Error::source(error).map(ToString::to_string);
    match (error.kind(), error.get(ContextKind::ValidValue)) {
        (_, Some(ContextValue::Strings(all))) if !all.is_empty() => {
            format!("`{value}` is none of {}", all.join(", "))
        }
        (ErrorKind::ArgumentConflict, _) => "it is there more than once".to_owned(),
        _ => source.unwrap_or_else(|| format!("`{value}` makes no sense here")),
    }
}

impl Options {
    fn relative_to(&mut self, folder: &Path) {
        let of_folder = |path: &mut PathBuf| *path = folder.join(&*path);
        let operations = &mut self.operations;
        let clients = &mut self.clients;
        let paths = [&mut clients.tls_cert, &mut clients.tls_key, &mut operations.log, &mut operations.keep];
        paths.into_iter().flatten().chain(&mut self.keys.epochs).for_each(of_folder);
        if let Some(Place::Folder(path)) = &mut self.storage.store {
            of_folder(path);
        }
        let keys = self.clients.access_keys.iter_mut().map(|key| &mut key.source);
        for source in self.keys.identities.iter_mut().chain(keys) {
            if let Ok(SecretSource::File(path)) = &mut source.0 {
                of_folder(path);
            }
        }
    }
}

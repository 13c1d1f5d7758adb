//! [`SecretSource`]: where a secret is read from. Never from an argument, which every user of the
//! machine can list.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::str::FromStr;
use zeroize::Zeroizing;

/// More than any identity file has.
const LONGEST: usize = 65_536;

/// The place of a secret: `file:PATH`, `env:NAME`, or `command:PROGRAM AND ARGUMENTS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// In a file.
    File(PathBuf),
    /// In a variable of the environment.
    Environment(String),
    /// The output of a program, started by the shell: `pass show gateway`, `age -d -i …`.
    Command(String),
}

/// A text that names no source. It is not repeated, as it may be the secret itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a secret comes from file:PATH, env:NAME, or command:PROGRAM")]
pub struct SourceSyntax;

/// Why a secret cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The variable is not set, or is empty.
    #[error("the variable {0} is not set, or empty")]
    Unset(String),
    /// The program cannot be started.
    #[error("`{command}`: {error}")]
    Start {
        /// Which program.
        command: String,
        /// The system's error.
        error: io::Error,
    },
    /// The program failed.
    #[error("`{command}` failed: {status}")]
    Failed {
        /// Which program.
        command: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// It is not text.
    #[error("{0}: not UTF-8")]
    NotText(SecretSource),
    /// It is far too long.
    #[error("{0}: more than 64 KiB, which is no secret")]
    TooLong(SecretSource),
}

impl FromStr for SecretSource {
    type Err = SourceSyntax;

    fn from_str(text: &str) -> Result<Self, SourceSyntax> {
        match text.split_once(':') {
            Some((_, "")) | None => Err(SourceSyntax),
            Some(("file", path)) => Ok(Self::File(path.into())),
            Some(("env", name)) => Ok(Self::Environment(name.to_owned())),
            Some(("command", command)) => Ok(Self::Command(command.to_owned())),
            Some(_) => Err(SourceSyntax),
        }
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Environment(name) => write!(f, "env:{name}"),
            Self::Command(command) => write!(f, "command:{command}"),
        }
    }
}

impl SecretSource {
    /// Reads it. A program inherits stderr and the terminal, so that it can ask.
    ///
    /// # Errors
    /// If it is absent, not text, or longer than 64 KiB; if a program fails.
    pub fn read(&self) -> Result<Zeroizing<String>, SourceError> {
        let bytes = match self {
            Self::File(path) => read_file(path).map_err(|error| SourceError::File { path: path.clone(), error })?,
            Self::Environment(name) => {
                let value = std::env::var_os(name).filter(|value| !value.is_empty());
                Zeroizing::new(value.ok_or_else(|| SourceError::Unset(name.clone()))?.into_encoded_bytes())
            }
            Self::Command(command) => run(command)?,
        };
        if bytes.len() > LONGEST {
            return Err(SourceError::TooLong(self.clone()));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| SourceError::NotText(self.clone()))?;
        Ok(Zeroizing::new(text.to_owned()))
    }
}

fn read_file(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    read_some(&mut File::open(path)?)
}

/// One byte more than is allowed at most. The room is taken once: a buffer that grows would leave
/// copies behind.
fn read_some(from: &mut impl Read) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(LONGEST + 1));
    from.take(LONGEST as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn run(command: &str) -> Result<Zeroizing<Vec<u8>>, SourceError> {
    let failed = |error| SourceError::Start { command: command.to_owned(), error };
    let mut child = Command::new("sh").arg("-c").arg(command).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut stdout = child.stdout.take().expect("it is piped");
    let printed = read_some(&mut stdout);
    // A program that prints on and on gets a broken pipe.
    drop(stdout);
    let status = child.wait().map_err(failed)?;
    let printed = printed.map_err(failed)?;
    if status.success() || printed.len() > LONGEST {
        Ok(printed)
    } else {
        Err(SourceError::Failed { command: command.to_owned(), status })
    }
}

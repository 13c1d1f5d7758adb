//! [`Opening`]: what to open, and which two transfers to compare.

use crate::Proof;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;
use whyslow_core::tls::KeyLog;
use whyslow_diagnosis::compare::{self, ChosenTransfer, NoSuchTransfer, TransferName};
use whyslow_io::{ExplainOptions, Input, Reading, key_log_of};

/// Captures to open.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// Groups are explained independently; the inputs of a group may continue each other.
    pub groups: Vec<Vec<Input>>,
    /// Names for inputs that the page shows instead of their paths.
    pub names: BTreeMap<String, String>,
    /// Two transfers to compare.
    pub compare: Option<[SoughtTransfer; 2]>,
    /// The connection or transfer to show at first.
    pub show: TransferName,
    /// The probe that made the packets: its document (`whyslow-probe/1`) without its analysis.
    pub probe: Option<Box<RawValue>>,
    /// The result of a proof of a transfer in these captures.
    pub proof: Option<Proof>,
    /// Secrets of TLS connections, in addition to those in the captures themselves.
    pub keys: Option<Arc<KeyLog>>,
}

/// A transfer to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoughtTransfer {
    /// The group of the numbers; `None` for numbers over all groups.
    pub group: Option<usize>,
    /// Its name.
    pub which: TransferName,
}

/// A transfer that was found: its connection, numbered over all groups, and its place in it, from
/// 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TransferSpot(pub u64, pub usize);

impl Opening {
    /// Inputs that are explained together.
    pub fn of(inputs: Vec<Input>) -> Self {
        Self { groups: vec![inputs], ..Self::default() }
    }

    /// The groups, as they are read.
    pub fn groups(&self) -> Vec<&[Input]> {
        self.groups.iter().map(Vec::as_slice).collect()
    }

    /// How they are explained.
    pub fn options(&self) -> ExplainOptions {
        ExplainOptions { keys: self.keys.clone(), ..ExplainOptions::default() }
    }

    /// The same, where a key log in a group with captures is used as one. A key log alone stays an
    /// input.
    ///
    /// # Errors
    /// When an input cannot be opened or read.
    pub fn with_key_logs(mut self) -> std::io::Result<Self> {
        let mut keys: Option<KeyLog> = None;
        for group in &mut self.groups {
            let (mut captures, mut logs) = (Vec::new(), Vec::new());
            for input in &*group {
                match key_log_of(input)? {
                    Some(log) => logs.push(log),
                    None => captures.push(input.clone()),
                }
            }
            if !captures.is_empty() {
                logs.into_iter().for_each(|log| keys.get_or_insert_default().merge(log));
                *group = captures;
            }
        }
        if let Some(mut keys) = keys {
            if let Some(given) = self.keys.as_deref() {
                keys.merge(given.clone());
            }
            self.keys = Some(Arc::new(keys));
        }
        Ok(self)
    }

    /// The name of an input.
    pub fn name(&self, path: &str) -> String {
        self.names.get(path).cloned().unwrap_or_else(|| path.to_owned())
    }

    /// A message about inputs, with their names in place of their paths.
    pub fn with_names(&self, message: &str) -> String {
        self.names.iter().fold(message.to_owned(), |text, (path, name)| text.replace(path, name))
    }

    /// The names of all inputs.
    pub fn title(&self) -> String {
        self.groups.iter().flatten().map(|input| self.name(&input.name())).collect::<Vec<_>>().join(", ")
    }
}

impl SoughtTransfer {
    /// Finds it in a reading.
    ///
    /// # Errors
    /// When it does not exist.
    pub fn find(self, reading: &Reading) -> Result<ChosenTransfer<'_>, NoSuchTransfer> {
        let (captures, before) = match self.group {
            Some(group) => (reading.groups().get(group).cloned().unwrap_or_default(), reading.before(group)),
            None => (0..usize::MAX, 0),
        };
        compare::choose_in(&reading.analysis, captures, before, self.which)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::reading;

    #[test]
    fn a_group_has_its_own_numbers() {
        let reading = reading(&[&["new-connection-each-time-server"], &["slow-start-client"]]);
        let find = |group, connection, transfer| {
            let which = TransferName { connection, transfer };
            SoughtTransfer { group, which }.find(&reading).map(|chosen| (chosen.connection.id, chosen.number))
        };
        assert_eq!(find(Some(1), Some(1), None), Ok((11, 2)));
        assert_eq!(find(None, Some(11), Some(1)), Ok((11, 1)));
        assert_eq!(find(Some(0), Some(3), None).unwrap().0, 3);
        assert_eq!(find(Some(1), None, None), Ok((11, 2)));
        assert_eq!(find(Some(1), Some(2), None), Err(NoSuchTransfer::Connection { id: 2, held: 1 }));
        assert_eq!(find(Some(0), Some(11), None), Err(NoSuchTransfer::Connection { id: 11, held: 10 }));
    }
}

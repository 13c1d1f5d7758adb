//! [`Opening`]: what is to be opened, and which two transfers are to be set side by side.

use serde::Serialize;
use std::collections::BTreeMap;
use whyslow_core::compare::{self, ChosenTransfer, NoSuchTransfer, TransferName};
use whyslow_io::{Input, Reading};

/// Captures to be opened.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// Each is explained as if the others were not there; the inputs of one may continue each
    /// other.
    pub groups: Vec<Vec<Input>>,
    /// What inputs are called on the page where it is not their path.
    pub names: BTreeMap<String, String>,
    /// Two transfers to be set side by side.
    pub compare: Option<[SoughtTransfer; 2]>,
}

/// A transfer that is sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoughtTransfer {
    /// In this group, by its own numbers; none: in all, numbered on over them.
    pub group: Option<usize>,
    /// Which.
    pub which: TransferName,
}

/// A transfer that is there: its connection, numbered over all groups, and its place in it, from 1
/// on.
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

    /// What an input is called.
    pub fn name(&self, path: &str) -> String {
        self.names.get(path).cloned().unwrap_or_else(|| path.to_owned())
    }

    /// A message about inputs, with what these are called in place of their paths.
    pub fn with_names(&self, message: &str) -> String {
        self.names.iter().fold(message.to_owned(), |told, (path, name)| told.replace(path, name))
    }

    /// All inputs, as they are called.
    pub(crate) fn title(&self) -> String {
        self.groups.iter().flatten().map(|input| self.name(&input.name())).collect::<Vec<_>>().join(", ")
    }
}

impl SoughtTransfer {
    /// Finds it in what was read.
    ///
    /// # Errors
    /// When it is not there.
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

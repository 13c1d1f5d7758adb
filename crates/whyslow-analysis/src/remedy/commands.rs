//! Commands that are printed to be pasted, a file a platform.

pub(super) mod freebsd;
pub(super) mod linux;
pub(super) mod macos;
pub(super) mod windows;

use super::step::{Form, Step};
use crate::types::Platform;

impl Step {
    /// Its form on a platform.
    pub fn form(&self, platform: Platform) -> Form {
        match platform {
            Platform::Linux => linux::form(self),
            Platform::Windows => windows::form(self),
            Platform::Macos => macos::form(self),
            Platform::Freebsd => freebsd::form(self),
        }
    }
}

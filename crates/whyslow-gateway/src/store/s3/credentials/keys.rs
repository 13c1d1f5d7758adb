//! [`Keys`]: an access key and its secret.

use std::fmt;
use std::time::{Duration, SystemTime};
use zeroize::Zeroizing;

/// An access key and its secret, which may end.
#[derive(Clone)]
pub(in crate::store::s3) struct Keys {
    pub(super) access_key: String,
    secret: Zeroizing<String>,
    token: Option<Zeroizing<String>>,
    ends: Option<SystemTime>,
}

impl Keys {
    pub(in crate::store::s3) fn new(
        access_key: impl Into<String>,
        secret: impl Into<String>,
        token: Option<String>,
    ) -> Self {
        let secret = Zeroizing::new(secret.into());
        Self { access_key: access_key.into(), secret, token: token.map(Zeroizing::new), ends: None }
    }

    pub(super) fn until(self, ends: Option<SystemTime>) -> Self {
        Self { ends, ..self }
    }

    /// Whether they end within this time.
    pub(super) fn end_within(&self, time: Duration) -> bool {
        self.ends.is_some_and(|ends| ends <= SystemTime::now() + time)
    }

    /// For the signer.
    pub(in crate::store::s3) fn identity(&self) -> aws_credential_types::Credentials {
        let token = self.token.as_ref().map(|token| token.to_string());
        aws_credential_types::Credentials::new(&*self.access_key, &**self.secret, token, None, "whyslow")
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("access_key", &self.access_key).field("ends", &self.ends).finish_non_exhaustive()
    }
}

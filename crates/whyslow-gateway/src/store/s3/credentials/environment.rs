//! [`Environment`]: the variables, as the AWS tools name them.

use super::error::CredentialsError;
use super::profile::Profile;
use std::path::PathBuf;

type Variables<'a> = &'a (dyn Fn(&str) -> Option<String> + Send + Sync);

/// Variables; one that is empty is not set.
pub(super) struct Environment<'a>(Variables<'a>);

impl<'a> Environment<'a> {
    pub(super) fn new(variables: Variables<'a>) -> Self {
        Self(variables)
    }

    pub(super) fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    fn shared(&self, variable: &str, name: &str) -> PathBuf {
        let home = || PathBuf::from(self.get("HOME").unwrap_or_default()).join(".aws").join(name);
        self.get(variable).map_or_else(home, PathBuf::from)
    }

    /// The chosen profile's name, when one was chosen.
    pub(super) fn profile_name(&self) -> Option<String> {
        self.get("AWS_PROFILE").or_else(|| self.get("AWS_DEFAULT_PROFILE"))
    }

    pub(super) fn credentials_file(&self) -> PathBuf {
        self.shared("AWS_SHARED_CREDENTIALS_FILE", "credentials")
    }

    /// The chosen profile, of both shared files.
    pub(super) fn profile(&self) -> Result<Profile, CredentialsError> {
        let name = self.profile_name().unwrap_or_else(|| "default".to_owned());
        Profile::read(&self.credentials_file(), &self.shared("AWS_CONFIG_FILE", "config"), &name)
    }

    pub(super) fn region(&self) -> Result<Option<String>, CredentialsError> {
        match self.get("AWS_REGION").or_else(|| self.get("AWS_DEFAULT_REGION")) {
            Some(region) => Ok(Some(region)),
            None => Ok(self.profile()?.get("region")),
        }
    }

    /// The address of STS: the setting, or the region's, or the global one.
    pub(super) fn sts(&self) -> Result<String, CredentialsError> {
        let region = self.region()?;
        Ok(self.get("AWS_ENDPOINT_URL_STS").unwrap_or_else(|| match region {
            Some(region) if region.starts_with("cn-") => format!("https://sts.{region}.amazonaws.com.cn"),
            Some(region) => format!("https://sts.{region}.amazonaws.com"),
            None => "https://sts.amazonaws.com".to_owned(),
        }))
    }
}

//! [`Source`]: where keys come from.

use super::environment::Environment;
use super::error::CredentialsError;
use super::fetch;
use super::keys::Keys;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

/// Addresses of the container services ECS and EKS (their documentation of the full URI).
const CONTAINER_HOSTS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"];
const INSTANCE: &str = "http://169.254.169.254";

/// The source of keys.
#[derive(Debug)]
pub(super) enum Source {
    /// They are here.
    Fixed(Keys),
    /// STS, for a token of an identity provider.
    WebIdentity { sts: String, role: String, token_file: PathBuf, session: String },
    /// The agent of a container service.
    Container { url: String, token: Token },
    /// The metadata service of an EC2 instance.
    Instance { url: String, none: (PathBuf, String) },
    /// A program that prints them.
    Process(String),
}

/// The settings in a container's environment.
#[derive(Debug)]
pub(super) enum Token {
    None,
    /// In a variable, which does not change.
    Fixed(zeroize::Zeroizing<String>),
    /// In a file, which does.
    File(PathBuf),
}

impl Source {
    /// The first in the order of the AWS tools. No source is asked by this.
    pub(super) fn find(environment: &Environment<'_>) -> Result<Self, CredentialsError> {
        if let Some(keys) = Self::variables(environment)? {
            return Ok(keys);
        }
        if let Some(file) = environment.get("AWS_WEB_IDENTITY_TOKEN_FILE") {
            let missing = || CredentialsError::Half {
                place: "the environment".to_owned(),
                there: "AWS_WEB_IDENTITY_TOKEN_FILE",
                missing: "AWS_ROLE_ARN",
            };
            let role = environment.get("AWS_ROLE_ARN").ok_or_else(missing)?;
            return Self::web_identity(environment, role, file, environment.get("AWS_ROLE_SESSION_NAME"));
        }
        if let Some(source) = Self::profile(environment)? {
            return Ok(source);
        }
        if let Some(name) = environment.profile_name() {
            return Err(CredentialsError::NoProfile { file: environment.credentials_file(), profile: name });
        }
        if let Some(source) = Self::container(environment)? {
            return Ok(source);
        }
        let none = (environment.credentials_file(), "default".to_owned());
        if environment.get("AWS_EC2_METADATA_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            let why = "AWS_EC2_METADATA_DISABLED is set".to_owned();
            return Err(CredentialsError::None { file: none.0, profile: none.1, why });
        }
        let url = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT").unwrap_or_else(|| INSTANCE.to_owned());
        Ok(Self::Instance { url, none })
    }

    fn variables(environment: &Environment<'_>) -> Result<Option<Self>, CredentialsError> {
        let half = |there, missing| CredentialsError::Half { place: "the environment".to_owned(), there, missing };
        match (environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")) {
            (Some(key), Some(secret)) => {
                Ok(Some(Self::Fixed(Keys::new(key, secret, environment.get("AWS_SESSION_TOKEN")))))
            }
            (Some(_), None) => Err(half("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")),
            (None, Some(_)) => Err(half("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID")),
            (None, None) => Ok(None),
        }
    }

    fn web_identity(
        environment: &Environment<'_>,
        role: String,
        file: String,
        session: Option<String>,
    ) -> Result<Self, CredentialsError> {
        let session = session.unwrap_or_else(|| "whyslow-gateway".to_owned());
        Ok(Self::WebIdentity { sts: environment.sts()?, role, token_file: file.into(), session })
    }

    fn profile(environment: &Environment<'_>) -> Result<Option<Self>, CredentialsError> {
        let profile = environment.profile()?;
        let half = |there, missing| CredentialsError::Half { place: profile.place(), there, missing };
        match (profile.get("aws_access_key_id"), profile.get("aws_secret_access_key")) {
            (Some(key), Some(secret)) => {
                return Ok(Some(Self::Fixed(Keys::new(key, secret, profile.get("aws_session_token")))));
            }
            (Some(_), None) => return Err(half("aws_access_key_id", "aws_secret_access_key")),
            (None, Some(_)) => return Err(half("aws_secret_access_key", "aws_access_key_id")),
            (None, None) => {}
        }
        match (profile.get("role_arn"), profile.get("web_identity_token_file")) {
            (Some(role), Some(file)) => {
                return Self::web_identity(environment, role, file, profile.get("role_session_name")).map(Some);
            }
            (None, Some(_)) => return Err(half("web_identity_token_file", "role_arn")),
            _ => {}
        }
        if let Some(command) = profile.get("credential_process") {
            return Ok(Some(Self::Process(command)));
        }
        for key in ["role_arn", "sso_session", "sso_start_url"] {
            if profile.get(key).is_some() {
                return Err(CredentialsError::Unsupported { place: profile.place(), key });
            }
        }
        Ok(None)
    }

    fn container(environment: &Environment<'_>) -> Result<Option<Self>, CredentialsError> {
        const FULL: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
        let url = match (environment.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), environment.get(FULL)) {
            (Some(path), _) => format!("http://{}{path}", CONTAINER_HOSTS[0]),
            (None, Some(url)) => url,
            (None, None) => return Ok(None),
        };
        let wrong = |why: String| CredentialsError::Address { place: FULL, why };
        let uri: http::Uri = url.parse().map_err(|_| wrong("it is no URL".to_owned()))?;
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let is_loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        if uri.scheme_str() != Some("https") && !is_loopback && !CONTAINER_HOSTS.contains(&host) {
            return Err(wrong(format!("over http only this host and {} are asked", CONTAINER_HOSTS.join(", "))));
        }
        let token = match environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            Some(file) => Token::File(file.into()),
            None => match environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN") {
                Some(token) => Token::Fixed(token.into()),
                None => Token::None,
            },
        };
        Ok(Some(Self::Container { url, token }))
    }

    /// Asks for keys.
    pub(super) async fn fetch(&self) -> Result<Keys, CredentialsError> {
        let result = match self {
            Self::Fixed(keys) => return Ok(keys.clone()),
            Self::WebIdentity { sts, role, token_file, session } => {
                fetch::web_identity(sts, role, token_file, session).await
            }
            Self::Container { url, token } => fetch::container(url, token).await,
            Self::Instance { url, none: (file, profile) } => {
                let none = |why| CredentialsError::None { file: file.clone(), profile: profile.clone(), why };
                return fetch::instance(url).await.map_err(none);
            }
            Self::Process(command) => fetch::process(command).await,
        };
        result.map_err(|why| CredentialsError::Refused { place: self.to_string(), why })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(keys) => write!(f, "access key {}", keys.access_key),
            Self::WebIdentity { sts, role, .. } => write!(f, "{sts} (role {role})"),
            Self::Container { url, .. } => write!(f, "the container service, {url}"),
            Self::Instance { url, .. } => write!(f, "the instance's metadata service, {url}"),
            Self::Process(_) => f.write_str("the profile's credential_process"),
        }
    }
}

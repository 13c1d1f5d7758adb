//! Asking for keys over HTTP, or of a program.

use super::keys::Keys;
use super::source::Token;
use crate::pool::{Body, Endpoint, Pool, PoolOptions, Safety, Timeouts, Warmth};
use crate::store::s3::xml;
use bytes::Bytes;
use http::{HeaderValue, Method, Request};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use zeroize::Zeroizing;

/// They are near, or not there at all.
const TIMEOUTS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));
/// STS may be far.
const STS_TIMEOUTS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(20));
const LONGEST: usize = 64 << 10;
/// The most that IMDSv2 allows, seconds.
const TOKEN_LIFE: &str = "21600";
/// Programs may ask a person.
const PROGRAM: Duration = Duration::from_secs(60);

/// As containers, instances and programs write them.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    code: Option<String>,
    message: Option<String>,
    access_key_id: Option<String>,
    secret_access_key: Option<Zeroizing<String>>,
    /// Containers and instances.
    token: Option<String>,
    /// Programs.
    session_token: Option<String>,
    expiration: Option<String>,
}

#[derive(Deserialize)]
struct StsAnswer {
    #[serde(rename = "AssumeRoleWithWebIdentityResult")]
    result: StsResult,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct StsResult {
    credentials: StsKeys,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct StsKeys {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    expiration: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct StsError {
    error: xml::ErrorAnswer,
}

/// `AssumeRoleWithWebIdentity` of STS (API version 2011-06-15). The token may be a new one each
/// time.
pub(super) async fn web_identity(sts: &str, role: &str, file: &Path, session: &str) -> Result<Keys, String> {
    let token = read_token(file)?;
    let mut form = Zeroizing::new("Action=AssumeRoleWithWebIdentity&Version=2011-06-15".to_owned());
    for (name, value) in [("RoleArn", role), ("RoleSessionName", session), ("WebIdentityToken", &token)] {
        form.push_str(&format!("&{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
    }
    let server = Server::new(sts, STS_TIMEOUTS)?;
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let (status, text) = server.ask(Method::POST, "/", &[kind], form.as_bytes()).await?;
    if !(200..300).contains(&status) {
        let told = xml::read::<StsError>(&text).ok().map(|answer| answer.error);
        let told = told.map(|error| format!(", {}: {}", error.code, error.message));
        return Err(format!("HTTP {status}{}", told.unwrap_or_default()));
    }
    let StsAnswer { result: StsResult { credentials: keys } } =
        xml::read(&text).map_err(|error| format!("its answer cannot be read: {error}"))?;
    let ends = Some(instant(&keys.expiration)?);
    Ok(Keys::new(keys.access_key_id, keys.secret_access_key, Some(keys.session_token)).until(ends))
}

/// The agent of ECS or EKS.
pub(super) async fn container(url: &str, token: &Token) -> Result<Keys, String> {
    let uri: http::Uri = url.parse().map_err(|_| "the URL cannot be read".to_owned())?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let base = format!("{}://{}", uri.scheme_str().unwrap_or("http"), uri.authority().map_or("", |one| one.as_str()));
    let token = match token {
        Token::None => None,
        Token::Fixed(token) => Some(token.clone()),
        Token::File(file) => Some(read_token(file)?),
    };
    let headers: Vec<_> = token.iter().map(|token| ("authorization", token.as_str())).collect();
    let (status, text) = Server::new(&base, TIMEOUTS)?.ask(Method::GET, path, &headers, b"").await?;
    if status == 200 { keys(&text) } else { Err(format!("HTTP {status}")) }
}

/// The metadata service of an instance, by session tokens (IMDSv2) alone: a forged request through
/// this program cannot get one.
pub(super) async fn instance(url: &str) -> Result<Keys, String> {
    const ROLES: &str = "/latest/meta-data/iam/security-credentials/";
    let server = Server::new(url, TIMEOUTS)?;
    let life = ("x-aws-ec2-metadata-token-ttl-seconds", TOKEN_LIFE);
    let (status, token) = server.ask(Method::PUT, "/latest/api/token", &[life], b"").await?;
    if status != 200 {
        return Err(format!("it gives no session token: HTTP {status}"));
    }
    let token = Zeroizing::new(String::from_utf8_lossy(&token).trim().to_owned());
    let headers = [("x-aws-ec2-metadata-token", token.as_str())];
    let (status, roles) = server.ask(Method::GET, ROLES, &headers, b"").await?;
    let roles = String::from_utf8_lossy(&roles).into_owned();
    let role = roles.lines().next().map(str::trim).filter(|role| status == 200 && !role.is_empty());
    let role = role.ok_or_else(|| format!("the instance has no role: HTTP {status}"))?;
    let role = utf8_percent_encode(role, NON_ALPHANUMERIC);
    let (status, text) = server.ask(Method::GET, &format!("{ROLES}{role}"), &headers, b"").await?;
    if status == 200 { keys(&text) } else { Err(format!("HTTP {status}")) }
}

/// A program that prints keys as JSON, as profiles name it.
pub(super) async fn process(command: &str) -> Result<Keys, String> {
    let mut program = std::process::Command::new("sh");
    program.arg("-c").arg(command).stdin(Stdio::null());
    let run = tokio::task::spawn_blocking(move || program.stderr(Stdio::inherit()).output());
    let output = tokio::time::timeout(PROGRAM, run).await.map_err(|_| format!("not within {} s", PROGRAM.as_secs()))?;
    let output = output.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(output.status.to_string());
    }
    keys(&Zeroizing::new(output.stdout))
}

fn read_token(file: &Path) -> Result<Zeroizing<String>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(Zeroizing::new(Zeroizing::new(text).trim().to_owned()))
}

/// Serde's message about a wrong value would repeat it.
fn keys(json: &[u8]) -> Result<Keys, String> {
    let answer: Answer = serde_json::from_slice(json).map_err(|_| "its answer is no JSON with keys".to_owned())?;
    if answer.code.as_deref().is_some_and(|code| code != "Success") {
        let code = answer.code.unwrap_or_default();
        return Err(format!("{code} {}", answer.message.unwrap_or_default()));
    }
    let (Some(key), Some(secret)) = (answer.access_key_id, answer.secret_access_key) else {
        return Err("its answer has no AccessKeyId or no SecretAccessKey".to_owned());
    };
    let ends = answer.expiration.as_deref().map(instant).transpose()?;
    Ok(Keys::new(key, secret.as_str(), answer.token.or(answer.session_token)).until(ends))
}

fn instant(text: &str) -> Result<SystemTime, String> {
    let at = OffsetDateTime::parse(text, &Rfc3339).map_err(|error| format!("its Expiration: {error}"))?;
    Ok(at.into())
}

/// A server that is asked a few things.
struct Server {
    pool: Pool,
    authority: String,
}

impl Server {
    fn new(url: &str, (connect, answer): (Duration, Duration)) -> Result<Self, String> {
        let endpoint = Endpoint::parse(url).map_err(|error| error.to_string())?;
        let authority = endpoint.authority();
        let options = PoolOptions {
            max_connections: 1,
            timeouts: Timeouts { connect, answer, ..Timeouts::default() },
            warmth: Warmth { connections: 0, ..Warmth::default() },
            ..PoolOptions::default()
        };
        Ok(Self { pool: Pool::new(endpoint, options).map_err(|error| error.to_string())?, authority })
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: &[u8],
    ) -> Result<(u16, Bytes), String> {
        let mut request = Request::builder().method(method.clone()).uri(path).header("host", &self.authority);
        for (name, value) in headers {
            let mut value = HeaderValue::from_str(value).map_err(|_| format!("{name}: it has line ends"))?;
            value.set_sensitive(true);
            request = request.header(*name, value);
        }
        if method != Method::GET {
            request = request.header("content-length", body.len());
        }
        let request = request.body(()).map_err(|error| error.to_string())?;
        let body = Body::from(Bytes::copy_from_slice(body));
        let mut answer = self.pool.send(request, &body, Safety::Idempotent).await.map_err(|error| error.to_string())?;
        let text = answer.read(LONGEST).await.map_err(|error| error.to_string())?;
        Ok((answer.status().as_u16(), text))
    }
}

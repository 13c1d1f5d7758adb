use super::*;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

type Requests = Arc<Mutex<Vec<String>>>;

/// Answers each request by its first line and number; notes the requests.
async fn server(answer: impl Fn(&str, usize) -> (u16, String) + Send + 'static) -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Requests::default();
    let noted = Arc::clone(&requests);
    tokio::spawn(async move {
        let count = AtomicUsize::new(0);
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut text = Vec::new();
            while !is_whole(&text) {
                let mut piece = [0; 4096];
                match stream.read(&mut piece).await {
                    Ok(read @ 1..) => text.extend_from_slice(&piece[..read]),
                    _ => break,
                }
            }
            let text = String::from_utf8(text).unwrap();
            let line = text.lines().next().unwrap_or_default().to_owned();
            noted.lock().unwrap().push(text);
            let (status, body) = answer(&line, count.fetch_add(1, Ordering::Relaxed));
            let length = body.len();
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
            let _ = stream.write_all(head.as_bytes()).await;
        }
    });
    (url, requests)
}

fn is_whole(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    body.len() >= length.unwrap_or(0)
}

fn in_seconds(seconds: i64) -> String {
    let at = time::OffsetDateTime::now_utc() + time::Duration::seconds(seconds);
    at.format(&time::format_description::well_known::Rfc3339).unwrap()
}

fn json(key: &str, ends: &str) -> String {
    format!(r#"{{"Code":"Success","AccessKeyId":"{key}","SecretAccessKey":"hush","Token":"t","Expiration":"{ends}"}}"#)
}

/// Variables, with the shared files in an empty folder unless they name others.
async fn find(folder: &TempDir, variables: &[(&str, &str)]) -> Result<Credentials, CredentialsError> {
    let mut all: HashMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    all.entry("HOME".to_owned()).or_insert_with(|| folder.path().display().to_string());
    all.entry("AWS_EC2_METADATA_DISABLED".to_owned()).or_insert_with(|| "true".to_owned());
    Credentials::find_in(&move |name| all.get(name).cloned()).await
}

fn write(folder: &TempDir, name: &str, text: &str) -> String {
    let file = folder.path().join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

async fn key(credentials: &Credentials) -> String {
    credentials.keys().await.unwrap().access_key
}

#[tokio::test]
async fn profiles_are_read_as_the_tools_of_aws_do() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[default]\n# x\naws_access_key_id = A\naws_secret_access_key=hush\n[half]\naws_access_key_id=B\n";
    write(&folder, ".aws/credentials", text);
    let config = "[profile other]\naws_access_key_id = C\naws_secret_access_key = hush\nregion = eu-west-1\n\
                  s3 =\n  addressing_style = path\n[profile sso]\nsso_session = x\n\
                  [profile program]\ncredential_process = echo '{\"AccessKeyId\":\"P\",\"SecretAccessKey\":\"hush\"}'\n";
    write(&folder, ".aws/config", config);
    let found = find(&folder, &[]).await.unwrap();
    assert_eq!(key(&found).await, "A");
    assert!(!format!("{found:?}").contains("hush"));
    let of = async |profile| find(&folder, &[("AWS_PROFILE", profile)]).await;
    assert_eq!(key(&of("other").await.unwrap()).await, "C");
    assert_eq!(key(&of("program").await.unwrap()).await, "P");
    let half = of("half").await.unwrap_err().to_string();
    assert!(half.contains("[half]") && half.contains("without aws_secret_access_key"), "{half}");
    assert!(matches!(of("sso").await, Err(CredentialsError::Unsupported { key: "sso_session", .. })));
    assert!(matches!(of("none").await, Err(CredentialsError::NoProfile { .. })));
    let variables = HashMap::from([("HOME", folder.path().display().to_string()), ("AWS_PROFILE", "other".to_owned())]);
    let region = Environment::new(&|name| variables.get(name).cloned()).region();
    assert_eq!(region, Ok(Some("eu-west-1".to_owned())));
}

#[tokio::test]
async fn variables_come_first_and_halves_are_named() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, ".aws/credentials", "[default]\naws_access_key_id = A\naws_secret_access_key=hush\n");
    let both = [("AWS_ACCESS_KEY_ID", "E"), ("AWS_SECRET_ACCESS_KEY", "hush")];
    assert_eq!(key(&find(&folder, &both).await.unwrap()).await, "E");
    assert!(matches!(find(&folder, &both[..1]).await, Err(CredentialsError::Half { .. })));
    let role = find(&folder, &[("AWS_WEB_IDENTITY_TOKEN_FILE", "x")]).await.unwrap_err().to_string();
    assert!(role.contains("without AWS_ROLE_ARN"), "{role}");
    let none = find(&tempfile::tempdir().unwrap(), &[]).await.unwrap_err().to_string();
    assert!(none.contains("AWS_ACCESS_KEY_ID") && none.contains("[default]"), "{none}");
}

const STS: &str = r#"<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Audience>x</Audience><Credentials><SessionToken>t</SessionToken>
<SecretAccessKey>hush</SecretAccessKey><Expiration>ENDS</Expiration><AccessKeyId>W</AccessKeyId></Credentials>
</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"#;

#[tokio::test]
async fn a_web_identity_is_exchanged_at_sts() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(&folder, "token", "a+token/\n");
    let (url, requests) = server(|_, _| (200, STS.replace("ENDS", &in_seconds(3600)))).await;
    let role = "arn:aws:iam::1:role/x";
    let variables = [("AWS_WEB_IDENTITY_TOKEN_FILE", &*file), ("AWS_ROLE_ARN", role), ("AWS_ENDPOINT_URL_STS", &url)];
    let found = find(&folder, &variables).await.unwrap();
    assert_eq!((key(&found).await, key(&found).await), ("W".to_owned(), "W".to_owned()));
    let requests = requests.lock().unwrap();
    assert_eq!(requests.len(), 1, "keys are asked for once");
    assert!(requests[0].contains("WebIdentityToken=a%2Btoken%2F") && requests[0].contains("RoleArn=arn%3Aaws"));
}

#[tokio::test]
async fn refusal_of_sts_has_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(&folder, "token", "t");
    let error = "<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code><Message>too old</Message></Error>\
                 </ErrorResponse>";
    let (url, _) = server(move |_, _| (400, error.to_owned())).await;
    let variables = [("AWS_WEB_IDENTITY_TOKEN_FILE", &*file), ("AWS_ROLE_ARN", "r"), ("AWS_ENDPOINT_URL_STS", &url)];
    let refused = find(&folder, &variables).await.unwrap_err().to_string();
    assert!(refused.contains("HTTP 400, ExpiredToken: too old"), "{refused}");
}

#[tokio::test]
async fn a_container_shows_the_token_of_the_moment() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(&folder, "token", "first");
    let (url, requests) = server(|_, count| (200, json(&format!("C{count}"), &in_seconds(5)))).await;
    let url = format!("{url}/v1/credentials?x=1");
    let variables = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*url), ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &file)];
    let found = find(&folder, &variables).await.unwrap();
    std::fs::write(Path::new(&file), "second").unwrap();
    // They end in 5 s, which is too late for a request: others are asked for.
    assert_eq!(key(&found).await, "C1");
    let requests = requests.lock().unwrap().clone();
    assert!(requests[0].starts_with("GET /v1/credentials?x=1 ") && requests[0].contains("authorization: first"));
    assert!(requests[1].contains("authorization: second"));
    let far = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.org/x")];
    assert!(matches!(find(&folder, &far).await, Err(CredentialsError::Address { .. })));
}

#[tokio::test]
async fn an_instance_is_asked_with_a_session_token() {
    let folder = tempfile::tempdir().unwrap();
    let (url, requests) = server(|line, _| match line.split(' ').nth(1) {
        Some("/latest/api/token") => (200, "session".to_owned()),
        Some("/latest/meta-data/iam/security-credentials/") => (200, "role\n".to_owned()),
        Some("/latest/meta-data/iam/security-credentials/role") => (200, json("I", &in_seconds(3600))),
        _ => (404, String::new()),
    })
    .await;
    let variables = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", &*url), ("AWS_EC2_METADATA_DISABLED", "false")];
    let found = find(&folder, &variables).await.unwrap();
    assert_eq!(key(&found).await, "I");
    let requests = requests.lock().unwrap();
    assert!(requests[0].starts_with("PUT ") && requests[0].contains("token-ttl-seconds: 21600"));
    assert!(requests[1..].iter().all(|request| request.contains("x-aws-ec2-metadata-token: session")));
}

#[tokio::test]
async fn keys_that_end_soon_are_asked_for_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let ends = |count| if count == 0 { 120 } else { 3600 };
    let (url, requests) = server(move |_, count| (200, json(&format!("C{count}"), &in_seconds(ends(count))))).await;
    let found = find(&folder, &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", &url)]).await.unwrap();
    assert_eq!(key(&found).await, "C0", "no request waits for the next ones");
    for _ in 0..1000 {
        if key(&found).await == "C1" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!((key(&found).await, requests.lock().unwrap().len()), ("C1".to_owned(), 2));
}

#[tokio::test]
async fn who_failed_is_left_alone_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let answer = |count| if count == 0 { (200, json("C", &in_seconds(5))) } else { (500, String::new()) };
    let (url, requests) = server(move |_, count| answer(count)).await;
    let found = find(&folder, &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", &url)]).await.unwrap();
    let refused = found.keys().await.unwrap_err();
    assert!(matches!(&refused, CredentialsError::Refused { why, .. } if why == "HTTP 500"), "{refused}");
    assert!(matches!(found.keys().await, Err(CredentialsError::Paused { .. })));
    assert_eq!(requests.lock().unwrap().len(), 2);
}

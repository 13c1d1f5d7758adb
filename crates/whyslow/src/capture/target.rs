//! [`Target`]: where to capture.

/// Where to capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// This machine.
    Local,
    /// A machine that ssh reaches.
    Ssh {
        /// As ssh takes it: a host, or `user@host`.
        host: String,
        port: Option<u16>,
    },
    /// A container of Docker, or of Podman.
    Container { program: &'static str, name: String },
    /// A pod of Kubernetes.
    Pod { namespace: Option<String>, pod: String, container: Option<String> },
}

impl Target {
    /// Reads `local`, `HOST`, `ssh://…`, `docker://…`, `podman://…` and `k8s://…`.
    ///
    /// # Errors
    /// If a name is missing, or looks like an option.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        match text.split_once("://") {
            None if text == "local" => Ok(Self::Local),
            None => Ok(Self::Ssh { host: name(text, "@.-_:%")?, port: None }),
            Some(("ssh", rest)) => ssh(rest),
            Some(("docker", rest)) => Ok(Self::Container { program: "docker", name: name(rest, ".-_")? }),
            Some(("podman", rest)) => Ok(Self::Container { program: "podman", name: name(rest, ".-_")? }),
            Some(("k8s" | "kubernetes", rest)) => pod(rest),
            Some((scheme, _)) => {
                Err(format!("{scheme}:// is no place to capture: ssh://, docker://, podman:// and k8s:// are"))
            }
        }
    }
}

/// A name of letters, digits and some other characters. It reaches other programs as an argument,
/// where a dash in front would make it an option.
fn name(text: &str, others: &str) -> Result<String, String> {
    let is_known = |c: char| c.is_alphanumeric() || others.contains(c);
    if text.is_empty() || text.starts_with('-') || text.contains("@-") || !text.chars().all(is_known) {
        return Err(format!("{text:?} is no name of a host, a container or a pod"));
    }
    Ok(text.to_owned())
}

/// `USER@HOST:PORT`, `[2001:db8::1]:22`.
fn ssh(rest: &str) -> Result<Target, String> {
    let rest = rest.trim_end_matches('/');
    let (user, place) = rest.rsplit_once('@').map_or((None, rest), |(user, place)| (Some(user), place));
    let (host, port) = match place.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((host, after)) => (host, after.strip_prefix(':')),
        None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    let port = port.map(|port| port.parse::<u16>().ok().filter(|port| *port > 0).ok_or(format!("{port:?} is no port")));
    let host = name(host, ".-_:%")?;
    let host = match user {
        Some(user) => format!("{}@{host}", name(user, ".-_")?),
        None => host,
    };
    Ok(Target::Ssh { host, port: port.transpose()? })
}

/// `POD`, `NAMESPACE/POD`, `NAMESPACE/POD/CONTAINER`.
fn pod(rest: &str) -> Result<Target, String> {
    let parts: Vec<&str> = rest.split('/').collect();
    let read = |text: &str| name(text, ".-_");
    match parts[..] {
        [pod] => Ok(Target::Pod { namespace: None, pod: read(pod)?, container: None }),
        [namespace, pod] => Ok(Target::Pod { namespace: Some(read(namespace)?), pod: read(pod)?, container: None }),
        [namespace, pod, container] => {
            Ok(Target::Pod { namespace: Some(read(namespace)?), pod: read(pod)?, container: Some(read(container)?) })
        }
        _ => Err(format!("{rest:?} is no pod: k8s://NAMESPACE/POD/CONTAINER")),
    }
}

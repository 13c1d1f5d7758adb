//! Pods of Kubernetes: which one a process runs in, by its cgroup and the kubelet's files.
//!
//! The cgroup has the pod's UID and the container's id. The kubelet keeps a folder of logs for each
//! pod, `/var/log/pods/NAMESPACE_NAME_UID`, and a link for each container,
//! `/var/log/containers/NAME_NAMESPACE_CONTAINER-ID.log`, whatever the runtime: no socket of a
//! runtime and no API server is asked.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Entries that are read of a folder: more than nodes have, as a kubelet runs 110 pods by default.
const MOST: usize = 20_000;
/// Where the kubelet's files are; and where a container sees them that shares the machine's PIDs.
const ROOTS: [&str; 2] = ["/var/log", "/proc/1/root/var/log"];

/// The pod that a process runs in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pod {
    /// Its UID; of a static pod the hash of its configuration.
    pub uid: String,
    /// Its namespace, if the kubelet's files can be read.
    pub namespace: Option<String>,
    /// Its name, if the kubelet's files can be read.
    pub name: Option<String>,
    /// The container's name in the pod, if the kubelet's files can be read.
    pub container: Option<String>,
}

/// The kubelet's files, which are read when the first pod is met.
#[derive(Debug)]
pub(super) struct Pods {
    roots: Vec<PathBuf>,
    names: Option<Names>,
}

impl Default for Pods {
    fn default() -> Self {
        Self { roots: ROOTS.map(PathBuf::from).into(), names: None }
    }
}

/// Names by UIDs and ids.
#[derive(Debug, Default)]
struct Names {
    /// Namespace and name of a pod by its UID.
    pods: HashMap<String, (String, String)>,
    /// A container's name by its id.
    containers: HashMap<String, String>,
}

impl Pods {
    #[cfg(test)]
    fn at(root: &Path) -> Self {
        Self { roots: vec![root.to_owned()], names: None }
    }

    /// The pod of a cgroup's path (`/proc/PID/cgroup`); `None` if it is not of a pod.
    pub(super) fn of(&mut self, cgroup: &str) -> Option<Pod> {
        let uid = uid(cgroup)?;
        let roots = &self.roots;
        let names = self.names.get_or_insert_with(|| Names::read(roots));
        let (namespace, name) = names.pods.get(&uid).cloned().unzip();
        let container = id(cgroup).and_then(|id| names.containers.get(id).cloned());
        Some(Pod { uid, namespace, name, container })
    }
}

impl Names {
    /// Reads the first root that has pods.
    fn read(roots: &[PathBuf]) -> Self {
        let found = roots.iter().map(|root| Self::of_root(root));
        found.into_iter().find(|names| !names.pods.is_empty()).unwrap_or_default()
    }

    fn of_root(root: &Path) -> Self {
        let mut names = Self::default();
        for entry in entries(&root.join("pods")) {
            if let Some((namespace, name, uid)) = pod_folder(&entry) {
                names.pods.insert(uid.to_owned(), (namespace.to_owned(), name.to_owned()));
            }
        }
        for entry in entries(&root.join("containers")) {
            if let Some((name, id)) = container_link(&entry) {
                names.containers.insert(id.to_owned(), name.to_owned());
            }
        }
        names
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

/// Namespace, name and UID of a folder of logs. The first two are names of DNS, and have no `_`.
fn pod_folder(name: &str) -> Option<(&str, &str, &str)> {
    let mut parts = name.split('_');
    let found = (parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then_some(found)
}

/// The name of a container, and its id, from the name of the link to its log.
fn container_link(name: &str) -> Option<(&str, &str)> {
    let (names, id) = name.strip_suffix(".log")?.rsplit_once('-')?;
    let container = names.split('_').nth(2)?;
    is_id(id).then_some((container, id))
}

/// The UID of the pod in a cgroup's path: `…-podUID.slice` where systemd makes the groups, which
/// writes `_` for `-`; else `podUID`. A path that is seen from another cgroup namespace may begin
/// with it.
pub(super) fn uid(cgroup: &str) -> Option<String> {
    cgroup.split('/').rev().find_map(|part| {
        let slice = part.split(':').next()?;
        let name = slice.strip_suffix(".slice").unwrap_or(slice);
        let uid = name.rsplit_once("-pod").map(|(_, uid)| uid).or_else(|| name.strip_prefix("pod"))?;
        let uid = uid.replace('_', "-");
        is_uid(&uid).then_some(uid)
    })
}

/// A UUID (RFC 9562), or the 32 digits of a static pod.
fn is_uid(uid: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_hexdigit();
    match uid.len() {
        32 => uid.bytes().all(is_digit),
        36 => uid.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => is_digit(byte),
        }),
        _ => false,
    }
}

/// The id of the container in a cgroup's path, 64 digits.
fn id(cgroup: &str) -> Option<&str> {
    cgroup.split('/').rev().find_map(|part| {
        let name = part.rsplit(':').next().unwrap_or(part);
        let name = name.strip_suffix(".scope").unwrap_or(name);
        let id = name.rsplit('-').next().unwrap_or(name);
        is_id(id).then_some(id)
    })
}

fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs::{create_dir_all, write};

    const ID: &str = "4f2a09c1be77d0a1b2c3d4e5f60718293a4b5c6d7e8f90010203040506070809";
    const UID: &str = "0e3b2a4c-9f1d-4b7e-8c6a-5d4f3e2b1a09";
    const STATIC: &str = "c4ca4238a0b923820dcc509a6f75849b";

    /// As the kubelet 1.31 lays them out with containerd.
    fn kubelet() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for folder in
            [format!("shop_checkout-7d9f-x2x_{UID}/web"), format!("kube-system_etcd-node1_{STATIC}/etcd"), "x".into()]
        {
            create_dir_all(root.path().join("pods").join(folder)).unwrap();
        }
        create_dir_all(root.path().join("containers")).unwrap();
        for file in [format!("checkout-7d9f-x2x_shop_web-{ID}.log"), "web-1.log".into(), "x".into()] {
            write(root.path().join("containers").join(file), "").unwrap();
        }
        root
    }

    #[test]
    fn a_process_of_a_pod_gets_the_names_of_the_kubelet() {
        let root = kubelet();
        let dashed = UID.replace('-', "_");
        let expected = Pod {
            uid: UID.to_owned(),
            namespace: Some("shop".to_owned()),
            name: Some("checkout-7d9f-x2x".to_owned()),
            container: Some("web".to_owned()),
        };
        for cgroup in [
            format!(
                "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{dashed}.slice/cri-containerd-{ID}.scope"
            ),
            format!("/kubepods.slice/kubepods-pod{dashed}.slice/crio-{ID}.scope"),
            format!("/kubepods/besteffort/pod{UID}/{ID}"),
            format!("/system.slice/containerd.service/kubepods-burstable-pod{dashed}.slice:cri-containerd:{ID}"),
            format!("/kubelet.slice/kubelet-kubepods-pod{dashed}.slice/docker-{ID}.scope"),
            format!("/../../pod{UID}/{ID}"),
            format!("/kubepods/pod{UID}/{ID}/init.scope"),
        ] {
            assert_eq!(Pods::at(root.path()).of(&cgroup), Some(expected.clone()), "{cgroup}");
        }
    }

    #[test]
    fn a_pod_without_the_files_of_the_kubelet_keeps_its_uid() {
        let root = kubelet();
        let mut pods = Pods::at(root.path());
        let found = pods.of(&format!("/kubepods/pod{STATIC}/{ID}")).unwrap();
        assert_eq!((found.name.as_deref(), found.container.as_deref()), (Some("etcd-node1"), Some("web")));
        let elsewhere = tempfile::tempdir().unwrap();
        let found = Pods::at(elsewhere.path()).of(&format!("/kubepods/pod{UID}/{ID}")).unwrap();
        assert_eq!(found, Pod { uid: UID.to_owned(), namespace: None, name: None, container: None });
    }

    #[test]
    fn other_groups_are_not_pods() {
        let mut pods = Pods::at(Path::new("/nonexistent"));
        for cgroup in [
            "/",
            "",
            "/system.slice/nginx.service",
            "/user.slice/podman-1.scope",
            "/machine.slice/libpod-4f2a.scope",
            "/kubepods/podshort/x",
            "/pod0e3b2a4c-9f1d-4b7e-8c6a-5d4f3e2b1a0z",
        ] {
            assert_eq!(pods.of(cgroup), None, "{cgroup}");
        }
        assert!(pods.names.is_none(), "no file is read for them");
    }
}

#![allow(clippy::unwrap_used)]
use super::*;
use proptest::prelude::*;

const ID: &str = "4f2a09c1be77d0a1b2c3d4e5f60718293a4b5c6d7e8f90010203040506070809";

#[test]
fn containers_are_named_by_runtime() {
    let named = |path: &str| container(&path.replace("ID", ID));
    for (path, runtime) in [
        ("/system.slice/docker-ID.scope", "docker"),
        ("/docker/ID", "docker"),
        ("/docker/ID/init.scope", "docker"),
        (
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-ID.scope",
            "containerd",
        ),
        ("/system.slice/kubepods-besteffort-pod1.slice:cri-containerd:ID", "containerd"),
        ("/kubepods/besteffort/pod9f/ID", "containerd"),
        // From another cgroup namespace.
        ("/../../pod0e3b2a4c-9f1d-4b7e-8c6a-5d4f3e2b1a09/ID", "containerd"),
        ("/kubepods.slice/kubepods-pod1.slice/crio-ID.scope", "cri-o"),
        ("/machine.slice/libpod-ID.scope/container", "podman"),
        ("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope", "podman"),
    ] {
        assert_eq!(named(path), Some(format!("{runtime} 4f2a09c1be77")), "{path}");
    }
    assert_eq!(named("/lxc.payload.web/init.scope"), Some("lxc web".to_owned()));
    assert_eq!(named("/lxc/web"), Some("lxc web".to_owned()));
    assert_eq!(named("/machine.slice/machine-web\\x2d1.scope/payload"), Some("machine web-1".to_owned()));
    for path in ["/", "", "/system.slice/nginx.service", "/docker/short", "/machine.slice/libpod-conmon-ID.scope"] {
        assert_eq!(named(path), None, "{path}");
    }
}

#[test]
fn units_are_the_innermost() {
    assert_eq!(unit("/system.slice/nginx.service"), Some("nginx.service".to_owned()));
    assert_eq!(unit("/user.slice/user-0.slice/session-4.scope"), Some("session-4.scope".to_owned()));
    assert_eq!((unit("/"), unit("/user.slice")), (None, None));
}

#[test]
fn both_hierarchies_are_found() {
    let text = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:1 - cgroup cgroup rw,cpu,cpuacct\n\
                33 31 0:30 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n\
                41 31 0:38 /a\\040b /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    let cgroups = parse_mounts(text);
    let mount = |root: &str, point: &str| Some(Mount { root: root.to_owned(), point: point.into() });
    assert_eq!(cgroups.cpu, mount("/", "/sys/fs/cgroup/cpu,cpuacct"));
    assert_eq!(cgroups.unified, mount("/a b", "/sys/fs/cgroup/unified"));
}

/// `ip netns exec` gives a process a new /sys, without the hierarchies that were mounted below it.
#[test]
fn hidden_hierarchies_are_read_through_a_process_that_sees_them() {
    let proc = tempfile::tempdir().unwrap();
    let write = |process: &str, parent: u32, mounts: &str| {
        let folder = proc.path().join(process);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("status"), format!("Name:\tx\nPPid:\t{parent}\n")).unwrap();
        std::fs::write(folder.join("mountinfo"), mounts).unwrap();
    };
    let cpu = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
    write("self", 30, "24 1 0:22 / /sys rw - sysfs none rw\n");
    // Its root may not be looked into.
    write("30", 20, cpu);
    write("20", 1, cpu);
    write("1", 0, cpu);
    let group = proc.path().join("20/root/sys/fs/cgroup/cpu/web");
    std::fs::create_dir_all(&group).unwrap();
    std::fs::write(group.join("cpu.stat"), "nr_periods 100\nnr_throttled 60\nthrottled_time 2500000000\n").unwrap();
    let found = Cgroups::new(proc.path()).throttled("1:cpu:/web\n");
    let expected = Throttled { periods: 100, throttled: 60, time_us: 2_500_000 };
    assert_eq!(found, Some((expected, group.display().to_string())));
    // The path that a process sees itself comes first.
    write("self", 30, &format!("32 31 0:29 / {} rw - cgroup cgroup rw,cpu\n", proc.path().display()));
    assert_eq!(Cgroups::new(proc.path()).throttled("1:cpu:/web\n"), None);
}

#[test]
fn throttling_is_read_in_both_units() {
    let version_2 =
        "usage_usec 100\nuser_usec 50\nnr_periods 100\nnr_throttled 60\nthrottled_usec 2500000\nnr_bursts 0\n";
    let version_1 = "nr_periods 100\nnr_throttled 60\nthrottled_time 2500000000\n";
    let expected = Some(Throttled { periods: 100, throttled: 60, time_us: 2_500_000 });
    assert_eq!((parse_stat(version_2), parse_stat(version_1)), (expected, expected));
    let unlimited = version_1.replace("100", "0");
    assert_eq!((parse_stat(&unlimited), parse_stat("usage_usec 100\n"), parse_stat("")), (None, None, None));
}

/// A hierarchy made of folders.
#[test]
fn the_group_that_costs_most_counts() {
    let folder = std::env::temp_dir().join(format!("whyslow-cgroups-{}", std::process::id()));
    let inner = folder.join("pod/container");
    std::fs::create_dir_all(&inner).unwrap();
    let write = |group: &Path, time: u64| {
        let text = format!("nr_periods 9\nnr_throttled 3\nthrottled_usec {time}\n");
        std::fs::write(group.join("cpu.stat"), text).unwrap();
    };
    write(&inner, 5);
    write(&folder.join("pod"), 7);
    let mut cgroups =
        Cgroups { unified: Some(Mount { root: "/kubepods".to_owned(), point: folder.clone() }), ..Cgroups::default() };
    let throttled = cgroups.throttled("0::/kubepods/pod/container\n");
    let elsewhere = cgroups.throttled("0::/system.slice/ssh.service\n");
    let number = std::fs::metadata(&inner).unwrap().ino();
    let path = cgroups.path(number);
    std::fs::remove_dir_all(&folder).unwrap();
    let expected = Throttled { periods: 9, throttled: 3, time_us: 7 };
    assert_eq!(throttled, Some((expected, folder.join("pod").display().to_string())));
    assert_eq!(elsewhere, None);
    assert_eq!(path.as_deref(), Some("/kubepods/pod/container"));
}

proptest! {
    #[test]
    fn any_text_is_read(text in "[a-z0-9:/.,\\\\ \n-]{0,200}") {
        let mut cgroups = parse_mounts(&text);
        let _ = (cgroups.throttled(&text), parse_stat(&text), container(&text), unit(&text));
    }
}

#[test]
fn the_pressure_is_that_of_the_processes_own_group() {
    let folder = tempfile::tempdir().unwrap();
    let group = folder.path().join("web.service");
    std::fs::create_dir(&group).unwrap();
    let text = "some avg10=34.50 avg60=0.62 avg300=2.65 total=9449844137\n";
    for place in [folder.path(), &group] {
        std::fs::write(place.join("cpu.pressure"), text).unwrap();
    }
    std::fs::write(group.join("cgroup.events"), "populated 1\n").unwrap();
    let mut cgroups = parse_mounts(&format!("35 24 0:29 / {} rw - cgroup2 cgroup2 rw\n", folder.path().display()));
    assert_eq!(cgroups.cpu_pressure("4:cpu:/other\n0::/web.service\n"), Some((35, group.display().to_string())));
    assert_eq!(cgroups.cpu_pressure("0::/\n"), None, "of the whole machine");
    assert_eq!((cgroups.cpu_pressure("0::/none\n"), cgroups.cpu_pressure("4:cpu:/web.service\n")), (None, None));
}

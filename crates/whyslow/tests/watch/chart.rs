//! The chart and the manifest for nodes of Kubernetes.

use crate::watch;
use std::path::{Path, PathBuf};
use std::process::Command;
use whyslow_testing::{Lack, skip};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn manifest() -> String {
    std::fs::read_to_string(root().join("packaging/kubernetes/whyslow-watch.yaml")).unwrap()
}

/// Options of the program in a text: words of YAML lists that begin with two dashes.
fn options(text: &str) -> Vec<String> {
    let words = text.lines().filter_map(|line| line.trim().strip_prefix("- --"));
    words.map(|word| format!("--{}", word.split(['=', ' ']).next().unwrap())).collect()
}

#[test]
fn the_manifest_and_the_chart_use_options_that_there_are() {
    let output = watch(&["--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let template =
        std::fs::read_to_string(root().join("packaging/helm/whyslow-watch/templates/daemonset.yaml")).unwrap();
    for (text, least) in [(manifest(), 5), (template, 7)] {
        let options = options(&text);
        assert!(options.len() >= least, "{options:?}");
        for option in options {
            assert!(help.lines().any(|line| line.split([' ', ',']).any(|word| word == option)), "{option}");
        }
    }
}

#[test]
fn the_chart_is_linted_and_the_manifest_is_its_output() {
    if Command::new("helm").arg("version").output().is_err() {
        return skip(Lack::Program, "helm is not installed");
    }
    let chart = root().join("packaging/helm/whyslow-watch");
    let output = Command::new("helm").args(["lint", "--strict"]).arg(&chart).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let output = Command::new(root().join("tools/kubernetes-manifest")).arg("--print").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), manifest(), "run tools/kubernetes-manifest");
    // Each value that is off by default.
    let values = [
        ("metrics.podMonitor.enabled=true", "kind: PodMonitor"),
        ("watch.interfaces={eth0,eth1}", "- --interface=eth1"),
        ("watch.namespace=shop", "- --namespace=shop"),
        ("watch.filter=not port 22", "- \"not port 22\""),
        ("watch.extraArgs={--otlp=http://collector:4318}", "- \"--otlp=http://collector:4318\""),
        ("priorityClassName=high", "priorityClassName: high"),
        ("serviceAccount.create=false", "serviceAccountName: default"),
    ];
    for (value, line) in values {
        let mut command = Command::new("helm");
        command.args(["template", "x"]).arg(&chart).args(["--kube-version", "1.31", "--set", value]);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().any(|printed| printed.trim() == line), "{value}: {text}");
    }
}

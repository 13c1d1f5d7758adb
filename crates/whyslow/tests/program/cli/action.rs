//! The GitHub action's script, `tools/action`, with a release that is this program.

use crate::{Folder, common};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Job {
    folder: Folder,
}

impl Job {
    /// A job whose workspace has this capture under a name.
    fn new(name: &str) -> Self {
        let folder = Folder::new();
        let at = |name: &str| folder.0.path().join(name);
        let target = format!("whyslow-{}-unknown-linux-musl", std::env::consts::ARCH);
        for made in ["workspace", "runner", &format!("release/{target}")] {
            std::fs::create_dir_all(at(made)).unwrap();
        }
        std::fs::copy(env!("CARGO_BIN_EXE_whyslow"), at(&format!("release/{target}/whyslow"))).unwrap();
        let pack = format!(
            "mkdir -p latest/download && tar -czf latest/download/{target}.tar.gz {target} && cd latest/download \
                            && sha256sum {target}.tar.gz >SHA256SUMS"
        );
        assert!(Command::new("sh").args(["-c", &pack]).current_dir(at("release")).status().unwrap().success());
        std::fs::copy(common::sample("slow-start-client"), at("workspace").join(name)).unwrap();
        Self { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.0.path().join(name)
    }

    fn run(&self, capture: &str, fail_on: &str) -> Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/action");
        let mut command = Command::new("bash");
        command.arg(script).current_dir(self.at("workspace"));
        command.env("WHYSLOW_RELEASES", format!("file://{}", self.at("release").display()));
        command
            .env("RUNNER_OS", "Linux")
            .env("RUNNER_ARCH", if cfg!(target_arch = "x86_64") { "X64" } else { "ARM64" });
        command.env("RUNNER_TEMP", self.at("runner")).env("GITHUB_OUTPUT", self.at("output"));
        command.env("GITHUB_STEP_SUMMARY", self.at("summary")).env("VERSION", "");
        command.env("CAPTURE", capture).env("FAIL_ON", fail_on).output().unwrap()
    }
}

/// The lines that the runner reads as commands of the workflow.
fn commands(output: &Output) -> Vec<String> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let (mut all, mut stopped) = (Vec::new(), None::<String>);
    for line in text.lines().map(str::trim_start) {
        match &stopped {
            Some(word) if line == format!("::{word}::") => stopped = None,
            Some(_) => {}
            None => {
                stopped = line.strip_prefix("::stop-commands::").map(str::to_owned);
                let is_command = stopped.is_none() && (line.starts_with("::") || line.contains("##["));
                all.extend(is_command.then(|| line.to_owned()));
            }
        }
    }
    all
}

const HOSTILE: &str = "a,title=x\n::add-mask::x\n<img src=x>.pcap";

#[test]
fn a_captures_name_is_not_a_workflow_command() {
    if !whyslow_testing::tools(&["bash", "curl", "tar"]) {
        return;
    }
    let job = Job::new(HOSTILE);
    let done = job.run("*.pcap", "slow-start");
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let commands = commands(&done);
    let error = "::error file=a%2Ctitle=x%0A%3A%3Aadd-mask%3A%3Ax%0A<img src=x>.pcap,title=whyslow::The download";
    assert!(commands.len() == 1 && commands[0].starts_with(error), "{commands:?}");
    let summary = std::fs::read_to_string(job.at("summary")).unwrap();
    assert!(summary.contains("&lt;img src=x&gt;.pcap") && !summary.contains("<img"), "{summary}");
    assert!(std::fs::read_to_string(job.at("output")).unwrap().contains("found=true\n"));
    let json: Vec<_> = std::fs::read_dir(job.at("runner/whyslow-json")).unwrap().collect();
    assert_eq!(json.len(), 1);
}

#[test]
fn what_cannot_be_explained_is_one_error_whatever_its_name() {
    if !whyslow_testing::tools(&["bash", "curl", "tar"]) {
        return;
    }
    let job = Job::new("other.pcap");
    std::fs::write(job.at("workspace").join(HOSTILE), "no capture").unwrap();
    let done = job.run("a*.pcap", "");
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    let commands = commands(&done);
    assert!(
        commands.len() == 1 && commands[0].starts_with("::error title=whyslow::a,title=x%0A::add-mask::x%0A"),
        "{commands:?}"
    );
}

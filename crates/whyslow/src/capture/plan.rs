//! [`Plan`]: the commands of a capture.

use super::args::{Capture, System};
use super::target::Target;
use anyhow::{Context, bail};

/// Megabytes of a file of a ring.
const FILE_MB: &str = "100";
/// Where a ring is kept: not /tmp, which may be memory.
const RING: &str = "/var/tmp/whyslow.pcap";

/// What to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// One command that writes a capture to its standard output.
    Stream(Vec<String>),
    /// Lines for a shell, one after the other, which write files.
    Lines(Vec<String>),
}

impl Plan {
    /// The command as typed.
    pub(super) fn text(&self, explain: &[String]) -> anyhow::Result<String> {
        let own = [&words(&["whyslow"]), explain, &words(&["-"])].concat();
        Ok(match self {
            Self::Stream(words) => format!("{} | {}\n", quoted(words)?, quoted(&own)?),
            Self::Lines(lines) => lines.iter().fold(String::new(), |text, line| text + line + "\n"),
        })
    }
}

/// Words for a POSIX shell.
fn quoted(words: &[String]) -> anyhow::Result<String> {
    shlex::try_join(words.iter().map(String::as_str)).context("an argument has a null byte")
}

fn words(text: &[&str]) -> Vec<String> {
    text.iter().map(|word| (*word).to_owned()).collect()
}

pub(super) fn plan(task: &Capture) -> anyhow::Result<Plan> {
    let system = task.on.unwrap_or(if task.target == Target::Local { System::here() } else { System::Linux });
    if system == System::Windows {
        return pktmon(task);
    }
    let tcpdump = tcpdump(task, system);
    match &task.target {
        Target::Local => match task.ring {
            Some(_) => Ok(Plan::Lines(vec![quoted(&sudo(tcpdump))?, format!("whyslow {RING}*")])),
            None => Ok(Plan::Stream(if task.run && is_root() { tcpdump } else { sudo(tcpdump) })),
        },
        Target::Ssh { host, port } => ssh(task, host, *port, &tcpdump),
        Target::Container { program, name } => {
            no_ring(task)?;
            let mut all = words(&[program, "run", "--rm", "--cap-add", "NET_ADMIN", "--cap-add", "NET_RAW"]);
            all.extend(["--network".to_owned(), format!("container:{name}"), task.image.clone()]);
            all.extend(tcpdump);
            Ok(Plan::Stream(all))
        }
        Target::Pod { namespace, pod, container } => {
            no_ring(task)?;
            let mut all = words(&["kubectl", "debug", "--quiet", "--stdin", "--profile=netadmin"]);
            all.push(format!("--image={}", task.image));
            all.extend(namespace.as_ref().map(|name| format!("--namespace={name}")));
            all.extend(container.as_ref().map(|name| format!("--target={name}")));
            all.extend([pod.clone(), "--".to_owned()]);
            all.extend(tcpdump);
            Ok(Plan::Stream(all))
        }
    }
}

fn no_ring(task: &Capture) -> anyhow::Result<()> {
    if task.ring.is_some() {
        bail!(
            "--ring keeps files where the capture runs, and a container there ends with it: use it with ssh or local"
        );
    }
    Ok(())
}

fn is_root() -> bool {
    // The numeric user of this process, as the kernel shows it.
    std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| status.lines().any(|line| line.split_whitespace().take(3).eq(["Uid:", "0", "0"])))
}

fn sudo(mut command: Vec<String>) -> Vec<String> {
    command.insert(0, "sudo".to_owned());
    command
}

/// The command, and what ends it after a time.
fn tcpdump(task: &Capture, system: System) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(time) = task.time {
        let seconds = format!("{}", time.as_secs_f64().ceil().max(1.0));
        match system {
            // macOS has no timeout(1).
            System::Macos => all.extend(words(&["perl", "-e", "alarm shift; exec @ARGV", &seconds])),
            System::Linux | System::Windows => all.extend(words(&["timeout", "-s", "INT", &seconds])),
        }
    }
    all.extend(words(&["tcpdump", "-n", "-i", task.interface.as_deref().unwrap_or("any")]));
    all.extend(["-s".to_owned(), task.snaplen.to_string()]);
    match task.ring {
        Some(files) => all.extend(words(&["-C", FILE_MB, "-W", &files.to_string(), "-w", RING])),
        // Each packet as it comes.
        None => all.extend(words(&["-U", "-w", "-"])),
    }
    all.push(filter(task));
    all
}

/// One argument: TCP, and the ICMP errors that explain it.
fn filter(task: &Capture) -> String {
    let mut text = match task.port {
        Some(port) => format!("(tcp port {port} or icmp or icmp6)"),
        None => "(tcp or icmp or icmp6)".to_owned(),
    };
    if let Some(own) = &task.filter {
        text = format!("{text} and ({own})");
    }
    text
}

/// Through ssh, the packets of that ssh session are left out; SSH_CONNECTION contains its
/// addresses.
fn ssh(task: &Capture, host: &str, port: Option<u16>, tcpdump: &[String]) -> anyhow::Result<Plan> {
    let mut all = shlex::split(&task.ssh).context("--ssh has an open quotation mark")?;
    if let Some(port) = port {
        all.extend(["-p".to_owned(), port.to_string()]);
    }
    all.extend(["--".to_owned(), host.to_owned()]);
    // tcpdump joins its last arguments to one filter.
    let remote = format!(
        "set -- ${{SSH_CONNECTION:-0.0.0.0 0}}; if [ \"$(id -u)\" != 0 ]; then sudo=\"sudo -n\"; fi; \
         exec $sudo {} and not \"(host\" \"$1\" and tcp port \"$2\" \")\"",
        quoted(tcpdump)?
    );
    all.push(remote);
    if task.ring.is_none() {
        return Ok(Plan::Stream(all));
    }
    let copy = match port {
        Some(port) => format!("scp -P {port} '{host}:{RING}*' ."),
        None => format!("scp '{host}:{RING}*' ."),
    };
    Ok(Plan::Lines(vec![quoted(&all)?, copy, "whyslow whyslow.pcap*".to_owned()]))
}

/// Windows' own tool writes a file, which it converts behind it. For a PowerShell as administrator.
fn pktmon(task: &Capture) -> anyhow::Result<Plan> {
    if task.filter.is_some() || task.interface.is_some() {
        bail!("pktmon knows no filter of tcpdump and no --interface: use --port");
    }
    if matches!(task.target, Target::Container { .. } | Target::Pod { .. }) {
        bail!("--on windows captures on a whole machine: name a host, or local");
    }
    let port = task.port.map_or(String::new(), |port| format!(" -p {port}"));
    let size = if task.snaplen == 0 { 0 } else { task.snaplen };
    let mut lines = Vec::new();
    if let Target::Ssh { host, port } = &task.target {
        let port = port.map_or(String::new(), |port| format!(" -p {port}"));
        lines.push(format!("{}{port} {host}", task.ssh));
    }
    let mut start = format!("pktmon start --capture --comp nics --pkt-size {size} --file-name whyslow.etl");
    if let Some(files) = task.ring {
        start += &format!(" --log-mode circular --file-size {}", u32::from(files.get()) * 100);
    }
    lines.extend([format!("pktmon filter remove; pktmon filter add whyslow -t TCP{port}"), start]);
    lines.push(match task.time {
        Some(time) => format!("Start-Sleep -Seconds {}", time.as_secs_f64().ceil().max(1.0)),
        None => "Read-Host 'Enter ends the capture'".to_owned(),
    });
    lines.push("pktmon stop".to_owned());
    lines.push("pktmon etl2pcap whyslow.etl --out whyslow.pcapng".to_owned());
    lines.push("whyslow whyslow.pcapng".to_owned());
    Ok(Plan::Lines(lines))
}

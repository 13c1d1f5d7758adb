//! Commands for Windows, in an elevated PowerShell (Microsoft Learn: `Set-NetTCPSetting`, `netsh
//! interface tcp set`, `New-NetQosPolicy`, `Test-NetConnection`). Settings of TCP belong to a
//! template; `InternetCustom` is one that can be changed on Windows 10, Server 2016 and later.

use super::super::step::{Form, Step};
use super::linux::tls_records;

/// `InitialCongestionWindowMss` takes even values up to this.
const MOST_SEGMENTS: u64 = 64;
/// Largest value of `MinRtoMs`.
const MOST_MIN_RTO_MS: u64 = 300;

/// The form of a step.
pub(in super::super) fn form(step: &Step) -> Form {
    let command = |text: &str| Form::Command(text.to_owned());
    let setting = |text: &str| Form::Command(format!("Set-NetTCPSetting -SettingName InternetCustom {text}"));
    match step {
        Step::InitialWindow { segments, .. } => {
            let even = (*segments).clamp(2, MOST_SEGMENTS) & !1;
            setting(&format!("-InitialCongestionWindowMss {even}"))
        }
        // Without autotuning the window is not scaled, and stays as large as it begins.
        Step::WindowScaling | Step::ReceiveBuffer(_) => {
            command("netsh interface tcp set global autotuninglevel=normal")
        }
        Step::Hystart => command("netsh interface tcp set global hystart=disabled"),
        Step::QuickAck { .. } => setting("-DelayedAckFrequency 1"),
        Step::RateLimit(_) => command("Get-NetQosPolicy"),
        Step::IdleWindow => setting("-CwndRestart False"),
        Step::Rack => command("netsh interface tcp set supplemental template=internetcustom rack=enabled"),
        Step::TailProbes { .. } => {
            command("netsh interface tcp set supplemental template=internetcustom rack=enabled taillossprobe=enabled")
        }
        Step::ErrorCounters => command("Get-NetAdapterStatistics | Format-List Name,*Error*,*Discard*"),
        Step::TimerFloor { .. } => setting(&format!("-MinRtoMs {MOST_MIN_RTO_MS}")),
        Step::Bbr => command("netsh interface tcp set supplemental template=internet congestionprovider=bbr2"),
        Step::ReceivingProcessors | Step::SendingProcessors => {
            command("Get-Counter '\\Processor(*)\\% Processor Time'; Get-NetAdapterRss; Get-NetAdapterLso")
        }
        Step::NoDelay => command("setsockopt(s, IPPROTO_TCP, TCP_NODELAY, (const char *)&(BOOL){TRUE}, sizeof(BOOL))"),
        Step::Pacing(rate) => Form::Command(format!(
            "New-NetQosPolicy -Name pace -IPProtocol TCP -ThrottleRateActionBitsPerSecond {}",
            rate.saturating_mul(8)
        )),
        Step::Route { to, .. } => Form::Command(format!("Find-NetRoute -RemoteIPAddress {to}")),
        Step::Neighbour { host, .. } => Form::Command(format!("Get-NetNeighbor -IPAddress {host}")),
        Step::Listener(port) => Form::Command(format!("Get-NetTCPConnection -State Listen -LocalPort {port}")),
        Step::Filter { .. } => command("Get-NetFirewallRule -Enabled True -Action Block"),
        Step::Trace { host, port: Some(port) } => {
            Form::Command(format!("Test-NetConnection {host} -Port {port}; tracert -d {host}"))
        }
        Step::Trace { host, port: None } => Form::Command(format!("tracert -d {host}")),
        // HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters, milliseconds.
        Step::Keepalive => command(
            "Set-ItemProperty HKLM:\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters KeepAliveTime 60000 -Type DWord",
        ),
        Step::DroppedDatagrams => command("netstat -s -p udp"),
        Step::DroppedConnections | Step::DroppedSyns => command("netstat -s -p tcp"),
        Step::TlsRecords(to) => Form::Command(tls_records(*to)),
        // SACK and the search for black holes are always on since Vista; send buffers grow by
        // themselves; thresholds are not kept; Windows has no router's queue.
        Step::Threshold { .. }
        | Step::SendBuffer(_)
        | Step::Sack
        | Step::MtuProbing
        | Step::ManagedQueue(_)
        | Step::Queues
        | Step::Marking { .. } => Form::Lacks,
    }
}

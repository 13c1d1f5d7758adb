//! `ethtool -S` of several drivers.

use super::*;

#[test]
fn full_ring_of_mlx5_is_a_rate_between_two_looks() {
    let look = |time: &str, packets: u64, dropped: u64| {
        format!(
            "{time}\nethtool -S ens1f0\nNIC statistics:\n     rx_packets: {packets}\n     tx_packets: 41000\n     rx_out_of_buffer: {dropped}\n     \
             rx_discards_phy: {dropped}\n     rx_pause_ctrl_phy: 0\n     rx0_packets: 17\n"
        )
    };
    let subject = subject(&(look("10:15:01", 9_000_000, 400_000) + &look("10:15:11", 9_500_000, 425_000)));
    assert_eq!((subject.name.as_str(), subject.over_s), ("ens1f0", Some(10.0)));
    let expected = DeviceStatement::RingFull { packets: 25_000.0, of: Some(525_000.0), per_s: Some(2_500.0) };
    assert_eq!(subject.findings[0].statement, Statement::Device(expected));
    assert_eq!(subject.findings[0].cause, Some(Slug::Host(HostCause::NicDrops)));
    // Old drops do not count.
    healthy(&(look("10:15:01", 9_000_000, 400_000) + &look("10:15:11", 9_500_000, 400_001)));
}

#[test]
fn allowances_of_ena_are_named() {
    let text = "> [user@host ~]$ ethtool -S ens5 | grep allow\n>      bw_in_allowance_exceeded: 0\n>      \
                bw_out_allowance_exceeded: 51200\n>      pps_allowance_exceeded: 0\n>      conntrack_allowance_exceeded: 822\n>      \
                linklocal_allowance_exceeded: 3\n>      conntrack_allowance_available: 0\n";
    let mut found = causes(text);
    found.sort_unstable();
    assert_eq!(found, ["conntrack-full", "shaper"]);
    assert!(subject(text).gaps.contains(&Limitation::SinceUp));
}

#[test]
fn damage_and_pause_frames_of_intel_cards_are_named() {
    let text = "NIC statistics:\n     rx_packets: 80000000\n     tx_packets: 60000000\n     rx_bytes: 1\n     rx_crc_errors: 91000\n     \
                rx_no_buffer_count: 0\n     rx_missed_errors: 2\n     rx_flow_control_xoff: 400000\n     tx_flow_control_xoff: 0\n";
    assert_eq!(causes(text), ["random-loss", "-"]);
    let statement = &subject(text).findings[1].statement;
    assert!(matches!(statement, Statement::Device(DeviceStatement::Paused { is_told: true, .. })), "{statement:?}");
}

#[test]
fn queues_add_up_where_the_driver_has_no_sum() {
    // virtio: two queues, wrapped by a mail behind the colon.
    let text = "NIC statistics:\n     rx_queue_0_packets: 300000\n     rx_queue_0_drops: 4000\n     rx_queue_1_packets: 300000\n     \
                rx_queue_1_drops: 2000\n     tx_queue_0_packets: 500000\n     tx_queue_0_tx_timeouts: 0\n";
    let subject = subject(text);
    let expected = DeviceStatement::RingFull { packets: 6_000.0, of: Some(606_000.0), per_s: None };
    assert_eq!(subject.findings[0].statement, Statement::Device(expected));
}

#[test]
fn usual_counters_and_a_cut_list_are_healthy() {
    healthy(
        "NIC statistics:\n     tx_packets: 812345\n     rx_packets: 912345\n     tx_errors: 0\n     rx_errors: 0\n     rx_missed: 0\n     \
         align_errors: 0\n     multicast: 91\n",
    );
    healthy("$ ethtool -S eth0\nNIC statistics:\n     rx_packets: 90000000\n     rx_missed_errors: 3\n     rx_crc_er");
    assert!(!is_evidence(b"NIC statistics are interesting: 17 packets\n"));
}

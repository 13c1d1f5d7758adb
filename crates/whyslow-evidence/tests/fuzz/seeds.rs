//! An output of each kind that is read.

const SEEDS: &[&str] = &[
    "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 0 2896000 10.10.0.5:443 10.20.0.9:51522 timer:(on,312ms,0)\n\
     \t cubic wscale:7,9 rto:292 rtt:91.7/0.3 mss:1448 cwnd:812 ssthresh:40 bytes_acked:47800001 data_segs_out:33238 retrans:0/990 \
     dsack_dups:40 send 1Mbps pacing_rate 123Mbps/10Mbps delivery_rate 22.8Mbps busy:19400ms rwnd_limited:18900ms(97.4%) \
     sndbuf_limited:10ms(0.1%) unacked:181 notsent:2600000 minrtt:9.2 snd_wnd:262144 skmem:(r0,rb131072,t0,tb46080)\n\
     LISTEN 129 128 *:8080 *:*\nSYN-SENT 0 1 10.0.0.2:4410 198.51.100.1:443 timer:(on,3.1sec,3)\n",
    "Mon Jan  8 10:15:01 UTC 2024\n#kernel\nTcpExtTCPTimeouts 900 0.0\nTcpOutSegs 90000 0.0\nTcpRetransSegs 4000 0.0\n\
     Mon Jan  8 10:15:11 UTC 2024\n#kernel\nTcpExtTCPTimeouts 990 0.0\nTcpOutSegs 99000 0.0\nTcpRetransSegs 5000 0.0\n",
    "Tcp:\n    9000 segments received\n    9000 segments sent out\n    900 segments retransmitted\nTcpExt:\n    \
     99 times the listen queue of a socket overflowed\nTcpExt: SyncookiesSent ListenOverflows\nTcpExt: 0 99\n",
    "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n[  5]   0.00-1.00   sec  84.8 KBytes  694 Kbits/sec  2   1.41 KBytes\n\
     [  5]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec  1   1.41 KBytes\n[  5]   0.00-2.00   sec   337 MBytes   942 Mbits/sec   36             sender\n",
    "{\"start\":{\"test_start\":{\"protocol\":\"TCP\"}},\"intervals\":[{\"streams\":[{\"socket\":5,\"seconds\":1.0,\"bytes\":11800000,\
     \"bits_per_second\":9.4e7,\"retransmits\":0,\"snd_cwnd\":841728,\"rtt\":71000}]}],\"end\":{\"sum_sent\":{\"seconds\":1,\"bytes\":118}}}\n",
    "time_namelookup: 0.004\ntime_connect: 0.188\ntime_appconnect: 0.560\ntime_starttransfer: 3.748\ntime_total: 3.752\n",
    "64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=14.1 ms\n120 packets transmitted, 108 received, 10% packet loss, time 9012ms\n\
     rtt min/avg/max/mdev = 13.1/14.4/417.0/0.2 ms\n",
    "HOST: me                       Loss%   Snt   Last   Avg  Best  Wrst StDev\n  1.|-- 192.168.2.1     0.0%   200    0.7   0.9   0.4   3.8   0.5\n\
     \x20 2.|-- 198.51.100.1   12.0%   200   12.3  12.5  11.9  14.8   0.4\n",
    "traceroute to a.example (203.0.113.9), 30 hops max, 60 byte packets\n 1  gw (192.168.1.1)  0.512 ms  0.498 ms  0.601 ms\n 2  * * *\n \
     3  r1.example (198.51.100.1)  99.1 ms  99.4 ms  99.2 ms\n",
    "10:15:01\nethtool -S eth0\nNIC statistics:\n     rx_packets: 9000000\n     rx_out_of_buffer: 400000\n     queue_0_tx_cnt: 17\n     \
     rx_crc_errors: 900\n     rx_flow_control_xoff: 90000\n     bw_out_allowance_exceeded: 99\n10:15:11\nNIC statistics:\n     \
     rx_packets: 9900000\n     rx_out_of_buffer: 500000\n",
    "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to srv () port 0 AF_INET : first burst 0\nLocal /Remote\n\
     Socket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate\nbytes  Bytes  bytes    bytes   secs.    \
     per sec\n\n16384  131072 1        1       10.00    24.6\nTHROUGHPUT=91.2\nTHROUGHPUT_UNITS=10^6bits/s\nP99_LATENCY=212000\n",
    "10:15:01.000100 == Info: Trying 192.0.2.7:443...\n10:15:01.050000 == Info: Connected to web.example (192.0.2.7) port 443\n\
     10:15:01.091000 => Send header, 83 bytes (0x53)\n10:15:03.391000 <= Recv header, 17 bytes (0x11)\n10:15:07.391200 <= Recv data, 12 bytes (0x4b0)\n",
    "{\"log\":{\"entries\":[{\"startedDateTime\":\"2024-05-01T10:15:01.000Z\",\"request\":{\"url\":\"https://u:p@web.example/a?b=c\"},\
     \"response\":{\"status\":301},\"timings\":{\"blocked\":900,\"dns\":150,\"connect\":600,\"ssl\":400,\"send\":0,\"wait\":1800,\"receive\":900}},\n\
     {\"startedDateTime\":\"2024-05-01T10:15:02.000Z\",\"timings\":{\"blocked\":-1,\"wait\":3}}]}}\n",
    "{\"ServerIP\":\"192.0.2.4\",\"ServerPort\":443,\"Download\":{\"ServerMeasurements\":[{\"ConnectionInfo\":{\"Client\":\"[2001:db8::9]:40000\",\
     \"Server\":\"192.0.2.4:443\"},\"TCPInfo\":{\"RTO\":240000,\"RTT\":41000,\"MinRTT\":40000,\"SndMSS\":1448,\"SndCwnd\":80,\"BytesAcked\":9000000,\
     \"BusyTime\":9000000,\"RWndLimited\":8100000,\"TotalRetrans\":90,\"Unacked\":40,\"ElapsedTime\":10000000}}]}}\n",
    "[pid  812] 10:15:01.000000 connect(7, {sa_family=AF_INET, sin_port=htons(5432), sin_addr=inet_addr(\"192.0.2.30\")}, 16) = 0 <1.001200>\n\
     [pid  813] 10:15:01.003000 poll([{fd=7, events=POLLIN}], 1, -1 <unfinished ...>\n[pid  812] 10:15:02.804000 recvfrom(7, \"T\"..., 16384, 0, NULL, \
     NULL) = 412 <0.900020>\n[pid  813] 10:15:02.900000 <... poll resumed>) = 1 <1.900000>\n[pid  812] 10:15:03.0 read(4</srv/x>, \"y\", 9) = 9 <0.3>\n",
];

pub(crate) fn all() -> Vec<Vec<u8>> {
    SEEDS.iter().map(|seed| seed.as_bytes().to_vec()).collect()
}

//! Names of TCP ports from services files and the IANA registry, for text that was printed without
//! `-n`.

/// The TCP port with this name.
pub(super) fn port(name: &str) -> Option<u16> {
    SERVICES.binary_search_by_key(&name, |(known, _)| known).ok().and_then(|at| SERVICES.get(at)).map(|(_, port)| *port)
}

/// Whether `port` has a name.
pub(super) fn is_named(port: u16) -> bool {
    SERVICES.iter().any(|(_, known)| *known == port)
}

/// Sorted by name.
#[rustfmt::skip]
const SERVICES: &[(&str, u16)] = &[
    ("XmlIpcRegSvc", 9092), ("abyss", 9999), ("acr-nema", 104), ("afpovertcp", 548), ("afs3-callback", 7001),
    ("afs3-fileserver", 7000), ("ajp13", 8009), ("amanda", 10080), ("amandaidx", 10082), ("amidxtape", 10083),
    ("amqp", 5672), ("amqps", 5671), ("asp", 27374), ("asterix", 8600), ("auth", 113), ("authentication", 113),
    ("bacula-dir", 9101), ("bacula-fd", 9102), ("bacula-sd", 9103), ("bbs", 7000), ("beegfs", 8008), ("bgp", 179),
    ("bgpd", 2605), ("binkp", 24554), ("blackice-icecap", 8081), ("cadlock2", 1000), ("canna", 5680),
    ("cassandra", 9042), ("cbt", 7777), ("ceph", 3300), ("cfengine", 5308), ("chargen", 19), ("cifs", 445),
    ("cisco-sccp", 2000), ("clc-build-daemon", 8990), ("cmd", 514), ("cmip-agent", 164), ("cmip-man", 163),
    ("codaauth2", 370), ("codasrv", 2432), ("codasrv-se", 2433), ("commplex-link", 5001), ("commplex-main", 5000),
    ("cslistener", 9000), ("csync2", 30865), ("cvspserver", 2401), ("daap", 3689), ("datametrics", 1645),
    ("daytime", 13), ("db-lsp", 17500), ("dcap", 22125), ("ddi-tcp-1", 8888), ("dicom", 104), ("dict", 2628),
    ("dircproxy", 57000), ("discard", 9), ("distcc", 3632), ("distinct", 9999), ("dnp", 20000), ("docker", 2375),
    ("docker-s", 2376), ("domain", 53), ("domain-s", 853), ("echo", 7), ("eforward", 2181), ("elasticsearch", 9200),
    ("epmap", 135), ("epmd", 4369), ("etcd-client", 2379), ("etcd-server", 2380), ("exec", 512),
    ("f5-globalsite", 2792), ("f5-iquery", 4353), ("fax", 4557), ("fido", 60179), ("finger", 79),
    ("font-service", 7100), ("freeciv", 5556), ("ftp", 21), ("ftp-data", 20), ("ftps", 990), ("ftps-data", 989),
    ("gdomap", 538), ("gds-db", 3050), ("gds_db", 3050), ("git", 9418), ("glusterd", 24007), ("gnunet", 2086),
    ("gnutella-rtr", 6347), ("gnutella-svc", 6346), ("gopher", 70), ("gpsd", 2947), ("gris", 2135),
    ("groupwise", 1677), ("gsidcap", 22128), ("gsiftp", 2811), ("gsigatekeeper", 2119), ("hbci", 3000),
    ("hkp", 11371), ("hostname", 101), ("hp-pdl-datastr", 9100), ("hprop", 754), ("http", 80), ("http-alt", 8080),
    ("http-mgmt", 280), ("http-proxy", 8080), ("https", 443), ("https-alt", 8443), ("hylafax", 4559), ("ident", 113),
    ("imap", 143), ("imap2", 143), ("imaps", 993), ("ingreslock", 1524), ("intermapper", 8181), ("iperf", 5001),
    ("ipp", 631), ("iprop", 2121), ("ircd", 6667), ("ircs", 994), ("ircs-u", 6697), ("irdmi", 8000), ("isakmp", 500),
    ("iscsi", 3260), ("iscsi-target", 3260), ("isisd", 2608), ("isns", 3205), ("iso-tsap", 102),
    ("jabber-client", 5222), ("jabber-server", 5269), ("jetdirect", 9100), ("kafka", 9092), ("kamanda", 10081),
    ("kdc", 750), ("kerberos", 88), ("kerberos-adm", 749), ("kerberos-iv", 750), ("kerberos-master", 751),
    ("kerberos-sec", 88), ("kerberos4", 750), ("kerberos5", 88), ("kermit", 1649), ("klogin", 543), ("kpasswd", 464),
    ("krb-prop", 754), ("krb5", 88), ("krb5_prop", 754), ("krb_prop", 754), ("krcmd", 544), ("kshell", 544),
    ("ldap", 389), ("ldaps", 636), ("ldp", 646), ("llmnr", 5355), ("loc-srv", 135), ("login", 513),
    ("lotusnote", 1352), ("lotusnotes", 1352), ("lrrd", 4949), ("macromedia-fcs", 1935), ("mail", 25), ("mailq", 174),
    ("mdns", 5353), ("memcache", 11211), ("memcached", 11211), ("microsoft-ds", 445), ("minecraft", 25565),
    ("moira-db", 775), ("moira-update", 777), ("moira_db", 775), ("moira_update", 777), ("mon", 2583),
    ("mongodb", 27017), ("mqtt", 1883), ("ms-sql-m", 1434), ("ms-sql-s", 1433), ("ms-wbt-server", 3389),
    ("msdp", 639), ("msft-gc", 3268), ("msft-gc-ssl", 3269), ("mtn", 4691), ("munin", 4949), ("mysql", 3306),
    ("mysql-proxy", 6446), ("nameserver", 42), ("nbd", 10809), ("ncube-lm", 1521), ("ndl-aas", 3128), ("ndmp", 10000),
    ("netbios-ssn", 139), ("netstat", 15), ("nfs", 2049), ("nfsd", 2049), ("nicname", 43), ("nntp", 119),
    ("nntps", 563), ("nqs", 607), ("nrpe", 5666), ("nsca", 5667), ("ntp", 123), ("ntske", 4460), ("null", 9),
    ("nut", 3493), ("old-radacct", 1646), ("old-radius", 1645), ("omniorb", 8088), ("openvpn", 1194),
    ("oracle", 1521), ("ospf6d", 2606), ("ospfapi", 2607), ("ospfd", 2604), ("pawserv", 345), ("pcsync-https", 8443),
    ("pdl-datastream", 9100), ("personal-agent", 5555), ("pop-3", 110), ("pop3", 110), ("pop3s", 995),
    ("poppassd", 106), ("portmapper", 111), ("postgres", 5432), ("postgresql", 5432), ("ppp", 3000), ("pptp", 1723),
    ("printer", 515), ("proofd", 1093), ("puppet", 8140), ("qmqp", 628), ("qmtp", 209), ("qotd", 17), ("quic", 443),
    ("quote", 17), ("radacct", 1813), ("radan-http", 8088), ("radius", 1812), ("radius-acct", 1813),
    ("radmin-port", 4899), ("rdp", 3389), ("readnews", 119), ("redis", 6379), ("remctl", 4373), ("rfb", 5900),
    ("ripd", 2602), ("ripngd", 2603), ("rmiregistry", 1099), ("rmtcfg", 1236), ("rootd", 1094), ("rpc2portmap", 369),
    ("rpcbind", 111), ("rplay", 5555), ("rptp", 5556), ("rsync", 873), ("rtcm-sc104", 2101), ("rtmp", 1935),
    ("rtsp", 554), ("rtsp-alt", 8554), ("sa-msg-port", 1646), ("saft", 487), ("sane", 6566), ("sane-port", 6566),
    ("saned", 6566), ("secure-mqtt", 8883), ("sge-execd", 6445), ("sge-qmaster", 6444), ("sge_execd", 6445),
    ("sge_qmaster", 6444), ("sgi-cad", 17004), ("shell", 514), ("sieve", 4190), ("silc", 706), ("sink", 9),
    ("sip", 5060), ("sip-tls", 5061), ("skkserv", 1178), ("smtp", 25), ("smtps", 465), ("smux", 199),
    ("snapenetio", 22000), ("snet-sensor-mgmt", 10000), ("snmp", 161), ("snmp-trap", 162), ("snmptrap", 162),
    ("snntp", 563), ("snpp", 444), ("socks", 1080), ("source", 19), ("spamd", 783), ("spooler", 515), ("squid", 3128),
    ("ssh", 22), ("ssmtp", 465), ("submission", 587), ("submissions", 465), ("subversion", 3690),
    ("sun-answerbook", 8888), ("sunproxyadmin", 8081), ("sunrpc", 111), ("sunwebadmin", 8800), ("supfiledbg", 1127),
    ("supfilesrv", 871), ("suucp", 4031), ("svn", 3690), ("svrloc", 427), ("swx", 7300), ("syslog", 514),
    ("syslog-tls", 6514), ("sysrqd", 4094), ("systat", 11), ("tacacs", 49), ("tap", 113), ("targus-getdata", 5200),
    ("targus-getdata1", 5201), ("tcpmux", 1), ("telnet", 23), ("telnets", 992), ("teradataordbms", 8002),
    ("tfido", 60177), ("time", 37), ("timserver", 37), ("tinc", 655), ("tproxy", 8081), ("tsap", 102), ("ttytst", 19),
    ("untp", 119), ("upnp", 5000), ("urd", 465), ("us-cli", 8082), ("users", 11), ("uucp", 540), ("uucpd", 540),
    ("vcom-tunnel", 8001), ("venus", 2430), ("venus-se", 2431), ("vnc-server", 5900), ("wais", 210),
    ("wap-wsp", 9200), ("webcache", 8080), ("webmin", 10000), ("websm", 9090), ("whois", 43), ("winrm", 5985),
    ("wnn6", 22273), ("wsman", 5985), ("wsmans", 5986), ("www", 80), ("www-http", 80), ("x11", 6000), ("x11-0", 6000),
    ("x11-1", 6001), ("x11-2", 6002), ("x11-3", 6003), ("x11-4", 6004), ("x11-5", 6005), ("x11-6", 6006),
    ("x11-7", 6007), ("xfs", 7100), ("xinetd", 9098), ("xmltec-xmlmail", 9091), ("xmms2", 9667),
    ("xmpp-client", 5222), ("xmpp-server", 5269), ("xtel", 1313), ("xtelw", 1314), ("z3950", 210),
    ("zabbix-agent", 10050), ("zabbix-trapper", 10051), ("zebra", 2601), ("zebrasrv", 2600), ("zookeeper", 2181),
    ("zope", 9673), ("zope-ftp", 8021), ("zserv", 346),
];

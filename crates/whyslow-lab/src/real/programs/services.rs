//! Brokers, databases, proxies, file servers and libraries of applications.

use super::Program;

/// Programs of libraries that applications use.
const SERVICES: &str = include_str!("../services.py");
const STREAMS: &str = include_str!("../streams.js");
const URLS: &str = include_str!("../Urls.java");

/// One of the programs of [`SERVICES`], with the modules that it imports.
pub(crate) fn service(what: &str, modules: &[&'static str], port: u16) -> Program {
    Program {
        line: format!("exec python3 services.py {what}"),
        files: vec![("services.py", SERVICES.to_owned())],
        needs: vec!["python3"],
        modules: modules.to_vec(),
        port,
        ..Program::default()
    }
}

/// One of the programs of [`STREAMS`], under Node.
pub(crate) fn node(what: &str) -> Program {
    listening("node", format!("exec node streams.js {what}"), 8080).with_file("streams.js", STREAMS)
}

/// One of the programs of [`URLS`]: Java's own HTTP client.
pub(crate) fn java(what: &str) -> Program {
    let mut program = Program::client("java", format!("exec java Urls.java {what}")).with_file("Urls.java", URLS);
    // It is compiled when it starts.
    program.needs.push("javac");
    program
}

fn listening(program: &'static str, line: impl Into<String>, port: u16) -> Program {
    Program { port, ..Program::client(program, line) }
}

/// memcached.
pub(crate) fn memcached() -> Program {
    listening("memcached", "exec memcached -u root -l 0.0.0.0 -p 11211 -U 0", 11211)
}

/// Mosquitto, an MQTT broker.
pub(crate) fn mosquitto() -> Program {
    listening("mosquitto", "exec mosquitto -c broker.conf", 1883)
        .with_file("broker.conf", "listener 1883\nallow_anonymous true\nuser root\npersistence false\n")
}

/// NATS, a broker.
pub(crate) fn nats() -> Program {
    listening("nats-server", "exec nats-server -a 0.0.0.0 -p 4222", 4222)
}

/// RabbitMQ, an AMQP broker.
pub(crate) fn rabbitmq() -> Program {
    let line = "export HOME=$DIR RABBITMQ_MNESIA_BASE=$DIR/data RABBITMQ_LOG_BASE=$DIR/log RABBITMQ_NODENAME=lab@localhost\n\
                export RABBITMQ_ENABLED_PLUGINS_FILE=$DIR/plugins RABBITMQ_CONFIG_FILE=$DIR/broker\n\
                exec /usr/lib/rabbitmq/bin/rabbitmq-server";
    let mut program = listening("rabbitmq-server", line, 5672)
        .with_file("broker.conf", "loopback_users = none\nlisteners.tcp.default = 5672\n")
        .with_file("plugins", "[].\n");
    program.takes_root = true;
    program
}

/// MariaDB, of its own.
pub(crate) fn mariadb() -> Program {
    let line = "mariadb-install-db --no-defaults --user=root --datadir=\"$DIR/db\" --skip-test-db \
                --auth-root-authentication-method=normal >/dev/null\n\
                exec mariadbd --no-defaults --user=root --datadir=\"$DIR/db\" --socket=\"$DIR/s\" --pid-file=\"$DIR/p\" \
                --skip-grant-tables --skip-name-resolve --bind-address=0.0.0.0 --port=3306";
    let mut program = listening("mariadbd", line, 3306);
    program.needs.push("mariadb-install-db");
    program.takes_root = true;
    program
}

/// Its client that runs these statements one by one.
pub(crate) fn mariadb_client(statements: &str) -> Program {
    Program::client("mariadb", "exec mariadb --no-defaults -h $SERVER -u root <statements.sql >/dev/null")
        .with_file("statements.sql", statements)
}

/// stunnel: TLS in front of a server on this host's port 8081.
pub(crate) fn stunnel() -> Program {
    let line = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=server.example \
                -keyout key.pem -out cert.pem\nexec stunnel stunnel.conf";
    let text = "foreground = yes\npid =\n[web]\naccept = 443\nconnect = 127.0.0.1:8081\n\
                cert = {DIR}/cert.pem\nkey = {DIR}/key.pem\n";
    let mut program = listening("stunnel", line, 443).with_file("stunnel.conf", text);
    program.needs.push("openssl");
    program
}

/// Squid, a proxy that clients name.
pub(crate) fn squid() -> Program {
    let text = "http_port 3128\nhttp_access allow all\ncache deny all\npid_filename none\naccess_log none\n\
                cache_log /dev/null\npinger_enable off\nnetdb_filename none\nvisible_hostname lab\n\
                memory_cache_shared off\nshutdown_lifetime 0 seconds\n";
    let mut program = listening("squid", "exec squid -N -f \"$DIR/squid.conf\"", 3128).with_file("squid.conf", text);
    program.takes_root = true;
    program
}

/// Varnish in front of a server on this host's port 8081.
pub(crate) fn varnish() -> Program {
    let line = "exec varnishd -F -j none -a :80 -b 127.0.0.1:8081 -n \"$DIR/v\" -s malloc,20m";
    let mut program = listening("varnishd", line, 80);
    // It compiles its configuration.
    program.needs.push("gcc");
    program
}

/// Samba, with one share that anybody may read.
pub(crate) fn samba(files: &str) -> Program {
    let text = "[global]\nserver role = standalone server\nmap to guest = Bad User\nguest account = root\n\
                disable netbios = yes\nsmb ports = 445\nload printers = no\nlog file = {DIR}/smb.log\n\
                private dir = {DIR}/smb\nlock directory = {DIR}/smb\nstate directory = {DIR}/smb\n\
                cache directory = {DIR}/smb\npid directory = {DIR}/smb\nncalrpc dir = {DIR}/smb/rpc\n\
                [www]\npath = {DIR}/www\nguest ok = yes\nforce user = root\n";
    let line = format!("mkdir -p smb\n{files}\nexec smbd --foreground --no-process-group -s \"$DIR/smb.conf\"");
    let mut program = listening("smbd", line, 445).with_file("smb.conf", text);
    program.takes_root = true;
    program
}

/// vsftpd, with files that anybody may read.
pub(crate) fn vsftpd(files: &str) -> Program {
    let text = "listen=YES\nbackground=NO\nanonymous_enable=YES\nno_anon_password=YES\nanon_root={DIR}/www\n\
                run_as_launching_user=YES\nallow_writeable_chroot=YES\nseccomp_sandbox=NO\nxferlog_enable=NO\n";
    let mut program =
        listening("vsftpd", format!("{files}\nexec vsftpd \"$DIR/vsftpd.conf\""), 21).with_file("vsftpd.conf", text);
    program.takes_root = true;
    program
}

/// lighttpd with these files.
pub(crate) fn lighttpd(files: &str) -> Program {
    let text = "server.document-root = \"{DIR}/www\"\nserver.port = 80\nserver.errorlog = \"{DIR}/lighttpd.log\"\n";
    listening("lighttpd", format!("{files}\nexec lighttpd -D -f lighttpd.conf"), 80).with_file("lighttpd.conf", text)
}

/// rclone's WebDAV server.
pub(crate) fn webdav(files: &str) -> Program {
    listening("rclone", format!("{files}\nexec rclone --config none serve webdav www --addr 0.0.0.0:8080"), 8080)
}

/// Copies from or to it.
pub(crate) fn rclone(arguments: &str) -> Program {
    let line =
        format!("{}exec rclone --config none --webdav-url http://$SERVER:8080 {arguments}", "export HOME=$DIR\n");
    Program::client("rclone", line)
}

//! [`Spans`]: slow transfers for a collector of OpenTelemetry.

use super::batch::Batch;
use super::choice::Choice;
use super::holder::Holder;
use super::record::Record;
use whyslow_analysis::{End, Finding, Transfer};
use whyslow_otlp::{Endpoint, Event, Exporter, Span, Value};
use whyslow_report::text::units;
use whyslow_report::words::{self, Lang};
use whyslow_units::{Nanos, Time};

/// Sends a span for each listed transfer.
pub(super) struct Spans(Exporter);

impl Spans {
    /// Sends them to this collector.
    ///
    /// # Errors
    /// When no thread can be had.
    pub(super) fn start(endpoint: Endpoint) -> std::io::Result<Self> {
        let mut resource = vec![text("service.name", "whyslow"), text("service.version", env!("CARGO_PKG_VERSION"))];
        resource.extend(machine().map(|name| text("host.name", name)));
        Ok(Self(Exporter::start(endpoint, resource, env!("CARGO_PKG_VERSION"))?))
    }

    /// Sends those of a batch, each once: a transfer that continues is not sent again.
    pub(super) fn add(&self, batch: &Batch, choice: &Choice) {
        let listed = batch.records.iter().filter(|record| choice.concerns(record) && choice.lists(record));
        listed.filter(|record| !record.revised).filter_map(span).for_each(|span| self.0.send(span));
    }

    /// Sends the rest; returns what went wrong.
    pub(super) fn finish(self) -> Option<String> {
        let sent = self.0.finish();
        let failure = sent.failure.map_or(String::new(), |why| format!(": {why}"));
        (sent.dropped > 0).then(|| {
            format!(
                "{} of {} not sent{failure}",
                units::thousands(sent.dropped),
                units::count(sent.sent + sent.dropped, "span")
            )
        })
    }
}

#[cfg(unix)]
fn machine() -> Option<String> {
    Some(rustix::system::uname().nodename().to_string_lossy().into_owned())
}

#[cfg(not(unix))]
fn machine() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

fn text(name: &str, value: impl Into<String>) -> (String, Value) {
    (name.to_owned(), Value::Text(value.into()))
}

fn integer(name: &str, value: u64) -> (String, Value) {
    (name.to_owned(), Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)))
}

fn seconds(name: &str, value: Nanos) -> (String, Value) {
    (name.to_owned(), Value::Number(value.as_secs_f64()))
}

/// The span of a transfer, from its request on.
fn span(record: &Record) -> Option<Span> {
    let transfer = record.transfer()?;
    let (connection, end, took) = (&record.connection, record.end(), record.took());
    let is_upload = transfer.from == End::Client;
    let mut attributes = vec![
        text("network.transport", "tcp"),
        text("client.address", &*connection.client.address),
        integer("client.port", connection.client.port.into()),
        text("server.address", connection.server.name.as_ref().unwrap_or(&connection.server.address).as_str()),
        integer("server.port", connection.server.port.into()),
        text("network.peer.address", &*connection.server.address),
        text("network.io.direction", if is_upload { "transmit" } else { "receive" }),
        integer("whyslow.bytes", transfer.bytes),
        integer("whyslow.connection", connection.id),
        seconds("whyslow.took_s", took),
        seconds("whyslow.lost_s", record.lost()),
        text("whyslow.verdict", words::verdict(transfer, Lang::En)),
    ];
    if let Some(worst) = record.worst() {
        attributes.push(text("whyslow.cause", worst.cause.slug()));
        attributes.push(("whyslow.confidence".to_owned(), Value::Number(worst.confidence)));
    }
    attributes.extend(transfer.label.as_ref().map(|label| text("whyslow.label", label.as_str())));
    for (side, holder) in [("client", &record.holders.client), ("server", &record.holders.server)] {
        if let Some(holder) = holder {
            attributes.extend(of_holder(holder).into_iter().map(|(name, value)| (format!("{side}.{name}"), value)));
        }
    }
    // Collectors know these names without a side: they are those of the server, if it is here.
    attributes.extend(record.holders.all().next().into_iter().flat_map(of_holder));
    Some(Span {
        name: if is_upload { "TCP upload" } else { "TCP download" }.to_owned(),
        start_ns: unix_ns(end + Nanos(-took.0)),
        end_ns: unix_ns(end),
        attributes,
        events: transfer.findings.iter().map(|finding| event(record, transfer, finding)).collect(),
    })
}

/// By the semantic conventions of OpenTelemetry.
fn of_holder(holder: &Holder) -> Vec<(String, Value)> {
    let pod = holder.pod.as_ref();
    let texts = [
        ("process.executable.name", holder.process.as_ref()),
        ("container.name", holder.container.as_ref()),
        ("k8s.namespace.name", pod.and_then(|pod| pod.namespace.as_ref())),
        ("k8s.pod.name", pod.and_then(|pod| pod.name.as_ref())),
        ("k8s.pod.uid", pod.map(|pod| &pod.uid)),
        ("k8s.container.name", pod.and_then(|pod| pod.container.as_ref())),
    ];
    let texts = texts.into_iter().filter_map(|(name, value)| Some(text(name, value?.as_str())));
    texts.chain(holder.pid.map(|pid| integer("process.pid", pid.into()))).collect()
}

/// A finding, at the end of its transfer.
fn event(record: &Record, transfer: &Transfer, finding: &Finding) -> Event {
    Event {
        name: "whyslow.finding".to_owned(),
        time_ns: unix_ns(record.first + transfer.start_s + transfer.duration_s),
        attributes: vec![
            text("whyslow.cause", finding.cause.slug()),
            seconds("whyslow.cost_s", finding.cost_s),
            ("whyslow.confidence".to_owned(), Value::Number(finding.confidence)),
            text("whyslow.summary", words::summary(finding, Lang::En)),
        ],
    }
}

fn unix_ns(time: Time) -> u64 {
    u64::try_from(time.0).unwrap_or(0)
}

//! [`Choice`]: selects the reports to show.

use super::closed::ClosedConnection;
use super::holder::Holder;
use super::record::Record;
use glob::Pattern;
use whyslow_analysis::cause::Cause;
use whyslow_cli::select::Selection;
use whyslow_units::Nanos;

/// Selects the reports to show.
#[derive(Default)]
pub(super) struct Choice {
    pub(super) selection: Selection,
    pub(super) holder: HolderChoice,
    pub(super) cause: Option<Cause>,
    pub(super) slower_than: Option<Nanos>,
}

/// Selects by the program on this machine that has an end of the connection.
#[derive(Clone, Debug, Default)]
pub(super) struct HolderChoice {
    /// Its name or its number.
    pub(super) process: Option<String>,
    /// The name of its container in the pod, or the beginning of the container's id.
    pub(super) container: Option<String>,
    pub(super) pod: Option<PodPattern>,
    /// The pod's namespace.
    pub(super) namespace: Option<String>,
}

/// A pod, as `NAME`, `NAMESPACE/NAME`, or either with `*`.
#[derive(Clone, Debug)]
pub(crate) struct PodPattern {
    namespace: Option<Pattern>,
    name: Pattern,
}

impl Choice {
    /// Whether the record matches the filter.
    pub(super) fn concerns(&self, record: &Record) -> bool {
        let cause = self.cause.is_none_or(|cause| record.findings().iter().any(|finding| finding.cause == cause));
        let holder = self.holder.is_any() || record.holders.all().any(|holder| self.holder.selects(holder));
        cause && holder && self.selection.selects(&record.connection, &[])
    }

    /// Whether a closed connection is of the selected programs.
    pub(super) fn concerns_closed(&self, closed: &ClosedConnection) -> bool {
        self.holder.is_any() || closed.holder.as_ref().is_some_and(|holder| self.holder.selects(holder))
    }

    /// Whether a closed connection sent for long enough to be listed.
    pub(super) fn lists_closed(&self, closed: &ClosedConnection) -> bool {
        self.slower_than.is_none_or(|least| closed.account.sending_s > least)
    }

    /// Whether it took long enough to be listed.
    pub(super) fn lists(&self, record: &Record) -> bool {
        self.slower_than.is_none_or(|least| record.took() > least)
    }
}

impl HolderChoice {
    /// Whether nothing is asked for.
    pub(super) fn is_any(&self) -> bool {
        let Self { process, container, pod, namespace } = self;
        process.is_none() && container.is_none() && pod.is_none() && namespace.is_none()
    }

    fn selects(&self, holder: &Holder) -> bool {
        let pod = holder.pod.as_ref();
        let named = |text: &str| {
            let id = holder.container.as_ref().and_then(|container| container.rsplit(' ').next());
            let is_id = |id: &str| text.len() >= MIN_ID && (text.starts_with(id) || id.starts_with(text));
            id.is_some_and(is_id) || pod.is_some_and(|pod| pod.container.as_deref() == Some(text))
        };
        let process = |text: &str| {
            let pid = text.parse().ok();
            holder.process.as_deref() == Some(text) || pid.is_some() && holder.pid == pid
        };
        self.process.as_deref().is_none_or(process)
            && self.container.as_deref().is_none_or(named)
            && self.pod.as_ref().is_none_or(|pattern| {
                let namespace =
                    |of: &Pattern| pod.and_then(|pod| pod.namespace.as_ref()).is_some_and(|it| of.matches(it));
                pattern.namespace.as_ref().is_none_or(namespace)
                    && pod.and_then(|pod| pod.name.as_ref()).is_some_and(|name| pattern.name.matches(name))
            })
            && self.namespace.as_ref().is_none_or(|of| pod.and_then(|pod| pod.namespace.as_ref()) == Some(of))
    }
}

/// Minimum number of digits of a container's ID that identify it.
const MIN_ID: usize = 4;

impl PodPattern {
    /// Reads an option's value.
    ///
    /// # Errors
    /// If it is not a pattern.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let (namespace, name) = text.split_once('/').map_or((None, text), |(namespace, name)| (Some(namespace), name));
        let pattern = |text: &str| match Pattern::new(text) {
            Ok(pattern) if !text.is_empty() => Ok(pattern),
            _ => Err(format!("`{text}` is not the name of a pod, as `web-0`, `shop/web-0` or `shop/web-*`")),
        };
        Ok(Self { namespace: namespace.map(pattern).transpose()?, name: pattern(name)? })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::holder::tests::in_pod;

    #[test]
    fn a_holder_is_selected_by_process_container_pod_and_namespace() {
        let holder = in_pod("nginx", "shop", "checkout-7d9f-x2x");
        let some = |text: &str| Some(text.to_owned());
        let pod = |text: &str| HolderChoice { pod: Some(PodPattern::read(text).unwrap()), ..HolderChoice::default() };
        let process = |text: &str| HolderChoice { process: some(text), ..HolderChoice::default() };
        let container = |text: &str| HolderChoice { container: some(text), ..HolderChoice::default() };
        let namespace = |text: &str| HolderChoice { namespace: some(text), ..HolderChoice::default() };
        for choice in [
            pod("checkout-7d9f-x2x"),
            pod("shop/checkout-*"),
            pod("*/check*"),
            process("nginx"),
            process("812"),
            container("web"),
            container("4f2a09c1be77"),
            container("4f2a"),
            container("4f2a09c1be77d0a1b2c3d4e5f60718293a4b5c6d7e8f90010203040506070809"),
            namespace("shop"),
            HolderChoice { process: some("nginx"), ..namespace("shop") },
        ] {
            assert!(choice.selects(&holder) && !choice.is_any(), "{choice:?}");
        }
        for choice in [
            pod("checkout"),
            pod("bank/checkout-*"),
            process("ngin"),
            process("81"),
            container("4f"),
            container("db"),
            namespace("bank"),
            HolderChoice { process: some("curl"), ..namespace("shop") },
        ] {
            assert!(!choice.selects(&holder), "{choice:?}");
        }
        assert!(!pod("x").selects(&Holder::default()) && HolderChoice::default().is_any());
        assert!(PodPattern::read("").is_err() && PodPattern::read("a/").is_err() && PodPattern::read("a[").is_err());
    }
}

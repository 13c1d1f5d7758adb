//! How long a transfer would take, for Python.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use whyslow_model::Algorithm;
use whyslow_model::plan::{Plan, Tls, Way};
use whyslow_report::render::forecast;
use whyslow_units::Nanos;

/// The prediction as JSON (`whyslow-predict/1`) and as a page. Settings that are left out are those
/// of the command line.
#[pyfunction]
pub(crate) fn predict(py: Python<'_>, size: u64, rtt: f64, settings: &Bound<'_, PyDict>) -> PyResult<(String, String)> {
    let mut plan = Plan::new(size, seconds("rtt", rtt)?);
    for (name, value) in settings {
        set(&mut plan, &name.extract::<String>()?, &value)?;
    }
    if !(64..=65_483).contains(&plan.mss) {
        return Err(PyValueError::new_err(format!("mss={} is no segment size: from 64 to 65,483 bytes", plan.mss)));
    }
    Ok(py.detach(|| {
        let outcome = plan.forecast();
        let changes = plan.changes(&outcome);
        (forecast::json(&plan, &outcome, &changes), forecast::terminal(&plan, &outcome, &changes, 100))
    }))
}

fn set(plan: &mut Plan, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match name {
        "rate" => plan.rate = Some(positive(name, value.extract()?)?),
        "queue" => plan.queue = Some(value.extract()?),
        "loss" => plan.loss = share(name, value.extract()?)?,
        "way" => plan.way = word(name, value, &[("download", Way::Download), ("upload", Way::Upload)])?,
        "tls" => plan.tls = word(name, value, &[("none", Tls::None), ("1.2", Tls::V12), ("1.3", Tls::V13)])?,
        "cc" => {
            let known = [("reno", Algorithm::Reno), ("cubic", Algorithm::Cubic), ("bbr", Algorithm::Bbr)];
            plan.algorithm = word(name, value, &known)?;
        }
        "initcwnd" => plan.initial_window = within(name, value.extract()?, (1, 100_000))?,
        "ssthresh" => plan.ssthresh = Some(within(name, value.extract()?, (2, 100_000))?),
        "initrwnd" => plan.first_window = value.extract()?,
        "rwnd" => plan.receive_window = value.extract()?,
        "sndbuf" => plan.send_buffer = Some(value.extract()?),
        "mss" => plan.mss = value.extract()?,
        "think" => plan.think = seconds(name, value.extract()?)?,
        "reuse" => plan.reuse = value.extract()?,
        "idle" => plan.idle = seconds(name, value.extract()?)?,
        "keep_window" => plan.starts_over = !value.extract::<bool>()?,
        "count" => plan.count = within(name, value.extract()?, (1, 1_000_000))?,
        other => return Err(PyTypeError::new_err(format!("predict() has no argument `{other}`"))),
    }
    Ok(())
}

fn seconds(name: &str, value: f64) -> PyResult<Nanos> {
    match value {
        0.0..=86_400.0 => Ok(Nanos::from_secs_f64(value)),
        _ => Err(PyValueError::new_err(format!("{name}={value} is out of range: from 0 to 86,400 seconds"))),
    }
}

fn positive(name: &str, value: f64) -> PyResult<f64> {
    match value {
        1.0..=1e15 => Ok(value),
        _ => Err(PyValueError::new_err(format!("{name}={value} is out of range: from 1 to 1e15 bits per second"))),
    }
}

fn share(name: &str, value: f64) -> PyResult<f64> {
    match value {
        0.0..1.0 => Ok(value),
        _ => Err(PyValueError::new_err(format!("{name}={value} is no share: at least 0, and less than 1"))),
    }
}

fn within(name: &str, value: u64, (least, most): (u64, u64)) -> PyResult<u64> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(PyValueError::new_err(format!("{name}={value} is out of range: from {least} to {most}")))
}

fn word<T: Copy>(name: &str, value: &Bound<'_, PyAny>, known: &[(&str, T)]) -> PyResult<T> {
    let text: String = value.extract()?;
    let found = known.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        PyValueError::new_err(format!("{name}=`{text}` is none of {}", words.join(", ")))
    })
}

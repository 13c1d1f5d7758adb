//! [`Column`]: a name, a type, a unit, a meaning, and how its value is read off a row.

use crate::row::Row;
use arrow_schema::{DataType, Field, TimeUnit};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use whyslow_report::text::harmless;
use whyslow_units::{Nanos, Time};

/// The types of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A signed 64-bit integer.
    Int,
    /// A 64-bit float.
    Float,
    /// UTF-8.
    Text,
    /// True or false.
    Bool,
    /// Microseconds since the epoch, UTC.
    Timestamp,
    /// A list of signed 64-bit integers.
    Ints,
}

impl Kind {
    /// Its Arrow type.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Int => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::Text => DataType::Utf8,
            Self::Bool => DataType::Boolean,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Ints => DataType::List(Arc::new(Field::new("item", DataType::Int64, true))),
        }
    }

    /// Its Arrow type's name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int64",
            Self::Float => "float64",
            Self::Text => "utf8",
            Self::Bool => "bool",
            Self::Timestamp => "timestamp[us, UTC]",
            Self::Ints => "list<int64>",
        }
    }
}

/// A value that is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Int(i64),
    Float(f64),
    Text(String),
    Bool(bool),
    /// Microseconds since the epoch.
    Timestamp(i64),
    Ints(Vec<i64>),
}

type Get = Box<dyn Fn(&Row<'_>) -> Option<Value> + Send + Sync>;

/// A column of a table.
pub struct Column {
    /// Lower case with underscores; ends with the unit where there is one.
    pub name: Cow<'static, str>,
    /// Its type.
    pub kind: Kind,
    /// `s`, `ms`, `ns`, `B`, `bit/s`; empty for a count and for values without a unit.
    pub unit: &'static str,
    /// What it means, in a sentence or two.
    pub about: Cow<'static, str>,
    get: Get,
}

impl std::fmt::Debug for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Column").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Column {
    /// The value of a row; `None` if it is unknown.
    pub(crate) fn get(&self, row: &Row<'_>) -> Option<Value> {
        (self.get)(row)
    }

    /// Its Arrow field, with `unit` and `description` in its metadata.
    pub fn field(&self) -> Field {
        let about = [("description", self.about.to_string()), ("unit", self.unit.to_owned())];
        let metadata: HashMap<_, _> = about
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        Field::new(self.name.as_ref(), self.kind.data_type(), true).with_metadata(metadata)
    }

    /// A column of another name.
    pub(crate) fn named(self, name: String) -> Self {
        Self { name: name.into(), ..self }
    }

    /// A column of another meaning.
    pub(crate) fn meaning(self, about: String) -> Self {
        Self { about: about.into(), ..self }
    }

    /// A column in this unit.
    pub(crate) fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }
}

fn column(name: &'static str, about: &'static str, kind: Kind, get: Get) -> Column {
    Column { name: name.into(), kind, unit: "", about: about.into(), get }
}

/// Counts and sizes.
pub(crate) fn int<T: TryInto<i64>>(
    name: &'static str,
    about: &'static str,
    get: impl Fn(&Row<'_>) -> Option<T> + Send + Sync + 'static,
) -> Column {
    column(name, about, Kind::Int, Box::new(move |row| Some(Value::Int(get(row)?.try_into().ok()?))))
}

/// Payload, windows and segments.
pub(crate) fn bytes<T: TryInto<i64>>(
    name: &'static str,
    about: &'static str,
    get: impl Fn(&Row<'_>) -> Option<T> + Send + Sync + 'static,
) -> Column {
    int(name, about, get).unit("B")
}

/// Figures that are not integers. NaN is unknown.
pub(crate) fn float(
    name: &'static str,
    about: &'static str,
    get: impl Fn(&Row<'_>) -> Option<f64> + Send + Sync + 'static,
) -> Column {
    let get = move |row: &Row<'_>| Some(Value::Float(get(row).filter(|value| value.is_finite())?));
    column(name, about, Kind::Float, Box::new(get))
}

/// Lengths of time, in seconds.
pub(crate) fn seconds(
    name: &'static str,
    about: &'static str,
    get: impl Fn(&Row<'_>) -> Option<Nanos> + Send + Sync + 'static,
) -> Column {
    float(name, about, move |row| Some(get(row)?.as_secs_f64())).unit("s")
}

/// Text, with what steers a terminal or hides written out.
pub(crate) fn text(
    name: &'static str,
    about: &'static str,
    get: impl Fn(&Row<'_>) -> Option<String> + Send + Sync + 'static,
) -> Column {
    raw(name, about, move |row| Some(harmless(&get(row)?).into_owned()))
}

/// Text as it is: a file's path opens the file.
pub(crate) fn raw(
    name: &'static str,
    about: &'static str,
    get: impl Fn(&Row<'_>) -> Option<String> + Send + Sync + 'static,
) -> Column {
    column(name, about, Kind::Text, Box::new(move |row| Some(Value::Text(get(row)?))))
}

/// True or false.
pub(crate) fn flag(
    name: &'static str,
    about: &'static str,
    get: impl Fn(&Row<'_>) -> Option<bool> + Send + Sync + 'static,
) -> Column {
    column(name, about, Kind::Bool, Box::new(move |row| Some(Value::Bool(get(row)?))))
}

/// Numbers, in their order.
pub(crate) fn ints(
    name: &'static str,
    about: &'static str,
    get: impl Fn(&Row<'_>) -> Option<Vec<i64>> + Send + Sync + 'static,
) -> Column {
    column(name, about, Kind::Ints, Box::new(move |row| Some(Value::Ints(get(row)?))))
}

/// An instant in two columns: `time` in microseconds as engines count, `time_ns` to the nanosecond.
pub(crate) fn instant(names: [&'static str; 2], about: &'static str, get: fn(&Row<'_>) -> Option<Time>) -> [Column; 2] {
    let micros = move |row: &Row<'_>| Some(Value::Timestamp(get(row)?.0.div_euclid(1_000)));
    let nanos = int(names[1], "The same in nanoseconds since the epoch.", move |row| Some(get(row)?.0));
    [column(names[0], about, Kind::Timestamp, Box::new(micros)), nanos.unit("ns")]
}

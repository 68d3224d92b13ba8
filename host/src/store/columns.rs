//! Rows turned into columns: a statement that reads `unnest($1::uuid[], …) as r (id, …)` takes one array for each of
//! them, which costs the database a fraction of what reading JSON does.
//!
//! The statement's own text says which columns it wants and of which types; rows are any structs whose fields have
//! those names.

use chrono::{DateTime, Utc};
use serde::ser::{Error as _, Impossible, Serialize, SerializeStruct, Serializer};
use uuid::Uuid;

use super::cell::{Cell, CellWriter, Unfit};

/// What a statement wants: names and types, in the order of its parameters.
#[derive(Debug)]
pub(super) struct Layout {
    columns: Vec<(&'static str, Kind)>,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Uuid,
    Text,
    Json,
    Bigint,
    Integer,
    Double,
    Boolean,
    Time,
}

/// The values of one column, one for each row.
#[derive(Debug)]
pub(super) enum Column {
    Uuid(Vec<Option<Uuid>>),
    /// Also JSON, which the statement casts.
    Text(Vec<Option<String>>),
    Bigint(Vec<Option<i64>>),
    Integer(Vec<Option<i32>>),
    Double(Vec<Option<f64>>),
    Boolean(Vec<Option<bool>>),
    Time(Vec<Option<DateTime<Utc>>>),
}

impl Layout {
    /// What a statement's text asks for; none if it takes JSON.
    pub(super) fn of(sql: &'static str) -> Option<Self> {
        let (_, rest) = sql.split_once("unnest(")?;
        let (types, rest) = rest.split_once(')')?;
        let (_, rest) = rest.split_once("as r (")?;
        let (names, _) = rest.split_once(')')?;
        let names = names.split(',').map(|name| name.trim().trim_matches('"'));
        let kinds = types
            .split(',')
            .map(|parameter| Kind::of(parameter.rsplit("::").next().unwrap_or_default().trim()));
        Some(Self { columns: names.zip(kinds).collect() })
    }

    /// How many columns.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The columns of some rows.
    pub(super) fn fill<T: Serialize>(&self, rows: &[T]) -> Result<Vec<Column>, Unfit> {
        let mut columns: Vec<Column> =
            self.columns.iter().map(|(_, kind)| Column::new(*kind, rows.len())).collect();
        for (at, row) in rows.iter().enumerate() {
            row.serialize(RowWriter { layout: self, columns: &mut columns, next: 0 })?;
            for column in &mut columns {
                column.pad(at + 1);
            }
        }
        Ok(columns)
    }
}

impl Kind {
    fn of(name: &str) -> Self {
        match name.trim_end_matches("[]") {
            "uuid" => Self::Uuid,
            "jsonb" => Self::Json,
            "bigint" => Self::Bigint,
            "integer" => Self::Integer,
            "double precision" => Self::Double,
            "boolean" => Self::Boolean,
            "timestamptz" => Self::Time,
            _ => Self::Text,
        }
    }
}

impl Column {
    fn new(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::Uuid => Self::Uuid(Vec::with_capacity(rows)),
            Kind::Text | Kind::Json => Self::Text(Vec::with_capacity(rows)),
            Kind::Bigint => Self::Bigint(Vec::with_capacity(rows)),
            Kind::Integer => Self::Integer(Vec::with_capacity(rows)),
            Kind::Double => Self::Double(Vec::with_capacity(rows)),
            Kind::Boolean => Self::Boolean(Vec::with_capacity(rows)),
            Kind::Time => Self::Time(Vec::with_capacity(rows)),
        }
    }

    /// A field that a row does not have is null.
    fn pad(&mut self, rows: usize) {
        match self {
            Self::Uuid(values) => values.resize(rows, None),
            Self::Text(values) => values.resize(rows, None),
            Self::Bigint(values) => values.resize(rows, None),
            Self::Integer(values) => values.resize(rows, None),
            Self::Double(values) => values.resize(rows, None),
            Self::Boolean(values) => values.resize(rows, None),
            Self::Time(values) => values.resize(rows, None),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of a double column are seconds")]
    fn push(&mut self, cell: Cell) -> Result<(), Unfit> {
        match (self, cell) {
            (Self::Uuid(values), Cell::Uuid(value)) => values.push(Some(value)),
            (Self::Uuid(values), Cell::Text(value)) => {
                values.push(Some(value.parse().map_err(Unfit::custom)?))
            }
            (Self::Text(values), Cell::Text(value)) => values.push(Some(value)),
            (Self::Bigint(values), Cell::Integer(value)) => values.push(Some(value)),
            (Self::Integer(values), Cell::Integer(value)) => {
                values.push(Some(i32::try_from(value).map_err(Unfit::custom)?));
            }
            (Self::Double(values), Cell::Double(value)) => values.push(Some(value)),
            (Self::Double(values), Cell::Integer(value)) => values.push(Some(value as f64)),
            (Self::Boolean(values), Cell::Boolean(value)) => values.push(Some(value)),
            (Self::Time(values), Cell::Integer(millis)) => {
                values.push(DateTime::from_timestamp_millis(millis))
            }
            (column, Cell::Null) => column.pad(column.len() + 1),
            (column, cell) => return Err(Unfit::custom(format!("{cell:?} in the column {column:?}"))),
        }
        Ok(())
    }

    fn len(&self) -> usize {
        match self {
            Self::Uuid(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::Bigint(values) => values.len(),
            Self::Integer(values) => values.len(),
            Self::Double(values) => values.len(),
            Self::Boolean(values) => values.len(),
            Self::Time(values) => values.len(),
        }
    }
}

/// Takes the fields of one row.
struct RowWriter<'a> {
    layout: &'a Layout,
    columns: &'a mut [Column],
    /// Where the next field probably belongs: most statements name them in the struct's order.
    next: usize,
}

impl SerializeStruct for RowWriter<'_> {
    type Ok = ();
    type Error = Unfit;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> Result<(), Unfit> {
        let wanted = &self.layout.columns;
        let at = if wanted.get(self.next).is_some_and(|(column, _)| *column == name) {
            self.next
        } else {
            match wanted.iter().position(|(column, _)| *column == name) {
                Some(at) => at,
                None => return Ok(()),
            }
        };
        self.next = at + 1;
        let cell = match wanted[at].1 {
            Kind::Json => match serde_json::to_string(value).map_err(Unfit::custom)? {
                null if null == "null" => Cell::Null,
                text => Cell::Text(text),
            },
            _ => value.serialize(CellWriter)?,
        };
        self.columns[at].push(cell)
    }

    fn end(self) -> Result<(), Unfit> {
        Ok(())
    }
}

macro_rules! only_structs {
    ($($method:ident($($argument:ty),*);)+) => {$(
        fn $method(self, $(_: $argument),*) -> Result<Self::Ok, Unfit> {
            Err(Unfit::custom("a row must be a struct"))
        }
    )+};
}

impl Serializer for RowWriter<'_> {
    type Ok = ();
    type Error = Unfit;
    type SerializeSeq = Impossible<(), Unfit>;
    type SerializeTuple = Impossible<(), Unfit>;
    type SerializeTupleStruct = Impossible<(), Unfit>;
    type SerializeTupleVariant = Impossible<(), Unfit>;
    type SerializeMap = Impossible<(), Unfit>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), Unfit>;

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Unfit> {
        Ok(self)
    }

    only_structs! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Unfit> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unfit> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unfit> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Unfit> {
        Err(Unfit::custom("a row must be a struct"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Unfit> {
        Err(Unfit::custom("a row must be a struct"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Unfit> {
        Err(Unfit::custom("a row must be a struct"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Unfit> {
        Err(Unfit::custom("a row must be a struct"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Unfit> {
        Err(Unfit::custom("a row must be a struct"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Unfit> {
        Err(Unfit::custom("a row must be a struct"))
    }
}

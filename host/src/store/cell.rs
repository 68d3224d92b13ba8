//! One field of a row as a plain value. JSON fields never come here: they are text before.

use std::fmt;

use serde::ser::{Error as _, Impossible, Serialize, Serializer};
use uuid::Uuid;

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Uuid(Uuid),
    Text(String),
    /// Also times, in milliseconds.
    Integer(i64),
    Double(f64),
    Boolean(bool),
}

/// A value that fits no column: a mistake of ours, or a number out of range.
#[derive(Debug)]
pub(super) struct Unfit(String);

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unfit {}

impl serde::ser::Error for Unfit {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self(why.to_string())
    }
}

/// Makes a cell of a field.
pub(super) struct CellWriter;

macro_rules! integers {
    ($($method:ident($argument:ty);)+) => {$(
        fn $method(self, value: $argument) -> Result<Cell, Unfit> {
            i64::try_from(value).map(Cell::Integer).map_err(Unfit::custom)
        }
    )+};
}

type No = Impossible<Cell, Unfit>;

fn composite<T>() -> Result<T, Unfit> {
    Err(Unfit::custom("a list or an object in a column that is not JSON"))
}

impl Serializer for CellWriter {
    type Ok = Cell;
    type Error = Unfit;
    type SerializeSeq = No;
    type SerializeTuple = No;
    type SerializeTupleStruct = No;
    type SerializeTupleVariant = No;
    type SerializeMap = No;
    type SerializeStruct = No;
    type SerializeStructVariant = No;

    /// So that ids come as bytes, and times as numbers.
    fn is_human_readable(&self) -> bool {
        false
    }

    integers! {
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
    }

    fn serialize_bool(self, value: bool) -> Result<Cell, Unfit> {
        Ok(Cell::Boolean(value))
    }

    fn serialize_f32(self, value: f32) -> Result<Cell, Unfit> {
        Ok(Cell::Double(f64::from(value)))
    }

    fn serialize_f64(self, value: f64) -> Result<Cell, Unfit> {
        Ok(Cell::Double(value))
    }

    fn serialize_char(self, value: char) -> Result<Cell, Unfit> {
        Ok(Cell::Text(value.into()))
    }

    fn serialize_str(self, value: &str) -> Result<Cell, Unfit> {
        Ok(Cell::Text(value.to_owned()))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Cell, Unfit> {
        Uuid::from_slice(value).map(Cell::Uuid).map_err(Unfit::custom)
    }

    fn serialize_none(self) -> Result<Cell, Unfit> {
        Ok(Cell::Null)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Cell, Unfit> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Cell, Unfit> {
        Ok(Cell::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Cell, Unfit> {
        Ok(Cell::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<Cell, Unfit> {
        Ok(Cell::Text(name.to_owned()))
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Cell, Unfit> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Cell, Unfit> {
        composite()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<No, Unfit> {
        composite()
    }

    fn serialize_tuple(self, _: usize) -> Result<No, Unfit> {
        composite()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<No, Unfit> {
        composite()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<No, Unfit> {
        composite()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<No, Unfit> {
        composite()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<No, Unfit> {
        composite()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<No, Unfit> {
        composite()
    }
}

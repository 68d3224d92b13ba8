//! One field of a row in PostgreSQL's binary form.

use std::fmt;

use serde::ser::{Error as _, Impossible, Serialize, Serializer};
use uuid::Uuid;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Uuid,
    Text,
    Json,
    Bigint,
    Integer,
    Double,
    Boolean,
    Time,
}

/// What stands before JSON: the version of its binary form.
const JSONB_VERSION: u8 = 1;

/// The first moment of the year 2000, from which the server counts, in milliseconds since 1970.
const SERVER_EPOCH_MS: i64 = 946_684_800_000;

impl Kind {
    /// By the name that SQL has for it.
    pub(super) fn of(name: &str) -> Self {
        match name {
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

    /// The server's number for it, the same in every database.
    pub(super) fn oid(self) -> u32 {
        match self {
            Self::Boolean => 16,
            Self::Bigint => 20,
            Self::Integer => 23,
            Self::Text => 25,
            Self::Double => 701,
            Self::Time => 1_184,
            Self::Uuid => 2_950,
            Self::Json => 3_802,
        }
    }
}

/// A value that fits no field: a mistake of ours, or a number out of range.
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

/// Writes one value; says whether there is one.
pub(super) struct FieldWriter<'a> {
    kind: Kind,
    bytes: &'a mut Vec<u8>,
}

impl<'a> FieldWriter<'a> {
    /// Appends a value; false, and nothing is appended, if it is null.
    pub(super) fn write<T: ?Sized + Serialize>(
        kind: Kind,
        value: &T,
        bytes: &'a mut Vec<u8>,
    ) -> Result<bool, Unfit> {
        if kind != Kind::Json {
            return value.serialize(Self { kind, bytes });
        }
        let begin = bytes.len();
        bytes.push(JSONB_VERSION);
        serde_json::to_writer(&mut *bytes, value).map_err(Unfit::custom)?;
        let there = bytes[begin + 1..] != *b"null";
        if !there {
            bytes.truncate(begin);
        }
        Ok(there)
    }

    fn put(self, value: &[u8]) -> Result<bool, Unfit> {
        self.bytes.extend_from_slice(value);
        Ok(true)
    }

    fn integer(self, value: i64) -> Result<bool, Unfit> {
        match self.kind {
            Kind::Bigint => self.put(&value.to_be_bytes()),
            Kind::Integer => self.put(&i32::try_from(value).map_err(Unfit::custom)?.to_be_bytes()),
            #[expect(clippy::cast_precision_loss, reason = "numbers of a double field are seconds")]
            Kind::Double => self.put(&(value as f64).to_be_bytes()),
            Kind::Time => {
                let micros = value.checked_sub(SERVER_EPOCH_MS).and_then(|millis| millis.checked_mul(1_000));
                let micros = micros.ok_or_else(|| Unfit::custom(format!("{value} ms is no time")))?;
                self.put(&micros.to_be_bytes())
            }
            _ => self.refuse(&value),
        }
    }

    fn refuse<T>(self, value: &dyn fmt::Debug) -> Result<T, Unfit> {
        Err(Unfit::custom(format!("{value:?} in a field of the type {:?}", self.kind)))
    }
}

macro_rules! integers {
    ($($method:ident($argument:ty);)+) => {$(
        fn $method(self, value: $argument) -> Result<bool, Unfit> {
            self.integer(i64::try_from(value).map_err(Unfit::custom)?)
        }
    )+};
}

type No = Impossible<bool, Unfit>;

fn composite<T>() -> Result<T, Unfit> {
    Err(Unfit::custom("a list or an object in a field that is not JSON"))
}

impl Serializer for FieldWriter<'_> {
    type Ok = bool;
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

    fn serialize_bool(self, value: bool) -> Result<bool, Unfit> {
        match self.kind {
            Kind::Boolean => self.put(&[u8::from(value)]),
            _ => self.refuse(&value),
        }
    }

    fn serialize_f32(self, value: f32) -> Result<bool, Unfit> {
        self.serialize_f64(f64::from(value))
    }

    fn serialize_f64(self, value: f64) -> Result<bool, Unfit> {
        match self.kind {
            Kind::Double => self.put(&value.to_be_bytes()),
            _ => self.refuse(&value),
        }
    }

    fn serialize_char(self, value: char) -> Result<bool, Unfit> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<bool, Unfit> {
        match self.kind {
            Kind::Text => self.put(value.as_bytes()),
            Kind::Uuid => {
                let id: Uuid = value.parse().map_err(Unfit::custom)?;
                self.put(id.as_bytes())
            }
            _ => self.refuse(&value),
        }
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<bool, Unfit> {
        match self.kind {
            Kind::Uuid => {
                let id = Uuid::from_slice(value).map_err(Unfit::custom)?;
                self.put(id.as_bytes())
            }
            _ => self.refuse(&value),
        }
    }

    fn serialize_none(self) -> Result<bool, Unfit> {
        Ok(false)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<bool, Unfit> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<bool, Unfit> {
        Ok(false)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<bool, Unfit> {
        Ok(false)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<bool, Unfit> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<bool, Unfit> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<bool, Unfit> {
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

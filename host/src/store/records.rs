//! Rows as PostgreSQL takes many of them: a statement that reads `unnest($1::TYPE[]) as r` takes one array of records of
//! that type, in binary. A row is written once, straight from the engine's struct, and the server takes it apart once;
//! an array for each column costs it several times as much.
//!
//! The migration that makes the type says which fields it has; rows are any structs whose fields have those names.

use std::ops::Range;

use serde::ser::{Error as _, Impossible, Serialize, SerializeStruct, Serializer};

use super::field::{FieldWriter, Kind, Unfit};
use super::migrate;

/// What a statement wants: the type of its rows, and the fields of that in their order.
#[derive(Debug)]
pub(super) struct Layout {
    type_name: &'static str,
    fields: Vec<(&'static str, Kind)>,
}

/// Rows of one type, each in binary.
#[derive(Clone, Debug)]
pub(super) struct Records {
    /// Their type's name.
    pub(super) type_name: &'static str,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Layout {
    /// What a statement's text asks for; none if it takes JSON.
    pub(super) fn of(sql: &'static str) -> Option<Self> {
        let (_, rest) = sql.split_once("unnest($1::")?;
        let (type_name, _) = rest.split_once("[])")?;
        let fields = migrate::type_fields(type_name)?;
        let field = |field: &'static str| {
            let (name, kind) = field.trim().split_once(' ')?;
            Some((name.trim_matches('"'), Kind::of(kind.trim())))
        };
        Some(Self { type_name, fields: fields.split(',').map(field).collect::<Option<_>>()? })
    }

    /// The type of its rows.
    pub(super) fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Some rows. A field that a row does not have is null.
    pub(super) fn fill<T: Serialize>(&self, rows: &[T]) -> Result<Records, Unfit> {
        let mut records =
            Records { type_name: self.type_name, bytes: Vec::new(), ends: Vec::with_capacity(rows.len()) };
        let (mut values, mut places) = (Vec::new(), Vec::new());
        for row in rows {
            values.clear();
            places.clear();
            places.resize(self.fields.len(), None);
            row.serialize(RowWriter { layout: self, values: &mut values, places: &mut places, next: 0 })?;
            records.push(self, &values, &places)?;
        }
        Ok(records)
    }
}

impl Records {
    /// Each of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(&0).chain(&self.ends);
        begins.zip(&self.ends).map(|(begin, end)| &self.bytes[*begin..*end])
    }

    /// A record: the number of its fields, then type, length and value of each.
    fn push(&mut self, layout: &Layout, values: &[u8], places: &[Option<Range<usize>>]) -> Result<(), Unfit> {
        let bytes = &mut self.bytes;
        bytes.extend(length(places.len())?);
        for ((_, kind), place) in layout.fields.iter().zip(places) {
            bytes.extend(kind.oid().to_be_bytes());
            match place {
                Some(place) => {
                    bytes.extend(length(place.len())?);
                    bytes.extend_from_slice(&values[place.clone()]);
                }
                None => bytes.extend((-1_i32).to_be_bytes()),
            }
        }
        self.ends.push(bytes.len());
        Ok(())
    }
}

fn length(count: usize) -> Result<[u8; 4], Unfit> {
    i32::try_from(count).map(i32::to_be_bytes).map_err(Unfit::custom)
}

/// Takes the fields of one row.
struct RowWriter<'a> {
    layout: &'a Layout,
    /// Their values, in the order in which they come.
    values: &'a mut Vec<u8>,
    /// Where the value of each field of the layout is; none is null.
    places: &'a mut [Option<Range<usize>>],
    /// Where the next field probably belongs: most types name them in the struct's order.
    next: usize,
}

impl SerializeStruct for RowWriter<'_> {
    type Ok = ();
    type Error = Unfit;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> Result<(), Unfit> {
        let wanted = &self.layout.fields;
        let at = if wanted.get(self.next).is_some_and(|(field, _)| *field == name) {
            self.next
        } else {
            match wanted.iter().position(|(field, _)| *field == name) {
                Some(at) => at,
                None => return Ok(()),
            }
        };
        self.next = at + 1;
        let begin = self.values.len();
        let there = FieldWriter::write(wanted[at].1, value, self.values)?;
        self.places[at] = there.then_some(begin..self.values.len());
        Ok(())
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;
    use crate::domain::{InstanceId, TenantId, Timestamp};

    const SQL: &str = "select r.id from unnest($1::workflow_update_tasks_row[]) as r";

    /// In another order than the type has, with one field too many and most of them missing.
    #[derive(serde::Serialize)]
    struct Row {
        output: Option<Value>,
        id: InstanceId,
        tenant: TenantId,
        priority: i64,
        lock_duration_seconds: f64,
        heartbeat_max_missed: i64,
        due_at: Option<Timestamp>,
        unknown: i32,
    }

    fn row(output: Option<Value>) -> Row {
        Row {
            output,
            id: InstanceId(Uuid::from_u128(7)),
            tenant: TenantId::default(),
            priority: 5,
            lock_duration_seconds: 1.5,
            heartbeat_max_missed: 2,
            due_at: Some(Timestamp::from_millis(946_684_800_001)),
            unknown: 1,
        }
    }

    fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
        let (taken, rest) = bytes.split_at(count);
        *bytes = rest;
        taken
    }

    fn number(bytes: &mut &[u8]) -> i32 {
        i32::from_be_bytes(take(bytes, 4).try_into().unwrap())
    }

    /// The values of a record, by the names that the layout has.
    fn values<'a>(layout: &Layout, mut bytes: &'a [u8]) -> Vec<(&'static str, &'a [u8])> {
        assert_eq!(usize::try_from(number(&mut bytes)).unwrap(), layout.fields.len());
        let mut values = Vec::new();
        for (name, kind) in &layout.fields {
            assert_eq!(number(&mut bytes), i32::try_from(kind.oid()).unwrap());
            if let Ok(length) = usize::try_from(number(&mut bytes)) {
                values.push((*name, take(&mut bytes, length)));
            }
        }
        assert!(bytes.is_empty());
        values
    }

    #[test]
    fn a_row_is_a_record_with_the_fields_of_its_type() {
        let layout = Layout::of(SQL).unwrap();
        let records = layout.fill(&[row(Some(json!({ "a": 1 }))), row(Some(Value::Null))]).unwrap();
        let records: Vec<_> = records.iter().map(|bytes| values(&layout, bytes)).collect();
        let id = Uuid::from_u128(7);
        let expected: [(&str, &[u8]); 7] = [
            ("id", id.as_bytes()),
            ("tenant", b"default"),
            ("priority", &5_i64.to_be_bytes()),
            ("output", b"\x01{\"a\":1}"),
            ("lock_duration_seconds", &1.5_f64.to_be_bytes()),
            ("heartbeat_max_missed", &2_i32.to_be_bytes()),
            ("due_at", &1_000_i64.to_be_bytes()),
        ];
        assert_eq!(records[0], expected);
        assert!(records[1].iter().all(|(name, _)| *name != "output"), "JSON's null is no value");
        assert_eq!(records[1].len(), 6);
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let layout = Layout::of(SQL).unwrap();
        let too_many = Row { heartbeat_max_missed: 1 << 40, ..row(None) };
        assert!(layout.fill(&[too_many]).is_err(), "a number that is no integer");
        assert!(layout.fill(&[json!({ "id": 1 })]).is_err(), "a row that is no struct");
        assert!(Layout::of("select $1::jsonb").is_none());
    }
}

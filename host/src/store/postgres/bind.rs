//! Records as the parameter of a statement: an array of a type that a migration has made.

use sqlx::Postgres;
use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgBindIterExt as _, PgHasArrayType, PgTypeInfo};
use sqlx::types::Type;

use crate::store::records::Records;

/// `record` and `record[]`: what stands for a type whose name is not known yet.
const ANY: PgTypeInfo = PgTypeInfo::with_oid(Oid(2_249));
const ANY_ARRAY: PgTypeInfo = PgTypeInfo::with_oid(Oid(2_287));

impl Type<Postgres> for Records {
    fn type_info() -> PgTypeInfo {
        ANY_ARRAY
    }
}

impl Encode<'_, Postgres> for Records {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let records = self.iter().map(|bytes| Record { type_name: self.type_name, bytes });
        records.bind_iter().encode(buffer)
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        Some(PgTypeInfo::array_of(self.type_name))
    }
}

/// One of them.
struct Record<'a> {
    type_name: &'static str,
    bytes: &'a [u8],
}

impl Type<Postgres> for Record<'_> {
    fn type_info() -> PgTypeInfo {
        ANY
    }
}

impl PgHasArrayType for Record<'_> {
    fn array_type_info() -> PgTypeInfo {
        ANY_ARRAY
    }
}

impl Encode<'_, Postgres> for Record<'_> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend_from_slice(self.bytes);
        Ok(IsNull::No)
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        Some(PgTypeInfo::with_name(self.type_name))
    }

    fn size_hint(&self) -> usize {
        self.bytes.len()
    }
}

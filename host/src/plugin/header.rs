//! The outside of a component, looked at before anything is compiled: is it one, and is all of it there?

use super::LoadError;

const MAGIC: &[u8] = b"\0asm";

/// Walks over the top-level sections; says what is wrong in words, not in offsets.
pub(super) fn check(bytes: &[u8]) -> Result<(), LoadError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(LoadError::new(
            "component_not_wasm",
            "this is no WebAssembly: the file does not begin with \\0asm. Is it the .wasm that the build made?",
        ));
    };
    let (Some(version), Some(sections)) = (rest.get(..4), rest.get(4..)) else {
        return Err(truncated(bytes.len()));
    };
    match version {
        [_, _, 1, 0] => whole(sections).ok_or_else(|| truncated(bytes.len())),
        [1, 0, 0, 0] => Err(LoadError::new(
            "component_core_module",
            "this is a core module, not a component: turn it into one with `wasm-tools component new`",
        )),
        other => Err(LoadError::new(
            "component_invalid",
            format!("this WebAssembly has the version bytes {other:?}, which are not those of a component"),
        )),
    }
}

fn truncated(size: usize) -> LoadError {
    LoadError::new(
        "component_truncated",
        format!("the component ends within a section, after {size} bytes: part of it is missing"),
    )
}

/// Sections are an id, a length and as many bytes.
fn whole(mut rest: &[u8]) -> Option<()> {
    while let Some((_, after_id)) = rest.split_first() {
        let (length, body) = leb128(after_id)?;
        rest = body.get(length..)?;
    }
    Some(())
}

fn leb128(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0u64;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(value).ok()?, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: &[u8]) -> Result<(), &'static str> {
        check(bytes).map_err(|error| error.code)
    }

    #[test]
    fn each_kind_of_wrong_file_is_told_apart() {
        assert_eq!(code(b"#!/bin/sh"), Err("component_not_wasm"));
        assert_eq!(code(b""), Err("component_not_wasm"));
        assert_eq!(code(b"\0asm"), Err("component_truncated"));
        assert_eq!(code(b"\0asm\x01\0\0\0"), Err("component_core_module"));
        assert_eq!(code(b"\0asm\x07\0\0\0"), Err("component_invalid"));
        assert_eq!(code(b"\0asm\x0d\0\x01\0"), Ok(()));
        assert_eq!(code(b"\0asm\x0d\0\x01\0\x00\x05ab"), Err("component_truncated"));
        assert_eq!(code(b"\0asm\x0d\0\x01\0\x00\xff"), Err("component_truncated"));
        assert_eq!(code(b"\0asm\x0d\0\x01\0\x00\x02ab"), Ok(()));
    }
}

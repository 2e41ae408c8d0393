// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! `dynamic-load`: the functions by way of the table that `moemesh_get_api` returns.

use core::ffi::c_char;
use std::ffi::OsStr;
use std::sync::OnceLock;

use crate::types::*;

/// The library's table, which lives as long as the process: the library is never closed.
#[derive(Clone, Copy)]
struct Table(*const moemesh_api);

// SAFETY: the table is constant.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

static TABLE: OnceLock<Result<Table, String>> = OnceLock::new();

/// Opens the library `file` and uses it from now on. Without this the first call of any function opens what `MOEMESH_LIBRARY` in
/// the environment names, or else `libmoemesh.so.0` where the loader finds it.
///
/// Fails where the file can't be opened, is no libmoemesh with this ABI, or where a library was opened before: the first answer
/// stays, an error too.
///
/// # Safety
/// Opening a library runs code of it; the file must be a libmoemesh.
pub unsafe fn load(file: impl AsRef<OsStr>) -> Result<(), String> {
    let mut first = false;
    let result = TABLE.get_or_init(|| {
        first = true;
        // SAFETY: the caller's word.
        unsafe { open(file.as_ref()) }
    });
    match result {
        Err(error) => Err(error.clone()),
        Ok(_) if !first => Err("libmoemesh was opened before".into()),
        Ok(_) => Ok(()),
    }
}

/// Why there is no library, once one was wanted.
pub fn load_error() -> Option<&'static str> {
    TABLE.get()?.as_ref().err().map(String::as_str)
}

/// # Safety
/// As `load`.
unsafe fn open(file: &OsStr) -> Result<Table, String> {
    let name = file.to_string_lossy();
    // SAFETY: the caller's word.
    let library = unsafe { libloading::Library::new(file) }.map_err(|error| format!("{name}: {error}"))?;
    // SAFETY: the symbol of a libmoemesh has this type.
    let table = unsafe {
        let get_api = library.get::<unsafe extern "C" fn(i32) -> *const moemesh_api>(b"moemesh_get_api\0");
        get_api.map_err(|error| format!("{name}: {error}"))?(MOEMESH_ABI_VERSION as i32)
    };
    if table.is_null() {
        return Err(format!("{name} does not have the functions of ABI version {MOEMESH_ABI_VERSION}"));
    }
    core::mem::forget(library);
    Ok(Table(table))
}

fn table() -> Option<*const moemesh_api> {
    let default = || std::env::var_os("MOEMESH_LIBRARY").unwrap_or_else(|| "libmoemesh.so.0".into());
    // SAFETY: the library of that name.
    TABLE.get_or_init(|| unsafe { open(&default()) }).as_ref().ok().map(|table| table.0)
}

/// A function of the table, if the library is there and not older than that function.
macro_rules! member {
    ($name:ident) => {
        table().and_then(|table| {
            let end = core::mem::offset_of!(moemesh_api, $name) + size_of::<usize>();
            // SAFETY: the table begins with its size; a member is read only if it ends within that. There is no reference to the
            // whole struct, which may be longer than the library's.
            unsafe { if end as i64 <= (*table).struct_size { (&raw const (*table).$name).read() } else { None } }
        })
    };
}

/// What a function returns that is not there.
trait Missing {
    fn value() -> Self;
}

impl Missing for i32 {
    fn value() -> i32 {
        MOEMESH_ERROR_NOT_SUPPORTED
    }
}

impl Missing for () {
    fn value() {}
}

impl Missing for *const c_char {
    fn value() -> *const c_char {
        c"MOEMESH_UNKNOWN".as_ptr()
    }
}

fn missing<T: Missing>() -> T {
    T::value()
}

mod wrappers {
    #![allow(clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)]
    use super::*;
    #[cfg(not(feature = "bindgen"))]
    include!("dynamic.rs");
    #[cfg(feature = "bindgen")]
    include!(concat!(env!("OUT_DIR"), "/dynamic.rs"));
}
pub use wrappers::*;

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! Without a library every function says so. A process of its own: the first answer stays.
#![cfg(feature = "dynamic-load")]

use moemesh_sys::*;
use std::ffi::CStr;

#[test]
fn without_a_library_functions_return_an_error() {
    // SAFETY: no library at all.
    let error = unsafe { load("/nowhere/libmoemesh.so.0") }.unwrap_err();
    assert!(error.contains("/nowhere/libmoemesh.so.0"), "{error}");
    // SAFETY: as above.
    assert_eq!(unsafe { load("libmoemesh.so.0") }.unwrap_err(), error);
    assert_eq!(load_error(), Some(error.as_str()));
    let mut context = std::ptr::null_mut();
    // SAFETY: places for the answers; static texts.
    unsafe {
        assert_eq!(moemesh_context_create(std::ptr::null(), &mut context), MOEMESH_ERROR_NOT_SUPPORTED);
        moemesh_context_destroy(&mut context);
        assert_eq!(CStr::from_ptr(moemesh_status_name(0)), c"MOEMESH_UNKNOWN");
    }
    assert!(context.is_null());
}

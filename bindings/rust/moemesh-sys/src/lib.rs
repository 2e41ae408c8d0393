// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "dynamic-load"), no_std)]
#![allow(non_camel_case_types)]

// Included, so that rustfmt leaves them as they were made.
mod types {
    #[cfg(not(feature = "bindgen"))]
    include!("types.rs");
    #[cfg(feature = "bindgen")]
    include!(concat!(env!("OUT_DIR"), "/types.rs"));
}
#[cfg(not(feature = "dynamic-load"))]
mod functions {
    use crate::types::*;
    #[cfg(not(feature = "bindgen"))]
    include!("functions.rs");
    #[cfg(feature = "bindgen")]
    include!(concat!(env!("OUT_DIR"), "/functions.rs"));
}
#[cfg(feature = "dynamic-load")]
mod load;
#[cfg(feature = "dynamic-load")]
pub use load::*;
// The committed rows with and without `bindgen`: tests/drift.rs compares them.
include!("status.rs");

#[cfg(not(feature = "dynamic-load"))]
pub use functions::*;
pub use types::*;

macro_rules! list {
    ($(($variant:ident, $constant:ident, $value:literal, $text:literal);)*) => {
        /// MOEMESH_STATUS_LIST: name, value, text.
        pub const STATUS_LIST: &[(&str, i32, &str)] = &[$((stringify!($constant), $constant, $text)),*];
        $(const _: () = assert!($constant == $value);)*
    };
}
for_each_status!(list);

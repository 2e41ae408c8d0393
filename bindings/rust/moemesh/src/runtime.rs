// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

use std::ffi::{CStr, c_char};

use moemesh_sys as sys;

use crate::error::{Result, check};
use crate::gate::Gate;
use crate::params::filled;

/// Finalizes what the library itself started: MPI where [`ContextParams::mpi_init`](crate::ContextParams::mpi_init) did it. After
/// every context is dropped; no context can be made afterwards.
pub fn shutdown() -> Result<()> {
    let gate = Gate::anywhere();
    let _entry = gate.enter()?;
    // SAFETY: no arguments.
    check(unsafe { sys::moemesh_shutdown() })
}

/// The library's version: major, minor, patch.
pub fn version() -> (i32, i32, i32) {
    let mut version = [0i32; 3];
    let [major, minor, patch] = &mut version;
    // SAFETY: three places for an int32.
    unsafe { sys::moemesh_version(major, minor, patch) };
    version.into()
}

/// Opens that library and uses it from now on: feature `dynamic-load`. Without this the first call opens what `MOEMESH_LIBRARY` in
/// the environment names, or `libmoemesh.so.0`.
///
/// # Safety
/// Opening a library runs code of it; the file must be a libmoemesh.
#[cfg(feature = "dynamic-load")]
pub unsafe fn load(file: impl AsRef<std::ffi::OsStr>) -> Result<()> {
    // SAFETY: the caller's word.
    unsafe { sys::load(file) }.map_err(|error| crate::Error::NotSupported(error.into()))
}

macro_rules! runtime_info {
    (texts: $($text:ident),*; numbers: $($number:ident: $type:ty),*) => {
        /// The library and what it works with: `moemesh_runtime_info`. Empty where there is nothing to say.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct RuntimeInfo {
            $(pub $text: String,)*
            $(pub $number: $type,)*
        }

        /// At any time. Opens the MPI module, without starting MPI.
        pub fn runtime_info() -> Result<RuntimeInfo> {
            let gate = Gate::anywhere();
            let _entry = gate.enter()?;
            let raw = filled!(moemesh_runtime_info, |out| sys::moemesh_runtime_get_info(out))?;
            Ok(RuntimeInfo { $($text: owned(raw.$text),)* $($number: raw.$number,)* })
        }
    };
}
runtime_info!(
    texts: version, git, device, build_type, compiler, library, matrix_library, matrix_path, kokkos_backends, kokkos_path,
        mpi_module, mpi_library, mpi_error, nccl_path;
    numbers: features: i64, mpi_kind: i32, kokkos_compiled: i32, kokkos_loaded: i32, kokkos_shared: i32, threads: i32,
        cuda_compiled: i32, cuda_runtime: i32, cuda_driver: i32, nccl: i32
);

fn owned(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: a text of the library's, which lives at least until the next call; this thread is within the gate.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! The committed bindings, the header and the library say the same.

use moemesh_sys::*;
use std::ffi::CStr;

fn text(pointer: *const std::ffi::c_char) -> &'static str {
    // SAFETY: moemesh_status_name and _text return static strings, never NULL.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap()
}

#[test]
fn the_library_has_the_list_of_statuses() {
    for (name, value, words) in STATUS_LIST {
        // SAFETY: plain integers.
        assert_eq!(
            (text(unsafe { moemesh_status_name(*value) }), text(unsafe { moemesh_status_text(*value) })),
            (*name, *words)
        );
    }
    let known = |value: i32| STATUS_LIST.iter().any(|row| row.1 == value);
    for value in (-1000..1000).filter(|value| !known(*value)) {
        // SAFETY: as above.
        assert_eq!(
            text(unsafe { moemesh_status_name(value) }),
            "MOEMESH_UNKNOWN",
            "{value} is a status of the library alone"
        );
    }
}

#[test]
fn the_library_is_of_this_version() {
    let (mut major, mut minor, mut patch) = (-1, -1, -1);
    // SAFETY: three places for an int32.
    assert_eq!(unsafe { moemesh_version(&mut major, &mut minor, &mut patch) }, MOEMESH_OK);
    assert_eq!(major as u32, MOEMESH_VERSION_MAJOR);
    assert!(minor as u32 >= MOEMESH_VERSION_MINOR);
}

/// The defaults that the library writes must end where the struct does.
#[test]
fn structs_have_the_librarys_size() {
    macro_rules! check {
        ($($name:ident $init:ident;)*) => {$({
            let size = size_of::<$name>();
            // One word more than the struct, which must stay as it is.
            let mut memory = vec![-1i64; size / 8 + 1];
            // SAFETY: there is room for `size` bytes.
            assert_eq!(unsafe { $init(memory.as_mut_ptr().cast(), size as i64) }, MOEMESH_OK, stringify!($name));
            assert_eq!(memory[0], size as i64);
            assert_eq!(memory[size / 8], -1, stringify!($name));
            // The first release's struct is the smallest that is taken: this one is not shorter.
            // SAFETY: as above.
            assert_eq!(unsafe { $init(memory.as_mut_ptr().cast(), 4) }, MOEMESH_ERROR_INVALID_STRUCT);
        })*};
    }
    check! {
        moemesh_context_params moemesh_context_params_init;
        moemesh_mesh_params moemesh_mesh_params_init;
        moemesh_family_params moemesh_family_params_init;
        moemesh_parameter_params moemesh_parameter_params_init;
        moemesh_layer_params moemesh_layer_params_init;
        moemesh_forward_params moemesh_forward_params_init;
        moemesh_backward_params moemesh_backward_params_init;
        moemesh_replay_params moemesh_replay_params_init;
        moemesh_optimizer_params moemesh_optimizer_params_init;
        moemesh_step_params moemesh_step_params_init;
        moemesh_update_params moemesh_update_params_init;
        moemesh_pipeline_params moemesh_pipeline_params_init;
        moemesh_pipeline_run moemesh_pipeline_run_init;
        moemesh_bill_params moemesh_bill_params_init;
        moemesh_report_params moemesh_report_params_init;
    }
}

/// The list of statuses of the header that is beside the crate, read as text.
#[test]
fn the_header_has_the_list_of_statuses() {
    let header = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/include/moemesh.h")).unwrap();
    let rows = header.lines().filter_map(|line| line.trim().strip_prefix("X(")).count();
    assert_eq!(rows, STATUS_LIST.len());
    for (name, value, words) in STATUS_LIST {
        let row = format!("X({}, {value}, \"{words}\")", name.strip_prefix("MOEMESH_").unwrap());
        assert!(header.contains(&row), "{row}");
    }
}

#[cfg(feature = "bindgen")]
#[test]
fn the_committed_bindings_are_what_bindgen_makes() {
    let same = |committed: &str, made: &str, name: &str| {
        let difference = committed.lines().zip(made.lines()).find(|(left, right)| left != right);
        assert!(
            committed == made,
            "{name} is not of this header: run bindings/rust/generate. First difference: {difference:?}"
        );
    };
    same(include_str!("../src/types.rs"), include_str!(concat!(env!("OUT_DIR"), "/types.rs")), "types.rs");
    same(include_str!("../src/functions.rs"), include_str!(concat!(env!("OUT_DIR"), "/functions.rs")), "functions.rs");
    same(include_str!("../src/dynamic.rs"), include_str!(concat!(env!("OUT_DIR"), "/dynamic.rs")), "dynamic.rs");
    same(include_str!("../src/status.rs"), include_str!(concat!(env!("OUT_DIR"), "/status.rs")), "status.rs");
}

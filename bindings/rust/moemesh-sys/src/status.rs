// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// Made from moemesh.h by bindings/rust/generate; not to be edited.

/// Calls a macro with every row `(Variant, MOEMESH_NAME, value, "text");` of MOEMESH_STATUS_LIST.
#[macro_export]
macro_rules! for_each_status {
    ($($call:tt)+) => {
        $($call)+! {
            (Ok, MOEMESH_OK, 0, "ok");
            (InvalidArgument, MOEMESH_ERROR_INVALID_ARGUMENT, 1, "an argument is null, out of range or of the wrong shape");
            (InvalidHandle, MOEMESH_ERROR_INVALID_HANDLE, 2, "the handle was never created, was destroyed, or is of another kind");
            (InvalidState, MOEMESH_ERROR_INVALID_STATE, 3, "the call is not allowed in the object's present state");
            (InvalidStruct, MOEMESH_ERROR_INVALID_STRUCT, 4, "struct_size is zero, below the first release's size, or above 4096");
            (UnknownOption, MOEMESH_ERROR_UNKNOWN_OPTION, 5, "a field that this version does not know is not zero");
            (NotSupported, MOEMESH_ERROR_NOT_SUPPORTED, 6, "this build or release does not have the feature");
            (OutOfMemory, MOEMESH_ERROR_OUT_OF_MEMORY, 7, "memory could not be had");
            (Mismatch, MOEMESH_ERROR_MISMATCH, 8, "the ranks do not agree on the configuration");
            (MeshSize, MOEMESH_ERROR_MESH_SIZE, 9, "the axis sizes do not factor");
            (NonfiniteRouter, MOEMESH_ERROR_NONFINITE_ROUTER, 10, "a router row has NaN, +inf or fewer than k finite logits");
            (PeerFailed, MOEMESH_ERROR_PEER_FAILED, 11, "another rank failed in this call");
            (NotFound, MOEMESH_ERROR_NOT_FOUND, 12, "no object of that name");
            (MpiUnavailable, MOEMESH_ERROR_MPI_UNAVAILABLE, 13, "the MPI module could not be loaded");
            (MpiNotInitialized, MOEMESH_ERROR_MPI_NOT_INITIALIZED, 14, "MPI is not initialized and the library was not asked to do it");
            (MpiFinalized, MOEMESH_ERROR_MPI_FINALIZED, 15, "MPI is already finalized");
            (MpiKind, MOEMESH_ERROR_MPI_KIND, 16, "the communicator is of another MPI than the MPI module");
            (MpiThreadLevel, MOEMESH_ERROR_MPI_THREAD_LEVEL, 17, "MPI was started at a thread level that forbids this call");
            (KokkosFinalized, MOEMESH_ERROR_KOKKOS_FINALIZED, 18, "Kokkos was finalized and can't be started again");
            (KokkosVersion, MOEMESH_ERROR_KOKKOS_VERSION, 19, "the loaded Kokkos is not the one the library was compiled with");
            (StepFailed, MOEMESH_ERROR_STEP_FAILED, 20, "a rank failed earlier in this step; the step was dropped on every rank");
            (File, MOEMESH_ERROR_FILE, 21, "a file could not be written");
            (NoDevice, MOEMESH_ERROR_NO_DEVICE, 22, "no device, or no driver for it, can be used");
            (Internal, MOEMESH_ERROR_INTERNAL, -1, "a defect in the library");
            (Communication, MOEMESH_ERROR_COMMUNICATION, -2, "the transport failed; the context is broken");
            (Timeout, MOEMESH_ERROR_TIMEOUT, -3, "a wait passed the context's deadline; the context is broken");
        }
    };
}

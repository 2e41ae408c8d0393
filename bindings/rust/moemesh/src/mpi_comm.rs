// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! Communicators of the crate `mpi`.

use mpi::raw::AsRaw;
use mpi::topology::Communicator;

use crate::context::Comm;
use crate::error::{Error, Result};

impl<'c> Comm<'c> {
    /// A communicator of the crate `mpi`, which must be of the MPI that libmoemesh's MPI module was built for. It is duplicated
    /// by [`Context::new`](crate::Context::new) and may be dropped after that; `mpi`'s universe may be dropped before the context,
    /// which should be finalized before that.
    pub fn from_communicator<C>(communicator: &'c C) -> Result<Comm<'c>>
    where
        C: Communicator + AsRaw<Raw = mpi::ffi::MPI_Comm>,
    {
        // SAFETY: a communicator of `mpi` is a valid one.
        let handle = i64::from(unsafe { mpi::ffi::MPI_Comm_c2f(communicator.as_raw()) });
        let library = mpi::environment::library_version().unwrap_or_default();
        let is = |names: &[&str]| names.iter().any(|name| library.contains(name));
        if is(&["Open MPI"]) {
            // SAFETY: as above, and of Open MPI.
            Ok(unsafe { Comm::open_mpi(handle) })
        } else if is(&["MPICH", "Intel(R) MPI", "MVAPICH"]) {
            // SAFETY: as above, and of MPICH's ABI.
            Ok(unsafe { Comm::mpich(handle) })
        } else {
            Err(Error::MpiKind(format!("an MPI that moemesh does not know: {}", library.trim()).into()))
        }
    }
}

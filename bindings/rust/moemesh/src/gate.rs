// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! Who may be inside the library.
//!
//! The header's rules: a context and all that is made from it belong to one thread at a time; several contexts are used at
//! once only under MPI_THREAD_MULTIPLE; callbacks do not call the library. Handles here are `Send`, and parts of one context
//! may get to different threads, so every call passes this gate:
//!
//! * it takes a lock: the context's own where MPI is known to be at MPI_THREAD_MULTIPLE (the context then has a progress
//!   thread), else one lock for the whole process;
//! * a context with an MPI below that is used on the thread that made it alone, as MPI_THREAD_FUNNELED asks for;
//! * a thread that is inside already (in a callback, or in a closure that was given memory of the library) is turned away.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::error::{Error, Result, bad_state};

static PROCESS: Mutex<()> = Mutex::new(());

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Where a context may be used.
pub(crate) struct Gate {
    own: Option<Mutex<()>>,
    only: Option<ThreadId>,
}

impl Gate {
    /// For what has no MPI: one rank, or a planned mesh.
    pub fn anywhere() -> Gate {
        Gate { own: None, only: None }
    }
    pub fn this_thread() -> Gate {
        Gate { own: None, only: Some(thread::current().id()) }
    }
    /// MPI_THREAD_MULTIPLE.
    pub fn with_own_lock() -> Gate {
        Gate { own: Some(Mutex::new(())), only: None }
    }

    pub fn enter(&self) -> Result<Entry<'_>> {
        if self.only.is_some_and(|only| only != thread::current().id()) {
            return Err(Error::MpiThreadLevel(
                "the context is used on another thread than the one that made it, which takes MPI_THREAD_MULTIPLE"
                    .into(),
            ));
        }
        let inside = Inside::new()?;
        // A panic under the lock leaves nothing half done: the library is in C.
        let lock = self.own.as_ref().unwrap_or(&PROCESS).lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Entry { _lock: lock, _inside: inside })
    }
}

/// While it lives, this thread is inside the library and no other one is (in this context). Fields: the order of drops.
pub(crate) struct Entry<'gate> {
    _inside: Inside,
    _lock: MutexGuard<'gate, ()>,
}

/// Marks this thread as inside the library: nothing passes a gate on it.
pub(crate) struct Inside(PhantomData<*const ()>);

impl Inside {
    fn new() -> Result<Inside> {
        if INSIDE.replace(true) {
            return Err(bad_state(
                "the library is called from a callback of it, or from a closure that holds its memory",
            ));
        }
        Ok(Inside(PhantomData))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

/// Runs a callback: a panic does not pass into C, calls of the library are turned away.
pub(crate) fn callback<T>(on_panic: T, body: impl FnOnce() -> T) -> T {
    let before = INSIDE.replace(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
    INSIDE.set(before);
    result.unwrap_or_else(|payload| {
        // The payload's own drop may panic.
        std::mem::forget(payload);
        on_panic
    })
}

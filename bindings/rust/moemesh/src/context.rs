// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use moemesh_sys as sys;

use crate::error::{Result, check};
use crate::gate::{Entry, Gate, callback};
use crate::params::{Flag, LogLevel, Progress, filled, params};

pub type ContextInfo = sys::moemesh_context_info;

/// `Send`, and never `Sync`.
pub(crate) type NotSync = PhantomData<Cell<()>>;

/// Which ranks work together: a communicator that lives for `'c`.
#[derive(Clone, Copy, Debug)]
pub struct Comm<'c>(sys::moemesh_comm, PhantomData<&'c ()>);

impl Comm<'_> {
    const fn of(kind: u32, handle: i64) -> Self {
        Comm(sys::moemesh_comm { handle, kind: kind as i32, reserved: 0 }, PhantomData)
    }
    /// One rank, no MPI.
    pub const NONE: Comm<'static> = Comm::<'static>::of(sys::MOEMESH_COMM_NONE, 0);
    /// The world of the MPI that the library's MPI module was built for.
    pub const WORLD: Comm<'static> = Comm::<'static>::of(sys::MOEMESH_COMM_MPI_WORLD, 0);

    /// `MPI_Comm_c2f` of a communicator of Open MPI.
    ///
    /// # Safety
    /// The communicator must be a valid one of the Open MPI in this process for the lifetime of the result.
    pub const unsafe fn open_mpi(handle: i64) -> Self {
        Self::of(sys::MOEMESH_COMM_OPENMPI, handle)
    }

    /// `MPI_Comm_c2f` of a communicator of MPICH, or of an MPI with its ABI.
    ///
    /// # Safety
    /// As [`Comm::open_mpi`].
    pub const unsafe fn mpich(handle: i64) -> Self {
        Self::of(sys::MOEMESH_COMM_MPICH_ABI, handle)
    }
}

params! {
    ContextFields(moemesh_context_params, moemesh_context_params_init) {
        timeout_seconds: f64,
        mpi_init: bool as i32,
        threads: i32,
        progress: Progress as i32,
        device: i32,
    }
}

type Log = Box<dyn Fn(LogLevel, &str) + Send>;
type Clock = Box<dyn Fn() -> i64 + Send + Sync>;

/// `moemesh_context_params`: starts with the library's defaults.
#[derive(Default)]
pub struct ContextParams<'c> {
    fields: ContextFields,
    comm: Option<Comm<'c>>,
    log: Option<(LogLevel, Log)>,
    clock: Option<Clock>,
}

impl<'c> ContextParams<'c> {
    pub fn new() -> Self {
        ContextParams::default()
    }
    /// Default: [`Comm::NONE`]. It is duplicated.
    pub fn comm(mut self, comm: Comm<'c>) -> Self {
        self.comm = Some(comm);
        self
    }
    /// Deadline of every blocking wait; 0: none.
    pub fn timeout_seconds(mut self, seconds: f64) -> Self {
        self.fields = self.fields.timeout_seconds(seconds);
        self
    }
    /// Initialize MPI if it is not; [`shutdown`](crate::shutdown) then finalizes it.
    pub fn mpi_init(mut self, initialize: bool) -> Self {
        self.fields = self.fields.mpi_init(initialize);
        self
    }
    /// Size of the process's kernel pool, fixed by the first context; 0: found out.
    pub fn threads(mut self, threads: i32) -> Self {
        self.fields = self.fields.threads(threads);
        self
    }
    pub fn progress(mut self, progress: Progress) -> Self {
        self.fields = self.fields.progress(progress);
        self
    }
    /// Number of the CUDA device, for a library that works on one; -1: the current one. This crate hands over host arrays alone,
    /// which such a library copies.
    pub fn device(mut self, device: i32) -> Self {
        self.fields = self.fields.device(device);
        self
    }
    /// Messages up to `level`, on the thread that makes the call. Calls of this crate from it are refused; a panic in it is
    /// swallowed.
    pub fn log(mut self, level: LogLevel, log: impl Fn(LogLevel, &str) + Send + 'static) -> Self {
        self.log = Some((level, Box::new(log)));
        self
    }
    /// Nanoseconds, never going back, for reports. Called from any thread, often. After a panic in it its time stands still.
    pub fn clock(mut self, clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        self.clock = Some(Box::new(clock));
        self
    }
}

/// What the callbacks get; at one place in memory as long as the library's context lives.
struct Callbacks {
    log: Option<Log>,
    clock: Option<Clock>,
    last_time: AtomicI64,
}

unsafe extern "C" fn log_trampoline(user: *mut c_void, level: i32, message: *const c_char) {
    callback((), || {
        // SAFETY: `user` is the context's Callbacks, `message` a text that lives during the call.
        let (callbacks, message) = unsafe { (&*user.cast::<Callbacks>(), CStr::from_ptr(message)) };
        if let Some(log) = &callbacks.log {
            log(LogLevel::from_raw(level).unwrap_or(LogLevel::Debug), &message.to_string_lossy());
        }
    });
}

unsafe extern "C" fn clock_trampoline(user: *mut c_void) -> i64 {
    // SAFETY: as above; of the Callbacks other threads use the clock alone, which is Sync.
    let (clock, last) =
        unsafe { (&raw const (*user.cast::<Callbacks>()).clock, &(*user.cast::<Callbacks>()).last_time) };
    // SAFETY: the field lives as long as its struct.
    let now = callback(None, || unsafe { &*clock }.as_ref().map(|clock| clock()));
    match now {
        Some(now) => now.max(last.fetch_max(now, Ordering::Relaxed)),
        None => last.load(Ordering::Relaxed),
    }
}

/// Of a planned mesh without a context the handle is null.
pub(crate) struct ContextInner {
    handle: sys::moemesh_context,
    gate: Gate,
    _callbacks: Option<Box<Callbacks>>,
}

// SAFETY: the handle is a number to the library, used within the gate alone. Of the callbacks the log is called on the thread
// that is within the gate (it is Send), the clock is Sync.
unsafe impl Send for ContextInner {}
// SAFETY: as above.
unsafe impl Sync for ContextInner {}

impl ContextInner {
    pub fn none() -> Arc<ContextInner> {
        let handle = std::ptr::null_mut();
        Arc::new(ContextInner { handle, gate: Gate::anywhere(), _callbacks: None })
    }
    pub fn enter(&self) -> Result<Entry<'_>> {
        self.gate.enter()
    }
    pub fn handle(&self) -> sys::moemesh_context {
        self.handle
    }
}

impl Drop for ContextInner {
    fn drop(&mut self) {
        if self.handle.is_null() {
            return;
        }
        match self.gate.enter() {
            // SAFETY: a live handle, on a thread that may use it; nothing made from it is left.
            Ok(_entry) => unsafe { sys::moemesh_context_destroy(&mut self.handle) },
            // It stays alive in the library, and with it what it calls.
            Err(_) => std::mem::forget(self._callbacks.take()),
        }
    }
}

/// A handle of the library that is destroyed with it: local, never waiting for other ranks (but see the optimizer's).
pub(crate) struct Owned<H: Handle> {
    pub raw: H,
    pub context: Arc<ContextInner>,
}

pub(crate) trait Handle: Copy {
    /// # Safety
    /// A live handle or NULL, within the gate.
    unsafe fn destroy(handle: *mut Self);
}

macro_rules! handles {
    ($($type:ident $destroy:ident;)*) => {$(
        impl Handle for sys::$type {
            unsafe fn destroy(handle: *mut Self) {
                // SAFETY: the caller's word.
                unsafe { sys::$destroy(handle) }
            }
        }
    )*};
}
handles! {
    moemesh_mesh moemesh_mesh_destroy;
    moemesh_family moemesh_family_destroy;
    moemesh_layer moemesh_layer_destroy;
    moemesh_tape moemesh_tape_destroy;
    moemesh_optimizer moemesh_optimizer_destroy;
    moemesh_pipeline moemesh_pipeline_destroy;
    moemesh_bill moemesh_bill_destroy;
    moemesh_report moemesh_report_destroy;
}

// SAFETY: audited for the library: no object of it keeps a thread's id or thread-local state between calls; handles are
// numbers in a table with a lock; whatever is done with the object happens within the context's gate, which lets in one thread
// at a time and, below MPI_THREAD_MULTIPLE, only the one that made the context.
unsafe impl<H: Handle> Send for Owned<H> {}
// SAFETY: as above.
unsafe impl<H: Handle> Sync for Owned<H> {}

impl<H: Handle> Owned<H> {
    /// `make` fills in the handle.
    pub fn make(context: &Arc<ContextInner>, make: impl FnOnce(*mut H) -> i32) -> Result<Owned<H>> {
        let _entry = context.enter()?;
        let mut raw = std::mem::MaybeUninit::<H>::zeroed();
        check(make(raw.as_mut_ptr()))?;
        // SAFETY: handles are pointers: zero or what the library put there.
        Ok(Owned { raw: unsafe { raw.assume_init() }, context: context.clone() })
    }

    /// A call that returns a status.
    pub fn call(&self, call: impl FnOnce(H) -> i32) -> Result<()> {
        let _entry = self.context.enter()?;
        check(call(self.raw))
    }
}

impl<H: Handle> Drop for Owned<H> {
    fn drop(&mut self) {
        let entry = self.context.gate.enter();
        if entry.is_ok() {
            // SAFETY: within the gate; the handle is this object's own.
            unsafe { H::destroy(&mut self.raw) };
        } else {
            // The library still has it: what it may call must stay.
            std::mem::forget(self.context.clone());
        }
    }
}

/// Where ranks meet: the root of everything else. What is made from it keeps it alive.
///
/// A context with MPI below MPI_THREAD_MULTIPLE, and all that is made from it, is used on the thread that made it: on another
/// one calls return [`Error::MpiThreadLevel`](crate::Error::MpiThreadLevel), and what is dropped there is leaked.
pub struct Context {
    pub(crate) inner: Arc<ContextInner>,
    _not_sync: NotSync,
}

impl Context {
    /// Collective over the communicator.
    pub fn new(params: ContextParams<'_>) -> Result<Context> {
        let mut raw = params.fields.raw()?;
        if let Some(comm) = params.comm {
            raw.comm = comm.0;
        }
        let level = params.log.as_ref().map(|log| log.0);
        let callbacks = Box::new(Callbacks {
            log: params.log.map(|log| log.1),
            clock: params.clock,
            last_time: AtomicI64::new(i64::MIN),
        });
        let user = (&raw const *callbacks).cast_mut().cast();
        if let Some(level) = level {
            raw.log = Some(log_trampoline);
            raw.log_user = user;
            raw.log_level = level.raw();
        }
        if callbacks.clock.is_some() {
            raw.clock = Some(clock_trampoline);
            raw.clock_user = user;
        }
        let mut handle = std::ptr::null_mut();
        let gate = {
            let outer = Gate::anywhere();
            let _entry = outer.enter()?;
            // SAFETY: the params are the struct's; the callbacks live until the handle is destroyed.
            check(unsafe { sys::moemesh_context_create(&raw, &mut handle) })?;
            let info = filled!(moemesh_context_info, |info| sys::moemesh_context_get_info(handle, info));
            gate_for(&info?)
        };
        let inner = ContextInner { handle, gate, _callbacks: Some(callbacks) };
        Ok(Context { inner: Arc::new(inner), _not_sync: PhantomData })
    }

    pub fn info(&self) -> Result<ContextInfo> {
        let _entry = self.inner.enter()?;
        filled!(moemesh_context_info, |info| sys::moemesh_context_get_info(self.inner.handle, info))
    }

    /// Frees the communicator; meshes must be finalized before. Collective over the context. What was made from it can then
    /// only be dropped. A context that is dropped without this leaks its communicator.
    pub fn finalize(self) -> Result<()> {
        let _entry = self.inner.enter()?;
        // SAFETY: a live handle, within the gate.
        check(unsafe { sys::moemesh_context_finalize(self.inner.handle) })
    }
}

fn gate_for(info: &ContextInfo) -> Gate {
    if info.progress == Progress::Thread.raw() {
        Gate::with_own_lock()
    } else if info.comm_kind == sys::MOEMESH_COMM_NONE as i32 {
        Gate::anywhere()
    } else {
        Gate::this_thread()
    }
}

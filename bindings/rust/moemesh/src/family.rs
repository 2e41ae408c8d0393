// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

use std::collections::HashMap;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moemesh_sys as sys;

use crate::context::{NotSync, Owned};
use crate::error::{Error, Result, bad_argument, bad_state, check};
use crate::mesh::{Mesh, MeshInner};
use crate::optimizer::Step;
use crate::params::{Dtype, FamilyKind, Flag, InitKind, Quantity, TpKind, c_text, filled, params};
use crate::values::{Values, slice_of};
use crate::view::{Element, Float, View, ViewMut};

pub type ParameterInfo = sys::moemesh_parameter_info;

params! {
    /// `moemesh_family_params`.
    FamilyParams(moemesh_family_params, moemesh_family_params_init) {
        seed: i64,
        kind: FamilyKind as i32,
        dtype: Dtype as i32,
    }
}

params! {
    /// `moemesh_parameter_params`.
    ParameterParams(moemesh_parameter_params, moemesh_parameter_params_init, name) {
        experts: i64,
        init_value: f64,
        decay_scale: f64,
        learning_rate_scale: f64,
        dtype: Dtype as i32,
        tp_kind: TpKind as i32,
        tp_dim: i32,
        init_kind: InitKind as i32,
        tied: bool as i32,
    }
}

impl ParameterParams {
    /// `rank` and `extents`: of the unsplit parameter (of one expert). More than four extents are refused by the call.
    pub fn extents(mut self, extents: &[i64]) -> ParameterParams {
        let raw = self.raw_mut();
        raw.rank = extents.len() as i32;
        for (to, from) in raw.extents.iter_mut().zip(extents) {
            *to = *from;
        }
        self
    }
}

pub(crate) struct FamilyInner {
    pub owned: Owned<sys::moemesh_family>,
    _mesh: Arc<MeshInner>,
    state: Mutex<FamilyState>,
}

#[derive(Default)]
pub(crate) struct FamilyState {
    /// [`Values`] that are alive: what they show must not change.
    pub readers: usize,
    /// Of the parameters that the program registered: how often it said that the gradient is ready in this step.
    pub ready: HashMap<usize, i32>,
}

impl FamilyInner {
    pub fn state(&self) -> MutexGuard<'_, FamilyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn require_no_readers(&self) -> Result<()> {
        if self.state().readers > 0 { Err(bad_state("values of the family are borrowed")) } else { Ok(()) }
    }
}

/// Parameters that are replicated over the same ranks: made, filled by layers and [`register`](Family::register), committed.
pub struct Family {
    pub(crate) inner: Arc<FamilyInner>,
    _not_sync: NotSync,
}

impl Family {
    /// Collective over the context.
    pub fn new(mesh: &Mesh, params: &FamilyParams) -> Result<Family> {
        let raw = params.raw()?;
        // SAFETY: a live mesh and a struct of its size.
        let make = |family| unsafe { sys::moemesh_family_create(mesh.inner.raw, &raw, family) };
        let owned = Owned::make(&mesh.inner.context, make)?;
        let inner = FamilyInner { owned, _mesh: mesh.inner.clone(), state: Mutex::default() };
        Ok(Family { inner: Arc::new(inner), _not_sync: PhantomData })
    }

    /// Before the commit. Its memory is the library's. Local.
    pub fn register(&self, params: &ParameterParams) -> Result<Parameter> {
        self.register_raw(params.raw()?)
    }

    /// As [`register`](Family::register), with memory of the caller's own for the values, the gradient, or both (else NULL).
    ///
    /// # Safety
    /// Each is a dense array of this rank's part: the values of the family's type, the gradient of `f32`. They stay in place and
    /// are the library's alone to read and write as long as the process runs, or the family and everything made with it were
    /// dropped, and not leaked. The caller touches them through [`Parameter::acquire`] and its like alone.
    pub unsafe fn register_borrowed(
        &self,
        params: &ParameterParams,
        data: *mut c_void,
        gradient: *mut f32,
    ) -> Result<Parameter> {
        let mut raw = params.raw()?;
        raw.data = data;
        raw.gradient = gradient.cast();
        self.register_raw(raw)
    }

    fn register_raw(&self, raw: sys::moemesh_parameter_params) -> Result<Parameter> {
        let mut parameter = std::ptr::null_mut();
        // SAFETY: a live handle; the params' text lives in the caller.
        self.inner.owned.call(|family| unsafe { sys::moemesh_parameter_register(family, &raw, &mut parameter) })?;
        self.inner.state().ready.insert(parameter as usize, 0);
        Ok(self.parameter(parameter))
    }

    fn parameter(&self, raw: sys::moemesh_parameter) -> Parameter {
        Parameter { raw, family: self.inner.clone(), _not_sync: PhantomData }
    }

    /// After it nothing can be registered, before it nothing can be used. Collective over the context.
    pub fn commit(&self) -> Result<()> {
        // SAFETY: a live handle.
        self.inner.owned.call(|family| unsafe { sys::moemesh_family_commit(family) })
    }

    /// A parameter of that name, a layer's (`"<layer>.w1"`) or the program's own.
    pub fn find(&self, name: &str) -> Result<Parameter> {
        let name = c_text("name", name)?;
        let mut parameter = std::ptr::null_mut();
        // SAFETY: a live handle; the name lives during the call.
        self.inner
            .owned
            // SAFETY: a live handle and places for the answers.
            .call(|family| unsafe { sys::moemesh_parameter_find(family, name.as_ptr(), &mut parameter) })?;
        Ok(self.parameter(parameter))
    }

    /// Values were written by [`Parameter::with_values_mut`].
    pub fn parameters_changed(&self) -> Result<()> {
        // SAFETY: a live handle.
        self.inner.owned.call(|family| unsafe { sys::moemesh_parameters_changed(family) })
    }
}

/// One parameter; it keeps its family alive.
pub struct Parameter {
    raw: sys::moemesh_parameter,
    pub(crate) family: Arc<FamilyInner>,
    _not_sync: NotSync,
}

// SAFETY: as of Owned (context.rs): the handle is used within the gate alone.
unsafe impl Send for Parameter {}

impl Clone for Parameter {
    fn clone(&self) -> Parameter {
        Parameter { raw: self.raw, family: self.family.clone(), _not_sync: PhantomData }
    }
}

impl Parameter {
    fn call(&self, call: impl FnOnce(sys::moemesh_parameter) -> i32) -> Result<()> {
        let _entry = self.family.owned.context.enter()?;
        check(call(self.raw))
    }

    pub fn info(&self) -> Result<ParameterInfo> {
        let _entry = self.family.owned.context.enter()?;
        filled!(moemesh_parameter_info, |out| sys::moemesh_parameter_get_info(self.raw, out))
    }

    /// This rank's values, `[local_experts, extents with tp_dim cut]`. While they are borrowed nothing may change them:
    /// [`Parameter::write`] is refused, and a step can't be finished (it is then dropped on every rank).
    pub fn acquire<T: Float>(&self) -> Result<Values<'_, T>> {
        let _entry = self.family.owned.context.enter()?;
        let view = self.acquire_view::<T>()?;
        self.family.state().readers += 1;
        // SAFETY: the library's array, alive with the family, complete, and unchanged as long as `readers` is above 0.
        Ok(Values::new(self, unsafe { slice_of(&view) }))
    }

    /// Within the gate. The release is the caller's.
    fn acquire_view<T: Element>(&self) -> Result<sys::moemesh_view> {
        let mut view = std::mem::MaybeUninit::<sys::moemesh_view>::zeroed();
        // SAFETY: a live handle (the family lives) and a place for the view, of which zeros are a value.
        let view = unsafe {
            check(sys::moemesh_parameter_acquire(self.raw, std::ptr::null_mut(), view.as_mut_ptr()))?;
            view.assume_init()
        };
        let checked = require_host(&view).and_then(|()| match view.dtype == T::DTYPE {
            true => Ok(view),
            false => Err(bad_argument(format!("values are of dtype {}, asked for {}", view.dtype, T::DTYPE))),
        });
        checked.inspect_err(|_| self.release())
    }

    /// Within the gate.
    pub(crate) fn release(&self) {
        // SAFETY: a live handle.
        unsafe { sys::moemesh_parameter_release(self.raw) };
    }

    /// Ends a [`Values`].
    pub(crate) fn end_read(&self) {
        if let Ok(_entry) = self.family.owned.context.enter() {
            self.release();
        }
        self.family.state().readers -= 1;
    }

    /// Lets `body` write this rank's values; [`Family::parameters_changed`] is to follow. `body` can't call the library.
    pub fn with_values_mut<T: Float, R>(&self, body: impl FnOnce(&mut [T]) -> R) -> Result<R> {
        let _entry = self.family.owned.context.enter()?;
        self.family.require_no_readers()?;
        let view = self.acquire_view::<T>()?;
        let release = Release(self);
        // SAFETY: nobody reads (checked above), and while this thread is within the gate nobody else uses the array.
        let result = body(unsafe { crate::values::slice_of_mut(&view) });
        drop(release);
        Ok(result)
    }

    /// The whole unsplit parameter (of one expert) whatever the sharding. Collective over the stage.
    pub fn read(&self, quantity: Quantity, expert: i64, array: &mut [f32]) -> Result<()> {
        let shape = self.whole_shape(array.len())?;
        let view = ViewMut::new(array, &shape)?;
        // SAFETY: a live handle, a slice that is exclusive during the call.
        self.call(|parameter| unsafe { sys::moemesh_parameter_read(parameter, quantity.raw(), expert, view.raw()) })
    }

    /// The reverse of [`read`](Parameter::read): every rank of the stage passes the same array. Local.
    pub fn write(&self, quantity: Quantity, expert: i64, array: &[f32]) -> Result<()> {
        let shape = self.whole_shape(array.len())?;
        let view = View::new(array, &shape)?;
        let _entry = self.family.owned.context.enter()?;
        self.family.require_no_readers()?;
        // SAFETY: a live handle, a slice that is only read.
        check(unsafe { sys::moemesh_parameter_write(self.raw, quantity.raw(), expert, view.raw()) })
    }

    /// The registered extents; where the length does not fit, one that the library will refuse, on all ranks.
    fn whole_shape(&self, length: usize) -> Result<Vec<usize>> {
        let info = self.info()?;
        let shape: Vec<usize> = info.extents[..info.rank as usize].iter().map(|extent| *extent as usize).collect();
        let fits = shape.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent)) == Some(length);
        // Of another rank than the parameter's.
        Ok(if fits { shape } else { vec![length, 1].into_iter().chain((info.rank == 2).then_some(1)).collect() })
    }

    /// This microbatch's gradient is complete: `gradient` is added into the main gradient; `None`: nothing, or what
    /// [`with_gradient`](Parameter::with_gradient) put there. Once per parameter and microbatch. Collective at stage 2.
    pub fn ready(&self, step: &Step, gradient: Option<View<'_>>) -> Result<()> {
        let _entry = self.family.owned.context.enter()?;
        step.require_of(&self.family)?;
        // Counted before: from the last one on, the library may be reducing the gradient.
        if let Some(count) = self.family.state().ready.get_mut(&(self.raw as usize)) {
            *count += 1;
        }
        let view = gradient.as_ref().map_or(std::ptr::null(), |view| std::ptr::from_ref(view.raw()));
        // SAFETY: a live handle; the slice is read during the call alone.
        check(unsafe { sys::moemesh_gradient_ready(self.raw, view, std::ptr::null_mut()) })
    }

    /// Lets `body` add to this rank's fp32 main gradient of a parameter that the program registered, before its last
    /// [`ready`](Parameter::ready) of the step. `body` can't call the library.
    pub fn with_gradient<R>(&self, step: &Step, body: impl FnOnce(&mut [f32]) -> R) -> Result<R> {
        let _entry = self.family.owned.context.enter()?;
        step.require_of(&self.family)?;
        match self.family.state().ready.get(&(self.raw as usize)) {
            None => return Err(bad_state("with_gradient: the parameter is a layer's")),
            Some(count) if *count >= step.microbatches() => {
                return Err(bad_state("with_gradient: the gradient may be under reduction"));
            }
            Some(_) => {}
        }
        let mut view = std::mem::MaybeUninit::<sys::moemesh_view>::zeroed();
        // SAFETY: a live handle and a place for the view. The array is the family's; nothing else uses it before the last
        // `ready` but calls within the gate, where this thread is until `body` is through.
        unsafe {
            check(sys::moemesh_parameter_get_gradient(self.raw, view.as_mut_ptr()))?;
            let view = view.assume_init();
            require_host(&view)?;
            Ok(body(crate::values::slice_of_mut(&view)))
        }
    }
}

/// Slices are of host memory.
fn require_host(view: &sys::moemesh_view) -> Result<()> {
    if view.memory == sys::MOEMESH_MEMORY_HOST as i32 {
        return Ok(());
    }
    Err(Error::NotSupported("the library's arrays are not in host memory: read and write give whole parameters".into()))
}

/// Within the gate.
struct Release<'a>(&'a Parameter);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

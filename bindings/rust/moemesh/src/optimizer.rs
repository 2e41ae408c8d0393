// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use moemesh_sys as sys;

use crate::context::{NotSync, Owned};
use crate::error::{Result, bad_state, check};
use crate::family::{Family, FamilyInner};
use crate::mesh::{Mesh, MeshInner};
use crate::params::{FamilyKind, Flag, Objective, OptimizerKind, Overlap, filled, initial, params};

pub type UpdateResult = sys::moemesh_update_result;
pub type OptimizerBytes = sys::moemesh_optimizer_bytes;
pub type OptimizerCounters = sys::moemesh_optimizer_counters;

params! {
    /// `moemesh_optimizer_params`.
    OptimizerParams(moemesh_optimizer_params, moemesh_optimizer_params_init) {
        learning_rate: f64,
        beta1: f64,
        beta2: f64,
        epsilon: f64,
        weight_decay: f64,
        momentum: f64,
        max_norm: f64,
        bucket_bytes: i64,
        chunk_bytes: i64,
        kind: OptimizerKind as i32,
        shared_stage: i32,
        expert_stage: i32,
        overlap: Overlap as i32,
        prefetch: bool as i32,
    }
}

params! {
    /// `moemesh_step_params`.
    StepParams(moemesh_step_params, moemesh_step_params_init) {
        loss_scale: f64,
        microbatches: i32,
        objective: Objective as i32,
    }
}

pub(crate) struct OptimizerInner {
    pub owned: Owned<sys::moemesh_optimizer>,
    families: Vec<Arc<FamilyInner>>,
    _mesh: Arc<MeshInner>,
    /// A [`Step`] is alive (or was leaked): nobody else may close the step.
    guarded: AtomicBool,
    microbatches: AtomicI32,
}

/// The training step of up to two families.
///
/// Dropped within a step whose reductions are under way it waits for them, a second at most; with `prefetch` it waits for values
/// that are being gathered.
pub struct Optimizer {
    pub(crate) inner: Arc<OptimizerInner>,
    _not_sync: NotSync,
}

impl Optimizer {
    /// Both families must be committed. Collective over the context.
    pub fn new(
        mesh: &Mesh,
        shared: Option<&Family>,
        expert: Option<&Family>,
        params: &OptimizerParams,
    ) -> Result<Optimizer> {
        let raw = params.raw()?;
        let handle = |family: Option<&Family>| family.map_or(std::ptr::null_mut(), |family| family.inner.owned.raw);
        // SAFETY: live handles and a struct of its size.
        let make = |optimizer| unsafe {
            sys::moemesh_optimizer_create(mesh.inner.raw, handle(shared), handle(expert), &raw, optimizer)
        };
        let owned = Owned::make(&mesh.inner.context, make)?;
        let inner = OptimizerInner {
            owned,
            families: shared.iter().chain(expert.iter()).map(|family| family.inner.clone()).collect(),
            _mesh: mesh.inner.clone(),
            guarded: AtomicBool::new(false),
            microbatches: AtomicI32::new(1),
        };
        Ok(Optimizer { inner: Arc::new(inner), _not_sync: PhantomData })
    }

    /// Opens a step. Local; all ranks pass the same.
    pub fn begin(&self, params: &StepParams) -> Result<Step> {
        let raw = params.raw()?;
        let _entry = self.inner.owned.context.enter()?;
        // SAFETY: a live handle and a struct of its size.
        check(unsafe { sys::moemesh_step_begin(self.inner.owned.raw, &raw) })?;
        for family in &self.inner.families {
            family.state().ready.values_mut().for_each(|count| *count = 0);
        }
        self.inner.microbatches.store(raw.microbatches, Ordering::Relaxed);
        self.inner.guarded.store(true, Ordering::Relaxed);
        Ok(Step { optimizer: self.inner.clone(), _not_sync: PhantomData })
    }

    /// Closes a step whose [`Step`] was dropped unfinished. Collective over the context.
    pub fn abandon_step(&self) -> Result<()> {
        let _entry = self.inner.owned.context.enter()?;
        if self.inner.guarded.load(Ordering::Relaxed) {
            return Err(bad_state("abandon_step: the step's guard is alive, or was leaked"));
        }
        // SAFETY: a live handle.
        check(unsafe { sys::moemesh_step_end(self.inner.owned.raw, 0) })
    }

    pub fn bytes(&self, family: FamilyKind) -> Result<OptimizerBytes> {
        let _entry = self.inner.owned.context.enter()?;
        filled!(moemesh_optimizer_bytes, |out| {
            sys::moemesh_optimizer_get_bytes(self.inner.owned.raw, family.raw(), out)
        })
    }

    pub fn counters(&self) -> Result<OptimizerCounters> {
        let _entry = self.inner.owned.context.enter()?;
        filled!(moemesh_optimizer_counters, |out| sys::moemesh_optimizer_get_counters(self.inner.owned.raw, out))
    }

    /// For resuming; the same on every rank. Not within a step.
    pub fn set_counters(&self, steps: i64, skips: i64) -> Result<()> {
        let struct_size = size_of::<OptimizerCounters>() as i64;
        let counters = OptimizerCounters { struct_size, steps, skips };
        // SAFETY: a live handle and a struct of its size.
        self.inner.owned.call(|optimizer| unsafe { sys::moemesh_optimizer_set_counters(optimizer, &counters) })
    }
}

/// The open step: forwards and backwards want it, [`finish`](Step::finish) or [`end`](Step::end) closes it, on every rank.
///
/// Dropped before, it leaves the step open, as closing is collective: [`Optimizer::abandon_step`] closes it.
pub struct Step {
    optimizer: Arc<OptimizerInner>,
    _not_sync: NotSync,
}

impl Step {
    pub(crate) fn microbatches(&self) -> i32 {
        self.optimizer.microbatches.load(Ordering::Relaxed)
    }

    pub(crate) fn is_of(&self, optimizer: &Arc<OptimizerInner>) -> bool {
        Arc::ptr_eq(&self.optimizer, optimizer)
    }

    pub(crate) fn require_of(&self, family: &Arc<FamilyInner>) -> Result<()> {
        if self.optimizer.families.iter().any(|own| Arc::ptr_eq(own, family)) {
            return Ok(());
        }
        Err(bad_state("the step is not of the optimizer of this parameter's family"))
    }

    /// Objective token mean: this shard's loss tokens of a microbatch.
    pub fn loss_tokens(&self, microbatch: i32, tokens: i64) -> Result<()> {
        // SAFETY: a live handle.
        self.optimizer.owned.call(|optimizer| unsafe { sys::moemesh_loss_tokens(optimizer, microbatch, tokens) })
    }

    /// Agrees, reduces both families, clips and updates with the optimizer's learning rate. Collective over the context.
    pub fn finish(self) -> Result<UpdateResult> {
        self.finish_at(-1.0)
    }

    /// As [`finish`](Step::finish), with this learning rate.
    pub fn finish_at(self, learning_rate: f64) -> Result<UpdateResult> {
        let _entry = self.optimizer.owned.context.enter()?;
        if self.optimizer.families.iter().any(|family| family.state().readers > 0) {
            return self.refuse();
        }
        let mut params = initial!(moemesh_update_params, moemesh_update_params_init);
        params.learning_rate = learning_rate;
        // SAFETY: a live handle and structs of their sizes; nobody borrows values.
        filled!(moemesh_update_result, |out| sys::moemesh_optimizer_step(self.optimizer.owned.raw, &params, out))
    }

    /// Values would change under a [`Values`](crate::Values). Other ranks are in the collective call, so this one joins them in
    /// one that does not agree with theirs: the step is dropped on all.
    fn refuse(&self) -> Result<UpdateResult> {
        // SAFETY: a live handle.
        unsafe { sys::moemesh_step_end(self.optimizer.owned.raw, 0) };
        Err(bad_state("values of a parameter are borrowed: the step was dropped"))
    }

    /// Closes the step without an update. `reduce`: gradients are reduced and divided before. Collective over the context.
    pub fn end(self, reduce: bool) -> Result<()> {
        // SAFETY: a live handle.
        self.optimizer.owned.call(|optimizer| unsafe { sys::moemesh_step_end(optimizer, i32::from(reduce)) })
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.optimizer.guarded.store(false, Ordering::Relaxed);
    }
}

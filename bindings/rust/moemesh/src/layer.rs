// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

use std::marker::PhantomData;
use std::sync::Arc;

use moemesh_sys as sys;

use crate::context::{NotSync, Owned};
use crate::error::Result;
use crate::family::{Family, FamilyInner};
use crate::mesh::{Mesh, MeshInner};
use crate::optimizer::Step;
use crate::params::{
    Activation, AuxScope, DropRule, Dtype, Gate, Nonfinite, Products, Recompute, RouterKind, Score, SequenceLayout,
    filled, initial, params,
};
use crate::tape::Tape;
use crate::view::{View, ViewMut};

pub type LayerLoad = sys::moemesh_layer_load;
pub type LayerMemory = sys::moemesh_layer_memory;
pub type LayerStatistics = sys::moemesh_layer_statistics;
pub type TapeBytes = sys::moemesh_tape_bytes;

params! {
    /// `moemesh_layer_params`.
    LayerParams(moemesh_layer_params, moemesh_layer_params_init, name) {
        hidden: i64,
        ffn: i64,
        experts: i64,
        shared_ffn: i64,
        gate_scale: f64,
        init_std_router: f64,
        init_std_in: f64,
        init_std_out: f64,
        capacity_factor: f64,
        aux_coefficient: f64,
        z_coefficient: f64,
        bias_rate: f64,
        top_k: i32,
        activation: Activation as i32,
        score: Score as i32,
        gate: Gate as i32,
        router: RouterKind as i32,
        nonfinite: Nonfinite as i32,
        drop: DropRule as i32,
        aux_scope: AuxScope as i32,
        combine_dtype: Dtype as i32,
        recompute: Recompute as i32,
        chunks: i32,
        products: Products as i32,
    }
}

/// The arrays of a forward. `x` is borrowed by the tape, the others for the call.
pub struct Forward<'x, 'call> {
    x: View<'x>,
    y: ViewMut<'call>,
    mask: Option<View<'call>>,
    logits: Option<View<'call>>,
    raw: sys::moemesh_forward_params,
}

impl<'x, 'call> Forward<'x, 'call> {
    /// `x`, `y`: `[tokens, hidden]` of the families' dtype; rows may be apart.
    pub fn new(x: View<'x>, y: ViewMut<'call>) -> Self {
        let raw = initial!(moemesh_forward_params, moemesh_forward_params_init);
        Forward { x, y, mask: None, logits: None, raw }
    }
    /// `[tokens]` of `u8`, 0 = padding.
    pub fn mask(mut self, mask: View<'call>) -> Self {
        self.mask = Some(mask);
        self
    }
    /// `[tokens, experts]` of `f32`, for [`RouterKind::Caller`].
    pub fn logits(mut self, logits: View<'call>) -> Self {
        self.logits = Some(logits);
        self
    }
    /// 0-based, within the open step.
    pub fn microbatch(mut self, microbatch: i32) -> Self {
        self.raw.microbatch = microbatch;
        self
    }
    /// For [`AuxScope::Sequence`].
    pub fn sequences(mut self, sequences: i64, layout: SequenceLayout) -> Self {
        self.raw.sequences = sequences;
        self.raw.sequence_layout = layout.raw();
        self
    }

    /// Pointers into `self`, for a call.
    fn raw(&self, training: bool) -> sys::moemesh_forward_params {
        let optional =
            |view: &Option<View<'call>>| view.as_ref().map_or(std::ptr::null(), |view| std::ptr::from_ref(view.raw()));
        let mut raw = self.raw;
        raw.x = self.x.raw();
        raw.y = self.y.raw();
        raw.mask = optional(&self.mask);
        raw.logits = optional(&self.logits);
        raw.training = i32::from(training);
        raw
    }
}

pub(crate) struct LayerInner {
    pub owned: Owned<sys::moemesh_layer>,
    _families: [Arc<FamilyInner>; 2],
    _mesh: Arc<MeshInner>,
}

/// An MoE layer.
pub struct Layer {
    inner: Arc<LayerInner>,
    experts: usize,
    _not_sync: NotSync,
}

impl Layer {
    /// Registers the layer's parameters in both families, before their commit. Collective over the ranks of the stage.
    pub fn new(mesh: &Mesh, shared: &Family, expert: &Family, params: &LayerParams) -> Result<Layer> {
        let raw = params.raw()?;
        let families = [&shared.inner, &expert.inner];
        // SAFETY: live handles; the params' text lives as long as `params`.
        let make = |layer| unsafe {
            sys::moemesh_layer_create(mesh.inner.raw, families[0].owned.raw, families[1].owned.raw, &raw, layer)
        };
        let owned = Owned::make(&mesh.inner.context, make)?;
        let inner = LayerInner { owned, _families: families.map(Arc::clone), _mesh: mesh.inner.clone() };
        Ok(Layer { inner: Arc::new(inner), experts: raw.experts as usize, _not_sync: PhantomData })
    }

    /// A forward of training. Collective over the stage's ep x tp block. The tape borrows `x`.
    pub fn forward<'x>(&self, _step: &Step, arrays: Forward<'x, '_>) -> Result<Tape<'x>> {
        let raw = arrays.raw(true);
        let layer = self.inner.owned.raw;
        // SAFETY: a live handle; the views are of slices that live during the call, `y` exclusively. The library keeps the
        // address of x on the tape, and reads it in a backward or a replay alone, which get their x from `Tape` again.
        let owned =
            Owned::make(&self.inner.owned.context, |tape| unsafe { sys::moemesh_layer_forward(layer, &raw, tape) })?;
        Ok(Tape::new(owned, self.inner.clone(), arrays.x))
    }

    /// A forward that makes no tape and counts nothing. Collective as [`forward`](Layer::forward).
    pub fn infer(&self, arrays: Forward<'_, '_>) -> Result<()> {
        let raw = arrays.raw(false);
        // SAFETY: as above; without a tape nothing is kept.
        self.inner.owned.call(|layer| unsafe { sys::moemesh_layer_forward(layer, &raw, std::ptr::null_mut()) })
    }

    /// Of the last forward of training.
    pub fn statistics(&self) -> Result<LayerStatistics> {
        let _entry = self.inner.owned.context.enter()?;
        filled!(moemesh_layer_statistics, |out| sys::moemesh_layer_get_statistics(self.inner.owned.raw, out))
    }

    /// Of the last forward of training: this shard's choices of each expert before any drop, and the rows that each expert
    /// of this rank computed.
    pub fn rows(&self) -> Result<(Vec<i64>, Vec<i64>)> {
        let (mut chosen, mut received) = (vec![0i64; self.experts], vec![0i64; self.experts]);
        {
            let views = (ViewMut::new(&mut chosen, &[self.experts])?, ViewMut::new(&mut received, &[self.experts])?);
            // SAFETY: a live handle, slices that are exclusive during the call.
            self.inner
                .owned
                // SAFETY: a live handle and places for the answers.
                .call(|layer| unsafe { sys::moemesh_layer_get_rows(layer, views.0.raw(), views.1.raw()) })?;
        }
        Ok((chosen, received))
    }

    /// The selection bias of each expert.
    pub fn bias(&self) -> Result<Vec<f32>> {
        let mut bias = vec![0f32; self.experts];
        let view = ViewMut::new(&mut bias, &[self.experts])?;
        // SAFETY: as above.
        self.inner.owned.call(|layer| unsafe { sys::moemesh_layer_get_bias(layer, view.raw()) })?;
        Ok(bias)
    }

    /// Not while a step is open; the same on all ranks of the stage.
    pub fn set_bias(&self, bias: &[f32]) -> Result<()> {
        let view = View::new(bias, &[bias.len()])?;
        // SAFETY: a live handle, a slice that is only read.
        self.inner.owned.call(|layer| unsafe { sys::moemesh_layer_set_bias(layer, view.raw()) })
    }

    /// The load where every shard has `tokens` tokens and experts are drawn evenly.
    pub fn balanced_load(&self, tokens: i64) -> Result<LayerLoad> {
        let _entry = self.inner.owned.context.enter()?;
        filled!(moemesh_layer_load, |out| sys::moemesh_layer_balanced_load(self.inner.owned.raw, tokens, out))
    }

    /// Bytes of a tape for a load; `None`: the layer's own mode.
    pub fn plan_bytes(&self, load: &LayerLoad, recompute: Option<Recompute>) -> Result<TapeBytes> {
        let mode = recompute.map_or(0, Recompute::raw);
        let mut load = *load;
        load.struct_size = size_of::<LayerLoad>() as i64;
        let _entry = self.inner.owned.context.enter()?;
        filled!(moemesh_tape_bytes, |out| sys::moemesh_layer_plan_bytes(self.inner.owned.raw, &load, mode, out))
    }

    pub fn memory(&self) -> Result<LayerMemory> {
        let _entry = self.inner.owned.context.enter()?;
        filled!(moemesh_layer_memory, |out| sys::moemesh_layer_get_memory(self.inner.owned.raw, out))
    }
}

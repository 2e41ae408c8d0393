// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

use std::marker::PhantomData;
use std::sync::Arc;

use moemesh_sys as sys;

use crate::context::{NotSync, Owned};
use crate::error::{Result, check};
use crate::layer::{LayerInner, TapeBytes};
use crate::optimizer::Step;
use crate::params::filled;
use crate::view::{View, ViewMut};

/// What a forward left for its backward. It borrows the forward's `x`.
///
/// Nothing hangs on its being dropped: the library reads `x` in a backward or a replay of this tape alone, and both hand it over
/// again. A tape that is leaked keeps its layer, and leaves the memory that it takes.
pub struct Tape<'x> {
    tape: DetachedTape,
    x: View<'x>,
}

/// A tape that does not borrow `x`, for programs that keep `x` in a place of their own (an autograd tape, a pipeline's buffers):
/// [`attach`](DetachedTape::attach) the same values again before its backward.
pub struct DetachedTape {
    owned: Owned<sys::moemesh_tape>,
    _layer: Arc<LayerInner>,
    _not_sync: NotSync,
}

/// The arrays of a backward.
pub struct Backward<'call> {
    dy: View<'call>,
    dx: ViewMut<'call>,
    dlogits: Option<ViewMut<'call>>,
}

impl<'call> Backward<'call> {
    /// Both `[tokens, hidden]`; `dx` is overwritten.
    pub fn new(dy: View<'call>, dx: ViewMut<'call>) -> Self {
        Backward { dy, dx, dlogits: None }
    }
    /// `[tokens, experts]` of `f32`, overwritten: for [`RouterKind::Caller`](crate::RouterKind::Caller).
    pub fn dlogits(mut self, dlogits: ViewMut<'call>) -> Self {
        self.dlogits = Some(dlogits);
        self
    }
}

impl<'x> Tape<'x> {
    pub(crate) fn new(owned: Owned<sys::moemesh_tape>, layer: Arc<LayerInner>, x: View<'x>) -> Tape<'x> {
        Tape { tape: DetachedTape { owned, _layer: layer, _not_sync: PhantomData }, x }
    }

    /// Consumes the tape. Weight gradients are added into the main gradients, which are then ready. Collective as the forward,
    /// within its step.
    pub fn backward(mut self, _step: &Step, arrays: Backward<'_>) -> Result<()> {
        let raw = sys::moemesh_backward_params {
            struct_size: size_of::<sys::moemesh_backward_params>() as i64,
            dy: arrays.dy.raw(),
            x: self.x.raw(),
            dx: arrays.dx.raw(),
            dlogits: arrays.dlogits.as_ref().map_or(std::ptr::null(), |view| std::ptr::from_ref(view.raw())),
            stream: std::ptr::null_mut(),
        };
        let owned = &mut self.tape.owned;
        let _entry = owned.context.enter()?;
        // SAFETY: a live handle, set to NULL where it is consumed; slices that live during the call, the written ones exclusively.
        check(unsafe { sys::moemesh_layer_backward(&mut owned.raw, &raw) })
    }

    /// Redoes the forward with its decision: `x` has the forward's values, and is borrowed from now on. Collective as the backward.
    pub fn replay<'n>(mut self, _step: &Step, x: View<'n>, y: ViewMut<'_>) -> Result<Tape<'n>> {
        let raw = sys::moemesh_replay_params {
            struct_size: size_of::<sys::moemesh_replay_params>() as i64,
            x: x.raw(),
            y: y.raw(),
            stream: std::ptr::null_mut(),
        };
        {
            let owned = &mut self.tape.owned;
            let _entry = owned.context.enter()?;
            // SAFETY: as above; the address of x is kept, and not read without being handed over again.
            check(unsafe { sys::moemesh_layer_replay(&mut owned.raw, &raw) })?;
        }
        Ok(self.tape.attach(x))
    }

    /// Gives `x` back.
    pub fn detach(self) -> DetachedTape {
        self.tape
    }

    /// The routing decision: global expert indices `[tokens, k]` in order of choice (-1: nowhere, or dropped), and gates.
    pub fn routing(&self, experts: &mut ViewMut<'_>, gates: &mut ViewMut<'_>) -> Result<()> {
        self.tape.routing(experts, gates)
    }

    pub fn bytes(&self) -> Result<TapeBytes> {
        self.tape.bytes()
    }
}

impl DetachedTape {
    /// `x` has the forward's values; otherwise gradients are wrong.
    pub fn attach(self, x: View<'_>) -> Tape<'_> {
        Tape { tape: self, x }
    }

    /// As [`Tape::routing`].
    pub fn routing(&self, experts: &mut ViewMut<'_>, gates: &mut ViewMut<'_>) -> Result<()> {
        // SAFETY: a live handle, slices that are exclusive during the call.
        self.owned.call(|tape| unsafe { sys::moemesh_tape_get_routing(tape, experts.raw(), gates.raw()) })
    }

    pub fn bytes(&self) -> Result<TapeBytes> {
        let _entry = self.owned.context.enter()?;
        filled!(moemesh_tape_bytes, |out| sys::moemesh_tape_get_bytes(self.owned.raw, out))
    }
}

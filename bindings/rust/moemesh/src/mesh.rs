// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

use std::marker::PhantomData;
use std::ops::BitOr;
use std::sync::Arc;

use moemesh_sys as sys;

use crate::context::{Context, ContextInner, NotSync, Owned};
use crate::error::{Result, check};
use crate::ledger::{LedgerEntry, entries};
use crate::params::{ReduceOp, filled, params};
use crate::view::{View, ViewMut};

pub type Coordinates = sys::moemesh_coordinates;
pub type Group = sys::moemesh_group;
pub type AxisReport = sys::moemesh_axis_report;

/// Axes of the mesh, added by `|`. Those of the dense and of the expert grid can't be mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axes(i32);

macro_rules! axes {
    ($($name:ident = $constant:ident,)*) => {
        impl Axes {
            $(pub const $name: Axes = Axes(sys::$constant as i32);)*
        }
    };
}
axes! {
    TP = MOEMESH_AXIS_TP, EP = MOEMESH_AXIS_EP, PP = MOEMESH_AXIS_PP, DP = MOEMESH_AXIS_DP,
    EXPERT_TP = MOEMESH_AXIS_EXPERT_TP, EXPERT_EP = MOEMESH_AXIS_EXPERT_EP, EXPERT_DP = MOEMESH_AXIS_EXPERT_DP,
    WORLD = MOEMESH_GROUP_WORLD, STAGE = MOEMESH_GROUP_STAGE,
    SHARED_GRADIENT = MOEMESH_GROUP_SHARED_GRADIENT, EXPERT_GRADIENT = MOEMESH_GROUP_EXPERT_GRADIENT,
    EXPERT_EXCHANGE = MOEMESH_GROUP_EXPERT_EXCHANGE,
}

impl Axes {
    pub fn raw(self) -> i32 {
        self.0
    }
}

impl BitOr for Axes {
    type Output = Axes;
    fn bitor(self, other: Axes) -> Axes {
        Axes(self.0 | other.0)
    }
}

params! {
    /// `moemesh_mesh_params`.
    MeshParams(moemesh_mesh_params, moemesh_mesh_params_init, order) {
        tp: i32,
        ep: i32,
        pp: i32,
        dp: i32,
        expert_tp: i32,
        ranks_per_node: i32,
    }
}

pub(crate) type MeshInner = Owned<sys::moemesh_mesh>;

/// Which rank holds which part, and the communicators of its groups.
pub struct Mesh {
    pub(crate) inner: Arc<MeshInner>,
    _not_sync: NotSync,
}

impl Mesh {
    /// Collective over the context.
    pub fn new(context: &Context, params: &MeshParams) -> Result<Mesh> {
        let (from, raw) = (context.inner.handle(), params.raw()?);
        // SAFETY: a live context; params whose text lives as long as `params`.
        Mesh::made(&context.inner, |mesh| unsafe { sys::moemesh_mesh_create(from, &raw, mesh) })
    }

    /// A mesh of `world` ranks without communicators: for queries and bills. Local.
    pub fn plan(world: i64, params: &MeshParams) -> Result<Mesh> {
        let raw = params.raw()?;
        // SAFETY: as above; no context.
        Mesh::made(&ContextInner::none(), |mesh| unsafe {
            sys::moemesh_mesh_plan(std::ptr::null_mut(), world, &raw, mesh)
        })
    }

    fn made(context: &Arc<ContextInner>, make: impl FnOnce(*mut sys::moemesh_mesh) -> i32) -> Result<Mesh> {
        Ok(Mesh { inner: Arc::new(Owned::make(context, make)?), _not_sync: PhantomData })
    }

    pub fn coordinates(&self, rank: i64) -> Result<Coordinates> {
        let _entry = self.inner.context.enter()?;
        filled!(moemesh_coordinates, |out| sys::moemesh_mesh_get_coordinates(self.inner.raw, rank, out))
    }

    pub fn group(&self, axes: Axes, rank: i64) -> Result<Group> {
        let _entry = self.inner.context.enter()?;
        filled!(moemesh_group, |out| sys::moemesh_mesh_get_group(self.inner.raw, axes.0, rank, out))
    }

    /// The rank at `position` of the group that `rank` is in.
    pub fn group_member(&self, axes: Axes, rank: i64, position: i64) -> Result<i64> {
        let mut member = 0;
        // SAFETY: a live handle and a place for the answer.
        self.inner
            // SAFETY: a live handle and places for the answers.
            .call(|mesh| unsafe { sys::moemesh_mesh_get_group_member(mesh, axes.0, rank, position, &mut member) })?;
        Ok(member)
    }

    /// Of one axis.
    pub fn axis_report(&self, axis: Axes) -> Result<AxisReport> {
        let _entry = self.inner.context.enter()?;
        filled!(moemesh_axis_report, |out| sys::moemesh_mesh_get_axis_report(self.inner.raw, axis.0, out))
    }

    /// Of `experts` experts, those of the rank.
    pub fn experts(&self, experts: i64, rank: i64) -> Result<std::ops::Range<i64>> {
        let (mut first, mut count) = (0, 0);
        // SAFETY: a live handle and places for the answers.
        self.inner
            // SAFETY: a live handle and places for the answers.
            .call(|mesh| unsafe { sys::moemesh_mesh_get_experts(mesh, experts, rank, &mut first, &mut count) })?;
        Ok(first..first + count)
    }

    /// Frees the groups' communicators. Collective over the context. What was made from the mesh can then only be dropped.
    pub fn finalize(self) -> Result<()> {
        // SAFETY: a live handle.
        self.inner.call(|mesh| unsafe { sys::moemesh_mesh_finalize(mesh) })
    }

    /// Over the group of `axes` that this rank is in, as the three below; `array` is dense.
    pub fn all_reduce(&self, axes: Axes, op: ReduceOp, array: &mut ViewMut<'_>) -> Result<()> {
        // SAFETY: a live handle; the view is of a slice that is exclusive during the call. It blocks.
        self.inner.call(|mesh| unsafe { sys::moemesh_all_reduce(mesh, axes.0, op.raw(), array.raw()) })
    }

    /// `receive`: the group's `send`s in the order of their positions.
    pub fn all_gather(&self, axes: Axes, send: View<'_>, receive: &mut ViewMut<'_>) -> Result<()> {
        // SAFETY: as above.
        self.inner.call(|mesh| unsafe { sys::moemesh_all_gather(mesh, axes.0, send.raw(), receive.raw()) })
    }

    /// Position p receives the combined p-th part.
    pub fn reduce_scatter(&self, axes: Axes, op: ReduceOp, send: View<'_>, receive: &mut ViewMut<'_>) -> Result<()> {
        // SAFETY: as above.
        self.inner
            .call(|mesh| unsafe { sys::moemesh_reduce_scatter(mesh, axes.0, op.raw(), send.raw(), receive.raw()) })
    }

    /// `root`: a position in the group.
    pub fn broadcast(&self, axes: Axes, root: i64, array: &mut ViewMut<'_>) -> Result<()> {
        // SAFETY: as above.
        self.inner.call(|mesh| unsafe { sys::moemesh_broadcast(mesh, axes.0, root, array.raw()) })
    }

    /// What this rank did since the mesh was made or the ledger was reset.
    pub fn ledger(&self) -> Result<Vec<LedgerEntry>> {
        let _entry = self.inner.context.enter()?;
        let mesh = self.inner.raw;
        entries(
            // SAFETY: a live handle and places for the answers.
            |count| unsafe { sys::moemesh_ledger_get_count(mesh, count) },
            // SAFETY: a live handle and places for the answers.
            |index, entry| unsafe { sys::moemesh_ledger_get_entry(mesh, index, entry) },
        )
    }

    pub fn reset_ledger(&self) -> Result<()> {
        let _entry = self.inner.context.enter()?;
        // SAFETY: a live handle.
        check(unsafe { sys::moemesh_ledger_reset(self.inner.raw) })
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

use std::marker::PhantomData;
use std::sync::Arc;

use moemesh_sys as sys;

use crate::context::{NotSync, Owned};
use crate::error::{Result, bad_argument};
use crate::family::ParameterParams;
use crate::layer::LayerParams;
use crate::ledger::{LedgerEntry, entries};
use crate::mesh::{Axes, Mesh, MeshInner};
use crate::params::{Dtype, FamilyKind, Objective, Overlap, params};
use crate::pipeline::PipelineParams;

params! {
    /// `moemesh_bill_params`.
    BillParams(moemesh_bill_params, moemesh_bill_params_init) {
        steps: i64,
        tokens: i64,
        bucket_bytes: i64,
        chunk_bytes: i64,
        microbatches: i32,
        objective: Objective as i32,
        shared_stage: i32,
        expert_stage: i32,
        shared_dtype: Dtype as i32,
        expert_dtype: Dtype as i32,
        overlap: Overlap as i32,
    }
}

/// What a layer sends in one step: `[world/pp, ep]` numbers each, see `moemesh_bill_routing`.
#[derive(Clone, Copy, Debug)]
pub struct BillRouting<'a> {
    pub copies: &'a [i64],
    pub rows: &'a [i64],
}

/// What a step of a described model will send, for any rank of a planned or real mesh, before any run.
pub struct Bill {
    inner: Owned<sys::moemesh_bill>,
    mesh: Arc<MeshInner>,
    _not_sync: NotSync,
}

impl Bill {
    pub fn new(mesh: &Mesh, params: &BillParams) -> Result<Bill> {
        let raw = params.raw()?;
        let make = |bill| {
            // SAFETY: a live mesh and a struct of its size.
            unsafe { sys::moemesh_bill_create(mesh.inner.raw, &raw, bill) }
        };
        let inner = Owned::make(&mesh.inner.context, make)?;
        Ok(Bill { inner, mesh: mesh.inner.clone(), _not_sync: PhantomData })
    }

    /// A layer of `stage`. Without a routing experts are taken as chosen evenly.
    pub fn add_layer(&self, stage: i64, layer: &LayerParams, routing: Option<BillRouting<'_>>) -> Result<()> {
        let raw = layer.raw()?;
        let Some(routing) = routing else {
            // SAFETY: live handles; the params' texts live as long as `layer`.
            return self.inner.call(|bill| unsafe { sys::moemesh_bill_add_layer(bill, stage, &raw, std::ptr::null()) });
        };
        self.check_routing(routing)?;
        let routing = sys::moemesh_bill_routing {
            struct_size: size_of::<sys::moemesh_bill_routing>() as i64,
            copies: routing.copies.as_ptr(),
            rows: routing.rows.as_ptr(),
        };
        // SAFETY: as above; the matrices have the size that the library reads.
        self.inner.call(|bill| unsafe { sys::moemesh_bill_add_layer(bill, stage, &raw, &routing) })
    }

    fn check_routing(&self, routing: BillRouting<'_>) -> Result<()> {
        let size = |axes: Axes| {
            let _entry = self.mesh.context.enter()?;
            crate::params::filled!(moemesh_group, |out| sys::moemesh_mesh_get_group(self.mesh.raw, axes.raw(), 0, out))
        };
        let expected = size(Axes::STAGE)?.size * size(Axes::EP)?.size;
        for (name, matrix) in [("copies", routing.copies), ("rows", routing.rows)] {
            if matrix.len() as i64 != expected {
                return Err(bad_argument(format!("{name}: expected {expected} numbers, got {}", matrix.len())));
            }
        }
        Ok(())
    }

    pub fn add_parameter(&self, stage: i64, family: FamilyKind, parameter: &ParameterParams) -> Result<()> {
        let raw = parameter.raw()?;
        // SAFETY: live handle; the params' text lives as long as `parameter`.
        self.inner.call(|bill| unsafe { sys::moemesh_bill_add_parameter(bill, stage, family.raw(), &raw) })
    }

    pub fn set_pipeline(&self, pipeline: &PipelineParams) -> Result<()> {
        let raw = pipeline.raw()?;
        // SAFETY: a live handle and a struct of its size.
        self.inner.call(|bill| unsafe { sys::moemesh_bill_set_pipeline(bill, &raw) })
    }

    /// What the ledger of `rank` will show.
    pub fn entries(&self, rank: i64) -> Result<Vec<LedgerEntry>> {
        let _entry = self.inner.context.enter()?;
        let bill = self.inner.raw;
        entries(
            // SAFETY: a live handle and places for the answers.
            |count| unsafe { sys::moemesh_bill_get_count(bill, rank, count) },
            // SAFETY: a live handle and places for the answers.
            |index, entry| unsafe { sys::moemesh_bill_get_entry(bill, rank, index, entry) },
        )
    }
}

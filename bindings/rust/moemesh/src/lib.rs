// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#![doc = include_str!("../README.md")]
#![warn(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

mod bill;
mod context;
mod error;
mod family;
mod gate;
mod layer;
mod ledger;
mod mesh;
#[cfg(feature = "mpi")]
mod mpi_comm;
mod optimizer;
mod params;
mod pipeline;
mod report;
mod runtime;
mod tape;
mod values;
mod view;

pub use bill::{Bill, BillParams, BillRouting};
pub use context::{Comm, Context, ContextInfo, ContextParams};
pub use error::{Error, Message, Result};
pub use family::{Family, FamilyParams, Parameter, ParameterInfo, ParameterParams};
pub use layer::{Forward, Layer, LayerLoad, LayerMemory, LayerParams, LayerStatistics, TapeBytes};
pub use ledger::LedgerEntry;
pub use mesh::{Axes, AxisReport, Coordinates, Group, Mesh, MeshParams};
pub use moemesh_sys as sys;
pub use optimizer::{Optimizer, OptimizerBytes, OptimizerCounters, OptimizerParams, Step, StepParams, UpdateResult};
pub use params::*;
pub use pipeline::{Action, Pipeline, PipelineInfo, PipelineParams, Run, Views};
pub use report::{Report, ReportLayer, ReportParams, ReportStep, ReportSummary};
#[cfg(feature = "dynamic-load")]
pub use runtime::load;
pub use runtime::{RuntimeInfo, runtime_info, shutdown, version};
pub use tape::{Backward, DetachedTape, Tape};
pub use values::Values;
pub use view::{Bf16, Element, Float, View, ViewMut};

/// Handles have nothing to show.
macro_rules! opaque {
    ($($type:ty),*) => {$(
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type)).finish_non_exhaustive()
            }
        }
    )*};
}
opaque!(
    ContextParams<'_>,
    Context,
    Mesh,
    Family,
    Parameter,
    Layer,
    Tape<'_>,
    DetachedTape,
    Optimizer,
    Step,
    Pipeline<f32>,
    Pipeline<Bf16>,
    Bill,
    Report
);

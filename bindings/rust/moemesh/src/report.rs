// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

use std::ffi::CStr;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use moemesh_sys as sys;

use crate::context::{NotSync, Owned};
use crate::error::Result;
use crate::mesh::{Mesh, MeshInner};
use crate::params::{ReportOutput, c_text, filled, params};

pub type ReportSummary = sys::moemesh_report_summary;
pub type ReportStep = sys::moemesh_report_step;

/// One layer over all recorded steps; `figures.name` is not for use.
#[derive(Clone, Debug)]
pub struct ReportLayer {
    pub name: String,
    pub figures: sys::moemesh_report_layer,
}

params! {
    /// `moemesh_report_params`.
    ReportParams(moemesh_report_params, moemesh_report_params_init) {
        events: i64,
        steps: i64,
        first_step: i64,
        last_step: i64,
        start_pings: i32,
        step_pings: i32,
    }
}

/// Where the time of real steps goes, and who is waited for. Records from its making to [`stop`](Report::stop).
pub struct Report {
    inner: Owned<sys::moemesh_report>,
    _mesh: Arc<MeshInner>,
    _not_sync: NotSync,
}

impl Report {
    /// Not within a step. Collective over the context.
    pub fn new(mesh: &Mesh, params: &ReportParams) -> Result<Report> {
        let raw = params.raw()?;
        // SAFETY: a live mesh and a struct of its size.
        let make = |report| unsafe { sys::moemesh_report_create(mesh.inner.raw, &raw, report) };
        let inner = Owned::make(&mesh.inner.context, make)?;
        Ok(Report { inner, _mesh: mesh.inner.clone(), _not_sync: PhantomData })
    }

    /// Not within a step. Collective over the context.
    pub fn stop(&self) -> Result<()> {
        // SAFETY: a live handle, as in all below.
        self.inner.call(|report| unsafe { sys::moemesh_report_stop(report) })
    }

    /// A span of the program's own, around `body`. Local.
    pub fn mark<T>(&self, name: &str, body: impl FnOnce() -> T) -> Result<T> {
        let name = c_text("name", name)?;
        // SAFETY: the name lives during the call.
        self.inner.call(|report| unsafe { sys::moemesh_report_mark_begin(report, name.as_ptr()) })?;
        let result = body();
        // SAFETY: as above.
        self.inner.call(|report| unsafe { sys::moemesh_report_mark_end(report) })?;
        Ok(result)
    }

    /// Brings all ranks' records together. Not within a step. Collective over the context.
    pub fn collect(&self) -> Result<()> {
        // SAFETY: as above.
        self.inner.call(|report| unsafe { sys::moemesh_report_collect(report) })
    }

    /// Of the last [`collect`](Report::collect), as the two below.
    pub fn summary(&self) -> Result<ReportSummary> {
        let _entry = self.inner.context.enter()?;
        filled!(moemesh_report_summary, |out| sys::moemesh_report_get_summary(self.inner.raw, out))
    }

    pub fn layer(&self, index: i64) -> Result<ReportLayer> {
        let _entry = self.inner.context.enter()?;
        let mut figures =
            filled!(moemesh_report_layer, |out| sys::moemesh_report_get_layer(self.inner.raw, index, out))?;
        // SAFETY: a text that lives until the next collect, which can't come while this thread is within the gate.
        let name = unsafe { CStr::from_ptr(figures.name) }.to_string_lossy().into_owned();
        figures.name = std::ptr::null();
        Ok(ReportLayer { name, figures })
    }

    pub fn step(&self, index: i64) -> Result<ReportStep> {
        let _entry = self.inner.context.enter()?;
        filled!(moemesh_report_step, |out| sys::moemesh_report_get_step(self.inner.raw, index, out))
    }

    /// Rank 0 writes the last collect to `path`. `step`: of a timeline or a trace; `None`: the last one, or all.
    /// Collective over the context.
    pub fn write(&self, output: ReportOutput, step: Option<i64>, path: &Path) -> Result<()> {
        let path = c_text("path", path.as_os_str().as_bytes())?;
        // SAFETY: the path lives during the call.
        self.inner.call(|report| unsafe {
            sys::moemesh_report_write(report, output.raw(), step.unwrap_or(-1), path.as_ptr())
        })
    }
}

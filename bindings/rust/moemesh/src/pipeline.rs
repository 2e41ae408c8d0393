// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

use std::marker::PhantomData;
use std::sync::Arc;

use moemesh_sys as sys;

use crate::context::{NotSync, Owned};
use crate::error::{Error, Result, bad_argument, bad_state, check};
use crate::mesh::{Mesh, MeshInner};
use crate::optimizer::{Optimizer, OptimizerInner, Step};
use crate::params::{ActionKind, Dtype, Schedule, filled, params};
use crate::values::{slice_of, slice_of_mut};
use crate::view::Float;

pub type PipelineInfo = sys::moemesh_pipeline_info;

params! {
    /// `moemesh_pipeline_params`.
    PipelineParams(moemesh_pipeline_params, moemesh_pipeline_params_init) {
        width: i64,
        dtype: Dtype as i32,
        schedule: Schedule as i32,
    }
}

/// The order of the microbatches, and what goes from stage to stage: rows of `T`.
pub struct Pipeline<T: Float> {
    inner: Owned<sys::moemesh_pipeline>,
    optimizer: Option<Arc<OptimizerInner>>,
    _mesh: Arc<MeshInner>,
    _not_sync: NotSync,
    _rows: PhantomData<T>,
}

impl<T: Float> Pipeline<T> {
    /// `optimizer`: whose steps are run; `None`: forwards alone. The dtype is `T`'s. Collective over the context.
    pub fn new(mesh: &Mesh, optimizer: Option<&Optimizer>, params: &PipelineParams) -> Result<Pipeline<T>> {
        let mut raw = params.raw()?;
        raw.dtype = T::DTYPE;
        let steps = optimizer.map_or(std::ptr::null_mut(), |optimizer| optimizer.inner.owned.raw);
        // SAFETY: live handles and a struct of its size.
        let make = |pipeline| unsafe { sys::moemesh_pipeline_create(mesh.inner.raw, steps, &raw, pipeline) };
        let inner = Owned::make(&mesh.inner.context, make)?;
        let optimizer = optimizer.map(|optimizer| optimizer.inner.clone());
        Ok(Pipeline { inner, optimizer, _mesh: mesh.inner.clone(), _not_sync: PhantomData, _rows: PhantomData })
    }

    /// Begins the run of a step's microbatches. `rows` of each one on this data shard: must be given on the first stage. The run
    /// borrows the step: it can't be closed before the run is given up.
    pub fn train<'run>(&'run mut self, step: &'run Step, rows: Option<&[i64]>) -> Result<Run<'run, T>> {
        // The step that the run borrows must be the one whose end would end the run.
        if !self.optimizer.as_ref().is_some_and(|own| step.is_of(own)) {
            return Err(bad_state("the step is not of the pipeline's optimizer"));
        }
        self.begin(rows, step.microbatches(), true)
    }

    /// Begins a run of forwards alone.
    pub fn infer(&mut self, microbatches: i32, rows: Option<&[i64]>) -> Result<Run<'_, T>> {
        self.begin(rows, microbatches, false)
    }

    fn begin(&mut self, rows: Option<&[i64]>, microbatches: i32, training: bool) -> Result<Run<'_, T>> {
        if let Some(rows) = rows.filter(|rows| rows.len() as i64 != i64::from(microbatches)) {
            return Err(bad_argument(format!("rows: expected {microbatches} numbers, got {}", rows.len())));
        }
        let raw = sys::moemesh_pipeline_run {
            struct_size: size_of::<sys::moemesh_pipeline_run>() as i64,
            rows: rows.map_or(std::ptr::null(), <[i64]>::as_ptr),
            microbatches,
            training: i32::from(training),
        };
        // SAFETY: a live handle; rows, of which there are as many as microbatches, are read during the call.
        self.inner.call(|pipeline| unsafe { sys::moemesh_pipeline_begin(pipeline, &raw) })?;
        Ok(Run { pipeline: self })
    }

    /// Of the run in progress, or the last one.
    pub fn info(&self) -> Result<PipelineInfo> {
        let _entry = self.inner.context.enter()?;
        filled!(moemesh_pipeline_info, |out| sys::moemesh_pipeline_get_info(self.inner.raw, out))
    }
}

/// A run: actions until there is none.
pub struct Run<'run, T: Float> {
    pipeline: &'run mut Pipeline<T>,
}

/// What to do next; [`done`](Action::done) must follow. An action that is dropped stays open: the run can't go on.
///
/// Its arrays are `[rows, width]`, and lent as long as the action is: none can be kept over `done`. What does not apply is `None`.
pub struct Action<'action, T: Float> {
    /// `Forward` or `Backward`.
    pub kind: ActionKind,
    pub microbatch: i32,
    pub rows: usize,
    raw: sys::moemesh_pipeline_action,
    pipeline: &'action Pipeline<T>,
}

/// All arrays of an [`Action`] at once.
#[derive(Debug)]
pub struct Views<'lent, T: Float> {
    /// Forward: the previous stage's output. Backward: the gradient of this stage's output.
    pub input: Option<&'lent [T]>,
    /// To be written. Forward: this stage's output. Backward: the gradient of `saved`.
    pub output: Option<&'lent mut [T]>,
    /// Backward: what was `input` of this microbatch's forward.
    pub saved: Option<&'lent [T]>,
}

impl<T: Float> Run<'_, T> {
    /// Waits for the rows of neighbour stages. `None`: the run is over on this rank.
    #[allow(clippy::should_implement_trait)] // an action borrows the run: no Iterator
    pub fn next(&mut self) -> Result<Option<Action<'_, T>>> {
        let raw = {
            let _entry = self.pipeline.inner.context.enter()?;
            filled!(moemesh_pipeline_action, |out| sys::moemesh_pipeline_next(self.pipeline.inner.raw, out))?
        };
        let Some(kind) = ActionKind::from_raw(raw.kind) else {
            return Err(Error::NotSupported(format!("an action of kind {}", raw.kind).into()));
        };
        if kind == ActionKind::End {
            return Ok(None);
        }
        let pipeline = &*self.pipeline;
        Ok(Some(Action { kind, microbatch: raw.microbatch, rows: raw.rows as usize, raw, pipeline }))
    }

    /// [`next`](Run::next) and [`done`](Action::done) until the run is over. In training a failure of an action is told by
    /// [`Step::finish`]; actions go on, as other ranks wait in them.
    pub fn execute(mut self, mut run: impl FnMut(&mut Action<'_, T>) -> Result<()>) -> Result<()> {
        while let Some(mut action) = self.next()? {
            let result = run(&mut action);
            action.done(result)?;
        }
        Ok(())
    }
}

// What all SAFETY comments below mean: `raw` has arrays of the library's of T, good until pipeline_done, the pipeline's destroy or
// the step's end. A slice borrows the action, which only `done` hands to pipeline_done, by consuming it: so no slice is left then.
// The action borrows the pipeline and the run, which borrows the step. `out` overlaps neither of the others.
impl<T: Float> Action<'_, T> {
    /// Forward: the previous stage's output. Backward: the gradient of this stage's output.
    pub fn input(&self) -> Option<&[T]> {
        // SAFETY: see above; shared as the action is.
        applies(&self.raw.in_).then(|| unsafe { slice_of(&self.raw.in_) })
    }

    /// To be written. Forward: this stage's output. Backward: the gradient of [`saved`](Action::saved).
    pub fn output(&mut self) -> Option<&mut [T]> {
        // SAFETY: see above; the action is borrowed for this slice alone.
        applies(&self.raw.out).then(|| unsafe { slice_of_mut(&self.raw.out) })
    }

    /// Backward: what was [`input`](Action::input) of this microbatch's forward.
    pub fn saved(&self) -> Option<&[T]> {
        // SAFETY: see above; shared as the action is.
        applies(&self.raw.saved).then(|| unsafe { slice_of(&self.raw.saved) })
    }

    /// The three above at once, for a stage that reads and writes.
    pub fn views(&mut self) -> Views<'_, T> {
        let raw = &self.raw;
        // SAFETY: see above; the action is borrowed for these slices alone, and `out` overlaps neither of the others.
        unsafe {
            Views {
                input: applies(&raw.in_).then(|| slice_of(&raw.in_)),
                output: applies(&raw.out).then(|| slice_of_mut(&raw.out)),
                saved: applies(&raw.saved).then(|| slice_of(&raw.saved)),
            }
        }
    }

    /// Sends the output. An error: that of a layer's call in the action, or of the caller's own; the step will then fail on every
    /// rank, and the run goes on.
    pub fn done(self, result: Result<()>) -> Result<()> {
        let status = match result.map_err(|error| error.status()) {
            Ok(()) => sys::MOEMESH_OK,
            // An error that was made of this number is still none of success.
            Err(sys::MOEMESH_OK) => sys::MOEMESH_ERROR_STEP_FAILED,
            Err(status) => status,
        };
        let _entry = self.pipeline.inner.context.enter()?;
        // SAFETY: a live handle.
        check(unsafe { sys::moemesh_pipeline_done(self.pipeline.inner.raw, status) })
    }
}

fn applies(view: &sys::moemesh_view) -> bool {
    view.rank > 0
}

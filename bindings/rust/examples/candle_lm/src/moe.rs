// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! The MoE layer as an operation of candle, with its backward.

use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp1, Error, Layout, Result, Shape, Tensor};
use moemesh::{Backward, DetachedTape, Forward, Layer, Step, View, ViewMut};

/// The open step, or none: forwards then make no tape.
pub type Open = Arc<Mutex<Option<Step>>>;

pub struct Moe {
    layer: Arc<Mutex<Layer>>,
    step: Open,
}

/// One forward. Candle keeps it in its graph until the backward.
struct Call {
    layer: Arc<Mutex<Layer>>,
    step: Open,
    tape: Mutex<Option<DetachedTape>>,
}

impl Moe {
    pub fn new(layer: Layer, step: Open) -> Moe {
        Moe { layer: Arc::new(Mutex::new(layer)), step }
    }

    /// `x`: [tokens, hidden]. Collective over the ranks that share the experts, and so is the backward: all of them build the same
    /// graph.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let call = Call { layer: self.layer.clone(), step: self.step.clone(), tape: Mutex::new(None) };
        x.contiguous()?.apply_op1(call)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Call {
    fn run(&self, x: &[f32], shape: &[usize]) -> moemesh::Result<Vec<f32>> {
        let mut y = vec![0f32; x.len()];
        let arrays = Forward::new(View::new(x, shape)?, ViewMut::new(&mut y, shape)?);
        let layer = lock(&self.layer);
        match &*lock(&self.step) {
            Some(step) => *lock(&self.tape) = Some(layer.forward(step, arrays)?.detach()),
            None => layer.infer(arrays)?,
        }
        Ok(y)
    }

    fn run_backward(&self, x: &[f32], dy: &[f32], shape: &[usize]) -> moemesh::Result<Vec<f32>> {
        let missing = || moemesh::Error::InvalidState("a backward without its forward, or outside of its step".into());
        let tape = lock(&self.tape).take().ok_or_else(missing)?;
        let mut dx = vec![0f32; x.len()];
        let arrays = Backward::new(View::new(dy, shape)?, ViewMut::new(&mut dx, shape)?);
        tape.attach(View::new(x, shape)?).backward(lock(&self.step).as_ref().ok_or_else(missing)?, arrays)?;
        Ok(dx)
    }
}

impl CustomOp1 for Call {
    fn name(&self) -> &'static str {
        "moemesh"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (begin, end) = layout.contiguous_offsets().ok_or_else(|| Error::msg("moemesh: x is not contiguous"))?;
        let y = self.run(&storage.as_slice::<f32>()?[begin..end], layout.dims()).map_err(Error::wrap)?;
        Ok((CpuStorage::F32(y), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _y: &Tensor, dy: &Tensor) -> Result<Option<Tensor>> {
        let flat = |tensor: &Tensor| tensor.flatten_all()?.to_vec1::<f32>();
        let dx = self.run_backward(&flat(x)?, &flat(dy)?, x.dims()).map_err(Error::wrap)?;
        Ok(Some(Tensor::from_vec(dx, x.shape(), x.device())?))
    }
}

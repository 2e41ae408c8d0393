// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! A forward after its step.
// refused: E0382
use moemesh::*;

fn run(layer: &Layer, step: Step, x: &[f32], y: &mut [f32]) -> Result<()> {
    #[cfg(not(wrong))]
    drop(layer.forward(&step, Forward::new(View::new(x, &[2, 4])?, ViewMut::new(y, &[2, 4])?))?);
    step.finish()?;
    #[cfg(wrong)]
    drop(layer.forward(&step, Forward::new(View::new(x, &[2, 4])?, ViewMut::new(y, &[2, 4])?))?);
    Ok(())
}

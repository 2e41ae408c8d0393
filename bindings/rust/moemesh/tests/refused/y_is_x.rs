// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! The output is the input.
// refused: E0502
use moemesh::*;

fn run(layer: &Layer, x: &mut [f32], y: &mut [f32]) -> Result<()> {
    let from = View::new(&*x, &[2, 4])?;
    #[cfg(wrong)]
    let to = ViewMut::new(x, &[2, 4])?;
    #[cfg(not(wrong))]
    let to = ViewMut::new(y, &[2, 4])?;
    layer.infer(Forward::new(from, to))?;
    y[0] = 0.0;
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! x is written while a tape borrows it.
// refused: E0506
use moemesh::*;

fn run(layer: &Layer, step: &Step, x: &mut [f32; 8], y: &mut [f32]) -> Result<()> {
    let tape = layer.forward(step, Forward::new(View::new(&*x, &[2, 4])?, ViewMut::new(y, &[2, 4])?))?;
    #[cfg(wrong)]
    let _: () = x[0] = 1.0;
    drop(tape);
    x[0] = 2.0;
    Ok(())
}

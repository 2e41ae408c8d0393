// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! Two backwards of one tape.
// refused: E0382
use moemesh::*;

fn run(tape: Tape<'_>, step: &Step, dy: &[f32], dx: &mut [f32]) -> Result<()> {
    tape.backward(step, Backward::new(View::new(dy, &[2, 4])?, ViewMut::new(dx, &[2, 4])?))?;
    #[cfg(wrong)]
    tape.backward(step, Backward::new(View::new(dy, &[2, 4])?, ViewMut::new(dx, &[2, 4])?))?;
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! A tape in a struct that lives longer than the x that it borrows.
// refused: E0597
use moemesh::*;

struct Saved<'x> {
    tape: Option<Tape<'x>>,
}

fn run(layer: &Layer, step: &Step, y: &mut [f32]) -> Result<()> {
    let mut saved = Saved { tape: None };
    {
        let x = vec![0f32; 8];
        let forward = Forward::new(View::new(&x, &[2, 4])?, ViewMut::new(y, &[2, 4])?);
        let tape = layer.forward(step, forward)?;
        #[cfg(wrong)]
        let _: () = saved.tape = Some(tape);
        #[cfg(not(wrong))]
        drop(tape);
    }
    drop(saved.tape.take());
    Ok(())
}

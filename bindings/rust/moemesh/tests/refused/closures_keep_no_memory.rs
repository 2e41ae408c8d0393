// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! Values that were lent to a closure are taken out of it.
// refused: E0521
use moemesh::*;

fn run<'a>(parameter: &'a Parameter, kept: &mut Vec<&'a [f32]>) -> Result<()> {
    parameter.with_values_mut(|values: &mut [f32]| {
        #[cfg(wrong)]
        kept.push(values);
        values_end(values, kept.len())
    })
}

fn values_end(_: &[f32], _: usize) {}

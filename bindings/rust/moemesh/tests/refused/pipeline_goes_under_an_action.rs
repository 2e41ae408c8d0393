// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! A second action while the first one has its arrays.
// refused: E0499
use moemesh::*;

fn run(run: &mut Run<'_, f32>) -> Result<()> {
    let first = run.next()?;
    #[cfg(wrong)]
    let _second = run.next()?;
    if let Some(first) = first {
        first.done(Ok(()))?;
    }
    Ok(())
}

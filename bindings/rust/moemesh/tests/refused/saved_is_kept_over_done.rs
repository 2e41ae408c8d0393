// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! What was kept of a forward is read after its backward was done.
// refused: E0505
use moemesh::*;

fn run(action: Action<'_, f32>, sum: &mut f32) -> Result<()> {
    let saved = action.saved();
    #[cfg(wrong)]
    action.done(Ok(()))?;
    *sum = saved.map_or(0.0, |rows| rows.iter().sum());
    #[cfg(not(wrong))]
    action.done(Ok(()))?;
    Ok(())
}

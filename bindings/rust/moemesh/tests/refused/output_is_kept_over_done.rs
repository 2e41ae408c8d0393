// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! An action's output is written after it was sent.
// refused: E0505
use moemesh::*;

fn run(mut action: Action<'_, f32>) -> Result<()> {
    let views = action.views();
    let output = views.output;
    #[cfg(wrong)]
    action.done(Ok(()))?;
    if let Some(output) = output {
        output.fill(1.0);
    }
    #[cfg(not(wrong))]
    action.done(Ok(()))?;
    Ok(())
}

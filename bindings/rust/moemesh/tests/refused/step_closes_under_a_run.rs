// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! A step is finished while an action has the arrays of a pipeline's run.
// refused: E0505
use moemesh::*;

fn run(pipeline: &mut Pipeline<f32>, step: Step) -> Result<()> {
    let mut run = pipeline.train(&step, None)?;
    let action = run.next()?;
    #[cfg(wrong)]
    step.finish()?;
    if let Some(action) = action {
        action.done(Ok(()))?;
    }
    #[cfg(not(wrong))]
    step.finish()?;
    Ok(())
}

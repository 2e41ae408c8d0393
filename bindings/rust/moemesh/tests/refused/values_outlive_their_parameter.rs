// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! Values of a parameter that is gone.
// refused: E0505
use moemesh::*;

fn run(parameter: Parameter) -> Result<f32> {
    let values = parameter.acquire::<f32>()?;
    #[cfg(wrong)]
    drop(parameter);
    Ok(values[0])
}

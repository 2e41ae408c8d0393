// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! A log that borrows from a function that returns before the context is gone.
// refused: E0597
use moemesh::*;

fn run() -> Result<Context> {
    let lines = std::sync::Mutex::new(0);
    #[cfg(not(wrong))]
    let count = move |_: LogLevel, _: &str| *lines.lock().unwrap() += 1;
    #[cfg(wrong)]
    let lines = &lines;
    #[cfg(wrong)]
    let count = move |_: LogLevel, _: &str| *lines.lock().unwrap() += 1;
    Context::new(ContextParams::new().log(LogLevel::Debug, count))
}

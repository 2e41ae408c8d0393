// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! One layer on two threads at once.
// refused: E0277
use moemesh::*;

fn shared<T: Sync>(_: &T) {}
fn moved<T: Send>(_: &T) {}

fn run(context: Context, layer: Layer, step: Step) {
    moved(&context);
    moved(&layer);
    moved(&step);
    #[cfg(wrong)]
    shared(&context);
    #[cfg(wrong)]
    shared(&layer);
    #[cfg(wrong)]
    shared(&step);
    #[cfg(not(wrong))]
    shared(&0);
}

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

use std::marker::PhantomData;
use std::ops::Deref;

use moemesh_sys as sys;

use crate::family::Parameter;
use crate::view::Element;

/// This rank's values of a parameter, borrowed from the library.
pub struct Values<'p, T> {
    parameter: &'p Parameter,
    slice: &'p [T],
    _one_thread: PhantomData<*const ()>,
}

impl<'p, T> Values<'p, T> {
    pub(crate) fn new(parameter: &'p Parameter, slice: &'p [T]) -> Values<'p, T> {
        Values { parameter, slice, _one_thread: PhantomData }
    }
}

impl<T> Deref for Values<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.slice
    }
}

impl<T> Drop for Values<'_, T> {
    fn drop(&mut self) {
        self.parameter.end_read();
    }
}

/// Elements of a dense view.
fn length_of(view: &sys::moemesh_view) -> usize {
    view.extents[..view.rank as usize].iter().product::<i64>() as usize
}

/// # Safety
/// A dense view of the library's of `T`, alive and unchanged for `'a`.
pub(crate) unsafe fn slice_of<'a, T: Element>(view: &sys::moemesh_view) -> &'a [T] {
    match length_of(view) {
        0 => &[],
        // SAFETY: the caller's word.
        length => unsafe { std::slice::from_raw_parts(view.data.cast(), length) },
    }
}

/// # Safety
/// A dense view of the library's of `T`, alive and not used otherwise for `'a`.
pub(crate) unsafe fn slice_of_mut<'a, T: Element>(view: &sys::moemesh_view) -> &'a mut [T] {
    match length_of(view) {
        0 => &mut [],
        // SAFETY: the caller's word.
        length => unsafe { std::slice::from_raw_parts_mut(view.data.cast(), length) },
    }
}

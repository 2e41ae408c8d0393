// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! Arrays of the caller: slices with a shape.

use std::marker::PhantomData;

use moemesh_sys as sys;

use crate::error::{Result, bad_argument};

/// The upper half of an `f32`. Conversion rounds to nearest, ties to even, as the library does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bf16(pub u16);

impl From<f32> for Bf16 {
    fn from(value: f32) -> Bf16 {
        let bits = value.to_bits();
        if value.is_nan() {
            return Bf16((bits >> 16) as u16 | 0x40);
        }
        Bf16(((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16)
    }
}

impl From<Bf16> for f32 {
    fn from(value: Bf16) -> f32 {
        f32::from_bits(u32::from(value.0) << 16)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// What an array may hold. Every bit pattern is a value of each of these types: the library may write any.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    #[doc(hidden)]
    const DTYPE: i32;
}

macro_rules! elements {
    ($($type:ty: $dtype:ident),*) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const DTYPE: i32 = sys::$dtype as i32;
        }
    )*};
}
elements!(f32: MOEMESH_FLOAT32, f64: MOEMESH_FLOAT64, Bf16: MOEMESH_BFLOAT16, i32: MOEMESH_INT32,
          i64: MOEMESH_INT64, u8: MOEMESH_UINT8);

/// What rows and parameters may be of: `f32` and [`Bf16`].
pub trait Float: Element {}
impl Float for f32 {}
impl Float for Bf16 {}

/// An array that is read. Row-major: the last extent varies fastest.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    raw: sys::moemesh_view,
    memory: PhantomData<&'a [u8]>,
}

/// An array that is written.
#[derive(Debug)]
pub struct ViewMut<'a> {
    raw: sys::moemesh_view,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: a shared slice of plain numbers.
unsafe impl Send for View<'_> {}
// SAFETY: an exclusive one.
unsafe impl Send for ViewMut<'_> {}

impl<'a> View<'a> {
    /// The whole of a slice: `shape` has 1 to 4 extents, whose product is its length.
    pub fn new<T: Element>(data: &'a [T], shape: &[usize]) -> Result<View<'a>> {
        let raw = dense::<T>(data.as_ptr().cast_mut(), data.len(), shape)?;
        Ok(View { raw, memory: PhantomData })
    }

    /// A part of a slice. `strides`: elements between neighbours of each dimension.
    pub fn strided<T: Element>(data: &'a [T], shape: &[usize], strides: &[usize]) -> Result<View<'a>> {
        let raw = describe::<T>(data.as_ptr().cast_mut(), data.len(), shape, strides)?;
        Ok(View { raw, memory: PhantomData })
    }

    pub(crate) fn raw(&self) -> &sys::moemesh_view {
        &self.raw
    }
}

impl<'a> ViewMut<'a> {
    /// As [`View::new`].
    pub fn new<T: Element>(data: &'a mut [T], shape: &[usize]) -> Result<ViewMut<'a>> {
        let raw = dense::<T>(data.as_mut_ptr(), data.len(), shape)?;
        Ok(ViewMut { raw, memory: PhantomData })
    }

    /// As [`View::strided`], and no two places of the view are the same element. Dimensions may come in any order, but each one's
    /// stride must be more than what all dimensions of smaller strides reach together, the sum of `(extent - 1) * stride` over
    /// them. This refuses every view with an element twice, and also those whose rows lie in between each other without meeting
    /// (`[3, 2]` with strides `[2, 3]`). Dimensions with an extent of 1 do not count; a view with no elements is always taken.
    pub fn strided<T: Element>(data: &'a mut [T], shape: &[usize], strides: &[usize]) -> Result<ViewMut<'a>> {
        let raw = describe::<T>(data.as_mut_ptr(), data.len(), shape, strides)?;
        check_apart(shape, strides)?;
        Ok(ViewMut { raw, memory: PhantomData })
    }

    pub(crate) fn raw(&self) -> &sys::moemesh_view {
        &self.raw
    }
}

fn dense<T: Element>(data: *mut T, length: usize, shape: &[usize]) -> Result<sys::moemesh_view> {
    let elements = shape.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
    if elements != Some(length) {
        return Err(bad_argument(format!("shape {shape:?}: the slice has {length} elements")));
    }
    let mut strides = [1usize; 4];
    for i in (1..shape.len().min(4)).rev() {
        // Beside an extent of 0 the others may be anything.
        strides[i - 1] = strides[i].max(1).saturating_mul(shape[i].max(1));
    }
    describe(data, length, shape, &strides[..shape.len().min(4)])
}

fn describe<T: Element>(data: *mut T, length: usize, shape: &[usize], strides: &[usize]) -> Result<sys::moemesh_view> {
    if !(1..=4).contains(&shape.len()) || strides.len() != shape.len() {
        return Err(bad_argument(format!("shape {shape:?}, strides {strides:?}: expected 1 to 4 of both")));
    }
    if !ends_within(shape, strides, length) {
        return Err(bad_argument(format!("shape {shape:?}, strides {strides:?}: the slice has {length} elements")));
    }
    let mut raw = sys::moemesh_view {
        dtype: T::DTYPE,
        memory: sys::MOEMESH_MEMORY_HOST as i32,
        rank: shape.len() as i32,
        reserved: 0,
        extents: [0; 4],
        strides: [0; 4],
        data: data.cast(),
    };
    for i in 0..shape.len() {
        raw.extents[i] = integer(shape[i])?;
        raw.strides[i] = integer(strides[i])?;
    }
    Ok(raw)
}

/// Whether the last element that a view reaches lies within the slice.
fn ends_within(shape: &[usize], strides: &[usize], length: usize) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let last = shape
        .iter()
        .zip(strides)
        .try_fold(0usize, |last, (extent, stride)| last.checked_add((extent - 1).checked_mul(*stride)?));
    last.is_some_and(|last| last < length)
}

/// See [`ViewMut::strided`]. The view ends within a slice: no sum here leaves a `usize`.
fn check_apart(shape: &[usize], strides: &[usize]) -> Result<()> {
    if shape.contains(&0) {
        return Ok(());
    }
    let mut order: Vec<usize> = (0..shape.len()).filter(|i| shape[*i] > 1).collect();
    order.sort_by_key(|i| strides[*i]);
    let mut reach = 0;
    for i in order {
        if strides[i] <= reach {
            return Err(bad_argument(format!("strides[{i}]: expected > {reach}, or rows overlap; got {}", strides[i])));
        }
        reach += (shape[i] - 1) * strides[i];
    }
    Ok(())
}

pub(crate) fn integer(value: usize) -> Result<i64> {
    i64::try_from(value).map_err(|_| bad_argument(format!("{value} is above {}", i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_checked() {
        let data = [0f32; 12];
        assert!(View::new(&data, &[3, 4]).is_ok());
        assert!(View::new(&data, &[3, 5]).is_err());
        assert!(View::new(&data, &[]).is_err());
        assert!(View::new(&data, &[1, 1, 1, 1, 12]).is_err());
        assert!(View::new(&data[..0], &[0, 4]).is_ok());
        assert!(View::new(&data, &[usize::MAX, usize::MAX]).is_err());
        assert!(View::new(&data[..0], &[0, usize::MAX, 2]).is_err());
    }

    #[test]
    fn strides_stay_within_the_slice() {
        let mut data = [0f32; 12];
        assert!(View::strided(&data, &[3, 3], &[4, 1]).is_ok());
        assert!(View::strided(&data, &[4, 3], &[4, 1]).is_err());
        assert!(View::strided(&data, &[3, 4], &[usize::MAX, 1]).is_err());
        assert!(View::strided(&data, &[3, 4], &[0, 1]).is_ok());
        assert!(ViewMut::strided(&mut data, &[3, 4], &[0, 1]).is_err());
        assert!(ViewMut::strided(&mut data, &[3, 4], &[4, 1]).is_ok());
    }

    /// How often the view reaches the element that it reaches most.
    fn most(shape: &[usize], strides: &[usize]) -> usize {
        let mut counts = [0; 64];
        for i in 0..shape.iter().product() {
            let (mut rest, mut at) = (i, 0);
            for (extent, stride) in shape.iter().zip(strides) {
                at += rest % extent * stride;
                rest /= extent;
            }
            counts[at] += 1;
        }
        *counts.iter().max().unwrap()
    }

    #[test]
    fn a_written_view_has_no_element_twice() {
        let mut data = [0f32; 64];
        let mut taken = |shape: &[usize], strides: &[usize]| ViewMut::strided(&mut data, shape, strides).is_ok();
        assert!(!taken(&[3, 1, 4], &[1, 1, 1]));
        assert!(!taken(&[2, 2, 4], &[4, 4, 1]));
        assert!(!taken(&[3, 2], &[2, 3])); // apart, and refused as is said
        assert!(taken(&[4, 3], &[1, 4]));
        assert!(taken(&[3, 1, 4], &[4, 0, 1]));
        assert!(taken(&[2, 3], &[5, 2]));
        assert!(taken(&[0, 4], &[1, 1]));
        let (mut accepted, mut refused) = (0, 0);
        for code in 0..4usize.pow(3) * 10usize.pow(3) {
            let shape = [1 + code % 4, 1 + code / 4 % 4, 1 + code / 16 % 4];
            let strides = [code / 64 % 10, code / 640 % 10, code / 6400 % 10];
            if !ends_within(&shape, &strides, 64) {
                continue;
            }
            let fits = taken(&shape, &strides);
            assert!(!fits || most(&shape, &strides) == 1, "{shape:?}, {strides:?}");
            accepted += usize::from(fits);
            refused += usize::from(!fits);
        }
        assert!(accepted > 1000 && refused > 1000, "{accepted}, {refused}");
    }

    #[test]
    fn bf16_rounds_to_nearest_even() {
        assert_eq!(Bf16::from(1.0), Bf16(0x3f80));
        assert_eq!(Bf16::from(f32::from_bits(0x3f80_8000)), Bf16(0x3f80));
        assert_eq!(Bf16::from(f32::from_bits(0x3f81_8000)), Bf16(0x3f82));
        assert_eq!(f32::from(Bf16(0x4000)), 2.0);
        assert!(f32::from(Bf16::from(f32::NAN)).is_nan());
    }
}

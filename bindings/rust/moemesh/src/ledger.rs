// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

use moemesh_sys as sys;

use crate::error::{Result, check};
use crate::params::filled;

/// Calls, messages and bytes of one kind of communication. `axes`, `family`, `phase` and `collective` are the header's
/// numbers: see [`Axes`](crate::Axes), [`FamilyKind`](crate::FamilyKind), [`Phase`](crate::Phase) and
/// [`Collective`](crate::Collective).
pub type LedgerEntry = sys::moemesh_ledger_entry;

/// Of a ledger or of a bill. To be called within the gate.
pub(crate) fn entries(
    get_count: impl FnOnce(*mut i64) -> i32,
    get_entry: impl Fn(i64, *mut LedgerEntry) -> i32,
) -> Result<Vec<LedgerEntry>> {
    let mut count = 0;
    check(get_count(&mut count))?;
    (0..count).map(|index| filled!(moemesh_ledger_entry, |out| get_entry(index, out))).collect()
}

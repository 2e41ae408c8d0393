// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! What the structs and enums of the header become.

use std::ffi::CString;

use crate::error::{Result, bad_argument};

/// A flag of the header.
pub(crate) trait Flag {
    fn raw(self) -> i32;
}

impl Flag for bool {
    fn raw(self) -> i32 {
        i32::from(self)
    }
}

/// A text of the caller for a call. `what`: its name in the error, where there is a NUL in it.
pub(crate) fn c_text(what: &str, text: impl Into<Vec<u8>>) -> Result<CString> {
    CString::new(text).map_err(|error| {
        let at = error.nul_position();
        let text = error.into_vec();
        bad_argument(format!("{what}: expected no NUL, got one at byte {at} of {:?}", String::from_utf8_lossy(&text)))
    })
}

/// A struct of the header with the library's defaults. Where init fails, struct_size stays 0, which every call refuses.
macro_rules! initial {
    ($type:ident, $init:ident) => {{
        let mut raw = std::mem::MaybeUninit::<moemesh_sys::$type>::zeroed();
        // SAFETY: zeros are a value of the struct (numbers and pointers), of which the size is told.
        unsafe {
            moemesh_sys::$init(raw.as_mut_ptr(), size_of::<moemesh_sys::$type>() as i64);
            raw.assume_init()
        }
    }};
}
pub(crate) use initial;

/// A struct of parameters: starts with the library's defaults, a method for each field.
macro_rules! params {
    ($(#[$doc:meta])* $name:ident($raw:ident, $init:ident $(, $text:ident)?) {
        $($(#[$field_doc:meta])* $field:ident: $type:ty $(as $cast:ty)?,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            raw: moemesh_sys::$raw,
            $($text: Option<$crate::Result<std::ffi::CString>>,)?
        }

        impl $name {
            /// The library's defaults.
            pub fn new() -> $name {
                $name { raw: $crate::params::initial!($raw, $init), $($text: None,)? }
            }
            $(
                #[doc = concat!("`", stringify!($text), "` of `", stringify!($raw), "`. A NUL in it fails the calls that get it.")]
                pub fn $text(mut self, value: &str) -> $name {
                    self.$text = Some($crate::params::c_text(stringify!($text), value));
                    self
                }
            )?
            #[allow(dead_code)]
            pub(crate) fn raw_mut(&mut self) -> &mut moemesh_sys::$raw {
                &mut self.raw
            }
            /// For a call: texts point into `self`. An error: a text that is none in C.
            pub(crate) fn raw(&self) -> $crate::Result<moemesh_sys::$raw> {
                #[allow(unused_mut)]
                let mut raw = self.raw;
                $(if let Some(text) = &self.$text {
                    raw.$text = text.as_ref().map_err(Clone::clone)?.as_ptr();
                })?
                Ok(raw)
            }
            $(
                $(#[$field_doc])*
                #[doc = concat!("`", stringify!($field), "` of `", stringify!($raw), "`.")]
                pub fn $field(mut self, value: $type) -> $name {
                    self.raw.$field = value $(.raw() as $cast)?;
                    self
                }
            )*
        }

        impl Default for $name {
            fn default() -> $name {
                $name::new()
            }
        }

        // SAFETY: pointers in it are null; a call gets a copy with them set.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}
    };
}

/// An enum of the header.
macro_rules! enums {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident = $constant:ident,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(i32)]
        pub enum $name {
            $(#[doc = concat!("`", stringify!($constant), "`")] $variant = moemesh_sys::$constant as i32,)*
        }

        impl $name {
            /// The header's number.
            pub fn raw(self) -> i32 {
                self as i32
            }
            /// The value of the header's number, if this crate knows it.
            pub fn from_raw(raw: i32) -> Option<$name> {
                $(if raw == moemesh_sys::$constant as i32 {
                    return Some($name::$variant);
                })*
                None
            }
        }
    )*};
}

enums! {
    LogLevel {
        Error = MOEMESH_LOG_ERROR, Warning = MOEMESH_LOG_WARNING, Info = MOEMESH_LOG_INFO, Debug = MOEMESH_LOG_DEBUG,
    }
    /// Who moves messages while the program computes.
    Progress {
        Auto = MOEMESH_PROGRESS_AUTO, Thread = MOEMESH_PROGRESS_THREAD, Calls = MOEMESH_PROGRESS_CALLS,
    }
    ReduceOp { Sum = MOEMESH_SUM, Max = MOEMESH_MAX, }
    /// Parameters that are replicated over the same ranks.
    FamilyKind { Shared = MOEMESH_SHARED, Expert = MOEMESH_EXPERT, }
    /// Of parameters and rows.
    Dtype { Float32 = MOEMESH_FLOAT32, Bfloat16 = MOEMESH_BFLOAT16, }
    /// How a parameter relates to the family's tp axis.
    TpKind { Replica = MOEMESH_TP_REPLICA, Sharded = MOEMESH_TP_SHARDED, Partial = MOEMESH_TP_PARTIAL, }
    InitKind { Constant = MOEMESH_INIT_CONSTANT, Normal = MOEMESH_INIT_NORMAL, Uniform = MOEMESH_INIT_UNIFORM, }
    /// What is read or written of a parameter.
    Quantity {
        Value = MOEMESH_VALUE, Gradient = MOEMESH_GRADIENT, Master = MOEMESH_MASTER, Moment1 = MOEMESH_MOMENT1,
        Moment2 = MOEMESH_MOMENT2,
    }
    Score { Softmax = MOEMESH_SCORE_SOFTMAX, Sigmoid = MOEMESH_SCORE_SIGMOID, }
    Gate { Raw = MOEMESH_GATE_RAW, Renorm = MOEMESH_GATE_RENORM, SoftmaxTopk = MOEMESH_GATE_SOFTMAX_TOPK, }
    Activation {
        Identity = MOEMESH_IDENTITY, Relu = MOEMESH_RELU, GeluTanh = MOEMESH_GELU_TANH, GeluErf = MOEMESH_GELU_ERF,
        Silu = MOEMESH_SILU, Swiglu = MOEMESH_SWIGLU, Geglu = MOEMESH_GEGLU,
    }
    RouterKind { Linear = MOEMESH_ROUTER_LINEAR, Caller = MOEMESH_ROUTER_CALLER, }
    Nonfinite { Error = MOEMESH_NONFINITE_ERROR, Drop = MOEMESH_NONFINITE_DROP, }
    /// What a capacity drops.
    DropRule { ByPosition = MOEMESH_DROP_BY_POSITION, ByGate = MOEMESH_DROP_BY_GATE, }
    AuxScope { Shard = MOEMESH_AUX_SHARD, Sequence = MOEMESH_AUX_SEQUENCE, Global = MOEMESH_AUX_GLOBAL, }
    SequenceLayout { SequenceMajor = MOEMESH_SEQUENCE_MAJOR, PositionMajor = MOEMESH_POSITION_MAJOR, }
    /// What a tape keeps.
    Recompute {
        None = MOEMESH_RECOMPUTE_NONE, Selective = MOEMESH_RECOMPUTE_SELECTIVE, Full = MOEMESH_RECOMPUTE_FULL,
    }
    Products { Fast = MOEMESH_PRODUCTS_FAST, RowStable = MOEMESH_PRODUCTS_ROW_STABLE, }
    OptimizerKind { Adamw = MOEMESH_ADAMW, Sgd = MOEMESH_SGD, }
    /// When gradients are reduced.
    Overlap { After = MOEMESH_OVERLAP_AFTER, Eager = MOEMESH_OVERLAP_EAGER, Gaps = MOEMESH_OVERLAP_GAPS, }
    Objective { ShardMean = MOEMESH_SHARD_MEAN, TokenMean = MOEMESH_TOKEN_MEAN, }
    Schedule { OneForwardOneBackward = MOEMESH_SCHEDULE_1F1B, Gpipe = MOEMESH_SCHEDULE_GPIPE, }
    ActionKind {
        Forward = MOEMESH_ACTION_FORWARD, Backward = MOEMESH_ACTION_BACKWARD,
        BackwardWeight = MOEMESH_ACTION_BACKWARD_WEIGHT, End = MOEMESH_ACTION_END,
    }
    ReportOutput {
        Table = MOEMESH_REPORT_TABLE, Trace = MOEMESH_REPORT_TRACE, Timeline = MOEMESH_REPORT_TIMELINE,
        Series = MOEMESH_REPORT_SERIES, Plot = MOEMESH_REPORT_PLOT,
    }
    /// Of a ledger's entry.
    Collective {
        AllToAll = MOEMESH_COLLECTIVE_ALL_TO_ALL, CountExchange = MOEMESH_COLLECTIVE_COUNT_EXCHANGE,
        AllReduce = MOEMESH_COLLECTIVE_ALL_REDUCE, AllGather = MOEMESH_COLLECTIVE_ALL_GATHER,
        ReduceScatter = MOEMESH_COLLECTIVE_REDUCE_SCATTER, Broadcast = MOEMESH_COLLECTIVE_BROADCAST,
        Agreement = MOEMESH_COLLECTIVE_AGREEMENT, Pipeline = MOEMESH_COLLECTIVE_PIPELINE,
        Clock = MOEMESH_COLLECTIVE_CLOCK,
    }
    /// Of a ledger's entry.
    Phase {
        Setup = MOEMESH_PHASE_SETUP, Forward = MOEMESH_PHASE_FORWARD, Backward = MOEMESH_PHASE_BACKWARD,
        Reduction = MOEMESH_PHASE_REDUCTION, Update = MOEMESH_PHASE_UPDATE, Caller = MOEMESH_PHASE_CALLER,
        Recompute = MOEMESH_PHASE_RECOMPUTE,
    }
}

pub(crate) use params;

/// A struct that the library fills, its size told.
macro_rules! filled {
    ($type:ident, |$out:ident| $call:expr) => {{
        let mut value = std::mem::MaybeUninit::<moemesh_sys::$type>::zeroed();
        let $out = value.as_mut_ptr();
        // SAFETY: zeros are a value of the struct; its first member is the size.
        unsafe {
            (*$out).struct_size = size_of::<moemesh_sys::$type>() as i64;
            $crate::error::check($call).map(|()| value.assume_init())
        }
    }};
}
pub(crate) use filled;

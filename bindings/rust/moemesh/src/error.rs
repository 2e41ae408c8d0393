// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! The statuses of the header as an error type.

use std::ffi::CStr;
use std::fmt;

use moemesh_sys as sys;

/// What the library said: the argument, what was expected, what it got, the rank.
pub type Message = Box<str>;
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! error_enum {
    ((Ok, $ok:ident, 0, $ok_text:literal); $(($variant:ident, $constant:ident, $value:literal, $text:literal);)*) => {
        /// One variant for each status of the header's list but `MOEMESH_OK`.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Error {
            $(#[doc = $text] $variant(Message),)*
            /// A status that this crate does not know: the library is newer.
            Unknown { status: i32, message: Message },
        }

        impl Error {
            pub(crate) fn new(status: i32, message: Message) -> Error {
                match status {
                    $(sys::$constant => Error::$variant(message),)*
                    _ => Error::Unknown { status, message },
                }
            }

            /// The number of the header.
            pub fn status(&self) -> i32 {
                match self {
                    $(Error::$variant(_) => sys::$constant,)*
                    Error::Unknown { status, .. } => *status,
                }
            }

            pub fn message(&self) -> &str {
                match self {
                    $(Error::$variant(message) => message,)*
                    Error::Unknown { message, .. } => message,
                }
            }

            /// The text of the header's list.
            pub fn description(&self) -> &'static str {
                match self {
                    $(Error::$variant(_) => $text,)*
                    Error::Unknown { .. } => "a status that this crate does not know",
                }
            }
        }
    };
}
sys::for_each_status!(error_enum);

impl Error {
    /// For a status that came by another way than this crate, without a message.
    pub fn from_status(status: i32) -> Error {
        Error::new(status, "".into())
    }

    /// Nothing is left but to drop the object and its context. Otherwise nothing was changed.
    pub fn is_fatal(&self) -> bool {
        self.status() < 0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message().is_empty() { f.write_str(self.description()) } else { f.write_str(self.message()) }
    }
}

impl std::error::Error for Error {}

pub(crate) fn bad_argument(message: impl Into<Message>) -> Error {
    Error::InvalidArgument(message.into())
}

pub(crate) fn bad_state(message: impl Into<Message>) -> Error {
    Error::InvalidState(message.into())
}

/// To be called on the thread that got `status`, with no call in between: the text is this thread's last.
pub(crate) fn check(status: i32) -> Result<()> {
    if status == sys::MOEMESH_OK { Ok(()) } else { Err(Error::new(status, last_text())) }
}

fn last_text() -> Message {
    #[cfg(feature = "dynamic-load")]
    if let Some(error) = sys::load_error() {
        return error.into();
    }
    let mut text = [0u8; 1024];
    // SAFETY: no context: the thread's last text; at most the array's size is written, its final 0 included.
    let status =
        unsafe { sys::moemesh_last_error(std::ptr::null_mut(), text.as_mut_ptr().cast(), 1024, std::ptr::null_mut()) };
    if status != sys::MOEMESH_OK {
        return "".into();
    }
    CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy().into()
}

//! The only errors that a browser can see. Expected refusals ("sold out") are values, not errors; errors with
//! sources stay in the server. Rules: no SQL, no driver text, no host names; one status per code, set in `api`.

use std::collections::BTreeMap;

use leptos::server_fn::{
    codec::JsonEncoding,
    error::{FromServerFnError, ServerFnErrorErr},
};
use serde::{Deserialize, Serialize};

use crate::model::{Field, Fields, Problem};

/// Why a use case failed. Safe to tell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppError {
    /// Fields were not accepted.
    #[error("invalid fields")]
    Invalid(BTreeMap<Field, Problem>),
    /// Nobody is signed in.
    #[error("sign in required")]
    SignInRequired,
    /// Somebody is signed in who may not.
    #[error("forbidden")]
    Forbidden,
    /// There is no such thing, or it is somebody else's.
    #[error("not found")]
    NotFound,
    /// Too often; try again after so many seconds.
    #[error("too many requests")]
    TooManyRequests {
        /// Seconds to wait.
        retry_after_s: u32,
    },
    /// A store is away; try again after so many seconds.
    #[error("temporarily unavailable")]
    Unavailable {
        /// Seconds to wait.
        retry_after_s: u32,
    },
    /// A fault of ours, logged under the request id.
    #[error("internal error")]
    Internal,
}

impl AppError {
    /// A store is away.
    pub const UNAVAILABLE: Self = Self::Unavailable { retry_after_s: 2 };

    /// One field's problem.
    #[must_use]
    pub fn field(field: Field, problem: Problem) -> Self {
        Self::Invalid(BTreeMap::from([(field, problem)]))
    }

    /// The stable word, as in JSON, addresses and text keys.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "invalid",
            Self::SignInRequired => "sign_in_required",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::TooManyRequests { .. } => "too_many_requests",
            Self::Unavailable { .. } => "unavailable",
            Self::Internal => "internal",
        }
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Invalid(_) => 422,
            Self::SignInRequired => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::TooManyRequests { .. } => 429,
            Self::Unavailable { .. } => 503,
            Self::Internal => 500,
        }
    }

    /// Seconds after which it is worth trying again.
    #[must_use]
    pub fn retry_after_s(&self) -> Option<u32> {
        match self {
            Self::TooManyRequests { retry_after_s } | Self::Unavailable { retry_after_s } => {
                Some(*retry_after_s)
            }
            _ => None,
        }
    }
}

impl From<Fields> for AppError {
    fn from(fields: Fields) -> Self {
        Self::Invalid(fields.into_problems())
    }
}

/// An [`AppError`] on the wire: `{"error":"invalid","fields":{"stock":"…"}}`, words in the visitor's language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// The code.
    pub error: String,
    /// What is wrong, by field, in words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
    /// Names the log lines of an internal error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl FromServerFnError for ErrorBody {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        #[cfg(feature = "ssr")]
        {
            crate::api::undecodable(&error)
        }
        #[cfg(not(feature = "ssr"))]
        {
            // In the browser: the request did not get through, or the answer is no answer of ours.
            let _ = error;
            Self {
                error: AppError::UNAVAILABLE.code().to_owned(),
                fields: BTreeMap::new(),
                request_id: None,
            }
        }
    }
}

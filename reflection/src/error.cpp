// SPDX-License-Identifier: MIT
#include <replayout/reflection/error.h>

namespace replayout {

std::string_view to_string(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::Ok:
            return "ok";
        case ErrorCode::RegistryFrozen:
            return "registry frozen";
        case ErrorCode::RegistryNotFrozen:
            return "registry not frozen";
        case ErrorCode::DuplicateName:
            return "duplicate name";
        case ErrorCode::EmptyName:
            return "empty name";
        case ErrorCode::UnknownType:
            return "unknown type";
        case ErrorCode::MissingTraitFunction:
            return "missing trait function";
        case ErrorCode::ConflictingTraits:
            return "conflicting traits";
        case ErrorCode::OffsetOutsideType:
            return "offset outside type";
        case ErrorCode::OverlappingProperties:
            return "overlapping properties";
        case ErrorCode::MisalignedProperty:
            return "misaligned property";
        case ErrorCode::InvalidSize:
            return "invalid size";
        case ErrorCode::InvalidAlignment:
            return "invalid alignment";
        case ErrorCode::InvalidArrayDim:
            return "invalid array dim";
        case ErrorCode::MissingOperation:
            return "missing operation";
        case ErrorCode::NestingTooDeep:
            return "nesting too deep";
        case ErrorCode::TooManyProperties:
            return "too many properties";
        case ErrorCode::TooManyFunctions:
            return "too many functions";
        case ErrorCode::BaseMismatch:
            return "base mismatch";
        case ErrorCode::Unsupported:
            return "unsupported";
        case ErrorCode::LimitExceeded:
            return "limit exceeded";
        case ErrorCode::InvalidArgument:
            return "invalid argument";
        case ErrorCode::MalformedDescription:
            return "malformed description";
        case ErrorCode::IncompatibleLayout:
            return "incompatible layout";
    }
    return "unknown error";
}

namespace detail {

const Error& no_error() noexcept {
    static const Error none;
    return none;
}

}  // namespace detail

}  // namespace replayout

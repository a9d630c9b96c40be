// SPDX-License-Identifier: MIT
//
// How a set-up that is wrong shows: a Result or a Status with a code and a sentence that names the
// culprit. Cold paths only; what a peer sends is reported by a sticky reader and a close reason.
//
// Result<T> borrows the member names of std::expected, which C++20 lacks, so that it can become an
// alias one day.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace replayout {

enum class ErrorCode : std::uint8_t {
    Ok,  ///< the only code that is no error
    RegistryFrozen,
    RegistryNotFrozen,
    DuplicateName,
    EmptyName,
    UnknownType,
    MissingTraitFunction,
    ConflictingTraits,
    OffsetOutsideType,
    OverlappingProperties,
    MisalignedProperty,
    InvalidSize,
    InvalidAlignment,
    InvalidArrayDim,
    MissingOperation,
    NestingTooDeep,
    TooManyProperties,
    TooManyFunctions,
    BaseMismatch,
    Unsupported,
    LimitExceeded,
    InvalidArgument,
    MalformedDescription,  ///< bytes that describe no layout
    IncompatibleLayout,    ///< a layout of another version, that cannot or may not be read
};

/// Stable lower-case English phrase ("duplicate name").
[[nodiscard]] std::string_view to_string(ErrorCode code) noexcept;

/// What went wrong and who is to blame for it, as a sentence for a log.
struct Error {
    ErrorCode code = ErrorCode::Ok;
    std::string message;
};

namespace detail {

/// Prints why there is no value, in a release build too, and aborts.
[[noreturn, gnu::cold, gnu::noinline]] void stop_without_value(const Error& error) noexcept;

/// An error with code Ok.
[[nodiscard]] const Error& no_error() noexcept;

}  // namespace detail

/// A value or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
  public:
    Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool has_value() const noexcept { return content_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    /// The value. If there is none, the process prints the error and aborts, in a release build
    /// too: test has_value() before.
    [[nodiscard]] const T& operator*() const& noexcept { return *checked(); }
    [[nodiscard]] T& operator*() & noexcept { return *checked(); }
    [[nodiscard]] T&& operator*() && noexcept { return std::move(*checked()); }
    [[nodiscard]] const T* operator->() const noexcept { return checked(); }
    [[nodiscard]] T* operator->() noexcept { return checked(); }

    /// The error. Its code is Ok if there is a value.
    [[nodiscard]] const Error& error() const noexcept {
        return has_value() ? detail::no_error() : *std::get_if<1>(&content_);
    }

  private:
    [[nodiscard]] const T* checked() const noexcept {
        if (!has_value()) [[unlikely]] {
            detail::stop_without_value(error());
        }
        return std::get_if<0>(&content_);
    }
    [[nodiscard]] T* checked() noexcept { return const_cast<T*>(std::as_const(*this).checked()); }

    std::variant<T, Error> content_;
};

/// Success or the reason against it.
class [[nodiscard]] Status {
  public:
    Status() = default;
    Status(Error error) : error_(std::move(error)) {}

    [[nodiscard]] bool has_value() const noexcept { return error_.code == ErrorCode::Ok; }
    explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] const Error& error() const noexcept { return error_; }

  private:
    Error error_;
};

}  // namespace replayout

// SPDX-License-Identifier: MIT
#include <replayout/reflection/error.h>

namespace replayout {

std::string_view to_string(ErrorCode code) noexcept {
    static constexpr std::string_view texts[] = {"ok",
                                                 "registry frozen",
                                                 "registry not frozen",
                                                 "duplicate name",
                                                 "empty name",
                                                 "unknown type",
                                                 "missing trait function",
                                                 "conflicting traits",
                                                 "offset outside type",
                                                 "overlapping properties",
                                                 "misaligned property",
                                                 "invalid size",
                                                 "invalid alignment",
                                                 "invalid array dim",
                                                 "missing operation",
                                                 "nesting too deep",
                                                 "too many properties",
                                                 "too many functions",
                                                 "base mismatch",
                                                 "unsupported",
                                                 "limit exceeded",
                                                 "invalid argument",
                                                 "malformed description",
                                                 "incompatible layout"};
    static_assert(std::size(texts) == static_cast<std::size_t>(ErrorCode::IncompatibleLayout) + 1);
    const auto index = static_cast<std::size_t>(code);
    return index < std::size(texts) ? texts[index] : "unknown error";
}

namespace detail {

const Error& no_error() noexcept {
    static const Error none;
    return none;
}

}  // namespace detail

}  // namespace replayout

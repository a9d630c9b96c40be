// SPDX-License-Identifier: MIT
//
// Why a trace was refused.
#pragma once

#include "match/recording/trace_reader.h"

#include <string>
#include <variant>

namespace replayout::testing {

/// The message of a trace that was refused.
[[nodiscard]] inline std::string error_of(const match::ReadTraceResult& result) {
    const auto* error = std::get_if<match::TraceError>(&result);
    return error == nullptr ? "no error" : error->message;
}

}  // namespace replayout::testing

// SPDX-License-Identifier: MIT
//
// What begins with Boost.Asio, which takes descriptors of its own, and throws where there are none.
#pragma once

#include "address_text.h"

#include <memory>
#include <string_view>
#include <utility>

#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

namespace replayout {

/// Why the system refuses what begins at that address. LimitExceeded: the process has as many
/// descriptors as it may; InvalidArgument: anything else, of which the address is the likely cause.
[[nodiscard]] inline Error start_error(std::string_view kind, std::string_view address,
                                       const boost::system::error_code& refused) {
    Error error = address_error(kind, address, refused.message());
    if (refused == boost::system::errc::too_many_files_open) {
        error.code = ErrorCode::LimitExceeded;
    }
    return error;
}

/// A `Made` of these arguments. Errors: those of start_error().
template <typename Made, typename... Arguments>
[[nodiscard]] Result<std::unique_ptr<Made>> make_with_asio(std::string_view kind,
                                                           std::string_view address,
                                                           Arguments&&... arguments) {
    try {
        return std::make_unique<Made>(std::forward<Arguments>(arguments)...);
    } catch (const boost::system::system_error& error) {
        return start_error(kind, address, error.code());
    }
}

}  // namespace replayout

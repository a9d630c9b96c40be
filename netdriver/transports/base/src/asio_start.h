// SPDX-License-Identifier: MIT
//
// What begins with Boost.Asio, which takes descriptors of its own, and throws where there are none.
#pragma once

#include "address_text.h"

#include <memory>
#include <string_view>
#include <utility>

#include <boost/system/system_error.hpp>

namespace replayout {

/// A `Made` of these arguments. Errors: InvalidArgument, with what the system says.
template <typename Made, typename... Arguments>
[[nodiscard]] Result<std::unique_ptr<Made>> make_with_asio(std::string_view kind,
                                                           std::string_view address,
                                                           Arguments&&... arguments) {
    try {
        return std::make_unique<Made>(std::forward<Arguments>(arguments)...);
    } catch (const boost::system::system_error& error) {
        return address_error(kind, address, error.code().message());
    }
}

}  // namespace replayout

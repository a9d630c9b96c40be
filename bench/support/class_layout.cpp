// SPDX-License-Identifier: MIT
#include "support/class_layout.h"

#include <utility>

namespace replayout::bench {

ClassLayout::ClassLayout(const Declare& declare, const RepLayoutOptions& options) {
    const Result<const Type*> type = declare(registry_);
    if (!type) {
        error_ = type.error().message;
        return;
    }
    if (const Status status = registry_.freeze(); !status) {
        error_ = status.error().message;
        return;
    }
    Result<std::unique_ptr<RepLayout>> layout = RepLayout::create(registry_, **type, options);
    if (!layout) {
        error_ = layout.error().message;
    } else {
        layout_ = std::move(*layout);
    }
}

}  // namespace replayout::bench

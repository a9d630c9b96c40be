// SPDX-License-Identifier: MIT
#include "layout_table.h"

#include <algorithm>
#include <string>

namespace replayout {

namespace {

[[nodiscard]] bool is_before(const RepLayout* left, std::string_view name) noexcept {
    return left->type().name() < name;
}

}  // namespace

Status LayoutTable::add(const RepLayout& layout) {
    const std::string_view name = layout.type().name();
    const auto place = std::lower_bound(layouts_.begin(), layouts_.end(), name, is_before);
    if (place != layouts_.end() && (*place)->type().name() == name) {
        return Error{ErrorCode::DuplicateName,
                     "net driver: there is a layout for \"" + std::string(name) + "\" already"};
    }
    layouts_.insert(place, &layout);
    return {};
}

std::uint32_t LayoutTable::number_of(const RepLayout& layout) const noexcept {
    const auto place =
        std::lower_bound(layouts_.begin(), layouts_.end(), layout.type().name(), is_before);
    REPLAYOUT_ASSERT(place != layouts_.end() && *place == &layout);
    return static_cast<std::uint32_t>(place - layouts_.begin());
}

Digest128 LayoutTable::digest() const {
    Fingerprint fingerprint;
    fingerprint.add("replayout schema 1");
    for (const RepLayout* layout : layouts_) {
        fingerprint.add(layout->type().name());
        fingerprint.add(layout->fingerprint());
    }
    return fingerprint.digest();
}

}  // namespace replayout

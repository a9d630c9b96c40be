// SPDX-License-Identifier: MIT
//
// What a receiver makes of a description that it need not know all of.
//
//     CHECK(skipped_names(local, told.bytes()) == Names{"health"});
#pragma once

#include <replayout/rep_layout.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/types/test_layout.h"

namespace replayout::test {

using Names = std::vector<std::string>;

/// The layout that reads what this sender says, which must be one that can be read.
[[nodiscard]] inline std::unique_ptr<RepLayout> make_skipping(const TestLayout& local,
                                                              const Bytes& description) {
    auto layout = RepLayout::create_compatible(local->registry(), &*local, description,
                                               LayoutPolicy::SkipUnknown);
    INFO((layout ? "" : layout.error().message));
    REQUIRE(layout);
    return *std::move(layout);
}

/// Leaves of the class itself that are skipped, as their sender calls them and in its order.
[[nodiscard]] inline Names skipped_names(const RepLayout& layout) {
    Names names;
    for (std::uint32_t handle = 1; handle <= layout.handle_count(); ++handle) {
        const CmdIndex index = layout.cmd_of(layout.root(), RepHandle{handle});
        if (has_flag(layout.cmd(index).flags, RepLayoutCmdFlags::IsSkipped)) {
            names.emplace_back(layout.skipped_name(index));
        }
    }
    return names;
}

/// The same of the layout that make_skipping() makes.
[[nodiscard]] inline Names skipped_names(const TestLayout& local, const Bytes& description) {
    return skipped_names(*make_skipping(local, description));
}

/// What is told of differences, a sentence each.
[[nodiscard]] inline Names differences(const RepLayout& layout) {
    return {layout.diagnostics().begin(), layout.diagnostics().end()};
}

}  // namespace replayout::test

// SPDX-License-Identifier: MIT
//
// Whether values can be sent (RepLimits): texts, and the values of atomic groups. If one of a group
// cannot, none of the group is taken into the shadow: the others alone would be a state that the
// object never had.
#pragma once

#include <replayout/rep_layout.h>

#include <string_view>

namespace replayout {

/// Whether a receiver takes the text of a string: by its length, and as UTF-8.
[[nodiscard]] bool text_can_be_sent(const RepLayout& layout, std::string_view text) noexcept;

/// Not every value of such a leaf can be sent.
[[nodiscard]] bool has_limit(const RepLayoutCmd& cmd) noexcept;

/// The group of that scope which begins where `run` stands, before the group's own runs. Null: it
/// is a run like others.
[[nodiscard]] const RepGroup* guarded_group(const RepLayout& layout, const RepScope& scope,
                                            const CompareRun& run) noexcept;

/// Where the commands of the group end.
[[nodiscard]] CmdIndex group_cmd_end(const RepLayout& layout, const RepScope& scope,
                                     const RepGroup& group) noexcept;

/// Whether every value of the group is one that can be sent. Keys of a keyed array that come twice
/// are not looked for. What equals `shadow` can be sent, so it is not looked at closely.
[[nodiscard]] bool is_within_limits(const RepLayout& layout, const RepScope& scope,
                                    const RepGroup& group, ConstObjectBuffer object,
                                    ConstShadowBuffer shadow);

}  // namespace replayout

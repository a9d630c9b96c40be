// SPDX-License-Identifier: MIT
//
// Notes that an update runs, for the length of a block; and the sentences of refusals of objects
// and connections of another server.
#pragma once

namespace replayout {

inline constexpr const char* another_servers =
    "the object is none of this server: use one that it made by instantiate() or "
    "add_scene_object(), and did not destroy";
inline constexpr const char* within_a_question =
    "called from within on_check_observer(), on_serialize() or another function that the server "
    "asks while it sends or receives: such a function must not change objects or connections; do "
    "it after the update";
inline constexpr const char* another_connection =
    "the connection is none of this server: use one that it gave to the manager, and that did not "
    "end";

namespace detail {

class UpdateScope {
  public:
    explicit UpdateScope(bool& is_updating) noexcept : is_updating_(is_updating) {
        is_updating_ = true;
    }
    ~UpdateScope() { is_updating_ = false; }
    UpdateScope(const UpdateScope&) = delete;
    UpdateScope& operator=(const UpdateScope&) = delete;

  private:
    bool& is_updating_;
};

}  // namespace detail

}  // namespace replayout

/// Refuses an update of an end that has not begun, for the reason `why`, or within another update.
/// The function that it stands in names itself.
#define REPLAYOUT_EXPECT_UPDATE(has_begun, why)                                                  \
    REPLAYOUT_EXPECT(has_begun, void(), "%s: %s before, and look at its Status", __func__, why); \
    REPLAYOUT_EXPECT(!is_updating_, void(),                                                      \
                     "%s: called from within a callback; do it after the update", __func__)

// SPDX-License-Identifier: MIT
//
// The role of an object to the client of this process, which may be that of a host, and the
// callbacks by which its components learnt of it: each start has its stop. A part of the library
// itself.
#pragma once

#include <replayout/netdriver/net_role.h>

namespace replayout::detail {

class ObjectComponents;

class LocalRole {
  public:
    /// The role of now. Its callbacks may not have run yet.
    [[nodiscard]] const ObjectRole& role() const noexcept { return role_; }
    void set_role(const ObjectRole& role) noexcept { role_ = role; }
    void set_owned(bool is_owned) noexcept { role_.is_owned = is_owned; }
    void set_player(bool is_player) noexcept { role_.is_player = is_player; }
    /// A client shows the object, or a host's client may.
    [[nodiscard]] bool is_client() const noexcept { return is_client_; }
    void set_client(bool is_client) noexcept { is_client_ = is_client; }

    /// on_start_client() was called, and on_stop_client() was not.
    [[nodiscard]] bool is_started() const noexcept { return is_started_; }
    /// The same of on_start_local_player().
    [[nodiscard]] bool is_told_player() const noexcept { return is_told_player_; }

    // Callbacks of the components, which are those of the object. A callback may end the object.

    void start(const ObjectComponents& components);
    /// Runs the callbacks of all that begins and ends with `role`, which is the role from then on.
    /// `role` may be role().
    void tell(const ObjectComponents& components, const ObjectRole& role);
    void stop(const ObjectComponents& components);

  private:
    ObjectRole role_;
    bool is_client_ = false;
    bool is_started_ = false;
    bool is_told_owned_ = false;
    bool is_told_player_ = false;
};

}  // namespace replayout::detail

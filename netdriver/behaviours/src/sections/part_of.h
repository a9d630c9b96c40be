// SPDX-License-Identifier: MIT
//
// One of the parts of a server or of a client, each of which works with the others.
#pragma once

namespace replayout::detail {

/// `Parts` holds all of them, and is whole when the first is used.
template <class Parts>
class PartOf {
  public:
    explicit PartOf(Parts& parts) noexcept : parts_(parts) {}
    PartOf(const PartOf&) = delete;
    PartOf& operator=(const PartOf&) = delete;

  protected:
    ~PartOf() = default;

    Parts& parts_;
};

}  // namespace replayout::detail

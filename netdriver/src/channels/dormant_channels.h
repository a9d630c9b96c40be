// SPDX-License-Identifier: MIT
//
// Objects that are dormant on this connection: their channels are closed, and the client keeps
// them.
//
// A pair goes dormant when it is exact and nothing waits, so its client is known to hold each value
// that it may see, at sent_version. It stays so: the pair is kept as it is, and the channel that
// opens again goes on from there. (Rejected: SendingRepState::reopen(), everything that ever
// changed is owed. It is for a receiver of which nothing is known any more; here it would send an
// object of twenty properties for the one that changed. Rejected: sent_version = 0, which looks
// exact, of values that the client does not hold.)
//
// An object that is torn off goes the same way: its channel closes when the client has all of it.
#pragma once

#include "object_channels.h"

namespace replayout {

class DormantChannels {
  public:
    /// It works with the same parts as `channels`.
    explicit DormantChannels(ObjectChannels& channels) noexcept
        : parts_(channels.parts()), channels_(channels) {}

    /// The object of that slot goes dormant here as soon as the client has all of it.
    void become_dormant(ObjectIndex index);
    /// Likewise; a client that does not have it is not sent it.
    void withhold(ObjectIndex index);
    /// It is sent again from now on.
    void wake(ObjectIndex index);
    void ask_dormant(ObjectIndex index, bool is_dormant);
    /// Its channel closes for tear-off as soon as the client has all of it. Who never had it is not
    /// sent it.
    void tear_off(ObjectIndex index);
    /// Nothing of a torn off object is under way, or to be sent.
    [[nodiscard]] bool is_torn_off(ObjectIndex index) const noexcept;

    /// Closes the channels of those of which the client has all by now.
    void enter_dormancy();

  private:
    [[nodiscard]] bool may_go_dormant(ObjectIndex index) const;
    /// The client does not have all of them yet.
    [[nodiscard]] bool has_torn_off_parts(ObjectIndex index) const;
    void finish_tear_off(ObjectIndex index);

    ObjectChannels::Parts parts_;
    ObjectChannels& channels_;
};

}  // namespace replayout

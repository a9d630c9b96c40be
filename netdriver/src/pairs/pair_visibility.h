// SPDX-License-Identifier: MIT
//
// Which objects are dormant on one connection: rows of bits by object index, beside its pairs. A
// row takes no memory before its first bit is set. Beside them stands the row of objects that are
// not relevant to the connection, which is independent of these.
//
//     pair        awake    becoming    close under way    dormant    woken, open under way    awake
//     becoming                 x
//     dormant                                x               x
//     kept                                   x               x                x                 x
#pragma once

#include <replayout/net_guid.h>
#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/netdriver/net_role.h>

#include "bit_row.h"

namespace replayout {

/// One that is to go while it is dormant: what its last open and close say.
struct RemovedObject {
    NetGUID guid;
    std::uint32_t layout_number = 0;
    ObjectRole role;
    ChannelCloseReason reason = ChannelCloseReason::Destroyed;
};

struct PairVisibility {
    explicit PairVisibility(MemoryResource* resource)
        : becoming(resource),
          dormant(resource),
          kept(resource),
          asked(resource),
          irrelevant(resource),
          leaving(resource),
          frozen(resource),
          returning(resource),
          awaits_outer(resource),
          resting_words(resource) {}

    /// The client is to have the object no more.
    [[gnu::always_inline]] void closed(ObjectIndex index) noexcept {
        becoming.erase(index);
        dormant.erase(index);
        stirs(index);
        kept.erase(index);
        leaving.erase(index);
        frozen.erase(index);
        returning.erase(index);
        awaits_outer.erase(index);
    }
    /// The object is about to be removed.
    void forget(ObjectIndex index) noexcept {
        closed(index);
        asked.erase(index);
        irrelevant.erase(index);  // closed() has said so
    }
    /// It rests no more, or not for both reasons. Whoever takes it out of `dormant` or `irrelevant`
    /// says so.
    void stirs(ObjectIndex index) noexcept { resting_words.erase(BitRow::word_of(index)); }
    /// Nothing of the object is sent, whatever becomes of it.
    [[nodiscard]] bool is_resting(ObjectIndex index) const noexcept {
        return dormant.test(index) || irrelevant.test(index);
    }

    /// Something is noted of the object here.
    [[nodiscard]] bool is_any_noted(ObjectIndex index) const noexcept {
        const std::size_t words = becoming.word_count() | dormant.word_count() | kept.word_count() |
                                  asked.word_count() | irrelevant.word_count() |
                                  leaving.word_count() | frozen.word_count() |
                                  returning.word_count() | awaits_outer.word_count();
        if (words == 0) {
            return false;  // nothing ever was of any object
        }
        const std::size_t word = BitRow::word_of(index);
        const std::uint64_t noted = becoming.word(word) | dormant.word(word) | kept.word(word) |
                                    asked.word(word) | irrelevant.word(word) | leaving.word(word) |
                                    frozen.word(word) | returning.word(word) |
                                    awaits_outer.word(word);
        return (noted & BitRow::mask_of(index)) != 0;
    }
    /// The client knows more of the object than an open says.
    [[nodiscard]] bool is_kept_or_frozen(ObjectIndex index) const noexcept {
        return kept.test(index) || frozen.test(index);
    }

    /// The client is to have the object, now or as soon as it has left.
    [[nodiscard]] bool is_shown(ObjectIndex index) const noexcept {
        return !irrelevant.test(index) || returning.test(index);
    }

    /// Goes dormant as soon as the client has all of it.
    BitRow becoming;
    /// A change of the object is no reason to send anything. Also of an object that is kept from a
    /// client which does not have it (NetDormancy::Initial).
    BitRow dormant;
    /// The client has the object, whether its channel is open or not: it was dormant before.
    BitRow kept;
    /// What set_dormant_for() said.
    BitRow asked;
    /// The client is not to have the object; see Interest.
    BitRow irrelevant;
    /// Besides, its channel stays open for reliable calls that were made before; see
    /// LeavingChannels.
    BitRow leaving;
    /// It leaves because it was hidden. Nothing that it became since is sent, and its values with
    /// the calls alone; see HiddenStates.
    BitRow frozen;
    /// It leaves, and is to come again after that.
    BitRow returning;
    /// The open of a subobject was delivered, and that of its outer was not.
    BitRow awaits_outer;
    /// Words of a row of objects of which all 64 rest, as far as was found out: a bit for each.
    NumberBitRow resting_words;
};

}  // namespace replayout

// SPDX-License-Identifier: MIT
//
// Functions of a class that run around a block of properties on the receiving side, in this order:
//
//     pre_net_receive      the block has been checked, nothing of it is applied
//     (all values)
//     post_net_receive     all values are there, no notify has run
//     (notifies)           in the order of declaration, base first
//     post_rep_notifies    the last word
//
// Each runs once a block, whether or not anything in it differed; and once around references that
// are bound or unbound later, when any is. A class may have some and a base of it others: those of
// the base run first. A hook may do anything to its object, but destroy it, or move it in memory.
#pragma once

namespace replayout {

/// `object` is the value of the type that declares the hook: for a hook of a base that is the
/// base's part of the object.
struct ReceiveHook {
    void (*call)(void* object, void* context) = nullptr;
    void* context = nullptr;

    explicit operator bool() const noexcept { return call != nullptr; }
};

/// What one class declares; its base has its own.
struct ReceiveHooks {
    ReceiveHook pre_net_receive;
    ReceiveHook post_net_receive;
    ReceiveHook post_rep_notifies;

    [[nodiscard]] bool any() const noexcept {
        return pre_net_receive || post_net_receive || post_rep_notifies;
    }
};

}  // namespace replayout

// SPDX-License-Identifier: MIT
//
// ReplicatedValue: what of a member is replicated, where that is a wrapper around a value: one that
// tells somebody when it is assigned, or guards who may. Both builders' typed doors ask it for
// every member.
//
//     template <typename T>
//     class Watched {
//         T value_;                   // the first member, so it lies where the wrapper lies
//         Watcher* watcher_;
//     };
//     template <typename T>
//     struct replayout::ReplicatedValue<Watched<T>> { using type = T; };
//
// The engine reads and writes the value in place, past the wrapper: nothing that the wrapper does
// on assignment happens when a client receives it.
#pragma once

namespace replayout {

/// To be specialised; of all other members it is the member itself that is replicated.
template <typename Member>
struct ReplicatedValue {
    using type = Member;
};

}  // namespace replayout

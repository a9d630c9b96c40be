// SPDX-License-Identifier: MIT
//
// What a driver is made with.
#pragma once

#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>
#include <replayout/sharing_level.h>

#include <cstdint>
#include <memory_resource>

namespace replayout {

class Executor;

struct NetDriverSettings {
    NetConfig config;
    InterestSettings interest;  ///< of a server
    /// Decides, with the time of connect(), what is random: the number of a session. Give each
    /// process another one: a client that comes back under the number of a session that the server
    /// still believes in joins a round trip later, under another number.
    std::uint64_t seed = 1;
    /// What is computed once for all connections. Less is for measuring; never changes a byte.
    SharingLevel sharing = SharingLevel::Bundles;
    /// On: a server keeps, beside each connection and object, a real copy of what the client holds,
    /// made of the bytes that were delivered, and asserts each tick that it is what the
    /// connection's state says. A debugging aid, of a server only: costs memory and time by the
    /// copy, calls net_serialize more often, works in any build, and never changes a byte.
    bool is_validating = REPLAYOUT_VALIDATION != 0;
    /// A server looks for forgotten marks of push based properties, and of items of fast arrays, in
    /// every object once in so many ticks; 1: in all of them in each tick, 0: never. What is found
    /// is logged once for each object and property, 16 lines of a property at most, and counted
    /// (marks_missed); it is not sent, so this never changes a byte. A debugging aid: costs a
    /// comparison, and asks for the memory of objects that are not marked. By default on where
    /// whoever includes this is compiled with REPLAYOUT_VALIDATION, as is_validating.
    std::uint32_t mark_validation_ticks = REPLAYOUT_VALIDATION != 0 ? 1 : 0;
    /// On: guids().find_named() of a server answers for objects that were removed, too. For who
    /// judges from outside what clients hold; memory grows with every object there ever was. Never
    /// changes a byte. is_validating turns it on.
    bool is_keeping_names = false;
    /// On: a server counts what each property of each type costs, and why; see type_counters().
    /// Never changes a byte.
    bool is_counting_types = false;
    /// What to do with a peer whose layouts differ. Refuse: the connection is closed, *layout
    /// mismatch*. SkipUnknown, where both ends say so: the server describes its layouts to the
    /// client before it opens anything, and the client takes what both have alike
    /// (RepLayout::create_compatible); objects of a class that it lacks are refused, as those that
    /// the world cannot make. What cannot be read at all still closes the connection.
    LayoutPolicy layout_policy = LayoutPolicy::Refuse;
    /// On: listen() and connect() take a layout with texts that may be larger than a message
    /// (RepLimits::string_bytes_max above NetConfig::bunch_bytes_max). Such a text is not sent
    /// until it is shorter; this is logged and counted.
    bool may_leave_out_texts = false;
    /// A server's flushes are split over its threads (executor.h); null: they are not. It outlives
    /// the driver. Never changes a byte.
    Executor* executor = nullptr;
    /// A flush, or a part of it, with less to do stays on the driver's thread, where it is done
    /// sooner than others begin: so many objects to compare, to encode or to open; or sixteen times
    /// as many blocks to copy, over all connections, which are split only for a transport that is
    /// concurrent. 0: all is split. Never changes a byte.
    std::uint32_t executor_work_min = 4'096;
    /// Not null. If it is, the driver logs an error and takes the default resource.
    MemoryResource* resource = std::pmr::get_default_resource();
};

/// The memory that a driver with these settings takes.
[[nodiscard]] inline MemoryResource* resource_of(const NetDriverSettings& settings) noexcept {
    return settings.resource != nullptr ? settings.resource : std::pmr::get_default_resource();
}

}  // namespace replayout

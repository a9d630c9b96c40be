// SPDX-License-Identifier: MIT
//
// Structs with the trait "atomic": which leaves belong together, and what is owed of them.
#include <replayout/in_flight_versions.h>
#include <replayout/send_properties.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/atomic_types.h"
#include "support/types/test_layout.h"

namespace replayout::test::atomic_groups_test {
namespace {

struct Pair {
    std::int32_t left = 0;
    std::int32_t right = 0;
};

struct Frame {
    Pair inner;
    std::int32_t width = 0;
};

struct Shelf {
    std::int32_t before = 0;
    Frame frame;
    std::int32_t after = 0;
    Pair pairs[2];
    std::vector<Frame> frames;
};

}  // namespace
}  // namespace replayout::test::atomic_groups_test

template <>
struct replayout::StructTraitsOf<replayout::test::atomic_groups_test::Pair>
    : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace replayout::test::atomic_groups_test {
namespace {

template <bool IsFrameAtomic>
[[nodiscard]] Result<const Type*> build_shelf(TypeRegistry& registry) {
    REQUIRE(struct_builder<Pair>(registry, "Pair")
                .property<&Pair::left>()
                .property<&Pair::right>()
                .build());
    StructTraits traits;
    traits.is_atomic = IsFrameAtomic;
    REQUIRE(DynamicTypeBuilder(registry, TypeKind::Struct, "Frame", sizeof(Frame), alignof(Frame))
                .property(struct_property("inner", *registry.find(type_key_of<Pair>()), 0))
                .property("width", PropertyKind::Int32, offsetof(Frame, width))
                .traits(traits)
                .ops(make_type_ops<Frame>())
                .key(type_key_of<Frame>())
                .build());
    return class_builder<Shelf>(registry, "Shelf")
        .property<&Shelf::before>()
        .property<&Shelf::frame>()
        .property<&Shelf::after>()
        .property<&Shelf::pairs>()
        .property<&Shelf::frames>()
        .build();
}

struct Span {
    std::uint32_t begin;
    std::uint32_t end;
    friend bool operator==(const Span&, const Span&) = default;
};

[[nodiscard]] std::vector<Span> spans(const RepLayout& layout, const RepScope& scope) {
    std::vector<Span> result;
    for (const RepGroup& group : layout.groups(scope)) {
        result.push_back({group.handle_begin, group.handle_end});
    }
    return result;
}

using Handles = std::vector<std::uint32_t>;

[[nodiscard]] OwedVersions since_and_held(Version sent, Version held) {
    OwedVersions position = since(sent);
    position.held_version = held;
    return position;
}

}  // namespace

TEST_CASE("RepLayout: the leaves of an atomic struct are a group, in each scope",
          "[replayout][atomic]") {
    // before 1, frame 2 3 4, after 5, pairs 6 7 and 8 9, frames 10
    const TestLayout inner(build_shelf<false>);
    CHECK(spans(*inner, inner->root()) == std::vector<Span>{{2, 4}, {6, 8}, {8, 10}});
    CHECK(spans(*inner, inner.element_scope(10)) == std::vector<Span>{{1, 3}});
    CHECK(inner->find_group(inner->root(), RepHandle{1}) == nullptr);
    CHECK(inner->find_group(inner->root(), RepHandle{3})->handle_begin == 2);
    CHECK(inner->find_group(inner->root(), RepHandle{4}) == nullptr);
    CHECK(inner->find_group(inner->root(), RepHandle{9})->handle_end == 10);
    CHECK(inner->find_group(inner->root(), RepHandle{10}) == nullptr);
    CHECK(inner->needs_held_version());
}

TEST_CASE("RepLayout: an atomic struct within an atomic struct is part of its group",
          "[replayout][atomic]") {
    const TestLayout outer(build_shelf<true>);
    CHECK(spans(*outer, outer->root()) == std::vector<Span>{{2, 5}, {6, 8}, {8, 10}});
    CHECK(spans(*outer, outer.element_scope(10)) == std::vector<Span>{{1, 4}});
}

TEST_CASE("RepLayout: whether a struct is atomic is the sender's business, not the wire's",
          "[replayout][atomic]") {
    const TestLayout inner(build_shelf<false>);
    const TestLayout outer(build_shelf<true>);
    CHECK(inner->fingerprint() == outer->fingerprint());
}

TEST_CASE("ChangelistState: of a group is owed what may not have arrived, once any of it is owed",
          "[replayout][atomic]") {
    const TestLayout layout(build_shelf<true>);
    BlockSender sender(*layout);
    Shelf shelf;
    shelf.frame.inner.left = 1;
    sender.update(&shelf);  // version 1: handle 2
    shelf.frame.inner.right = 1;
    shelf.before = 1;
    sender.update(&shelf);  // version 2: handles 1 and 3
    shelf.frame.width = 1;
    sender.update(&shelf);  // version 3: handle 4

    CHECK(handles_of(sender.collect(since_and_held(2, 2))) == Handles{4});
    CHECK(handles_of(sender.collect(since_and_held(2, 1))) == Handles{3, 4});
    CHECK(handles_of(sender.collect(since_and_held(2, 0))) == Handles{2, 3, 4});
    // Nothing of it is owed: what is under way is not repeated.
    CHECK(handles_of(sender.collect(since_and_held(3, 0))) == Handles{});
    // A loss owes what was lost, and of the group what came after.
    OwedVersions lost = since(3, 0, 1);
    CHECK(handles_of(sender.collect(lost)) == Handles{2, 3, 4});
    lost = since(3, 1, 2);
    lost.held_version = 1;
    CHECK(handles_of(sender.collect(lost)) == Handles{1, 3, 4});
    for (std::uint32_t handle = 1; handle <= layout->handle_count(); ++handle) {
        CHECK(sender.state.owes(lost, RepHandle{handle}) == sender.collect(lost).test(handle - 1));
    }
}

TEST_CASE("SendProperties: of an element's group is sent what may not have arrived",
          "[replayout][atomic]") {
    const TestLayout layout(build_shelf<true>);
    BlockSender sender(*layout);
    Shelf shelf;
    shelf.frames.resize(2);
    sender.update(&shelf);  // version 1
    Shelf first = shelf;
    shelf.frames[1].inner.left = 5;
    sender.update(&shelf);  // version 2
    shelf.frames[1].width = 6;
    sender.update(&shelf);  // version 3
    BlockReceiver receiver(*layout);

    // Version 2 is under way and may be lost, so what was in it goes along.
    Shelf other = first;
    REQUIRE(receiver.receive(&other, sender.block(since_and_held(2, 1))));
    CHECK(other.frames[1].inner.left == 5);
    CHECK(other.frames[1].width == 6);

    other = first;
    REQUIRE(receiver.receive(&other, sender.block(since_and_held(2, 2))));
    CHECK(other.frames[1].inner.left == 0);
    CHECK(other.frames[1].width == 6);
}

TEST_CASE("SendProperties: a part ends before a group that does not fit into it whole",
          "[replayout][atomic]") {
    const TestLayout layout(build_bank);
    BlockSender sender(*layout);
    Bank bank;
    bank.cash.text.assign(100, 'c');
    bank.vaults[0].text.assign(150, 'a');
    bank.vaults[0].sum = 1;
    bank.vaults[1].text.assign(100, 'b');
    bank.loose = 1;
    sender.update(&bank);
    const auto parts = sender.parts(since(0), 220);
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].result == SendResult::Part);
    Bank received;
    BlockReceiver receiver(*layout);
    for (const SentPart& part : parts) {
        REQUIRE(receiver.receive(&received, part.bytes));
        // Either all of a vault is there or nothing.
        CHECK((received.vaults[0].sum == 1) == (received.vaults[0].text.size() == 150));
    }
    CHECK(received.vaults[1].text == bank.vaults[1].text);
    CHECK(received.loose == 1);
}

TEST_CASE("SendProperties: a group larger than a packet is too large as a whole",
          "[replayout][atomic]") {
    const TestLayout layout(build_bank);
    BlockSender sender(*layout);
    Bank bank;
    bank.day = 1;
    bank.vaults[0].text.assign(300, 'a');
    bank.vaults[0].sum = 1;
    sender.update(&bank);
    (void)sender.collect(since(0));
    Bytes memory(220);
    RepCursor cursor;
    RepRange range;
    SendContext context = sender.context();
    BitWriter first(memory);
    REQUIRE(send_part(sender.state, since(0), sender.scratch.owed, cursor, range, first, context) ==
            SendResult::Part);
    BitWriter second(memory);
    REQUIRE(send_part(sender.state, since(0), sender.scratch.owed, cursor, range, second,
                      context) == SendResult::ValueTooLarge);
    const RepGroup* vault = layout->find_group(layout->root(), RepHandle{range.handle_begin});
    REQUIRE(vault != nullptr);
    CHECK(range.handle_begin == vault->handle_begin);
    CHECK(range.handle_end == vault->handle_end);
    CHECK(cursor.handle.value == vault->handle_end);
}

TEST_CASE("InFlightVersions: what is certain is older than all that is under way or lost",
          "[replayout][atomic]") {
    InFlightVersions in_flight(std::pmr::get_default_resource());
    SendingRepState state;
    CHECK(in_flight.held_version(state) == 0);
    const SentVersions first = state.send(3);
    in_flight.sent(first);
    const SentVersions second = state.send(7);
    in_flight.sent(second);
    CHECK(in_flight.held_version(state) == 0);

    in_flight.resolved();
    state.delivered();
    CHECK(in_flight.held_version(state) == 3);

    in_flight.resolved();
    state.lose(second);
    CHECK(in_flight.count() == 0);
    CHECK(in_flight.held_version(state) == 3);

    // The record that takes the loss along may be lost as well.
    const SentVersions third = state.send(9);
    in_flight.sent(third);
    CHECK(in_flight.held_version(state) == 3);
    in_flight.resolved();
    state.delivered();
    CHECK(in_flight.held_version(state) == 9);
}

TEST_CASE("InFlightVersions: all up to the held version has arrived, whatever is lost",
          "[replayout][atomic]") {
    INFO("seed " << run_seed());
    SeededRandom random(run_seed());
    for (int game = 0; game < 200; ++game) {
        InFlightVersions in_flight(std::pmr::get_default_resource());
        SendingRepState state;
        std::deque<SentVersions> records;
        std::vector<bool> has_arrived{true};  // by version
        const auto arrive = [&](VersionInterval interval) {
            for (Version version = interval.after + 1; version <= interval.through; ++version) {
                has_arrived[version] = true;
            }
        };
        const auto resolve = [&](bool is_lost) {
            in_flight.resolved();
            if (is_lost) {
                state.lose(records.front());
            } else {
                state.delivered();
                arrive(records.front().sent);
                arrive(records.front().lost);
            }
            records.pop_front();
        };
        const auto send = [&] {
            const auto version = static_cast<Version>(has_arrived.size() - 1);
            if (state.owes_any(version)) {
                records.push_back(state.send(version));
                in_flight.sent(records.back());
            }
        };
        for (int step = 0; step < 60; ++step) {
            if (random.percent(40)) {
                has_arrived.resize(has_arrived.size() + random.between(1, 3));
            }
            if (random.percent(50)) {
                send();
            }
            if (!records.empty() && random.percent(50)) {
                resolve(random.percent(40));
            }
            const Version held = in_flight.held_version(state);
            REQUIRE(held <= state.sent_version);
            REQUIRE(held < has_arrived.size());
            for (Version version = 0; version <= held; ++version) {
                REQUIRE(has_arrived[version]);
            }
        }
        // And it gets there.
        send();
        while (!records.empty()) {
            resolve(false);
        }
        send();
        while (!records.empty()) {
            resolve(false);
        }
        REQUIRE(in_flight.held_version(state) == has_arrived.size() - 1);
    }
}

}  // namespace replayout::test::atomic_groups_test

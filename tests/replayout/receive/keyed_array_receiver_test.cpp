// SPDX-License-Identifier: MIT
//
// Keyed arrays at a receiver: full sets in parts, games that change an array themselves, and what a
// block costs.
#include <replayout/keyed_array.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::test {
namespace {

struct Event {
    std::uint64_t id = 0;
    std::int32_t what = 0;
    ObjectHandle who;

    friend bool operator==(const Event&, const Event&) = default;
};

struct Feed {
    std::vector<Event> events;
};

template <ArrayOrder Order>
[[nodiscard]] Result<const Type*> build_feed(TypeRegistry& registry) {
    REQUIRE(struct_builder<Event>(registry, "Event")
                .property<&Event::id>()
                .property<&Event::what>()
                .property<&Event::who>()
                .build());
    return class_builder<Feed>(registry, "Feed")
        .property<&Feed::events>()
        .keyed_by<&Event::id>(Order)
        .build();
}
constexpr auto build_ordered_feed = build_feed<ArrayOrder::Kept>;
constexpr auto build_free_feed = build_feed<ArrayOrder::Free>;

constexpr std::uint32_t deletion_count = ShadowKeyedArray::deletion_count_max + 10;

/// So many events come and go, one at a time.
void churn(BlockSender& sender, Feed& feed, std::uint32_t count = deletion_count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        feed.events.push_back({1'000'000 + i, 0, {}});
        sender.update(&feed);
        feed.events.pop_back();
        sender.update(&feed);
    }
}

[[nodiscard]] std::vector<std::uint64_t> keys_of(const Feed& feed) {
    std::vector<std::uint64_t> keys;
    for (const Event& event : feed.events) {
        keys.push_back(event.id);
    }
    return keys;
}

/// Events 10, 20, ... that a receiver holds, and of which each other one has gone since.
struct Half {
    explicit Half(std::uint32_t count) : layout(build_ordered_feed), sender(*layout) {
        for (std::uint32_t i = 1; i <= count; ++i) {
            feed.events.push_back({i * 10, 7, {}});
        }
        sender.update(&feed);
        first = sender.block(exact_at(0));
        std::erase_if(feed.events, [](const Event& event) { return event.id % 20 == 0; });
        sender.update(&feed);
    }

    TestLayout layout;
    BlockSender sender;
    Feed feed;
    Bytes first;
};

}  // namespace

TEST_CASE("Keyed arrays: a full set in parts is a full set of each range of keys",
          "[replayout][keyed_array]") {
    Half half(400);
    churn(half.sender, half.feed);
    const auto parts = half.sender.parts(exact_at(1), 60);
    REQUIRE(parts.size() > 3);
    for (std::size_t lost = 0; lost <= parts.size(); ++lost) {
        INFO("lost part " << lost << " of " << parts.size());
        BlockReceiver receiver(*half.layout);
        Feed remote;
        REQUIRE(receiver.receive(&remote, half.first));
        for (std::size_t i = 0; i < parts.size(); ++i) {
            CHECK(parts[i].bytes.size() <= 60);
            if (i != lost) {
                REQUIRE(receiver.receive(&remote, parts[i].bytes, i + 1 < parts.size()));
            }
        }
        ReceiveContext context = receiver.context();
        finish_update(*half.layout, &remote, receiver.state, context);
        if (lost == parts.size()) {
            CHECK(keys_of(remote) == keys_of(half.feed));
            continue;
        }
        // Elements of the range that was lost are as they were, and all others as they are.
        CHECK(remote.events.size() > half.feed.events.size());
        CHECK(remote.events.size() < 400);
        REQUIRE(receiver.receive(&remote, parts[lost].bytes));
        CHECK(keys_of(remote) == keys_of(half.feed));
    }
}

TEST_CASE("Keyed arrays: a full set in parts replaces all of a full array, in whatever order",
          "[replayout][keyed_array]") {
    const std::uint64_t first_new = GENERATE(0u, 2'000u);  // before all that there is, or behind
    constexpr std::uint32_t limit = 40;
    RepLayoutOptions options;
    options.limits.array_count_max = limit;
    const TestLayout layout(build_free_feed, options);
    BlockSender sender(*layout);
    Feed feed;
    for (std::uint32_t i = 0; i < limit; ++i) {
        feed.events.push_back({1'000 + i, 1, {}});
    }
    sender.update(&feed);
    const Bytes first = sender.block(exact_at(0));
    for (std::uint32_t i = 0; i < limit; ++i) {
        feed.events[i] = {first_new + i, 2, {}};
    }
    sender.update(&feed);
    feed.events.pop_back();
    churn(sender, feed);
    const auto parts = sender.parts(exact_at(1), 60);
    REQUIRE(parts.size() > 3);
    for (const bool is_backwards : {false, true}) {
        BlockReceiver receiver(*layout);
        Feed remote;
        REQUIRE(receiver.receive(&remote, first));
        for (std::size_t i = 0; i < parts.size(); ++i) {
            REQUIRE(
                receiver.receive(&remote, parts[is_backwards ? parts.size() - 1 - i : i].bytes));
        }
        std::vector<std::uint64_t> keys = keys_of(remote);
        std::sort(keys.begin(), keys.end());
        CHECK(keys == keys_of(feed));
    }
}

TEST_CASE("Keyed arrays: removals that take more than a part has room for give way to full sets",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_ordered_feed);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Feed feed;
    constexpr std::uint64_t wide = std::uint64_t{1} << 56;
    for (std::uint64_t i = 1; i <= 120; ++i) {
        feed.events.push_back({i * wide, 1, {}});
    }
    sender.update(&feed);
    Feed remote;
    REQUIRE(receiver.receive(&remote, sender.block(exact_at(0))));
    feed.events.erase(feed.events.begin(), feed.events.begin() + 60);
    for (Event& event : feed.events) {
        event.what = 2;
    }
    sender.update(&feed);
    for (const SentPart& part : sender.parts(exact_at(1), 200)) {
        CHECK(part.result != SendResult::ValueTooLarge);
        CHECK(part.bytes.size() <= 200);
        REQUIRE(receiver.receive(&remote, part.bytes));
    }
    CHECK(remote.events == feed.events);
}

TEST_CASE("Keyed arrays: who was sent nothing before is told of no removal",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_free_feed);
    BlockSender sender(*layout);
    Feed feed;
    feed.events = {{1, 1, {}}};
    sender.update(&feed);
    const std::size_t fresh_bytes = sender.block(since(0)).size();
    churn(sender, feed, 200);
    OwedVersions position = since(0);
    position.joined_version = sender.state.version();
    CHECK(sender.block(position).size() == fresh_bytes);
    churn(sender, feed);
    position.joined_version = sender.state.version();
    const Bytes block = sender.block(position);
    CHECK(block.size() == fresh_bytes);
    BlockReceiver receiver(*layout);
    Feed remote;
    REQUIRE(receiver.receive(&remote, block));
    CHECK(remote.events == feed.events);

    // What went since then may be there.
    churn(sender, feed, 1);
    CHECK(sender.block(position).size() > fresh_bytes);
}

TEST_CASE("Keyed arrays: of the archetype's elements who joins is told which are gone",
          "[replayout][keyed_array]") {
    Feed prototype;
    prototype.events = {{1, 1, {}}, {2, 2, {}}};
    RepLayoutOptions options;
    options.archetype = &prototype;
    const TestLayout layout(build_free_feed, options);
    BlockSender sender(*layout);
    Feed feed = prototype;
    feed.events.erase(feed.events.begin());
    sender.update(&feed);
    churn(sender, feed);
    OwedVersions position = since(0);
    position.joined_version = sender.state.version();
    BlockReceiver receiver(*layout);
    Feed remote = prototype;
    REQUIRE(receiver.receive(&remote, sender.block(position)));
    CHECK(receiver.array_steps_spent <= sender.last.array_steps);
    CHECK(remote.events == feed.events);
}

TEST_CASE("Keyed arrays: a full set with an element outside of its range is refused",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_free_feed);
    for (const std::uint64_t key : {4u, 5u, 8u, 9u}) {
        Bytes memory(64);
        BitWriter writer(memory);
        ChangeMask handles;
        handles.reset(1);
        handles.set(0);
        write_change_mask(writer, handles, EmptySet::Impossible);
        writer.write_bool(true);
        writer.write_bool(false);  // goes on
        writer.write_bool(true);
        writer.write_packed_uint(4);  // behind 4
        writer.write_bool(true);
        writer.write_packed_uint(8 - 4 - 1);  // up to 8
        writer.write_packed_uint(1);
        writer.write_packed_uint(key);
        ChangeMask leaves;
        leaves.reset(2);
        write_change_mask(writer, leaves, EmptySet::Possible);
        writer.finish_byte();
        BlockReceiver receiver(*layout);
        Feed remote;
        CHECK(receiver.receive(&remote, to_bytes(writer.bytes())) == (key > 4 && key <= 8));
    }
}

TEST_CASE("Keyed arrays: a client that takes elements away itself keeps nothing of what they were",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_free_feed);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Feed feed;
    Feed remote;
    Version held = 0;
    for (const bool is_forgotten : {false, true}) {
        for (std::uint32_t i = 1; i <= 20; ++i) {
            feed.events = {{i, 1, ObjectHandle{7}}};  // one event, and the one before is gone
            sender.update(&feed);
            REQUIRE(receiver.receive(&remote, sender.block(exact_at(held))));
            held = sender.state.version();
            CHECK(receiver.array_steps_spent <= sender.last.array_steps);
            remote.events.clear();  // the game has dealt with it, in a notify for example
            CHECK(receiver.state.references().size() == 1);
            if (is_forgotten) {
                churn(sender, feed);
            }
        }
    }
}

TEST_CASE("Keyed arrays: of an element that a client's game doubled a full set leaves the first",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_free_feed);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Feed feed;
    Feed remote;
    feed.events = {{1, 1, {}}, {2, 2, {}}};
    sender.update(&feed);
    REQUIRE(receiver.receive(&remote, sender.block(exact_at(0))));
    remote.events.insert(remote.events.begin() + 1, remote.events.front());
    // And so often that they are sorted in earnest.
    remote.events.insert(remote.events.end(), 100, remote.events.front());
    churn(sender, feed);
    feed.events[0].what = 9;
    sender.update(&feed);
    REQUIRE(receiver.receive(&remote, sender.block(exact_at(1))));
    CHECK(receiver.array_steps_spent <= sender.last.array_steps);
    CHECK(remote.events == feed.events);
}

TEST_CASE("Keyed arrays: what a block makes a receiver do is taken from the packet's budget",
          "[replayout][keyed_array]") {
    constexpr std::uint32_t count = 2'048;
    const TestLayout layout(build_ordered_feed);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Feed feed;
    for (std::uint32_t i = 0; i < count; ++i) {
        feed.events.push_back({(i * 37) % count, 1, {}});
    }
    sender.update(&feed);
    Feed remote;
    REQUIRE(receiver.receive(&remote, sender.block(exact_at(0))));
    const auto steps_of_next = [&] {
        const Version version = sender.state.version();
        sender.update(&feed);
        const Bytes block = sender.block(exact_at(version));
        CHECK(block.size() < 20);
        DecodeBudget budget;
        const std::size_t steps = budget.array_steps;
        BitReader reader(block, &budget);
        ReceiveContext context = receiver.context();
        REQUIRE(receive_properties(*layout, reader, &remote, receiver.state, context));
        CHECK(remote.events == feed.events);
        CHECK(steps - budget.array_steps <= sender.last.array_steps);
        return steps - budget.array_steps;
    };
    constexpr std::size_t pass_steps = count * 2;
    feed.events[5].what = 2;
    CHECK(steps_of_next() < pass_steps / 2);  // it is looked for, and nothing is brought in order
    const auto is_one_pass = [&](std::size_t steps) {
        return steps >= pass_steps && steps < pass_steps * 3 / 2;
    };
    std::swap(feed.events[5], feed.events[6]);
    CHECK(is_one_pass(steps_of_next()));
    feed.events.erase(feed.events.begin());
    CHECK(is_one_pass(steps_of_next()));
    feed.events.push_back({count, 3, {}});
    CHECK(is_one_pass(steps_of_next()));
}

TEST_CASE("Keyed arrays: the array with which the budget is spent is taken, the next one is not",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_ordered_feed);
    BlockSender sender(*layout);
    Feed feed;
    feed.events.push_back({1, 1, {}});
    sender.update(&feed);
    const Bytes block = sender.block(exact_at(0));
    for (const std::size_t left : {0u, 1u}) {
        BlockReceiver receiver(*layout);
        Feed remote;
        DecodeBudget budget;
        budget.array_steps = left;
        BitReader reader(block, &budget);
        ReceiveContext context = receiver.context();
        CHECK(receive_properties(*layout, reader, &remote, receiver.state, context) == (left > 0));
        CHECK(budget.array_steps == 0);
    }
}

TEST_CASE("Keyed arrays: whatever moves, a receiver ends in the sender's order, for what was said",
          "[replayout][keyed_array]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    SeededRandom random(seed);
    for (int game = 0; game < 40; ++game) {
        const TestLayout layout(build_ordered_feed);
        BlockSender sender(*layout);
        BlockReceiver receiver(*layout);
        Feed feed;
        Feed remote;
        std::uint64_t next = 1;
        const std::uint32_t count = 1 + random.below(80);
        for (int tick = 0; tick < 30; ++tick) {
            const std::uint32_t changes = random.below(tick % 10 == 9 ? 80 : 5);
            for (std::uint32_t i = 0; i < changes; ++i) {
                auto& events = feed.events;
                const auto size = static_cast<std::uint32_t>(events.size());
                const std::uint32_t place = random.below(size + 1);
                if (size < count || place == size) {
                    const std::uint64_t low = random.below(1'000);
                    events.insert(events.begin() + place, {low << 32 | next++, 0, {}});
                } else if (random.percent(40)) {
                    events.erase(events.begin() + place);
                } else {
                    std::swap(events[place], events[random.below(size)]);
                }
            }
            const Version version = sender.state.version();
            if (!sender.update(&feed)) {
                continue;
            }
            if (random.percent(20)) {
                // The game brought its copy into an order of its own.
                std::reverse(remote.events.begin(), remote.events.end());
            }
            const Bytes block = sender.block(exact_at(version));
            REQUIRE(receiver.receive(&remote, block));
            CHECK(receiver.array_steps_spent <= sender.last.array_steps);
            REQUIRE(keys_of(remote) == keys_of(feed));
        }
    }
}

TEST_CASE("Keyed arrays: of elements that a client's game took away nothing is bound",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_free_feed);
    for (std::uint64_t gone = 1; gone <= 3; ++gone) {
        INFO("event " << gone);
        BlockSender sender(*layout);
        BlockReceiver receiver(*layout);
        Feed feed;
        Feed remote;
        feed.events = {
            {1, 1, ObjectHandle{71}}, {2, 2, ObjectHandle{72}}, {3, 3, ObjectHandle{73}}};
        sender.update(&feed);
        REQUIRE(receiver.receive(&remote, sender.block(exact_at(0))));
        // The greatest key is the first, so that what it leaves behind would be found again.
        std::reverse(remote.events.begin(), remote.events.end());
        const auto bind = [&](std::uint64_t server_object, std::uint64_t object) {
            return receiver.rebind(&remote, sender.package_map.guid_of(ObjectHandle{server_object}),
                                   ObjectHandle{object});
        };
        for (const std::uint64_t object : {71u, 72u, 73u}) {
            CHECK(bind(object, object) == 1);
        }
        std::erase_if(remote.events, [&](const Event& event) { return event.id == gone; });
        const std::vector<Event> left = remote.events;
        CHECK(bind(70 + gone, 9) == 0);
        CHECK(remote.events == left);
        for (const Event& event : left) {
            CHECK(bind(event.who.value, 0) == 1);
        }
    }
}

}  // namespace replayout::test

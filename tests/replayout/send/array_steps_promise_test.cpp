// SPDX-License-Identifier: MIT
//
// No receiver of an honest sender may count more than that did (SendScratch::array_steps): it
// would refuse what was rightly sent.
#include <replayout/object_replicator.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/object_peer.h"
#include "support/types/test_layout.h"

namespace replayout::test::array_steps_promise_test {
namespace {

struct Parcel {
    std::uint16_t id = 0;
    std::uint8_t weight = 0;
    std::string label;

    friend bool operator==(const Parcel&, const Parcel&) = default;
};

/// Rows of parcels, few at first.
struct Depot {
    std::array<std::vector<Parcel>, 3> free;
    std::array<std::vector<Parcel>, 3> kept;
    std::string notice;
};

[[nodiscard]] Result<const Type*> build_depot(TypeRegistry& registry) {
    REQUIRE(struct_builder<Parcel>(registry, "Parcel")
                .property<&Parcel::id>()
                .property<&Parcel::weight>()
                .property<&Parcel::label>()
                .build());
    return class_builder<Depot>(registry, "Depot")
        .property<&Depot::free>()
        .keyed_by<&Parcel::id>(ArrayOrder::Free)
        .property<&Depot::kept>()
        .keyed_by<&Parcel::id>(ArrayOrder::Kept)
        .property<&Depot::notice>()
        .build();
}

struct Crate {
    std::uint16_t id = 0;
    std::uint8_t count = 0;

    friend bool operator==(const Crate&, const Crate&) = default;
};

/// So many full rows that sorting them all is more than a packet may ask for.
struct Wharf {
    std::array<std::vector<Crate>, 90> rows;
    std::string notice;
};

[[nodiscard]] Result<const Type*> build_wharf(TypeRegistry& registry) {
    REQUIRE(struct_builder<Crate>(registry, "Crate")
                .property<&Crate::id>()
                .property<&Crate::count>()
                .build());
    return class_builder<Wharf>(registry, "Wharf")
        .property<&Wharf::rows>()
        .keyed_by<&Crate::id>(ArrayOrder::Free)
        .property<&Wharf::notice>()
        .build();
}

/// A peer of which it is known what was promised for each packet on its way.
template <typename T>
struct PromisedPeer {
    explicit PromisedPeer(BlockSender& from) : sender(from), peer(from) {}

    SendResult send(std::size_t capacity_bytes) {
        const SendResult result = peer.send(capacity_bytes);
        if (result == SendResult::ValueTooLarge) {
            REQUIRE(peer.send_large_value() == SendResult::Whole);
        }
        while (promised.size() < peer.packets.size()) {
            promised.push_back(peer.last.array_steps);
        }
        return result;
    }
    void deliver() {
        peer.deliver();
        INFO("promised " << promised.front() << ", spent " << peer.end->array_steps_spent);
        REQUIRE(peer.end->array_steps_spent <= promised.front());
        spent += peer.end->array_steps_spent;
        promised.pop_front();
    }
    void lose() {
        if (peer.packets.front().large_value.value != 0) {
            deliver();  // that is reliable
            return;
        }
        peer.lose();
        promised.pop_front();
    }

    BlockSender& sender;
    ObjectPeer<T> peer;
    std::deque<std::size_t> promised;
    std::size_t spent = 0;
};

void change_row(std::vector<Parcel>& row, SeededRandom& random, std::uint32_t count_max) {
    const std::uint32_t kind = random.below(5);
    if (kind == 0 && !row.empty()) {
        const std::size_t begin = random.below(static_cast<std::uint32_t>(row.size()));
        const std::size_t count = 1 + random.below(static_cast<std::uint32_t>(row.size() - begin));
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(begin),
                  row.begin() + static_cast<std::ptrdiff_t>(begin + count));
    } else if (kind == 1) {
        for (std::uint32_t i = random.below(8); i > 0 && row.size() < count_max; --i) {
            const auto id = static_cast<std::uint16_t>(random.below(2 * count_max));
            const bool is_there = std::any_of(row.begin(), row.end(),
                                              [&](const Parcel& other) { return other.id == id; });
            if (!is_there) {
                row.insert(row.begin() + random.below(static_cast<std::uint32_t>(row.size()) + 1),
                           Parcel{id, 1, std::string(random.below(30), 'x')});
            }
        }
    } else if (kind == 2 && row.size() > 1) {
        std::swap(row[random.below(static_cast<std::uint32_t>(row.size()))], row[0]);
    } else if (!row.empty()) {
        ++row[random.below(static_cast<std::uint32_t>(row.size()))].weight;
    }
}

}  // namespace

TEST_CASE("Array steps: who lost the end of an update pays no more for the next than was counted",
          "[replayout][array_steps]") {
    const TestLayout layout(build_wharf);
    BlockSender sender(*layout);
    Wharf wharf;
    for (auto& row : wharf.rows) {
        for (std::uint16_t i = 0; i < 256; ++i) {
            row.push_back({i, 1});
        }
    }
    sender.update(&wharf);
    PromisedPeer<Wharf> bob(sender);
    while (bob.peer.replicator.owes_any()) {
        (void)bob.send(1'200);
        bob.deliver();
    }
    // In two parts, of which the last is lost: one crate of each row, then a text.
    const auto change_one = [&](std::size_t index) {
        for (auto& row : wharf.rows) {
            ++row[index].count;
        }
    };
    change_one(5);
    wharf.notice.assign(1'000, 'x');
    sender.update(&wharf);
    REQUIRE(bob.send(1'200) == SendResult::Part);
    REQUIRE(bob.send(1'200) == SendResult::Whole);
    bob.deliver();
    bob.lose();
    REQUIRE(bob.peer.end->scratch.is_update_under_way());
    change_one(6);
    wharf.notice = "y";
    sender.update(&wharf);
    REQUIRE(bob.send(1'200) == SendResult::Whole);
    bob.deliver();
    CHECK_FALSE(bob.peer.end->scratch.is_update_under_way());
    CHECK(bob.peer.object.rows == wharf.rows);
}

TEST_CASE("Array steps: whatever is lost, a receiver spends no more than its sender counted",
          "[replayout][array_steps][random]") {
    for (const std::uint64_t seed : seed_range(1, 60)) {
        INFO("seed " << seed);
        SeededRandom random(seed);
        RepLayoutOptions options;
        options.limits.array_count_max = random.percent(50) ? 12 : 60;
        const TestLayout layout(build_depot, options);
        BlockSender sender(*layout);
        Depot depot;
        PromisedPeer<Depot> bob(sender);
        const std::uint32_t loss = random.below(60);
        for (int tick = 0; tick < 120; ++tick) {
            for (auto* rows : {&depot.free, &depot.kept}) {
                for (auto& row : *rows) {
                    change_row(row, random, options.limits.array_count_max);
                }
            }
            if (random.percent(30)) {
                depot.notice.assign(random.below(200), 'z');
            }
            sender.update(&depot);
            // Often fewer packets than it takes, so the rest of an update is owed anew.
            for (std::uint32_t room = 1 + random.below(4); room > 0; --room) {
                if (bob.peer.replicator.owes_any()) {
                    (void)bob.send(random.between(60, 400));
                }
            }
            while (bob.peer.packets.size() > random.below(4)) {
                random.percent(loss) ? bob.lose() : bob.deliver();
            }
        }
        while (bob.peer.replicator.owes_any() || !bob.peer.packets.empty()) {
            if (bob.peer.replicator.owes_any()) {
                (void)bob.send(400);
            }
            while (!bob.peer.packets.empty()) {
                bob.deliver();
            }
        }
        REQUIRE(bob.spent > 0);
        REQUIRE(bob.peer.object.kept == depot.kept);
    }
}

}  // namespace replayout::test::array_steps_promise_test

// SPDX-License-Identifier: MIT
//
// Optional values: one bit that says whether there is one, then the value, by its members.
#include <replayout/rep_layout.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/value_difference.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {
namespace {

/// A locker, its sender, and a client that gets every change.
class LockerPair {
  public:
    explicit LockerPair(const RepLayoutOptions& options = {})
        : layout_(build_locker, options), sender_(*layout_), receiver_(*layout_) {}

    /// Bits of the block without the set of handles and padding are at most its bytes times eight.
    Bytes exchange() {
        REQUIRE(sender_.update(&server));
        const Bytes block = sender_.block(since(sender_.state.version() - 1));
        REQUIRE(receiver_.receive(&client, block));
        REQUIRE(receiver_.bits_left == 0);
        CHECK(find_difference(layout_->type(), &server, &client).empty());
        return block;
    }

    [[nodiscard]] TestLayout& layout() noexcept { return layout_; }
    [[nodiscard]] BlockSender& sender() noexcept { return sender_; }
    [[nodiscard]] BlockReceiver& receiver() noexcept { return receiver_; }

  private:
    TestLayout layout_;
    BlockSender sender_;
    BlockReceiver receiver_;

  public:
    Locker server;
    Locker client;
};

TEST_CASE("Optional values: appear, change and go", "[replayout][optional_properties]") {
    LockerPair pair;
    pair.server.code = 7;
    pair.server.is_locked = false;
    pair.server.label = "tools";
    pair.server.wound.emplace().damage = 3;
    pair.server.place = Vector3{1.26f, 0.0f, 0.0f};
    pair.server.aim = Aim{3, 4};
    pair.server.route = std::vector<std::uint16_t>{1, 2, 3};
    pair.server.twice.emplace();
    pair.server.drawers = {1, std::nullopt, 3};
    (void)pair.exchange();
    CHECK(pair.client.code == 7);
    CHECK(pair.client.is_locked == false);
    CHECK(pair.client.place == Vector3{1.3f, 0.0f, 0.0f});
    CHECK((pair.client.twice.has_value() && !pair.client.twice->has_value()));
    CHECK(pair.client.drawers == pair.server.drawers);
    pair.server.code = 8;
    pair.server.route->push_back(4);
    pair.server.twice->emplace(std::uint8_t{5});
    pair.server.drawers[1] = 9;
    (void)pair.exchange();
    pair.server.code.reset();
    pair.server.wound.reset();
    pair.server.twice->reset();
    pair.server.drawers[0].reset();
    (void)pair.exchange();
    CHECK_FALSE(pair.client.code.has_value());
    CHECK_FALSE(pair.sender().update(&pair.server));
}

TEST_CASE("Optional values: one that holds what a new one holds is sent all the same",
          "[replayout][optional_properties]") {
    LockerPair pair;
    pair.server.code = 0;
    pair.server.pouch.emplace();
    (void)pair.exchange();
    CHECK(pair.client.code == 0);
    CHECK(pair.client.pouch.has_value());
}

TEST_CASE("Optional values: of a struct only the members that changed are sent",
          "[replayout][optional_properties]") {
    LockerPair pair;
    pair.server.wound.emplace().point = {1.0f, 2.0f, 3.0f};
    const std::size_t whole_size = pair.exchange().size();
    pair.server.wound->is_open = true;
    const std::size_t member_size = pair.exchange().size();
    CHECK(whole_size > 15);
    CHECK(member_size <= 3);
}

TEST_CASE("Optional values: presence is one bit, and no set stands before a single value",
          "[replayout][optional_properties]") {
    LockerPair pair;
    pair.server.is_locked = true;
    // The set over 11 handles as runs: 1 1 010 1; presence and value; bits up to the byte boundary.
    const Bytes block = pair.exchange();
    BitReader reader(block);
    ChangeMask mask;
    read_change_mask(reader, mask, 11, EmptySet::Impossible);
    CHECK(handles_of(mask) == std::vector<std::uint32_t>{2});
    CHECK(reader.read_bool());
    CHECK(reader.read_bool());
    reader.finish_byte();
    CHECK(reader.bits_left() == 0);
    CHECK_FALSE(reader.failed());
}

TEST_CASE("Optional values: a limit of arrays is none of theirs",
          "[replayout][optional_properties]") {
    RepLayoutOptions options;
    options.limits.array_count_max = 0;
    LockerPair pair(options);
    pair.server.code = 5;
    (void)pair.exchange();
    CHECK(pair.client.code == 5);
}

TEST_CASE("Optional values: are another layout than arrays, and have a name in the listing",
          "[replayout][optional_properties]") {
    struct Maybe {
        std::optional<std::int32_t> value;
    };
    struct Many {
        std::vector<std::int32_t> value;
    };
    const TestLayout maybe([](TypeRegistry& registry) {
        return class_builder<Maybe>(registry, "Box").property<&Maybe::value>().build();
    });
    const TestLayout many([](TypeRegistry& registry) {
        return class_builder<Many>(registry, "Box").property<&Many::value>().build();
    });
    CHECK(maybe->fingerprint() != many->fingerprint());
    CHECK(maybe.cmd(1).checksum != many.cmd(1).checksum);
    CHECK(dump(*maybe).find("Optional") != std::string::npos);
}

TEST_CASE("Optional values: a block cut short at any bit is refused and touches nothing",
          "[replayout][optional_properties]") {
    LockerPair pair;
    pair.server.code = 7;
    pair.server.label = "tools";
    pair.server.wound.emplace().damage = 3;
    pair.server.route = std::vector<std::uint16_t>{1, 2, 3};
    REQUIRE(pair.sender().update(&pair.server));
    const Bytes block = pair.sender().block(since(0));
    for (std::size_t size = 0; size < block.size(); ++size) {
        CHECK_FALSE(pair.receiver().receive(&pair.client, std::span(block).first(size)));
        CHECK_FALSE(pair.client.code.has_value());
    }
}

}  // namespace
}  // namespace replayout

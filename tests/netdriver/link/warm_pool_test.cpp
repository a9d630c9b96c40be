// SPDX-License-Identifier: MIT
//
// Objects that come and go out of a pool that is warm take nothing from what lies behind it, at
// either end. So what a driver holds does not grow with the objects that there ever were.
#include "support/checks/catch.h"
#include "support/worlds/net_fixture.h"

#include <cstdint>
#include <vector>

namespace replayout::test {

namespace {

/// A world of pawns in which some are replaced all the time.
class Churn {
  public:
    explicit Churn(const NetFixtureOptions& options) : net(options) {
        net.join();
        net.join();
        for (std::int32_t i = 0; i < 20; ++i) {
            add();
        }
    }

    void add() {
        const ObjectHandle pawn = net.add_pawn();
        net.pawn(pawn).health = number_++ % 100;
        net.pawn(pawn).name = "a name that does not fit into a string of its own";
        net.pawn(pawn).hits.resize(3);
        if (names_targets && !pawns_.empty()) {
            net.pawn(pawn).target = pawns_.back();
        }
        pawns_.push_back(pawn);
    }

    void cycle(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            net.remove(pawns_.front());
            pawns_.erase(pawns_.begin());
            add();
            net.tick(3);
        }
    }

    NetFixture net;
    bool names_targets = false;

  private:
    std::vector<ObjectHandle> pawns_;
    std::int32_t number_ = 0;
};

[[nodiscard]] NetFixtureOptions warm_options(bool is_pooled) {
    NetFixtureOptions options;
    options.is_validating = false;
    options.is_pooled = is_pooled;
    return options;
}

}  // namespace

TEST_CASE("Warm pool: objects that come and go take nothing from what lies behind it",
          "[netdriver][warm_pool]") {
    Churn churn(warm_options(true));
    churn.cycle(400);
    REQUIRE(churn.net.settle());
    const std::uint64_t server = churn.net.server().memory.allocation_count();
    const std::uint64_t client = churn.net.client(0).memory.allocation_count();
    churn.cycle(1'000);
    REQUIRE(churn.net.settle());
    CHECK(churn.net.server().memory.allocation_count() == server);
    CHECK(churn.net.client(0).memory.allocation_count() == client);
    CHECK(churn.net.client_text(0) == churn.net.server_text());
}

TEST_CASE("Warm pool: so do objects that refer to each other, dead ones included",
          "[netdriver][warm_pool]") {
    Churn churn(warm_options(true));
    churn.names_targets = true;
    churn.cycle(400);
    const std::uint64_t server = churn.net.server().memory.allocation_count();
    const std::uint64_t client = churn.net.client(1).memory.allocation_count();
    churn.cycle(1'000);
    REQUIRE(churn.net.settle());
    CHECK(churn.net.server().memory.allocation_count() == server);
    CHECK(churn.net.client(1).memory.allocation_count() == client);
}

TEST_CASE("Warm pool: what a driver holds does not grow with the objects that there ever were",
          "[netdriver][warm_pool]") {
    Churn churn(warm_options(false));
    churn.names_targets = true;
    churn.cycle(200);
    REQUIRE(churn.net.settle());
    const std::int64_t server = churn.net.server().memory.bytes_in_use();
    const std::int64_t client = churn.net.client(0).memory.bytes_in_use();
    churn.cycle(600);
    REQUIRE(churn.net.settle());
    // A text or a shared buffer may be a little longer than it was then.
    CHECK(churn.net.server().memory.bytes_in_use() <= server + server / 50);
    CHECK(churn.net.client(0).memory.bytes_in_use() <= client + client / 50);
}

}  // namespace replayout::test

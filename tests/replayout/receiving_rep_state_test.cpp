// SPDX-License-Identifier: MIT
#include <replayout/receiving_rep_state.h>

#include <initializer_list>

#include "support/block_receiver.h"
#include "support/catch.h"

namespace replayout {
namespace {

constexpr std::uint32_t count_max = 8;

RepPath make_path(std::initializer_list<std::uint32_t> handles) {
    RepPath path;
    std::size_t depth = 0;
    for (const std::uint32_t handle : handles) {
        path.handles[depth++] = handle;
    }
    return path;
}

struct State {
    bool set(std::initializer_list<std::uint32_t> handles, std::uint64_t guid,
             bool is_mapped = true) {
        return state.set_reference(make_path(handles), {NetGUID{guid}, is_mapped}, count_max,
                                   &dropped);
    }
    [[nodiscard]] std::uint64_t find(std::initializer_list<std::uint32_t> handles) const {
        return state.find_reference(make_path(handles)).value;
    }

    ReceivingRepState state{std::pmr::get_default_resource()};
    Vector<NetGUID> dropped;
};

using Guids = std::vector<std::uint64_t>;

TEST_CASE("ReceivingRepState: remembers what each reference names",
          "[replayout][receiving_rep_state]") {
    State state;
    CHECK_FALSE(state.state.has_references());
    CHECK(state.set({3}, 10));
    CHECK(state.set({4, 7}, 11, false));
    CHECK(state.state.has_references());
    CHECK(state.find({3}) == 10);
    CHECK(state.find({4, 7}) == 11);
    CHECK(state.find({4}) == 0);
    CHECK(state.find({4, 7, 1}) == 0);
    CHECK(state.state.names(NetGUID{11}));
    CHECK_FALSE(state.state.names(NetGUID{12}));
    CHECK(state.dropped.empty());
}

TEST_CASE("ReceivingRepState: a reference that is set anew drops what it named before",
          "[replayout][receiving_rep_state]") {
    State state;
    CHECK(state.set({3}, 10));
    CHECK(state.set({3}, 12));
    CHECK(values_of(state.dropped) == Guids{10});
    CHECK(state.find({3}) == 12);
    CHECK_FALSE(state.state.names(NetGUID{10}));
}

TEST_CASE("ReceivingRepState: naming the same again drops nothing, and maps or unmaps it",
          "[replayout][receiving_rep_state]") {
    State state;
    CHECK(state.set({3}, 10, false));
    CHECK(state.set({3}, 10, true));
    CHECK(state.dropped.empty());
    CHECK(state.state.references().begin()->second.is_mapped);
}

TEST_CASE("ReceivingRepState: null forgets, and is not kept", "[replayout][receiving_rep_state]") {
    State state;
    CHECK(state.set({3}, 0));
    CHECK_FALSE(state.state.has_references());
    CHECK(state.set({3}, 10));
    CHECK(state.set({3}, 0));
    CHECK_FALSE(state.state.has_references());
    CHECK(values_of(state.dropped) == Guids{10});
}

TEST_CASE("ReceivingRepState: the table is bounded, and what is in it can still change",
          "[replayout][receiving_rep_state]") {
    State state;
    for (std::uint32_t handle = 1; handle <= count_max; ++handle) {
        CHECK(state.set({handle}, 100 + handle));
    }
    CHECK_FALSE(state.set({count_max + 1}, 200));
    CHECK(state.find({count_max + 1}) == 0);
    CHECK(state.set({1}, 201));
    CHECK(state.set({2}, 0));
    CHECK(state.set({count_max + 1}, 200));
    CHECK(state.set({count_max + 2}, 0));
}

TEST_CASE("ReceivingRepState: an array that ends earlier drops its tail and nothing else",
          "[replayout][receiving_rep_state]") {
    State state;
    CHECK(state.set({4}, 1));
    CHECK(state.set({5, 1}, 2));
    CHECK(state.set({5, 3}, 3));
    CHECK(state.set({5, 3, 2}, 4));
    CHECK(state.set({5, 4, 9}, 5));
    CHECK(state.set({6, 1}, 6));
    state.state.truncate(make_path({5, 3}), 1, &state.dropped);
    CHECK(values_of(state.dropped) == Guids{3, 4, 5});
    CHECK(state.find({4}) == 1);
    CHECK(state.find({5, 1}) == 2);
    CHECK(state.find({6, 1}) == 6);
    CHECK(state.state.references().size() == 3);
}

TEST_CASE("ReceivingRepState: a nested array ends inside its own element only",
          "[replayout][receiving_rep_state]") {
    State state;
    CHECK(state.set({5, 1, 2}, 1));
    CHECK(state.set({5, 2, 1}, 2));
    CHECK(state.set({5, 2, 2}, 3));
    CHECK(state.set({5, 3, 2}, 4));
    state.state.truncate(make_path({5, 2, 2}), 2, nullptr);
    CHECK(state.find({5, 2, 1}) == 2);
    CHECK(state.find({5, 2, 2}) == 0);
    CHECK(state.find({5, 3, 2}) == 4);
    CHECK(state.find({5, 1, 2}) == 1);
}

TEST_CASE("ReceivingRepState: is emptied for another object", "[replayout][receiving_rep_state]") {
    State state;
    CHECK(state.set({3}, 10));
    state.state.clear();
    CHECK_FALSE(state.state.has_references());
    CHECK(state.find({3}) == 0);
}

}  // namespace
}  // namespace replayout

// SPDX-License-Identifier: MIT
#include <replayout/receiving_rep_state.h>

#include <array>
#include <initializer_list>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"

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
    /// With three bytes of bits.
    bool set_value(std::initializer_list<std::uint32_t> handles,
                   std::initializer_list<std::uint64_t> ids, Vector<NetGUID>* gone) {
        std::vector<NetGUID> guids;
        for (const std::uint64_t id : ids) {
            guids.push_back(NetGUID{id});
        }
        const std::array<std::byte, 3> bits{};
        return state.set_value(make_path(handles), guids, BitReader(bits), 20, {1'000, 1'000},
                               gone);
    }
    [[nodiscard]] std::size_t rebind_steps(std::initializer_list<std::uint64_t> ids) const {
        std::vector<NetGUID> guids;
        for (const std::uint64_t id : ids) {
            guids.push_back(NetGUID{id});
        }
        return state.rebind_steps(guids);
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

TEST_CASE("ReceivingRepState: a value that is forgotten names nothing, whoever listens",
          "[replayout][receiving_rep_state]") {
    for (const bool is_heard : {false, true}) {
        State state;
        Vector<NetGUID>* const gone = is_heard ? &state.dropped : nullptr;
        CHECK(state.set_value({3}, {10, 11}, gone));
        CHECK(state.state.reference_count() == 2);
        CHECK(state.state.value_bytes() == 3);
        CHECK(state.set_value({3}, {11, 12, 13}, gone));
        CHECK(values_of(state.dropped) == (is_heard ? Guids{10, 11} : Guids{}));
        CHECK_FALSE(state.state.names(NetGUID{10}));
        CHECK(state.state.reference_count() == 3);
        CHECK(state.set_value({3}, {}, gone));
        CHECK(state.set_value({4}, {}, gone));
        CHECK(values_of(state.dropped) == (is_heard ? Guids{10, 11, 11, 12, 13} : Guids{}));
        CHECK_FALSE(state.state.has_references());
        CHECK(state.state.reference_count() == 0);
        CHECK(state.state.value_bytes() == 0);
    }
}

TEST_CASE("ReceivingRepState: binding costs where an id is named, and more where it is more often",
          "[replayout][receiving_rep_state]") {
    State state;
    CHECK(state.rebind_steps({10}) == 0);
    CHECK(state.set({3}, 10));
    const std::size_t once = state.rebind_steps({10});
    CHECK(once > 0);
    CHECK(state.set({4}, 10));
    CHECK(state.rebind_steps({10}) > once);
    CHECK(state.rebind_steps({11}) == 0);
    CHECK(state.set({3}, 0));
    CHECK(state.set({4}, 0));
    CHECK(state.rebind_steps({10}) == 0);
}

TEST_CASE(
    "ReceivingRepState: ids that are bound together cost what they do alone, but for one look",
    "[replayout][receiving_rep_state]") {
    State state;
    for (std::uint32_t handle = 3; handle < 7; ++handle) {
        CHECK(state.set({handle}, 7 + handle));
    }
    const std::size_t one = state.rebind_steps({10});
    CHECK(state.rebind_steps({10, 11}) < 2 * one);
    CHECK(state.rebind_steps({10, 11}) > one + 16);
    CHECK(state.rebind_steps({10, 11}) == state.rebind_steps({12, 13}));
    // As many ids as are named, and more than that.
    const std::size_t all = state.rebind_steps({10, 11, 12, 13});
    CHECK(state.rebind_steps({1, 2, 3, 10, 11, 12, 13, 20}) == all);  // the looks are as many
    CHECK(state.rebind_steps({1, 2, 3, 4, 5}) == 0);

    Vector<NetGUID> named;
    const auto find_named = [&](std::vector<NetGUID> guids) {
        named.clear();
        state.state.find_named(guids, named);
        return values_of(named);
    };
    CHECK(find_named({NetGUID{1}, NetGUID{11}, NetGUID{13}}) == Guids{11, 13});
    CHECK(find_named({NetGUID{1}, NetGUID{2}, NetGUID{11}, NetGUID{13}, NetGUID{14}}) ==
          Guids{11, 13});
    CHECK(find_named({}).empty());
}

TEST_CASE("ReceivingRepState: a value that names many ids is read again once for all of them",
          "[replayout][receiving_rep_state]") {
    State state;
    CHECK(state.set_value({3}, {10, 11, 12}, nullptr));
    const std::size_t one = state.rebind_steps({11});
    CHECK(one >= 3 * 16);
    CHECK(state.rebind_steps({10, 11, 12}) <= one + 2 * 18);
    CHECK(state.state.values().begin()->second.names_any(std::vector{NetGUID{9}, NetGUID{12}}));
    CHECK_FALSE(state.state.values().begin()->second.names_any(std::vector{NetGUID{9}}));
    CHECK_FALSE(state.state.values().begin()->second.names_any({}));
}

/// Elements of the keyed array at handle 5, two handles each: a reference and a value.
void fill_keyed_array(State& state, std::uint32_t count) {
    Vector<KeyedElements::Element> made;
    KeyedElements& known = state.state.keyed_elements(RepHandle{5});
    for (std::uint32_t key = 0; key < count; ++key) {
        const std::uint32_t handle = known.at(key, 0, made).slot * 2 + 1;
        CHECK(state.state.set_reference(make_path({5, handle}), {NetGUID{100 + key}, true}, 1'000,
                                        &state.dropped));
        CHECK(state.set_value({5, handle + 1}, {300 + key}, &state.dropped));
    }
    known.merge(made);
}

TEST_CASE("ReceivingRepState: binding costs by the bytes to read again, and by keyed elements",
          "[replayout][receiving_rep_state]") {
    State state;
    CHECK(state.set_value({3}, {10}, nullptr));
    const std::size_t one = state.rebind_steps({10});
    for (std::uint32_t handle = 4; handle < 8; ++handle) {
        CHECK(state.set_value({handle}, {10}, nullptr));
    }
    CHECK(state.rebind_steps({10}) == one + 4 * 16 + 5 * 3 / 8 + 2);
    for (std::uint32_t handle = 4; handle < 8; ++handle) {
        CHECK(state.set_value({handle}, {}, nullptr));
    }
    CHECK(state.rebind_steps({10}) == one);
    Vector<KeyedElements::Element> made;
    KeyedElements& known = state.state.keyed_elements(RepHandle{9});
    for (std::uint64_t key = 0; key < 30; ++key) {
        (void)known.at(key, 0, made);
    }
    known.merge(made);
    CHECK(state.rebind_steps({10}) == one + 30 * 2);
}

TEST_CASE("ReceivingRepState: elements that go, few or many, take along what they name",
          "[replayout][receiving_rep_state]") {
    constexpr std::uint32_t count = 40;
    for (const std::uint32_t gone_count : {0u, 1u, 16u, 17u, count}) {
        INFO(gone_count << " of " << count);
        State state;
        fill_keyed_array(state, count);
        // Neighbours, and an element that no one has told of.
        CHECK(state.set_value({4, 1}, {1}, &state.dropped));
        CHECK(state.set_value({6, 1}, {2}, &state.dropped));
        std::vector<std::uint64_t> keys;
        for (std::uint64_t key = count - gone_count; key < count; ++key) {
            keys.push_back(key);
        }
        keys.push_back(1'000);
        Guids expected;
        state.state.forget_keyed_elements(RepHandle{5}, keys, 2, &state.dropped);
        for (std::uint64_t key = 0; key < count; ++key) {
            const bool is_gone = key >= count - gone_count;
            CHECK(state.state.names(NetGUID{100 + key}) != is_gone);
            CHECK(state.state.names(NetGUID{300 + key}) != is_gone);
        }
        CHECK(state.dropped.size() == gone_count * 2);
        CHECK(state.state.references().size() == count - gone_count);
        CHECK(state.state.values().size() == count - gone_count + 2);
        CHECK(state.state.find_keyed_elements(RepHandle{5})->elements().size() ==
              count - gone_count);
    }
}

TEST_CASE("KeyedElements: a slot is that of an element only while this has it",
          "[replayout][receiving_rep_state]") {
    KeyedElements known(std::pmr::get_default_resource());
    Vector<KeyedElements::Element> made;
    for (const std::uint64_t key : {1u, 2u, 3u}) {
        (void)known.at(key, 0, made);
    }
    known.merge(made);
    const auto key_at = [&](std::uint32_t slot) {
        const KeyedElements::Element* element = known.find_slot(slot);
        return element == nullptr ? 0 : element->key;
    };
    CHECK(key_at(0) == 1);
    CHECK(key_at(2) == 3);
    CHECK(key_at(3) == 0);  // there never was one
    known.erase({});
    CHECK(known.elements().size() == 3);
    const std::vector<std::uint64_t> gone{1, 3};
    known.erase(gone);
    CHECK(key_at(0) == 0);
    CHECK(key_at(2) == 0);
    // It comes back, at the slot that was free last.
    (void)known.at(1, 0, made);
    known.merge(made);
    CHECK(key_at(2) == 1);
    CHECK(key_at(0) == 0);
    CHECK(key_at(1) == 2);
    // And in front of where it was.
    known.erase(std::vector<std::uint64_t>{1});
    known.erase(std::vector<std::uint64_t>{2});
    (void)known.at(1, 0, made);
    known.merge(made);
    CHECK(key_at(1) == 1);
    CHECK(key_at(2) == 0);
}

}  // namespace
}  // namespace replayout

// SPDX-License-Identifier: MIT
#include <replayout/dump.h>
#include <replayout/type_counters.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"
#include "support/types/type_counters_sum.h"

namespace replayout {
namespace {

struct Radio {
    std::int32_t channel = 0;
    std::string name;
    std::vector<std::uint16_t> presets;
    Secret secret;
};

Result<const Type*> build_radio(TypeRegistry& registry) {
    (void)struct_builder<Secret>(registry, "Secret").build();
    return class_builder<Radio>(registry, "Radio")
        .property<&Radio::channel>()
        .property<&Radio::name>()
        .property<&Radio::presets>()
        .property<&Radio::secret>()
        .build();
}

constexpr RepHandle channel{1};
constexpr RepHandle name{2};
constexpr RepHandle presets{3};
constexpr RepHandle secret{4};

/// One object, counted.
struct Counted {
    Counted() : counters(*layout, std::pmr::get_default_resource()), sender(*layout) {
        sender.type_counters = &counters;
    }

    [[nodiscard]] std::uint64_t encoded(RepHandle handle, EncodeReason reason) {
        return counters.of(handle).encoded[static_cast<std::size_t>(reason)];
    }
    [[nodiscard]] std::string difference() const {
        TypeCountersSum sum;
        sum.add(counters);
        return sum.find_difference(sender.counters, false);
    }

    TestLayout layout{build_radio};
    TypeCounters counters;
    BlockSender sender;
    Radio radio;
};

void change_all(Radio& radio) {
    ++radio.channel;
    radio.name += "x";
    radio.presets.push_back(7);
    radio.secret.word += "y";
}

TEST_CASE("TypeCounters: each call of a serializer has one reason", "[replayout][type_counters]") {
    Counted counted;
    change_all(counted.radio);
    counted.sender.update(&counted.radio);
    (void)counted.sender.block(since(0));
    for (const RepHandle handle : {channel, name, presets}) {
        CHECK(counted.encoded(handle, EncodeReason::FirstUse) == 1);
        // A plain value is not kept: its shadow is copied.
        CHECK(counted.counters.of(handle).pieces_built == (handle == channel ? 0 : 1));
        CHECK(counted.counters.of(handle).values_encoded() == 1);
        CHECK(counted.counters.of(handle).serializer_calls == 0);
    }
    CHECK(counted.counters.of(secret).serializer_calls == 1);
    CHECK(counted.encoded(secret, EncodeReason::NotShared) == 1);
    CHECK(counted.counters.of(secret).pieces_built == 0);

    (void)counted.sender.block(since(0));
    for (const RepHandle handle : {channel, name, presets}) {
        CHECK(counted.counters.of(handle).values_reused == 1);
        CHECK(counted.counters.of(handle).values_encoded() == 1);
    }
    CHECK(counted.encoded(secret, EncodeReason::NotShared) == 2);

    change_all(counted.radio);
    counted.sender.update(&counted.radio);
    (void)counted.sender.block(since(1));
    for (const RepHandle handle : {channel, name, presets}) {
        CHECK(counted.encoded(handle, EncodeReason::ValueChanged) == 1);
    }
    (void)counted.sender.block(since(0));
    CHECK(counted.encoded(presets, EncodeReason::OtherPosition) == 1);
    CHECK(counted.counters.of(channel).values_reused == 2);
    CHECK(counted.difference() == "");
}

TEST_CASE("TypeCounters: without sharing every call has that reason",
          "[replayout][type_counters]") {
    Counted counted;
    counted.sender.is_sharing = false;
    change_all(counted.radio);
    counted.sender.update(&counted.radio);
    (void)counted.sender.block(since(0));
    (void)counted.sender.block(since(0));
    for (const RepHandle handle : {channel, name, presets, secret}) {
        CHECK(counted.encoded(handle, EncodeReason::SharingOff) == 2);
        CHECK(counted.counters.of(handle).values_encoded() == 2);
        CHECK(counted.counters.of(handle).values_sent == 2);
    }
    CHECK(counted.difference() == "");
}

TEST_CASE("TypeCounters: bits are those of the values sent", "[replayout][type_counters]") {
    Counted counted;
    counted.radio.channel = 5;
    counted.radio.name = "abc";
    counted.sender.update(&counted.radio);
    (void)counted.sender.block(since(0));
    (void)counted.sender.block(since(0));
    CHECK(counted.counters.of(channel).bits_sent == 2 * 32);
    CHECK(counted.counters.of(name).bits_sent == 2 * (8 + 3 * 8));
    CHECK(counted.counters.of(presets).bits_sent == 0);
}

TEST_CASE("TypeCounters: of the bits, those of values that were copied alone are told apart",
          "[replayout][type_counters]") {
    Counted counted;
    counted.radio.channel = 5;
    counted.radio.name = "abc";
    counted.radio.presets = {7};
    counted.radio.secret.word = "x";
    counted.sender.update(&counted.radio);
    (void)counted.sender.block(since(0));
    for (const RepHandle handle : {channel, name, presets, secret}) {
        CHECK(counted.counters.of(handle).bits_sent > 0);
        CHECK(counted.counters.of(handle).bits_copied == 0);
    }
    (void)counted.sender.block(since(0));
    (void)counted.sender.block(since(0));
    CHECK(counted.counters.of(channel).bits_copied == 2 * 32);
    CHECK(counted.counters.of(name).bits_copied == 2 * (8 + 3 * 8));
    CHECK(counted.counters.of(presets).bits_copied * 3 ==
          counted.counters.of(presets).bits_sent * 2);
    CHECK(counted.counters.of(secret).bits_copied == 0);
}

TEST_CASE("TypeCounters: what is cut or measured is told apart", "[replayout][type_counters]") {
    Counted counted;
    counted.radio.presets.assign(300, 9);
    counted.radio.secret.word = "word";
    counted.sender.update(&counted.radio);
    (void)counted.sender.parts(since(0), 200);
    CHECK(counted.encoded(presets, EncodeReason::Cut) > 3);
    CHECK(counted.encoded(secret, EncodeReason::Measured) > 0);
    CHECK(counted.difference() == "");
}

TEST_CASE("TypeCounters: counting changes no byte", "[replayout][type_counters]") {
    Counted counted;
    Counted plain;
    plain.sender.type_counters = nullptr;
    for (int i = 0; i < 4; ++i) {
        change_all(counted.radio);
        change_all(plain.radio);
        counted.sender.update(&counted.radio);
        plain.sender.update(&plain.radio);
        for (const Version version : {Version{0}, counted.sender.state.version() - 1}) {
            CHECK(counted.sender.block(since(version)) == plain.sender.block(since(version)));
        }
    }
    CHECK(plain.counters.of(channel).values_sent == 0);
    CHECK(counted.sender.counters.values_encoded == plain.sender.counters.values_encoded);
}

TEST_CASE("TypeCounters: a block that is copied whole counts its bytes, and each of its values",
          "[replayout][type_counters]") {
    Counted counted;
    counted.radio.channel = 5;
    counted.radio.presets = {7};
    counted.sender.update(&counted.radio);
    const Bytes block = counted.sender.block(since(0));
    const std::uint64_t bits_sent = counted.counters.of(channel).bits_sent;
    ChangeMask handles;
    counted.counters.count_payload_reuse(block, handles);
    counted.counters.count_payload_reuse(block, handles);
    CHECK(handles_of(handles) == std::vector<std::uint32_t>{1, 3});
    CHECK(counted.counters.payloads_reused == 2);
    CHECK(counted.counters.payload_bytes_reused == 2 * block.size());
    for (const RepHandle handle : {channel, presets}) {
        CHECK(counted.counters.of(handle).payload_reuses == 2);
        CHECK(counted.counters.of(handle).values_sent == 1 + 2);
        CHECK(counted.counters.of(handle).values_encoded() == 1);
    }
    CHECK(counted.counters.of(channel).bits_sent == bits_sent);
    CHECK(counted.counters.of(name).payload_reuses == 0);
    CHECK(counted.counters.of(secret).values_sent == 0);
    CHECK(dump(counted.counters)
              .find("2 blocks of them copied whole (" + std::to_string(2 * block.size()) +
                    " bytes)") != std::string::npos);
}

TEST_CASE("TypeCounters: the table names properties and reasons", "[replayout][type_counters]") {
    Counted counted;
    change_all(counted.radio);
    counted.sender.update(&counted.radio);
    (void)counted.sender.block(since(0));
    (void)counted.sender.block(since(0));
    const std::string text = dump(counted.counters);
    CHECK(text.starts_with("counters of Radio: "));
    CHECK(text.find("  channel, FirstUse 1\n") != std::string::npos);
    CHECK(text.find("  secret, NotShared 2\n") != std::string::npos);
}

}  // namespace
}  // namespace replayout

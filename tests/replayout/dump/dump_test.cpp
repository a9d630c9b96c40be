// SPDX-License-Identifier: MIT
//
// What a person is shown, pinned as it stands in the documents.
#include <replayout/dump.h>
#include <replayout/object_replicator.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout {
namespace {

struct Beam {
    std::int8_t tilt = 0;
    float reach = 0;
};

struct Spotlight {
    std::int32_t power = 100;
    bool is_lit = false;
    Beam beam;
    std::uint16_t codes[2] = {};
    std::string label;
    ObjectHandle owner;
    std::vector<std::uint16_t> colors;
    Vector3 position;
    std::optional<std::int32_t> timer;
    std::vector<Beam> beams;
};

Result<const Type*> build_spotlight(TypeRegistry& registry) {
    (void)struct_builder<Beam>(registry, "Beam")
        .property<&Beam::tilt>()
        .property<&Beam::reach>()
        .build();
    return class_builder<Spotlight>(registry, "Lamp")
        .property<&Spotlight::power>()
        .condition(LifetimeCondition::OwnerOnly)
        .property<&Spotlight::is_lit>()
        .property<&Spotlight::beam>()
        .property<&Spotlight::codes>()
        .property<&Spotlight::label>()
        .property<&Spotlight::owner>()
        .property<&Spotlight::colors>()
        .property<&Spotlight::position>()
        .property<&Spotlight::timer>()
        .property<&Spotlight::beams>()
        .build();
}

TEST_CASE("dump: a layout tells the conditions of its properties", "[replayout][dump]") {
    const TestLayout layout(build_spotlight);
    const std::string text = dump(*layout);
    CHECK(text.find("power shared condition OwnerOnly\n") != std::string::npos);
    CHECK(text.find("is_lit shared\n") != std::string::npos);
}

TEST_CASE("dump: a set of changes by the paths of its properties", "[replayout][dump]") {
    const TestLayout layout(build_spotlight);
    ChangeMask handles;
    handles.reset(layout->handle_count());
    CHECK(dump(handles, *layout) == "nothing");
    handles.set(0);
    handles.set(3);
    handles.set(5);
    CHECK(dump(handles, *layout) == "power, beam.reach, codes[1]");
}

TEST_CASE("dump: a history by version, and what has folded", "[replayout][dump]") {
    const TestLayout layout(build_spotlight);
    BlockSender sender(*layout);
    Spotlight lamp;
    CHECK(dump(sender.state.history(), *layout) == "history of Lamp, 0 of 64 entries\n");
    lamp.power = 1;
    lamp.label = "north";
    sender.update(&lamp);
    lamp.beam.tilt = -3;
    sender.update(&lamp);
    CHECK(dump(sender.state.history(), *layout) ==
          "history of Lamp, 2 of 64 entries\n"
          "  version 1: power, label\n"
          "  version 2: beam.tilt\n");
    for (int i = 0; i < 64; ++i) {
        ++lamp.power;
        sender.update(&lamp);
    }
    CHECK(dump(sender.state.history(), *layout)
              .starts_with("history of Lamp, 64 of 64 entries\n"
                           "  up to version 3: power, beam.tilt, label\n"
                           "  version 4: power\n"));
}

TEST_CASE("dump: an object with its values as a person writes them", "[replayout][dump]") {
    const TestLayout layout(build_spotlight);
    BlockSender sender(*layout);
    Spotlight lamp;
    lamp.power = -5;
    lamp.is_lit = true;
    lamp.beam = {-3, 2.5F};
    lamp.label = "north";
    lamp.colors = {1, 2, 3, 4, 5};
    lamp.position = {1, -2, 0.5F};
    lamp.beams = {{1, 2}};
    sender.update(&lamp);
    lamp.timer = 7;
    sender.update(&lamp);
    CHECK(dump(sender.state) ==
          "object of Lamp at version 2\n"
          "  handle  changed  property\n"
          "       1        1  power = -5\n"
          "       2        1  is_lit = true\n"
          "       3        1  beam.tilt = -3\n"
          "       4        1  beam.reach = 2.5\n"
          "       5        -  codes[0] = 0\n"
          "       6        -  codes[1] = 0\n"
          "       7        1  label = \"north\"\n"
          "       8        -  owner = id 0\n"
          "       9        1  colors = [1, 2, 3, 4, ...] (5 elements)\n"
          "      10        1  position = (1, -2, 0.5)\n"
          "      11        2  timer = 7\n"
          "      12        1  beams = [{1, 2}]\n");
}

TEST_CASE("dump: a shared buffer, piece by piece", "[replayout][dump]") {
    const TestLayout layout(build_spotlight);
    BlockSender sender(*layout);
    CHECK(dump(sender.state.shared(), *layout) ==
          "shared buffer of Lamp, 0 pieces with 0 bytes, 0 payloads with 0 bytes\n");
    Spotlight lamp;
    lamp.power = 1;
    lamp.label = "up";
    lamp.colors = {7};
    sender.update(&lamp);
    const Bytes block = sender.block(since(0));
    sender.state.shared().keep_payload({1, since(0), {}}, 3, block);
    const std::string text = dump(sender.state.shared(), *layout);
    CHECK(text.starts_with("shared buffer of Lamp, 3 pieces with 7 bytes, 1 payload with 1"));
    CHECK(text.find("  handle  version   bits  piece\n"
                    "       1        1      -  power, in the shadow\n"
                    "       7        1     24  label: 04 75 70\n") != std::string::npos);
    CHECK(text.find("  colors (sent up to 0):") != std::string::npos);
    CHECK(text.find("  payload of version 1 (sent up to 0, meets no condition), 3 values, ") !=
          std::string::npos);
}

TEST_CASE("dump: a shared buffer tells in what two receivers differ who did not share",
          "[replayout][dump]") {
    const TestLayout layout(build_spotlight);
    BlockSender sender(*layout);
    Spotlight lamp;
    lamp.power = 1;
    sender.update(&lamp);
    const Bytes block = sender.block(since(0));
    const auto kept = [&](const OwedVersions& position, LifetimeConditionSet passing = {}) {
        sender.state.shared().drop_payloads();
        sender.state.shared().keep_payload({9, position, passing}, 1, block);
        const std::string text = dump(sender.state.shared(), *layout);
        const std::size_t begin = text.find("of version 9 (") + 14;
        return text.substr(begin, text.find(')', begin) - begin);
    };
    OwedVersions position = since(8);
    CHECK(kept(position) == "sent up to 8, meets no condition");
    position.is_exact = true;
    CHECK(kept(position) == "sent up to 8, exact, meets no condition");
    position.is_exact = false;
    position.lost = {2, 5};
    CHECK(kept(position).starts_with("sent up to 8, lost (2, 5], meets"));
    position.lost_range = RepRange::from(RepHandle{4});
    CHECK(kept(position).starts_with("sent up to 8, lost (2, 5] from handle 4 on, meets"));
    position.lost_range = {2, 6};
    CHECK(kept(position).starts_with("sent up to 8, lost (2, 5] in handles 2 to 5, meets"));
    position.lost_range = {9, 10, 3, 7};
    CHECK(kept(position).starts_with(
        "sent up to 8, lost (2, 5] in handle 9 from place 3 to 6, meets"));
    position.lost_range = {9, 10, 3, RepRange::no_element_end};
    CHECK(kept(position).starts_with("sent up to 8, lost (2, 5] in handle 9 from place 3 on, "));
    position = since(8);
    position.held_version = 6;
    position.joined_version = 7;
    CHECK(kept(position).starts_with("sent up to 8, holds up to 6, joined at 7, meets"));
    position.restart_version = 8;
    CHECK(kept(position).starts_with(
        "sent up to 8, holds up to 6, joined at 7, began anew at 8, meets"));
    LifetimeConditionSet passing;
    passing.insert(LifetimeCondition::OwnerOnly);
    CHECK(kept(since(8), passing) == "sent up to 8, meets OwnerOnly");
}

TEST_CASE("dump: of a shared buffer what is left over is marked, where the object is known",
          "[replayout][dump]") {
    const TestLayout layout(build_spotlight);
    BlockSender sender(*layout);
    Spotlight lamp;
    lamp.power = 1;
    lamp.label = "up";
    lamp.colors = {7};
    sender.update(&lamp);
    const Bytes block = sender.block(since(0));
    sender.state.shared().keep_payload({1, since(0), {}}, 3, block);
    CHECK(dump_shared(sender.state) == dump(sender.state.shared(), *layout));
    lamp.power = 2;
    lamp.colors = {8};
    sender.update(&lamp);
    const std::string text = dump_shared(sender.state);
    INFO(text);
    CHECK(text.find("  power, in the shadow (left over)\n") != std::string::npos);
    CHECK(text.find("  label: 04 75 70\n") != std::string::npos);
    CHECK(text.find("  colors (sent up to 0) (left over):") != std::string::npos);
    CHECK(text.find(" bytes (left over): ") != std::string::npos);
    CHECK(dump(sender.state.shared(), *layout).find("left over") == std::string::npos);
}

TEST_CASE("dump: a receiver in the words of the shared buffer, and what it is owed",
          "[replayout][dump]") {
    const TestLayout layout(build_spotlight);
    BlockSender sender(*layout);
    ObjectReplicator receiver(sender.state, std::pmr::get_default_resource());
    Spotlight lamp;
    lamp.power = 1;
    lamp.label = "up";
    sender.update(&lamp);
    // The power is for owners.
    CHECK(dump(receiver.shadow()).starts_with("receiver of Lamp (sent up to 0, meets "));
    CHECK(dump(receiver.shadow()).find("OwnerOnly") == std::string::npos);
    CHECK(dump(receiver.shadow()).ends_with("), exact, owed: label\n"));
    receiver.set_flags({.is_owner = true});
    const std::string owner = dump(receiver.shadow());
    CHECK(owner == "receiver of Lamp (sent up to 0, meets OwnerOnly), exact, owed: power, label\n");
    std::byte memory[64];
    BitWriter writer(memory);
    REQUIRE(receiver.replicate_properties(writer, 1, sender.context()) == SendResult::Whole);
    CHECK(
        dump_shared(sender.state).find("payload of version 1 (sent up to 0, meets OwnerOnly), ") !=
        std::string::npos);
    CHECK(dump(receiver.shadow()) ==
          "receiver of Lamp (sent up to 1, meets OwnerOnly), owed: nothing\n");
    receiver.packet_lost(1);
    CHECK(dump(receiver.shadow()) ==
          "receiver of Lamp (sent up to 1, lost (0, 1], meets OwnerOnly), owed: power, label\n");
}

struct Bulb {
    std::int32_t watts = 0;
};
Result<const Type*> build_bulb(TypeRegistry& registry) {
    return class_builder<Bulb>(registry, "Bulb").property<&Bulb::watts>().build();
}

TEST_CASE("dump: of a class without conditions none are told", "[replayout][dump]") {
    const TestLayout layout(build_bulb);
    BlockSender sender(*layout);
    Bulb bulb{40};
    sender.update(&bulb);
    sender.state.shared().keep_payload({1, since(0), {}}, 1, sender.block(since(0)));
    CHECK(dump(sender.state.shared(), *layout).find("of version 1 (sent up to 0), 1 value") !=
          std::string::npos);
}

}  // namespace
}  // namespace replayout

// SPDX-License-Identifier: MIT
//
// Where tests play a recording of a NetFixture: a world, and what it shows as text.
#pragma once

#include <replayout/netdriver/replay_player.h>
#include <replayout/netdriver/replay_recorder.h>

#include <map>
#include <span>
#include <string>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/worlds/test_world.h"

namespace replayout::test {

/// Bytes of somebody else, read only.
class BytesSource final : public ReplaySource {
  public:
    explicit BytesSource(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] std::uint64_t size() override { return bytes_.size(); }
    [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> target) override {
        bytes_read += target.size();
        if (offset > bytes_.size() || target.size() > bytes_.size() - offset) {
            return false;
        }
        const auto from = bytes_.subspan(static_cast<std::size_t>(offset), target.size());
        std::copy(from.begin(), from.end(), target.begin());
        return true;
    }

    std::uint64_t bytes_read = 0;

  private:
    std::span<const std::byte> bytes_;
};

/// All objects with all their values, by network id, as NetFixture::server_text() says it.
[[nodiscard]] inline std::string text_of_world(const NetDriver& driver, TestWorld& world) {
    const NetGUIDCache& guids = driver.guids();
    std::map<NetGUID, std::string> lines;
    for (const auto& [object, value] : world.objects()) {
        lines[guids.find_guid(object)] =
            TestWorld::text_of(*value, [&](ObjectHandle target) -> std::string {
                if (target.is_null()) {
                    return "none";
                }
                return world.find(target) == nullptr
                           ? "dangling"
                           : "#" + std::to_string(guids.find_guid(target).value);
            });
    }
    std::string text;
    for (const auto& [guid, line] : lines) {
        text += std::to_string(guid.value) + ": " + line + "\n";
    }
    return text;
}

struct ReplayScreen {
    explicit ReplayScreen(std::span<const std::byte> recording,
                          const NetDriverSettings& settings = {})
        : source(recording), world(5'000'000), player(settings, source, world) {
        TestSchema::get().add_to(player.driver());
    }

    [[nodiscard]] std::string text() { return text_of_world(player.driver(), world); }

    BytesSource source;
    TestWorld world;
    ReplayPlayer player;
};

}  // namespace replayout::test

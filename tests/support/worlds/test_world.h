// SPDX-License-Identifier: MIT
//
// A small game for tests of the driver: three classes, and a world that holds objects of them and
// remembers what the driver asked of it. A server's world is filled by the test, a client's by the
// driver.
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/worlds/typed_world.h"

namespace replayout::test {

// Server and clients give handles from different ranges, so that mixing them up shows.
inline constexpr std::uint64_t server_first_handle = 1'000;
inline constexpr std::uint64_t client_first_handle = 1'000'000;

struct Hit {
    float damage = 0;
    std::uint8_t bone = 0;
    std::string label;
};

/// A bit of everything, small.
struct Pawn {
    std::int32_t health = 100;          // handle 1
    std::string name;                   // handle 2
    Vector3 position;                   // handle 3
    ObjectHandle target;                // handle 4
    std::vector<Hit> hits;              // handle 5
    std::vector<ObjectHandle> friends;  // handle 6

    /// What the notifies of health and target saw, in order.
    std::vector<std::string> heard;

    void on_rep_health(const std::int32_t& previous);
    void on_rep_target(const ObjectHandle& previous);
};

struct Chapter {
    std::string title;
    std::string text;
};

/// Values that fill packets.
struct Archive {
    std::array<std::string, 8> pages;  // handles 1 to 8
    std::vector<std::uint32_t> cells;  // handle 9
    std::vector<Chapter> chapters;     // handle 10
    std::uint32_t counter = 0;         // handle 11
};

/// Nothing to replicate but its being there.
struct Marker {
    std::uint8_t unused = 0;
};

using TestObject = TypedWorld<Marker, Pawn, Archive>::Object;

/// The classes with their layouts. Immutable; both ends use the same one.
class TestSchema {
  public:
    /// Numbers of the layouts on the wire: their places in the order of type names.
    static constexpr std::uint32_t archive_number = 0;
    static constexpr std::uint32_t marker_number = 1;
    static constexpr std::uint32_t pawn_number = 2;

    static constexpr RepLimits archive_limits{1u << 20, 4'096};

    /// Made once.
    [[nodiscard]] static const TestSchema& get();

    [[nodiscard]] const RepLayout& pawn() const noexcept { return *pawn_; }
    [[nodiscard]] const RepLayout& archive() const noexcept { return *archive_; }
    [[nodiscard]] const RepLayout& marker() const noexcept { return *marker_; }

    [[nodiscard]] const RepLayout& layout_of(const TestObject& object) const noexcept;

    void add_to(NetDriver& driver) const;

  private:
    TestSchema();

    TypeRegistry registry_;
    std::unique_ptr<RepLayout> pawn_;
    std::unique_ptr<RepLayout> archive_;
    std::unique_ptr<RepLayout> marker_;
};

class TestWorld final : public TypedWorld<Marker, Pawn, Archive> {
  public:
    /// How a reference is to be written.
    using ReferenceText = std::function<std::string(ObjectHandle)>;

    /// Handles are given from `first_handle` on.
    explicit TestWorld(std::uint64_t first_handle);

    void remove(ObjectHandle handle);

    [[nodiscard]] Pawn& pawn(ObjectHandle handle) { return get<Pawn>(handle); }
    [[nodiscard]] Archive& archive(ObjectHandle handle) { return get<Archive>(handle); }

    /// Every replicated value of an object, in one line; equal texts mean equal objects.
    [[nodiscard]] static std::string text_of(const Object& object, const ReferenceText& reference);

    /// Memory that the values of all objects hold, beside the objects themselves.
    [[nodiscard]] std::size_t value_bytes() const noexcept;

    // NetWorld
    [[nodiscard]] void* object_memory(ObjectHandle handle) override;
    [[nodiscard]] ObjectHandle spawn(const SpawnInfo& info) override;
    void despawn(ObjectHandle handle, ChannelCloseReason) override;
    void destroy_named(std::string_view stable_name) override {
        destroyed_names.emplace_back(stable_name);
    }
    void destroy_part(ObjectHandle, std::string_view stable_name) override {
        destroyed_parts.emplace_back(stable_name);
    }
    void peer_joined(PeerId peer) override {
        if (on_joined) {
            on_joined(peer);
        }
    }
    void peer_left(PeerId peer, CloseReason reason) override {
        if (on_left) {
            on_left(peer, reason);
        }
    }

    /// Class that spawn() refuses to make; null: none.
    const RepLayout* refused_layout = nullptr;
    /// What spawn() answers for any object with a name; null: a new one.
    ObjectHandle found_by_name;
    /// Called before a despawn takes place.
    std::function<void(ObjectHandle)> on_despawn;
    std::function<void(PeerId)> on_joined;
    std::function<void(PeerId, CloseReason)> on_left;
    std::vector<std::string> destroyed_names;  ///< those that it was told of
    std::vector<std::string> destroyed_parts;  ///< likewise
    std::uint32_t spawn_count = 0;
    std::uint32_t despawn_count = 0;
};

}  // namespace replayout::test

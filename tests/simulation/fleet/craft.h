// SPDX-License-Identifier: MIT
//
// What is replicated in a simulation: a class with a property of every kind that behaves in a way
// of its own, and with functions that carry numbers. Both ends use the same layout, or two that
// differ in what is push based, which changes no byte; or a client has an older one.
#pragma once

#include <replayout/fast_array.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/worlds/typed_world.h"

namespace replayout::test {

struct Craft;

/// Parameters of all functions.
struct Report {
    std::uint32_t number = 0;
    ObjectHandle target;
    std::string text;
};

/// Right only as a whole.
struct Purse {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
    std::uint32_t sum = 0;
    std::string note;  ///< of the sum

    [[nodiscard]] bool adds_up() const { return left + right == sum && note == note_of(sum); }
    [[nodiscard]] static std::string note_of(std::uint32_t sum) {
        return sum == 0 ? std::string() : std::string(sum % 40, 'n') + std::to_string(sum);
    }
};

struct Leg {
    std::uint32_t number = 0;
    std::string name;
    std::vector<std::uint16_t> stops;
};

struct Crate : FastArraySerializerItem {
    std::uint32_t count = 0;
};
struct Hold : FastArraySerializer<Crate> {};

enum class CraftFunction : std::uint8_t { Signal, Flash, Order, Steer, Ping };
inline constexpr std::size_t craft_function_count = 5;

/// Who is told of what happens to the crafts of one end.
class CraftListener {
  public:
    virtual void updated(Craft& craft) = 0;
    virtual void notified(Craft& craft, std::uint32_t property, std::uint64_t previous) = 0;
    virtual void called(Craft& craft, CraftFunction function, const Report& report) = 0;

  protected:
    ~CraftListener() = default;
};

struct Craft {
    std::uint32_t number = 0;
    std::uint32_t course = 0;  // notify
    std::uint64_t heading = 0;
    std::string label;  // notify
    std::string cargo;  // now and then larger than a packet
    std::vector<std::uint32_t> crew;
    std::vector<Leg> legs;
    Purse purse;  // atomic
    ObjectHandle escort;
    Hold hold;
    std::uint64_t orders = 0;  // OwnerOnly
    std::uint64_t rumour = 0;  // SkipOwner
    std::uint32_t built = 0;   // InitialOnly
    std::uint32_t mood = 0;    // Dynamic
    Vector3 place;             // quantised
    std::optional<std::uint32_t> code;
    std::array<std::uint16_t, 3> scores{};
    std::uint32_t gauge = 0;  // push based

    ObjectHandle handle;  // of this end
    CraftListener* listener = nullptr;

    void post_net_receive();
    void on_rep_course(const std::uint32_t& previous);
    void on_rep_label(const std::string& previous);
    void multicast_signal(const Report& report);
    void multicast_flash(const Report& report);
    void client_order(const Report& report);
    void server_steer(const Report& report);
    void server_ping(const Report& report);

  private:
    void tell(CraftFunction function, const Report& report);
};

/// The class as it is, with its push based property compared like all others, and as it was: an
/// older one lacks properties (is_in_older_craft).
enum class CraftVersion : std::uint8_t { Pushed, Compared, Older };
inline constexpr std::size_t craft_version_count = 3;

/// Two classes that differ in nothing but their name: one that all know, and one that a client may
/// lack.
enum class CraftClass : std::uint8_t { Craft, Barge };
inline constexpr std::size_t craft_class_count = 2;

/// Immutable, made once.
[[nodiscard]] const RepLayout& craft_layout(CraftVersion version, CraftClass craft_class);
/// Adds both classes.
[[nodiscard]] Status add_craft_layouts(NetDriver& driver, CraftVersion version);

/// The crafts of one end. A server's are added by the game, a client's by the driver.
class CraftWorld final : public TypedWorld<Craft> {
  public:
    explicit CraftWorld(std::uint64_t first_handle) : TypedWorld(first_handle) {
        on_made = [this](ObjectHandle handle, Craft& craft) {
            craft.handle = handle;
            craft.listener = listener;
        };
    }

    [[nodiscard]] const Objects& crafts() const noexcept { return objects(); }

    ObjectHandle spawn(const SpawnInfo& info) override;
    void despawn(ObjectHandle object, ChannelCloseReason reason) override;
    bool is_net_relevant_for(ObjectHandle object, PeerId peer) override {
        return (object.value * 31 + peer.value * 17 + whim) / 7 % 2 == 0;
    }
    void peer_joined(PeerId peer) override;
    void peer_left(PeerId peer, CloseReason reason) override;

    CraftListener* listener = nullptr;
    std::function<void(const SpawnInfo&, ObjectHandle)> on_spawn;
    std::function<void(ObjectHandle, ChannelCloseReason)> on_despawn;  ///< before it goes
    std::function<void(PeerId)> on_joined;
    std::function<void(PeerId, CloseReason)> on_left;
    std::uint64_t whim = 0;  ///< decides with is_net_relevant_for()
};

}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Purse> : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

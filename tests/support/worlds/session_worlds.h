// SPDX-License-Identifier: MIT
//
// The two ends of a session as the driver sees them: objects of random types by handle.
#pragma once

#include "support/replication/reference_replicator.h"
#include "support/types/random_types.h"

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_world.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace replayout::test {

/// The server's objects. A handle is the ObjectId's number.
class ServerWorld final : public NetWorld {
  public:
    explicit ServerWorld(const RandomTypes& types) : types_(types) {}

    RawObject& add(ObjectId id, std::uint32_t class_index);
    void remove(ObjectId id) { objects_.erase(id.value); }
    [[nodiscard]] RawObject& at(ObjectId id) const { return *objects_.at(id.value); }
    [[nodiscard]] Value read(ObjectId id) const;

    // NetWorld
    [[nodiscard]] void* object_memory(ObjectHandle object) override;
    [[nodiscard]] ObjectHandle spawn(const SpawnInfo& info) override;
    void despawn(ObjectHandle object, ChannelCloseReason) override;

  private:
    const RandomTypes& types_;
    std::map<std::uint64_t, std::unique_ptr<RawObject>> objects_;
};

/// One client's objects, in memory that moves, as NetWorld allows. Looks over the driver's shoulder
/// at each call; problem() is the first thing that was wrong.
class ClientWorld final : public NetWorld {
  public:
    /// Objects of the class with that index are not made; past the last: all are.
    ClientWorld(const RandomTypes& types, std::uint32_t refused_class)
        : types_(types), refused_class_(refused_class) {}

    [[nodiscard]] const std::map<std::uint64_t, std::unique_ptr<RawObject>>& objects()
        const noexcept {
        return objects_;
    }
    [[nodiscard]] std::string refused_type() const;
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

    /// A notify that ran while this client's driver did.
    void note_notify(const NotifyEvent& event);

    // NetWorld
    [[nodiscard]] void* object_memory(ObjectHandle object) override;
    [[nodiscard]] ObjectHandle spawn(const SpawnInfo& info) override;
    void despawn(ObjectHandle object, ChannelCloseReason) override;

  private:
    void fail(std::string problem);
    void check_unreferenced(ObjectHandle object);

    const RandomTypes& types_;
    std::uint32_t refused_class_;
    std::map<std::uint64_t, std::unique_ptr<RawObject>> objects_;
    std::uint64_t last_handle_ = 1'000'000;  // unlike any of the server's
    std::string problem_;
};

/// A client's world in the server's names, with its references held against what they must be: the
/// object that the driver says they name, if it is there, and null if it is not.
class DriverView final : public ClientView {
  public:
    DriverView(const NetDriver& server, const NetDriver& client, const ClientWorld& world)
        : server_(server), client_(client), world_(world) {}

    [[nodiscard]] std::vector<Object> objects(std::vector<std::string>& problems) const override;

  private:
    [[nodiscard]] Reference name_reference(ObjectHandle owner, ObjectHandle held,
                                           const HandlePath& path,
                                           std::vector<std::string>& problems) const;
    /// The receiver has handles of its own there, so of a null it is not known what it names.
    [[nodiscard]] Reference name_keyed_reference(ObjectHandle held,
                                                 std::vector<std::string>& problems) const;

    const NetDriver& server_;
    const NetDriver& client_;
    const ClientWorld& world_;
};

}  // namespace replayout::test

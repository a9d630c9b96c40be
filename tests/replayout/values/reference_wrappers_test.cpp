// SPDX-License-Identifier: MIT
//
// References that are kept in something else than a handle or a pointer to the object: weak, to an
// interface, and soft. On the wire the first two are object references like any other.
#include <replayout/reflection/type_builder.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout {
namespace {

struct Vehicle : std::enable_shared_from_this<Vehicle> {
    virtual ~Vehicle() = default;
    std::int32_t fuel = 0;
};

/// An interface that lies behind another base, so its address is not that of the object.
struct Damageable {
    virtual ~Damageable() = default;
    [[nodiscard]] virtual ObjectHandle handle() const = 0;
};

struct ArmouredVehicle final : Vehicle, Damageable {
    [[nodiscard]] ObjectHandle handle() const override {
        return {reinterpret_cast<std::uintptr_t>(static_cast<const Vehicle*>(this))};
    }
};

struct Aimed {
    Damageable* object = nullptr;
};

[[nodiscard]] ObjectHandle held_handle(const Aimed& aimed) {
    return aimed.object == nullptr ? ObjectHandle() : aimed.object->handle();
}

void set_aimed(Aimed& aimed, ObjectHandle handle) {
    // What an engine would look up by its handle.
    auto* vehicle = reinterpret_cast<Vehicle*>(static_cast<std::uintptr_t>(handle.value));
    aimed.object = static_cast<ArmouredVehicle*>(vehicle);
}

/// Names something that need not be loaded.
class SoftPath {
  public:
    void assign(const char* text, std::size_t size) { path_.assign(text, size); }
    operator std::string_view() const { return path_; }

  private:
    std::string path_;
};

struct Driver {
    std::weak_ptr<Vehicle> vehicle;
    Aimed target;
    SoftPath portrait;
};

struct HandleDriver {
    ObjectHandle vehicle;
    ObjectHandle target;
    std::string portrait;
};

}  // namespace

template <>
struct KindOf<Aimed> : WrappedReferenceKind<Aimed, held_handle, set_aimed> {};

template <>
struct KindOf<SoftPath> : StringKind<SoftPath> {};

namespace {

template <typename T>
[[nodiscard]] Result<const Type*> build_driver(TypeRegistry& registry) {
    return class_builder<T>(registry, "Driver")
        .template property<&T::vehicle>("vehicle")
        .template property<&T::target>("target")
        .template property<&T::portrait>("portrait")
        .build();
}

TEST_CASE("Reference wrappers: are the same layout as plain references and a string",
          "[replayout][reference_wrappers]") {
    const TestLayout wrapped(build_driver<Driver>);
    const TestLayout plain(build_driver<HandleDriver>);
    CHECK(wrapped->fingerprint() == plain->fingerprint());
    CHECK(wrapped.cmd(1).type == RepLayoutCmdType::Object);
    CHECK(wrapped.cmd(2).type == RepLayoutCmdType::Object);
    CHECK(wrapped.cmd(3).type == RepLayoutCmdType::String);
}

TEST_CASE("Reference wrappers: arrive in their own form", "[replayout][reference_wrappers]") {
    const TestLayout layout(build_driver<Driver>);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    const auto there = std::make_shared<ArmouredVehicle>();
    const auto here = std::make_shared<ArmouredVehicle>();
    receiver.package_map.bind(sender.package_map.guid_of(there->handle()), here->handle());
    Driver server;
    Driver client;
    server.vehicle = there;
    server.target.object = there.get();
    server.portrait.assign("/art/driver", 11);
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.vehicle.lock() == here);
    CHECK(client.target.object == here.get());
    CHECK(std::string_view(client.portrait) == "/art/driver");
    CHECK(here.use_count() == 1);
}

TEST_CASE("Reference wrappers: a weak pointer whose object is gone is null on both ends",
          "[replayout][reference_wrappers]") {
    const TestLayout layout(build_driver<Driver>);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    auto there = std::make_shared<ArmouredVehicle>();
    const auto here = std::make_shared<ArmouredVehicle>();
    receiver.package_map.bind(sender.package_map.guid_of(there->handle()), here->handle());
    Driver server;
    Driver client;
    server.vehicle = there;
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    there.reset();
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(1))));
    CHECK(client.vehicle.lock() == nullptr);
}

}  // namespace
}  // namespace replayout

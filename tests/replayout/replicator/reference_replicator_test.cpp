// SPDX-License-Identifier: MIT
//
// The oracle of the random tests: what it lets a client show, and what not.
#include "support/replication/reference_replicator.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::test {
namespace {

struct Shelf {
    std::uint32_t id = 0;
    std::vector<std::int32_t> books;
};

struct Library {
    std::vector<Shelf> shelves;
};

[[nodiscard]] Result<const Type*> build_library(TypeRegistry& registry) {
    REQUIRE(struct_builder<Shelf>(registry, "Shelf")
                .property<&Shelf::id>()
                .property<&Shelf::books>()
                .build());
    return class_builder<Library>(registry, "Library")
        .property<&Library::shelves>()
        .keyed_by<&Shelf::id>(ArrayOrder::Kept)
        .build();
}

[[nodiscard]] Value state_of(const RepLayout& layout, const Library& library) {
    return read_object(layout.type(), &library,
                       [](ObjectHandle, const HandlePath&) { return Reference(); });
}

constexpr ObjectId library_id{7};
constexpr ClientId client_id{1};

/// One client's copy.
class LibraryView final : public ClientView {
  public:
    LibraryView(const RepLayout& layout, const Library& shown)
        : object_{library_id, std::string(layout.type().name()), state_of(layout, shown)} {}

    [[nodiscard]] std::vector<Object> objects(std::vector<std::string>&) const override {
        return {object_};
    }

  private:
    Object object_;
};

/// A server, its oracle, and a client that is sent what a test says.
struct Reading {
    explicit Reading(Shelf shelf) : layout(build_library) {
        server.shelves.push_back(std::move(shelf));
        oracle.add_object(library_id, layout->type(), state_of(*layout, Library()));
        oracle.add_client(client_id, "");
        note();
    }

    /// The server's object is as it is now.
    void note() {
        sender.update(&server);
        oracle.set_state(library_id, state_of(*layout, server));
    }

    [[nodiscard]] std::string observe() {
        return oracle.observe(client_id, LibraryView(*layout, client));
    }

    TestLayout layout;
    BlockSender sender{*layout};
    BlockReceiver receiver{*layout};
    ReferenceReplicator oracle;
    Library server;
    Library client;
};

/// Sent all up to `sent`, of which everything up to `held` has arrived for certain.
[[nodiscard]] OwedVersions sent_and_held(Version sent, Version held) {
    OwedVersions position = since(sent);
    position.held_version = held;
    return position;
}

}  // namespace

TEST_CASE("Oracle: an array in a keyed element may have its count before what it grew by",
          "[replayout][reference_replicator]") {
    Reading reading(Shelf{5, {}});
    REQUIRE(reading.receiver.receive(&reading.client, reading.sender.block(sent_and_held(0, 0))));
    reading.server.shelves[0].books = {11, 12, 13};
    reading.note();  // version 2, in a packet that is lost
    reading.server.shelves[0].books = {11, 12};
    reading.note();
    REQUIRE(reading.receiver.receive(&reading.client, reading.sender.block(sent_and_held(2, 1))));
    CHECK(reading.client.shelves[0].books == std::vector<std::int32_t>{0, 0});
    CHECK(reading.observe() == "");

    // Version 2 is known to be lost.
    REQUIRE(reading.receiver.receive(&reading.client, reading.sender.block(since(3, 1, 2))));
    CHECK(reading.client.shelves[0].books == std::vector<std::int32_t>{11, 12});
    CHECK(reading.observe() == "");
    reading.client.shelves[0].books = {11, 99};
    CHECK(reading.observe() != "");
}

TEST_CASE("Oracle: a keyed element comes with all that arrays in it hold",
          "[replayout][reference_replicator]") {
    Reading reading(Shelf{5, {11, 12}});
    reading.client.shelves = {{5, {11, 0}}};
    CHECK(reading.observe() != "");
}

TEST_CASE("Oracle: an array in a keyed element that grows again may have its count before",
          "[replayout][reference_replicator]") {
    Reading reading(Shelf{5, {11, 12}});
    reading.server.shelves[0].books = {11};
    reading.note();
    reading.server.shelves[0].books = {11, 14};
    reading.note();
    reading.client.shelves = {{5, {11, 0}}};
    CHECK(reading.observe() == "");
    reading.client.shelves = {{5, {0, 14}}};
    CHECK(reading.observe() != "");
}

}  // namespace replayout::test

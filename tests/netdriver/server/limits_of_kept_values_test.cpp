// SPDX-License-Identifier: MIT
//
// Values of a NetSerializer that name objects are kept by a client as bits, to be read again: how
// many, of one object and of all (docs/limits.md). And one that fails is a line of the log.
#include <replayout/net_archive.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/hostile/packet_forge.h"
#include "support/types/test_layout.h"
#include "support/worlds/joined_client.h"
#include "support/worlds/typed_world.h"

namespace replayout {
namespace {

/// A text, and whom it is about.
struct Story {
    std::string text;
    ObjectHandle hero;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok) {
        archive.serialize_string(text, 8'000);
        ok = text != "lies";
        return archive.serialize_object(hero, map);
    }
    friend bool operator==(const Story&, const Story&) = default;
};

struct Book {
    Story story;
};

}  // namespace

template <>
struct StructTraitsOf<Story> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace test {
namespace {

[[nodiscard]] Result<const Type*> build_book(TypeRegistry& registry) {
    REQUIRE(struct_builder<Story>(registry, "Story").build());
    return class_builder<Book>(registry, "Book").property<&Book::story>().build();
}

/// A client with books on channels 1 to 3.
class Reader {
  public:
    explicit Reader(const NetConfig& config)
        : layout_(build_book), client_(library_, {&*layout_}, config) {
        for (std::uint32_t channel = 1; channel <= 3; ++channel) {
            client_.deliver({open_bunch(channel, NetGUID{channel}, 0)});
        }
        REQUIRE(is_joined());
    }

    /// A story of so many bytes in all, about an object that is not there.
    void tell(std::uint32_t channel, std::size_t kept_bytes) {
        const std::size_t other_bytes = kept_bytes < 130 ? 2 : 3;  // length and id
        tell(channel, std::string(kept_bytes - other_bytes, 'x'), 99);
    }
    void tell(std::uint32_t channel, const std::string& text, std::uint64_t hero) {
        client_.deliver({}, block_of(channel, make_block(1, {1}, [&](BitWriter& writer) {
                                         writer.write_packed_uint(text.size());
                                         writer.write_bytes(std::as_bytes(std::span(text)));
                                         writer.write_packed_uint(hero);
                                     })));
    }
    [[nodiscard]] bool is_joined() const { return client_.is_joined(); }

  private:
    TestLayout layout_;
    TypedWorld<Book> library_;
    JoinedClient client_;

  public:
    NetDriver& driver = client_.driver;
};

}  // namespace

TEST_CASE("Limits of servers: kept_bytes_per_object_max bounds the kept bits of one object",
          "[netdriver][limits]") {
    NetConfig config;
    config.kept_bytes_per_object_max = 200;
    for (const std::size_t bytes : {199u, 200u, 201u}) {
        INFO("bytes " << bytes);
        Reader reader(config);
        reader.tell(1, bytes);
        CHECK(reader.is_joined() == (bytes <= 200));
        CHECK(reader.driver.close_reason() ==
              (bytes <= 200 ? CloseReason::None : CloseReason::TooManyReferences));
    }
}

TEST_CASE("Limits of servers: kept_bytes_max bounds the kept bits of all objects together",
          "[netdriver][limits]") {
    NetConfig config;
    config.kept_bytes_max = 500;
    for (const std::size_t bytes : {99u, 100u, 101u}) {
        INFO("bytes " << bytes);
        Reader reader(config);
        for (int round = 0; round < 5; ++round) {  // what it was before no longer counts
            reader.tell(1, 250);
            reader.tell(2, 150);
        }
        REQUIRE(reader.is_joined());
        reader.tell(3, bytes);
        CHECK(reader.is_joined() == (bytes <= 100));
        CHECK(reader.driver.close_reason() ==
              (bytes <= 100 ? CloseReason::None : CloseReason::TooManyReferences));
    }
}

TEST_CASE("Text of peers: a value that its net_serialize refuses is one line, with its place",
          "[netdriver][peer_log][hostile]") {
    const LogSpy spy;
    Reader reader{NetConfig()};
    reader.tell(1, "lies", 0);
    CHECK(reader.driver.close_reason() == CloseReason::MalformedBlock);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages().front().find("story") != std::string::npos);
}

}  // namespace test
}  // namespace replayout

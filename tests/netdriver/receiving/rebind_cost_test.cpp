// SPDX-License-Identifier: MIT
//
// Opens and closes of an object that many references name: each binds them all, so a packet of a
// few bytes could keep a client busy for seconds.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/packet_forge.h"
#include "support/types/test_layout.h"
#include "support/worlds/joined_client.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

struct Contact {
    std::uint32_t id = 0;
    ObjectHandle who;
};

struct Directory {
    std::vector<Contact> contacts;
    std::vector<ObjectHandle> row;
};

[[nodiscard]] Result<const Type*> build_directory(TypeRegistry& registry) {
    REQUIRE(struct_builder<Contact>(registry, "Contact")
                .property<&Contact::id>()
                .property<&Contact::who>()
                .build());
    return class_builder<Directory>(registry, "Directory")
        .property<&Directory::contacts>()
        .keyed_by<&Contact::id>()
        .property<&Directory::row>()
        .build();
}

/// A client that holds one directory, on channel 1, of which every entry names `target`.
class Client {
  public:
    static constexpr NetGUID target{120};
    static constexpr std::uint32_t count = 2'048;
    enum class Where : std::uint8_t { Contacts, Row };

    explicit Client(Where where) : layout_(build_directory), client_(world, {&*layout_}) {
        client_.deliver({open_bunch(1, NetGUID{1}, 0)});
        for (std::uint32_t begin = 0; begin < count; begin += 256) {
            client_.deliver({},
                            block_with_length_of(
                                1, where == Where::Row ? make_row(begin) : make_contacts(begin)));
        }
        REQUIRE(client_.is_joined());
    }

    /// One packet in which the target comes and goes so often.
    void open_and_close(std::uint32_t times) {
        std::vector<Bunch> bunches;
        for (std::uint32_t i = 0; i < times; ++i) {
            bunches.push_back(open_bunch(2, target, 0));
            bunches.push_back(close_bunch(2, 2));
        }
        client_.deliver(bunches);
    }
    void open() { client_.deliver({open_bunch(2, target, 0)}); }

    TypedWorld<Directory> world;

  private:
    [[nodiscard]] static Bytes make_contacts(std::uint32_t begin) {
        return make_block(2, {1}, [&](BitWriter& writer) {
            writer.write_bool(false);
            writer.write_packed_uint(0);
            writer.write_packed_uint(256);
            for (std::uint32_t i = 0; i < 256; ++i) {
                writer.write_packed_uint(i == 0 ? begin : 0);
                writer.write_bool(false);
                writer.write_bool(true);
                writer.write_packed_uint(target.value);
            }
        });
    }
    [[nodiscard]] static Bytes make_row(std::uint32_t begin) {
        return make_block(2, {2}, [&](BitWriter& writer) {
            writer.write_packed_uint(count);
            ChangeMask changed;
            changed.reset(count);
            changed.set_range(begin, 256);
            write_change_mask(writer, changed, EmptySet::Possible);
            for (std::uint32_t i = 0; i < 256; ++i) {
                writer.write_packed_uint(target.value);
            }
        });
    }

    TestLayout layout_;
    JoinedClient client_;

  public:
    NetDriver& driver = client_.driver;
};

}  // namespace

TEST_CASE("Rebinding: an object that everything names comes and goes, and all of it follows",
          "[netdriver][rebind_cost]") {
    for (const Client::Where where : {Client::Where::Contacts, Client::Where::Row}) {
        Client client(where);
        client.open_and_close(4);
        CHECK(client.driver.state() == ConnectionState::Joined);
        client.open();
        std::uint32_t bound = 0;
        for (const Contact& contact : client.world.first().contacts) {
            bound += contact.who.is_null() ? 0u : 1u;
        }
        for (const ObjectHandle object : client.world.first().row) {
            bound += object.is_null() ? 0u : 1u;
        }
        CHECK(bound == Client::count);
    }
}

TEST_CASE("Hostile: opens and closes are paid for by what they bind", "[netdriver][hostile]") {
    struct Row {
        Client::Where where;
        std::uint32_t times_max;  // that 1,000,000 steps are enough for, of both alike
    };
    for (const Row& row : {Row{Client::Where::Contacts, 13}, Row{Client::Where::Row, 15}}) {
        Client client(row.where);
        client.open_and_close(row.times_max);
        CHECK(client.driver.state() == ConnectionState::Joined);
        client.open_and_close(row.times_max + 1);
        CHECK(client.driver.state() != ConnectionState::Joined);
        CHECK(client.driver.close_reason() == CloseReason::MalformedBunch);
    }
}

}  // namespace replayout::test

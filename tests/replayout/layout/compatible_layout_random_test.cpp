// SPDX-License-Identifier: MIT
//
// Random classes and variations of them: properties left out, moved, renamed, retyped, quantised
// otherwise. Whatever a sender and a receiver have alike must arrive, by rules that are written
// down here once more, by name; everything else must stay as it was made.
#include <replayout/layout_description.h>
#include <replayout/receive_properties.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/checks/value_difference.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/random_editor.h"
#include "support/types/random_types.h"

namespace replayout::compatible_layout_random_test {
namespace {

/// A property of a type or of its bases, or null; and where it lies.
struct Member {
    const Property* property = nullptr;
    std::uint32_t offset = 0;
};

Member find_member(const Type& type, const std::string& name) {
    for (const Property& property : type.properties()) {
        if (property.name == name) {
            return {&property, property.offset};
        }
    }
    if (type.base() == nullptr) {
        return {};
    }
    Member member = find_member(*type.base(), name);
    member.offset += type.base_offset();
    return member;
}

template <typename Visitor>
void for_each_member(const Type& type, std::uint32_t offset, const Visitor& visit) {
    if (type.base() != nullptr) {
        for_each_member(*type.base(), offset + type.base_offset(), visit);
    }
    for (const Property& property : type.properties()) {
        visit(property, offset + property.offset);
    }
}

PropertyKind wire_kind(const Property& property) {
    return property.kind == PropertyKind::BitBool ? PropertyKind::Bool : property.kind;
}

bool has_net_serializer(const Property& property) {
    return property.struct_type->traits().has_net_serializer;
}

bool same_description(const Quantisation& left, const Quantisation& right) {
    return to_string(left) == to_string(right);
}

/// Anything of `client` that a `server` sends.
bool is_common(const Property& server, const Property& client);

bool is_common_type(const Type& server, const Type& client) {
    bool is_any = false;
    for_each_member(client, 0, [&](const Property& property, std::uint32_t) {
        const Member member = find_member(server, property.name);
        is_any =
            is_any || (member.property != nullptr && property.is_replicated &&
                       member.property->is_replicated && is_common(*member.property, property));
    });
    return is_any;
}

bool is_common(const Property& server, const Property& client) {
    // A member that became a C array is another one; a C array may become longer.
    if ((server.array_dim > 1) != (client.array_dim > 1)) {
        return false;
    }
    if (wire_kind(server) != wire_kind(client) ||
        !same_description(server.quantisation, client.quantisation)) {
        return false;
    }
    switch (client.kind) {
        case PropertyKind::Struct:
            if (has_net_serializer(server) || has_net_serializer(client)) {
                return has_net_serializer(server) == has_net_serializer(client) &&
                       server.struct_type->name() == client.struct_type->name();
            }
            return is_common_type(*server.struct_type, *client.struct_type);
        case PropertyKind::DynamicArray:
        case PropertyKind::Optional:
            return is_common(*server.element, *client.element);
        case PropertyKind::Enum:
            return server.size == client.size;
        default:
            return true;
    }
}

struct Counts {
    std::uint64_t common = 0;
    std::uint64_t skipped = 0;
    std::uint64_t unsent = 0;
};

/// Values of one place: what the server has, what the client shows, and a client's fresh value.
class Judge {
  public:
    explicit Judge(Counts& counts) : counts_(counts) {}

    void check_members(const Type& server, const std::byte* sent, const Type& client,
                       const std::byte* shown, std::byte* fresh) {
        for_each_member(client, 0, [&](const Property& property, std::uint32_t offset) {
            const Member member = find_member(server, property.name);
            for (std::uint32_t i = 0; i < property.array_dim; ++i) {
                const std::uint32_t at = offset + i * property.size;
                INFO("property " << property.name << " [" << i << "]");
                const bool is_sent = member.property != nullptr && member.property->is_replicated &&
                                     property.is_replicated && i < member.property->array_dim &&
                                     is_common(*member.property, property);
                if (is_sent) {
                    check_value(*member.property, sent + member.offset + i * member.property->size,
                                property, shown + at, fresh + at);
                } else {
                    ++counts_.unsent;
                    REQUIRE(detail::find_value_difference(property, shown + at, fresh + at) == "");
                }
            }
        });
    }

  private:
    void check_value(const Property& server, const std::byte* sent, const Property& client,
                     const std::byte* shown, std::byte* fresh) {
        if (client.kind == PropertyKind::Struct && !has_net_serializer(client)) {
            check_members(*server.struct_type, sent, *client.struct_type, shown, fresh);
            return;
        }
        ++counts_.common;
        if (is_array(client.kind)) {
            const std::size_t count = server.array.count(sent);
            REQUIRE(client.array.count(shown) == count);
            client.array.resize(fresh, count);
            const auto* sent_elements = static_cast<const std::byte*>(server.array.data(sent));
            const auto* shown_elements = static_cast<const std::byte*>(client.array.data(shown));
            auto* fresh_elements = static_cast<std::byte*>(client.array.mutable_data(fresh));
            for (std::size_t i = 0; i < count; ++i) {
                check_value(*server.element, sent_elements + i * server.element->size,
                            *client.element, shown_elements + i * client.element->size,
                            fresh_elements + i * client.element->size);
            }
            return;
        }
        if (client.kind == PropertyKind::Name) {  // each side has a table of its own
            REQUIRE(server.string.view(sent, server.string.context) ==
                    client.string.view(shown, client.string.context));
            return;
        }
        if (client.kind == PropertyKind::BitBool || client.kind == PropertyKind::Bool) {
            REQUIRE(is_set(server, sent) == is_set(client, shown));
            return;
        }
        INFO("of kind " << to_string(client.kind) << " " << to_string(client.quantisation) << ", "
                        << to_string(server.kind) << " " << server.size << " and " << client.size);
        REQUIRE(detail::find_value_difference(client, sent, shown) == "");
    }

    static bool is_set(const Property& property, const std::byte* memory) {
        const std::byte mask{property.kind == PropertyKind::BitBool ? property.bit_mask
                                                                    : std::uint8_t{0xff}};
        return (*memory & mask) != std::byte{0};
    }

    Counts& counts_;
};

void play(const test::RandomTypes& server_types, const test::RandomTypes& client_types,
          std::uint32_t index, test::SeededRandom& random, Counts& counts) {
    const RepLayout& server_layout = server_types.layout(index);
    const RepLayout& client_layout = client_types.layout(index);
    const auto description = describe_layout(server_layout, std::pmr::get_default_resource());
    const auto layout = RepLayout::create_compatible(client_types.registry(), &client_layout,
                                                     {description.data(), description.size()},
                                                     LayoutPolicy::SkipUnknown);
    INFO((layout ? "" : layout.error().message));
    REQUIRE(layout);
    for (const RepLayoutCmd& cmd : (*layout)->cmds()) {
        counts.skipped += has_flag(cmd.flags, RepLayoutCmdFlags::IsSkipped) ? 1u : 0u;
    }
    BlockSender on(server_layout);
    BlockSender off(server_layout);
    off.is_sharing = false;
    const auto server = server_types.make_object(index);
    const auto client = client_types.make_object(index);
    BlockReceiver receiver(**layout);
    for (std::uint64_t handle = 1; handle <= 3; ++handle) {
        (void)off.package_map.guid_of(ObjectHandle{handle});
        receiver.package_map.bind(on.package_map.guid_of(ObjectHandle{handle}),
                                  ObjectHandle{handle});
    }
    std::mt19937_64 edits(random.bits());
    SendingRepState pair;
    for (int tick = 0; tick < 12; ++tick) {
        for (std::uint32_t edit = random.below(6); edit > 0; --edit) {
            RandomEditor(edits, 3).edit(server_layout.type(), server->memory());
        }
        (void)on.update(server->memory());
        (void)off.update(server->memory());
        const OwedVersions position(pair);
        const Bytes block = on.block(position);
        REQUIRE(off.block(position) == block);
        const SentVersions record = pair.send(on.state.version());
        const bool is_lost = tick < 9 && random.percent(30);
        if (is_lost) {
            pair.lose(record);
            continue;
        }
        pair.delivered();
        if (!block.empty()) {
            REQUIRE(receiver.receive(client->memory(), block));
            REQUIRE(receiver.bits_left == 0);
        }
        const auto fresh = client_types.make_object(index);
        if (pair.is_exact()) {
            Judge(counts).check_members(server_layout.type(), server->memory(),
                                        client_layout.type(), client->memory(), fresh->memory());
        }
    }
}

TEST_CASE("Compatible layouts: of random classes and their variations what is common arrives",
          "[replayout][compatible_layout]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    test::SeededRandom random(seed);
    Counts counts;
    for (int round = 0; round < 60; ++round) {
        const std::uint64_t types_seed = random.bits();
        test::RandomTypesSettings settings{2, 25, 3, RepLimits(), 0, false};
        const test::RandomTypes original(types_seed, settings);
        settings.variation_seed = random.bits() | 1;
        const test::RandomTypes varied(types_seed, settings);
        for (std::uint32_t index = 0; index < original.class_count(); ++index) {
            INFO("round " << round << ", class " << index);
            if (original.layout(index).name() != varied.layout(index).name()) {
                continue;  // a variation that nests less deep makes other types from there on
            }
            play(original, varied, index, random, counts);
            play(varied, original, index, random, counts);
        }
    }
    CHECK(counts.common > 3'000);
    CHECK(counts.skipped > 300);
    CHECK(counts.unsent > 300);
}

}  // namespace
}  // namespace replayout::compatible_layout_random_test

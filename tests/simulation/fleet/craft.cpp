// SPDX-License-Identifier: MIT
#include "simulation/fleet/craft.h"

#include "simulation/fleet/craft_slots.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

namespace replayout::test {

namespace {

template <typename Value>
const Value& expect(const Result<Value>& result) {
    if (!result) {
        std::fprintf(stderr, "simulation: %s\n", result.error().message.c_str());
        std::abort();
    }
    return *result;
}

struct CraftTypes {
    CraftTypes(CraftVersion version, CraftClass craft_class) {
        expect(struct_builder<Report>(registry, "Report")
                   .property<&Report::number>()
                   .property<&Report::target>()
                   .property<&Report::text>()
                   .build());
        expect(struct_builder<Purse>(registry, "Purse")
                   .property<&Purse::left>()
                   .property<&Purse::right>()
                   .property<&Purse::sum>()
                   .property<&Purse::note>()
                   .build());
        expect(struct_builder<Leg>(registry, "Leg")
                   .property<&Leg::number>()
                   .property<&Leg::name>()
                   .property<&Leg::stops>()
                   .build());
        expect(struct_builder<Crate>(registry, "Crate").property<&Crate::count>().build());
        expect(register_fast_array<Hold>(registry, "Hold"));
        const Type* craft = build_craft(version, craft_class);
        if (!registry.freeze()) {
            std::abort();
        }
        RepLayoutOptions options;
        options.limits.string_bytes_max = 30'000;
        Result<std::unique_ptr<RepLayout>> made = RepLayout::create(registry, *craft, options);
        expect(made);
        layout = std::move(*made);
    }

    [[nodiscard]] const Type* build_craft(CraftVersion version, CraftClass craft_class) {
        using Flags = FunctionFlags;
        TypeBuilder<Craft> builder =
            class_builder<Craft>(registry, craft_class == CraftClass::Craft ? "Craft" : "Barge");
        builder.property<&Craft::number>()
            .property<&Craft::course>()
            .on_rep<&Craft::on_rep_course>()
            .property<&Craft::label>()
            .on_rep<&Craft::on_rep_label>()
            .property<&Craft::cargo>()
            .property<&Craft::crew>()
            .property<&Craft::purse>()
            .property<&Craft::escort>()
            .property<&Craft::hold>()
            .property<&Craft::orders>()
            .condition(LifetimeCondition::OwnerOnly)
            .property<&Craft::rumour>()
            .condition(LifetimeCondition::SkipOwner)
            .property<&Craft::built>()
            .condition(LifetimeCondition::InitialOnly)
            .property<&Craft::mood>()
            .condition(LifetimeCondition::Dynamic)
            .property<&Craft::place>()
            .quantised(Quantisation::tenth())
            .property<&Craft::scores>();
        if (version != CraftVersion::Older) {
            builder.property<&Craft::heading>().property<&Craft::legs>().property<&Craft::code>();
        }
        auto gauge = builder.property<&Craft::gauge>();
        if (version != CraftVersion::Compared) {
            gauge.push_based();
        }
        return expect(builder.function<&Craft::multicast_signal>(Flags::Multicast | Flags::Reliable)
                          .function<&Craft::multicast_flash>(Flags::Multicast)
                          .function<&Craft::client_order>(Flags::Client | Flags::Reliable)
                          .function<&Craft::server_steer>(Flags::Server | Flags::Reliable)
                          .function<&Craft::server_ping>(Flags::Server)
                          .post_net_receive<&Craft::post_net_receive>()
                          .build());
    }

    TypeRegistry registry;
    std::unique_ptr<RepLayout> layout;
};

}  // namespace

const RepLayout& craft_layout(CraftVersion version, CraftClass craft_class) {
    using OfVersion = std::array<std::unique_ptr<CraftTypes>, craft_class_count>;
    static const auto types = [] {
        std::array<OfVersion, craft_version_count> made;
        for (std::size_t i = 0; i < made.size(); ++i) {
            for (std::size_t j = 0; j < made[i].size(); ++j) {
                made[i][j] = std::make_unique<CraftTypes>(CraftVersion(i), CraftClass(j));
            }
        }
        return made;
    }();
    const OfVersion& of_version = types[static_cast<std::size_t>(version)];
    return *of_version[static_cast<std::size_t>(craft_class)]->layout;
}

Status add_craft_layouts(NetDriver& driver, CraftVersion version) {
    const Status added = driver.add_layout(craft_layout(version, CraftClass::Craft));
    return added ? driver.add_layout(craft_layout(version, CraftClass::Barge)) : added;
}

void Craft::post_net_receive() {
    if (listener != nullptr) {
        listener->updated(*this);
    }
}
void Craft::on_rep_course(const std::uint32_t& previous) {
    if (listener != nullptr) {
        listener->notified(*this, course_slot, previous);
    }
}
void Craft::on_rep_label(const std::string& previous) {
    if (listener != nullptr) {
        listener->notified(*this, label_slot, value_of(previous));
    }
}
void Craft::multicast_signal(const Report& report) {
    tell(CraftFunction::Signal, report);
}
void Craft::multicast_flash(const Report& report) {
    tell(CraftFunction::Flash, report);
}
void Craft::client_order(const Report& report) {
    tell(CraftFunction::Order, report);
}
void Craft::server_steer(const Report& report) {
    tell(CraftFunction::Steer, report);
}
void Craft::server_ping(const Report& report) {
    tell(CraftFunction::Ping, report);
}

void Craft::tell(CraftFunction function, const Report& report) {
    if (listener != nullptr) {
        listener->called(*this, function, report);
    }
}

ObjectHandle CraftWorld::spawn(const SpawnInfo& info) {
    const ObjectHandle handle = TypedWorld::spawn(info);
    if (on_spawn) {
        on_spawn(info, handle);
    }
    return handle;
}

void CraftWorld::despawn(ObjectHandle object, ChannelCloseReason reason) {
    if (on_despawn) {
        on_despawn(object, reason);
    }
    TypedWorld::despawn(object, reason);
}

void CraftWorld::peer_joined(PeerId peer) {
    if (on_joined) {
        on_joined(peer);
    }
}

void CraftWorld::peer_left(PeerId peer, CloseReason reason) {
    if (on_left) {
        on_left(peer, reason);
    }
}

}  // namespace replayout::test

// SPDX-License-Identifier: MIT
//
// Holders of references of every form, for a game of behaviours, and what must be true of them:
// at each end a stored reference is null, or names an object that is spawned there.
#pragma once

#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/behaviours/behaviour_reference.h>
#include <replayout/reflection/type_builder.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/worlds/arena_game.h"

namespace replayout::test {

struct Bond {
    std::int32_t strength = 0;
    NetworkIdentity* other = nullptr;

    friend bool operator==(const Bond&, const Bond&) = default;
};

/// Notes what hooks of `target` receive, and what `target` holds then.
class Holder : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> number;
    SyncVar<NetworkIdentity*> target;
    SyncVar<NetworkIdentity*> plain;  // without a hook
    SyncVar<BehaviourReference> part;
    SyncVar<std::vector<NetworkIdentity*>> many;
    SyncVar<Bond> bond;

    std::vector<std::string> told;
    bool is_assigning = true;  ///< a hook of UNet's style does what it is there for
    std::function<void()> in_hook;

    void on_target(NetworkIdentity* current) {
        told.push_back(std::string(current == nullptr ? "null" : "an object") + ", holds " +
                       (target.get() == nullptr ? "null" : "an object"));
        if (in_hook) {
            std::exchange(in_hook, nullptr)();
        }
        if (is_assigning && is_of_unet()) {
            target = current;
        }
    }
    void on_part(const BehaviourReference& previous, const BehaviourReference& current) {
        // What was there is there still, while its hook runs.
        last_told = previous.object == nullptr ? 0 : previous.object->asset_id();
        if (is_assigning && is_of_unet()) {
            part = current;
        }
    }
    void on_many(const std::vector<NetworkIdentity*>& current) {
        if (is_assigning && is_of_unet()) {
            many = current;
        }
    }
    [[nodiscard]] bool is_of_unet() const noexcept {
        return sync_settings().hook_style == HookStyle::UNet;
    }

    std::uint32_t last_told = 0;
};

/// Prefabs: "Holder", and by settings "OwnersHolder", "UNetHolder", "SlowHolder".
inline void add_holders(NetworkTypes& types) {
    REQUIRE(struct_builder<Bond>(types.registry(), "Bond")
                .property<&Bond::strength>()
                .property<&Bond::other>()
                .build()
                .has_value());
    const auto holder = BehaviourBuilder<Holder>(types, "Holder")
                            .sync_var<&Holder::number>()
                            .sync_var<&Holder::target, &Holder::on_target>()
                            .sync_var<&Holder::plain>()
                            .sync_var<&Holder::part, &Holder::on_part>()
                            .sync_var<&Holder::many, &Holder::on_many>()
                            .sync_var<&Holder::bond>()
                            .build();
    REQUIRE(holder.has_value());
    const auto add = [&](const char* name, const SyncSettings& settings) {
        REQUIRE(types.add_prefab(name, {{*holder, settings}}).has_value());
    };
    add("Holder", {});
    SyncSettings owners;
    owners.sync_direction = SyncDirection::ClientToServer;
    add("OwnersHolder", owners);
    SyncSettings unet;
    unet.hook_style = HookStyle::UNet;
    add("UNetHolder", unet);
    SyncSettings slow;
    slow.sync_interval_us = 150'000;
    add("SlowHolder", slow);
}

/// All references that it stores, null ones left out.
[[nodiscard]] inline std::vector<const NetworkIdentity*> references_of(const Holder& holder) {
    std::vector<const NetworkIdentity*> all = {holder.target.get(), holder.plain.get(),
                                               holder.part->object, holder.bond->other};
    all.insert(all.end(), holder.many->begin(), holder.many->end());
    std::erase(all, nullptr);
    return all;
}

}  // namespace replayout::test

// SPDX-License-Identifier: MIT
//
// Random classes through the dynamic door: any number of properties of every kind, structs and
// arrays nested in each other, bases, C arrays, members that are not replicated, notifies, keyed
// and fast arrays, maps and sets, custom deltas, atomic structs. A seed gives the same classes each
// time, so two ends can each make their own.
#pragma once

#include "support/checks/seeded_random.h"
#include "support/types/raw_object.h"

#include <replayout/reflection/type_registry.h>
#include <replayout/rep_layout.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace replayout::test {

struct RandomTypesSettings {
    std::uint32_t class_count = 3;
    /// Own properties of a class: 1 to this.
    std::uint32_t property_count_max = 40;
    /// How deep structs and arrays nest.
    std::uint32_t depth_max = 3;
    RepLimits limits;
    /// Other than 0: the classes of that seed with some properties left out, moved, renamed or
    /// retyped. The same name then stands for the same meaning, as far as kinds are equal.
    std::uint64_t variation_seed = 0;
    /// Fresh objects have values of their own; else all are zero.
    bool has_archetype_values = true;
    /// Of the replicated properties of a class, out of 100, how many are push based.
    std::uint32_t push_based_percent = 0;
    /// Of the properties of a class, out of 100, how many are keyed arrays, fast arrays, structs
    /// with a NetDeltaSerializer, or structs that have some of these.
    std::uint32_t keyed_percent = 0;
    /// Of the properties of a class, out of 100, how many have a condition: any that a property can
    /// have.
    std::uint32_t condition_percent = 0;
};

/// A RepNotify that ran. `object` and `previous` as NotifyFunction has them.
struct NotifyEvent {
    const Type& declaring_type;
    const Property& property;
    const void* object;
    const void* previous;
};

/// A hook that ran.
struct HookEvent {
    enum class Hook : std::uint8_t { PreNetReceive, PostNetReceive, PostRepNotifies };

    const Type& declaring_type;
    Hook hook;
};

class RandomTypes {
  public:
    /// Every class has, in itself or in a base, a property of this name and kind UInt32. It is for
    /// the edits to count with.
    static constexpr const char* version_name = "version";

    RandomTypes(std::uint64_t seed, const RandomTypesSettings& settings);
    RandomTypes(const RandomTypes&) = delete;
    RandomTypes& operator=(const RandomTypes&) = delete;

    [[nodiscard]] std::uint32_t class_count() const noexcept {
        return static_cast<std::uint32_t>(layouts_.size());
    }
    [[nodiscard]] const RepLayout& layout(std::uint32_t index) const { return *layouts_.at(index); }
    [[nodiscard]] std::uint32_t index_of(const RepLayout& layout) const;
    [[nodiscard]] const TypeRegistry& registry() const noexcept { return registry_; }

    /// An object equal to the archetype of its class.
    [[nodiscard]] std::unique_ptr<RawObject> make_object(std::uint32_t index) const;

    /// Is told of every notify. May be empty.
    void set_notify_handler(std::function<void(const NotifyEvent&)> handler) {
        notify_handler_ = std::move(handler);
    }
    /// Is told of every hook. May be empty.
    void set_hook_handler(std::function<void(const HookEvent&)> handler) {
        hook_handler_ = std::move(handler);
    }

  private:
    /// What stands behind NotifyFunction::context.
    struct NotifyPoint {
        RandomTypes* types = nullptr;
        std::string type_name;
        std::string property_name;
    };
    /// What stands behind ReceiveHook::context.
    struct HookPoint {
        RandomTypes* types = nullptr;
        std::string type_name;
        HookEvent::Hook hook = HookEvent::Hook::PreNetReceive;
    };

    [[nodiscard]] const Type* add_class();
    [[nodiscard]] const Type* add_struct(std::uint32_t depth);
    /// What elements of a keyed array are; `key_offset` becomes where the key is. Items of a fast
    /// array have theirs in the header.
    [[nodiscard]] const Type* add_keyed_struct(std::uint32_t key_size, bool is_item,
                                               std::uint32_t& key_offset);
    [[nodiscard]] const Type* add_struct_of_keyed();
    [[nodiscard]] const Type* add_type(TypeKind kind, const std::string& name, const Type* base,
                                       std::vector<Property> properties, bool is_item = false);
    /// One of `candidates` that does not nest too deep where `depth` is used up already, or null.
    [[nodiscard]] const Type* pick_type(const std::vector<const Type*>& candidates,
                                        std::uint32_t depth);
    [[nodiscard]] std::vector<Property> make_properties(std::uint32_t count, std::uint32_t depth);
    void vary(std::vector<Property>& properties);
    [[nodiscard]] Property make_property(std::uint32_t depth);
    [[nodiscard]] Property make_plain_property();
    /// A quantisation that fits, or none.
    [[nodiscard]] Quantisation make_quantisation(const Property& property);
    [[nodiscard]] Property make_struct_property(std::uint32_t depth);
    [[nodiscard]] Property make_array_property(std::uint32_t depth);
    /// One of those that keyed_percent counts.
    [[nodiscard]] Property make_keyed_property(bool may_be_struct);
    [[nodiscard]] Property make_keyed_array(bool is_fast);
    void add_notify(Property& property, const std::string& type_name);
    [[nodiscard]] ReceiveHooks make_hooks(const std::string& type_name);
    /// Draws what a property of a class is beside its value.
    void set_traits(Property& property);
    void add_layout(const Type& type);
    static void call_hook(void* object, void* context);
    static void call_notify(void* object, const void* previous, void* context);

    SeededRandom random_;
    SeededRandom variation_;
    SeededRandom traits_;
    RandomTypesSettings settings_;
    std::deque<NotifyPoint> notify_points_;  // referred to by address
    std::deque<HookPoint> hook_points_;      // likewise
    std::function<void(const NotifyEvent&)> notify_handler_;
    std::function<void(const HookEvent&)> hook_handler_;
    TypeRegistry registry_;
    std::array<const Type*, 4> net_serializer_structs_{};
    std::vector<const Type*> collections_;
    const Type* net_delta_struct_ = nullptr;
    std::vector<const Type*> classes_;
    std::vector<const Type*> structs_;
    std::vector<std::unique_ptr<RawObject>> archetypes_;
    std::vector<std::unique_ptr<RepLayout>> layouts_;
    std::uint32_t name_count_ = 0;
};

}  // namespace replayout::test

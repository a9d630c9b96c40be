// SPDX-License-Identifier: MIT
//
// Random classes through the dynamic door: any number of properties of every kind, structs and
// arrays nested in each other, bases, C arrays, members that are not replicated, notifies. A seed
// gives the same classes each time, so two ends can each make their own.
#pragma once

#include "support/raw_object.h"
#include "support/seeded_random.h"

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
};

/// A RepNotify that ran. `object` and `previous` as NotifyFunction has them.
struct NotifyEvent {
    const Type& declaring_type;
    const Property& property;
    const void* object;
    const void* previous;
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

  private:
    /// What stands behind NotifyFunction::context.
    struct NotifyPoint {
        RandomTypes* types = nullptr;
        std::string type_name;
        std::string property_name;
    };

    [[nodiscard]] const Type* add_class();
    [[nodiscard]] const Type* add_struct(std::uint32_t depth);
    [[nodiscard]] const Type* add_type(TypeKind kind, const std::string& name, const Type* base,
                                       std::vector<Property> properties);
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
    void add_notify(Property& property, const std::string& type_name);
    void add_layout(const Type& type);
    static void call_notify(void* object, const void* previous, void* context);

    SeededRandom random_;
    SeededRandom variation_;
    SeededRandom push_;
    RandomTypesSettings settings_;
    std::deque<NotifyPoint> notify_points_;  // referred to by address
    std::function<void(const NotifyEvent&)> notify_handler_;
    TypeRegistry registry_;
    std::array<const Type*, 4> net_serializer_structs_{};
    std::vector<const Type*> classes_;
    std::vector<const Type*> structs_;
    std::vector<std::unique_ptr<RawObject>> archetypes_;
    std::vector<std::unique_ptr<RepLayout>> layouts_;
    std::uint32_t name_count_ = 0;
};

}  // namespace replayout::test

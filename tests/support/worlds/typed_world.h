// SPDX-License-Identifier: MIT
//
// Worlds of objects of a few classes. TypedWorld keeps any number of them by handle, and writes
// down what the driver spawns and despawns. SoleWorld has one object, which outlives its despawn.
//
//     TypedWorld<Pawn> world(1'000);
//     NetDriver server(settings, transport, world);
//     const ObjectHandle pawn = world.add();
//     world.at(pawn).health = 7;
#pragma once

#include <replayout/netdriver/net_world.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace replayout::test {

template <typename... Classes>
class TypedWorld : public NetWorld {
  public:
    /// A variant where there are several classes.
    using Object =
        std::conditional_t<sizeof...(Classes) == 1, std::tuple_element_t<0, std::tuple<Classes...>>,
                           std::variant<Classes...>>;
    using Objects = std::map<ObjectHandle, std::unique_ptr<Object>>;

    /// Handles are given from `first_handle` on, and never twice.
    explicit TypedWorld(std::uint64_t first_handle = 1) : next_handle_(first_handle) {}

    /// Objects of `layout` begin as copies of `first`; those of other layouts as an Object().
    void begin_with(const RepLayout& layout, Object first) {
        first_values_.insert_or_assign(&layout, std::move(first));
    }
    ObjectHandle add() { return keep(std::make_unique<Object>()); }
    ObjectHandle add([[maybe_unused]] const RepLayout& layout) {
        if constexpr (std::is_copy_constructible_v<Object>) {
            const auto found = first_values_.find(&layout);
            if (found != first_values_.end()) {
                return keep(std::make_unique<Object>(found->second));
            }
        }
        return add();
    }
    void remove(ObjectHandle object) { objects_.erase(object); }

    [[nodiscard]] Object& at(ObjectHandle object) { return *objects_.at(object); }
    template <typename Class>
    [[nodiscard]] Class& get(ObjectHandle object) {
        return std::get<Class>(at(object));
    }
    /// Null: it is not there.
    [[nodiscard]] Object* find(ObjectHandle object) const noexcept {
        const auto found = objects_.find(object);
        return found == objects_.end() ? nullptr : found->second.get();
    }
    [[nodiscard]] Object& first() const { return *objects_.begin()->second; }
    [[nodiscard]] const Objects& objects() const noexcept { return objects_; }
    [[nodiscard]] std::size_t object_count() const noexcept { return objects_.size(); }

    // NetWorld
    [[nodiscard]] void* object_memory(ObjectHandle object) override {
        ++lookup_count;
        if constexpr (sizeof...(Classes) == 1) {
            return &at(object);
        } else {
            return std::visit([](auto& value) -> void* { return &value; }, at(object));
        }
    }
    [[nodiscard]] ObjectHandle spawn(const SpawnInfo& info) override {
        spawned.emplace_back(info.layout.name(), info.archetype.value);
        return add(info.layout);
    }
    void despawn(ObjectHandle object, ChannelCloseReason reason) override {
        despawned.push_back(reason);
        remove(object);
    }

    /// Called with each object that was made, before anybody else sees it.
    std::function<void(ObjectHandle, Object&)> on_made;
    std::vector<std::pair<std::string_view, std::uint32_t>> spawned;  ///< class and archetype
    std::vector<ChannelCloseReason> despawned;
    /// How often the driver asked for the memory of an object, on any thread.
    std::atomic<std::uint64_t> lookup_count = 0;

  private:
    ObjectHandle keep(std::unique_ptr<Object> object) {
        const ObjectHandle handle{next_handle_++};
        if (on_made) {
            on_made(handle, *object);
        }
        objects_[handle] = std::move(object);
        return handle;
    }

    Objects objects_;
    std::map<const RepLayout*, Object> first_values_;
    std::uint64_t next_handle_;
};

/// So many of what `add` gives, in order.
template <typename Add>
[[nodiscard]] std::vector<ObjectHandle> add_many(std::size_t count, Add add) {
    std::vector<ObjectHandle> objects(count);
    std::generate(objects.begin(), objects.end(), add);
    return objects;
}

template <typename Class>
class SoleWorld : public NetWorld {
  public:
    static constexpr ObjectHandle handle{7};

    [[nodiscard]] void* object_memory(ObjectHandle) override { return &object; }
    [[nodiscard]] ObjectHandle spawn(const SpawnInfo&) override { return handle; }
    void despawn(ObjectHandle, ChannelCloseReason) override { is_gone = true; }

    Class object;
    bool is_gone = false;
};

}  // namespace replayout::test

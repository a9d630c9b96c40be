// SPDX-License-Identifier: MIT
//
// Classes whose values cost the most for their bytes, and the world of either end.
#pragma once

#include <replayout/net_archive.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/type_registry.h>
#include <replayout/rep_layout.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace replayout::worst {

/// Numbers of classes on the wire: their places in the order of their names.
enum class ClassNumber : std::uint8_t { Body, Crate, Flag, Links, Quarry, Sign, Slot, Trail };
inline constexpr std::uint32_t class_count = 8;

/// To put the elements of such a default in order is 10,000 steps of keyed arrays.
inline constexpr std::uint32_t stone_count = 1'818;

struct Stone {
    std::uint16_t id = 0;
    std::uint8_t weight = 0;
};
/// Of 64 bytes, which is what a byte of a call may ask for.
struct Cell {
    std::array<std::uint64_t, 8> words{};
};
struct Text {
    std::string text;
};
struct Cells {
    std::vector<Cell> cells;
};
struct Names {
    std::vector<ObjectHandle> objects;
};
/// Stones of which each function or object that has them begins with many.
struct Stones {
    Stones();
    std::vector<Stone> stones;
};
/// The same in an order of its own.
struct Row {
    std::vector<Stone> stones;
};
/// Writes itself: objects by their ids.
struct Footprints {
    std::vector<ObjectHandle> objects;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok);
    friend bool operator==(const Footprints&, const Footprints&) = default;
};

/// Either end may call its functions.
struct Body {
    std::array<std::uint32_t, 6> values{};
    std::uint32_t runs = 0;    // not replicated
    std::uint32_t digest = 0;  // nor is this: of how many objects were named, in order

    void ping() { ++runs; }
    void confirm() { ++runs; }
    void say(const Text&) { ++runs; }
    void fill(const Cells&) { ++runs; }
    void name(const Names& names) {
        ++runs;
        digest = digest * 31 + static_cast<std::uint32_t>(names.objects.size());
    }
    void sort(const Stones&) { ++runs; }
    void sort_as_owner(const Stones&) { ++runs; }
    void order(const Row&) { ++runs; }
    void tread(const Footprints&) { ++runs; }
};
inline constexpr std::uint32_t function_count = 9;

struct Crate {
    Cells of;
};
struct Flag {
    bool is_up = false;
};
struct Links {
    Names first;
    Names second;
};
struct Quarry {
    Stones free;
    Row kept;
};
struct Sign {
    Text of;
    std::vector<std::string> lines;
};
struct Slot {
    bool is_up = false;
    Row of;
};
struct Trail {
    Footprints of;
};

}  // namespace replayout::worst

template <>
struct replayout::StructTraitsOf<replayout::worst::Footprints> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace replayout::worst {

/// The layouts, made once.
class Classes {
  public:
    [[nodiscard]] static const Classes& get();

    [[nodiscard]] const RepLayout& layout(ClassNumber number) const noexcept {
        return *layouts_[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] ClassNumber number_of(const RepLayout& layout) const noexcept;
    /// Whether all were added.
    [[nodiscard]] bool add_to(NetDriver& driver) const;

  private:
    Classes();

    TypeRegistry registry_;
    std::array<std::unique_ptr<RepLayout>, class_count> layouts_;
};

/// Holds objects. Makes whatever it is asked for.
class World final : public NetWorld {
  public:
    [[nodiscard]] ObjectHandle add(ClassNumber number);
    void remove(ObjectHandle object) { objects_.erase(object.value); }
    [[nodiscard]] std::size_t object_count() const noexcept { return objects_.size(); }
    /// Changes what `what` says: bit 0 numbers, 1 keyed arrays, 2 sizes, 3 references.
    void change(ObjectHandle object, std::uint32_t what, std::uint32_t turn);

    void* object_memory(ObjectHandle object) override {
        return objects_.at(object.value).memory.get();
    }
    ObjectHandle spawn(const SpawnInfo& info) override {
        return add(Classes::get().number_of(info.layout));
    }
    void despawn(ObjectHandle object, ChannelCloseReason) override { remove(object); }

  private:
    struct Object {
        ClassNumber number;
        std::shared_ptr<void> memory;
    };
    std::unordered_map<std::uint64_t, Object> objects_;
    std::uint64_t next_ = 1;
};

}  // namespace replayout::worst

// SPDX-License-Identifier: MIT
//
// What hostile packets are about: classes whose values cost most for their bytes.
#pragma once

#include "support/packet_writer.h"
#include "support/workloads/class_layout.h"

#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/type_builder.h>

#include <memory>
#include <span>
#include <string>
#include <unordered_map>

namespace replayout::bench::hostile {

constexpr std::size_t packet_bytes = 1'200;
constexpr std::size_t datagram_bytes = 2'048;  // a receiver reads no more
constexpr std::uint32_t stone_count = 1'818;   // to put so many in order is 10,000 steps

struct Stone {
    std::uint16_t id = 0;
    std::uint8_t weight = 0;
};
/// Of 64 bytes, which is what a byte of a call may ask for.
struct Cell {
    std::uint64_t words[8] = {};
};
struct Text {
    std::string text;
};
struct Cells {
    std::vector<Cell> cells;
};
struct Stones {
    Stones() {
        for (std::uint16_t i = 0; i < stone_count; ++i) {
            stones.push_back({i, 1});
        }
    }
    std::vector<Stone> stones;
};

/// Both sides' class: what is replicated, and what a client may call.
struct Body {
    std::uint32_t values[6] = {};
    std::uint32_t runs = 0;  // not replicated

    void server_ping() { ++runs; }
    void server_say(const Text&) { ++runs; }
    void server_fill(const Cells&) { ++runs; }
    void server_sort(const Stones&) { ++runs; }
    void server_sort_again(const Stones&) { ++runs; }
    void server_confirm() { ++runs; }
};
struct Crate {
    Cells of;
};
struct Links {
    std::vector<ObjectHandle> first;
    std::vector<ObjectHandle> second;
};
struct Quarry {
    Stones of;
};
struct Sign {
    Text of;
};

enum BodyFunction : std::uint8_t { Ping, Say, Fill, Sort, SortAgain, Confirm };
enum ClassNumber : std::uint8_t { OfBody, OfCrate, OfLinks, OfQuarry, OfSign };

/// A struct that is refused is missed by the class that has it, whose error says so.
inline void declare_structs(TypeRegistry& registry) {
    (void)struct_builder<Stone>(registry, "Stone")
        .property<&Stone::id>()
        .property<&Stone::weight>()
        .build();
    (void)struct_builder<Cell>(registry, "Cell").property<&Cell::words>().build();
    (void)struct_builder<Text>(registry, "Text").property<&Text::text>().build();
    (void)struct_builder<Cells>(registry, "Cells").property<&Cells::cells>().build();
    (void)struct_builder<Stones>(registry, "Stones")
        .property<&Stones::stones>()
        .keyed_by<&Stone::id>(ArrayOrder::Free)
        .build();
}

[[nodiscard]] inline Result<const Type*> declare_body(TypeRegistry& registry) {
    declare_structs(registry);
    return class_builder<Body>(registry, "Body")
        .property<&Body::values>()
        .function<&Body::server_ping>(FunctionFlags::Server)
        .function<&Body::server_say>(FunctionFlags::Server)
        .function<&Body::server_fill>(FunctionFlags::Server)
        .function<&Body::server_sort>(FunctionFlags::Server)
        .function<&Body::server_sort_again>(FunctionFlags::Server)
        .function<&Body::server_confirm>(FunctionFlags::Server | FunctionFlags::Reliable)
        .build();
}
[[nodiscard]] inline Result<const Type*> declare_crate(TypeRegistry& registry) {
    declare_structs(registry);
    return class_builder<Crate>(registry, "Crate").property<&Crate::of>().build();
}
[[nodiscard]] inline Result<const Type*> declare_links(TypeRegistry& registry) {
    return class_builder<Links>(registry, "Links")
        .property<&Links::first>()
        .property<&Links::second>()
        .build();
}
[[nodiscard]] inline Result<const Type*> declare_quarry(TypeRegistry& registry) {
    declare_structs(registry);
    return class_builder<Quarry>(registry, "Quarry").property<&Quarry::of>().build();
}
[[nodiscard]] inline Result<const Type*> declare_sign(TypeRegistry& registry) {
    declare_structs(registry);
    return class_builder<Sign>(registry, "Sign").property<&Sign::of>().build();
}

template <typename T>
[[nodiscard]] std::shared_ptr<void> make_object() {
    return std::make_shared<T>();
}
struct HostileClass {
    ClassLayout layout;
    std::shared_ptr<void> (*make)();
};
/// By ClassNumber, which is the order in which both sides add them.
[[nodiscard]] inline std::span<const HostileClass> hostile_classes() {
    static const HostileClass classes[] = {{ClassLayout(declare_body), make_object<Body>},
                                           {ClassLayout(declare_crate), make_object<Crate>},
                                           {ClassLayout(declare_links), make_object<Links>},
                                           {ClassLayout(declare_quarry), make_object<Quarry>},
                                           {ClassLayout(declare_sign), make_object<Sign>}};
    return classes;
}

/// Makes whatever it is asked for.
class World final : public NetWorld {
  public:
    void add(ObjectHandle object, const HostileClass& of) { objects_[object.value] = of.make(); }
    template <typename T>
    [[nodiscard]] T& at(ObjectHandle object) {
        return *static_cast<T*>(objects_.at(object.value).get());
    }
    [[nodiscard]] std::size_t object_count() const noexcept { return objects_.size(); }

    void* object_memory(ObjectHandle object) override { return objects_.at(object.value).get(); }
    ObjectHandle spawn(const SpawnInfo& info) override {
        const ObjectHandle object{next_++};
        for (const HostileClass& of : hostile_classes()) {
            if (&info.layout == &of.layout.layout()) {
                add(object, of);
            }
        }
        return object;
    }
    void despawn(ObjectHandle object, ChannelCloseReason) override { objects_.erase(object.value); }

  private:
    std::unordered_map<std::uint64_t, std::shared_ptr<void>> objects_;
    std::uint64_t next_ = 1;
};

/// A full set of a range in which there is nothing, for which all elements are put in order.
inline void write_look(BitWriter& writer) {
    writer.write_bool(true);
    writer.write_bool(false);
    writer.write_bool(true);
    writer.write_packed_uint(60'000);
    writer.write_bool(false);
    writer.write_packed_uint(0);
}

}  // namespace replayout::bench::hostile

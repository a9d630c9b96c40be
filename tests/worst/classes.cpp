// SPDX-License-Identifier: MIT
#include "worst/classes.h"

#include <replayout/reflection/type_builder.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace replayout::worst {

namespace {

constexpr std::uint32_t footprints_max = 1'024;
constexpr std::uint32_t stones_changed_max = 16;

/// A mistake of this file ends the program.
template <typename Answer>
void require(const Answer& answer) {
    if (!answer) {
        std::fprintf(stderr, "%s\n", answer.error().message.c_str());
        std::abort();
    }
}

void declare_structs(TypeRegistry& registry) {
    require(struct_builder<Stone>(registry, "Stone")
                .property<&Stone::id>()
                .property<&Stone::weight>()
                .build());
    require(struct_builder<Cell>(registry, "Cell").property<&Cell::words>().build());
    require(struct_builder<Text>(registry, "Text").property<&Text::text>().build());
    require(struct_builder<Cells>(registry, "Cells").property<&Cells::cells>().build());
    require(struct_builder<Names>(registry, "Names").property<&Names::objects>().build());
    require(struct_builder<Stones>(registry, "Stones")
                .property<&Stones::stones>()
                .keyed_by<&Stone::id>(ArrayOrder::Free)
                .build());
    require(struct_builder<Row>(registry, "Row")
                .property<&Row::stones>()
                .keyed_by<&Stone::id>(ArrayOrder::Kept)
                .build());
    require(struct_builder<Footprints>(registry, "Footprints")
                .property<&Footprints::objects>()
                .build());
}

[[nodiscard]] Result<const Type*> declare_body(TypeRegistry& registry) {
    constexpr FunctionFlags either = FunctionFlags::Remote;
    return class_builder<Body>(registry, "Body")
        .property<&Body::values>()
        .function<&Body::ping>(either)
        .function<&Body::confirm>(either | FunctionFlags::Reliable)
        .function<&Body::say>(either)
        .function<&Body::fill>(either)
        .function<&Body::name>(either)
        .function<&Body::sort>(either)
        .function<&Body::sort_as_owner>(either | FunctionFlags::Update)
        .function<&Body::order>(either)
        .function<&Body::tread>(either)
        .build();
}

[[nodiscard]] Result<const Type*> declare(TypeRegistry& registry, ClassNumber number) {
    switch (number) {
        case ClassNumber::Body:
            return declare_body(registry);
        case ClassNumber::Crate:
            return class_builder<Crate>(registry, "Crate").property<&Crate::of>().build();
        case ClassNumber::Flag:
            return class_builder<Flag>(registry, "Flag").property<&Flag::is_up>().build();
        case ClassNumber::Links:
            return class_builder<Links>(registry, "Links")
                .property<&Links::first>()
                .property<&Links::second>()
                .build();
        case ClassNumber::Quarry:
            return class_builder<Quarry>(registry, "Quarry")
                .property<&Quarry::free>()
                .property<&Quarry::kept>()
                .build();
        case ClassNumber::Sign:
            return class_builder<Sign>(registry, "Sign")
                .property<&Sign::of>()
                .property<&Sign::lines>()
                .build();
        case ClassNumber::Slot:
            return class_builder<Slot>(registry, "Slot")
                .property<&Slot::is_up>()
                .property<&Slot::of>()
                .build();
        case ClassNumber::Trail:
            return class_builder<Trail>(registry, "Trail").property<&Trail::of>().build();
    }
    std::abort();
}

[[nodiscard]] std::shared_ptr<void> make_object(ClassNumber number) {
    switch (number) {
        case ClassNumber::Body:
            return std::make_shared<Body>();
        case ClassNumber::Crate:
            return std::make_shared<Crate>();
        case ClassNumber::Flag:
            return std::make_shared<Flag>();
        case ClassNumber::Links:
            return std::make_shared<Links>();
        case ClassNumber::Quarry:
            return std::make_shared<Quarry>();
        case ClassNumber::Sign:
            return std::make_shared<Sign>();
        case ClassNumber::Slot:
            return std::make_shared<Slot>();
        case ClassNumber::Trail:
            return std::make_shared<Trail>();
    }
    std::abort();
}

/// A few elements change, or one comes or goes.
void change_stones(std::vector<Stone>& stones, std::uint32_t what, std::uint32_t turn) {
    if ((what & 4) != 0 || stones.empty()) {
        if (turn % 2 == 0 && stones.size() > 4) {
            stones.erase(stones.begin());
        } else {
            stones.push_back({static_cast<std::uint16_t>(turn), 1});
        }
        return;
    }
    for (std::uint32_t i = 0; i < std::min<std::size_t>(stones.size(), stones_changed_max); ++i) {
        ++stones[i].weight;
    }
}

void change_names(std::vector<ObjectHandle>& names, std::uint32_t what, std::uint32_t turn) {
    names.resize((what & 4) != 0 ? turn % 8 + 1 : 4);
    for (ObjectHandle& name : names) {
        name = ObjectHandle{turn % 64 + 1};
    }
}

}  // namespace

Stones::Stones() {
    static const std::vector<Stone> made = [] {
        // In no order of their keys, so that they are to be sorted.
        constexpr std::uint32_t stride = 1'123;
        std::vector<Stone> all;
        for (std::uint32_t i = 0; i < stone_count; ++i) {
            all.push_back({static_cast<std::uint16_t>(i * stride % stone_count), 1});
        }
        return all;
    }();
    stones = made;
}

bool Footprints::net_serialize(NetArchive& archive, PackageMap* map, bool& ok) {
    std::uint64_t count = objects.size();
    archive.serialize_packed_uint(count);
    if (archive.failed() || count > footprints_max ||
        !archive.spend(count, count * sizeof(ObjectHandle))) {
        ok = false;
        return false;
    }
    objects.resize(count);
    bool is_mapped = true;
    for (ObjectHandle& object : objects) {
        is_mapped = archive.serialize_object(object, map) && is_mapped;
    }
    ok = !archive.failed();
    return is_mapped;
}

Classes::Classes() {
    declare_structs(registry_);
    std::array<const Type*, class_count> types{};
    for (std::uint32_t i = 0; i < class_count; ++i) {
        const Result<const Type*> type = declare(registry_, static_cast<ClassNumber>(i));
        require(type);
        types[i] = *type;
    }
    require(registry_.freeze());
    for (std::uint32_t i = 0; i < class_count; ++i) {
        Result<std::unique_ptr<RepLayout>> layout = RepLayout::create(registry_, *types[i]);
        require(layout);
        layouts_[i] = std::move(*layout);
    }
}

const Classes& Classes::get() {
    static const Classes classes;
    return classes;
}

ClassNumber Classes::number_of(const RepLayout& layout) const noexcept {
    const auto found = std::find_if(layouts_.begin(), layouts_.end(),
                                    [&](const auto& each) { return each.get() == &layout; });
    return static_cast<ClassNumber>(found - layouts_.begin());
}

bool Classes::add_to(NetDriver& driver) const {
    return std::all_of(layouts_.begin(), layouts_.end(),
                       [&](const auto& layout) { return driver.add_layout(*layout).has_value(); });
}

ObjectHandle World::add(ClassNumber number) {
    const ObjectHandle object{next_++};
    objects_[object.value] = {number, make_object(number)};
    return object;
}

void World::change(ObjectHandle object, std::uint32_t what, std::uint32_t turn) {
    const Object& held = objects_.at(object.value);
    void* const memory = held.memory.get();
    switch (held.number) {
        case ClassNumber::Body:
            ++static_cast<Body*>(memory)->values[turn % 6];
            break;
        case ClassNumber::Crate: {
            std::vector<Cell>& cells = static_cast<Crate*>(memory)->of.cells;
            cells.resize((what & 4) != 0 ? turn % 8 + 1 : 1);
            ++cells[0].words[turn % 8];
            break;
        }
        case ClassNumber::Flag:
            static_cast<Flag*>(memory)->is_up ^= true;
            break;
        case ClassNumber::Links:
            change_names(static_cast<Links*>(memory)->first.objects, what, turn);
            break;
        case ClassNumber::Quarry:
            change_stones(static_cast<Quarry*>(memory)->free.stones, what, turn);
            if ((what & 2) != 0) {
                change_stones(static_cast<Quarry*>(memory)->kept.stones, what, turn);
            }
            break;
        case ClassNumber::Sign:
            static_cast<Sign*>(memory)->of.text =
                std::string((what & 4) != 0 ? turn % 64 : 4, static_cast<char>('a' + turn % 26));
            break;
        case ClassNumber::Slot:
            static_cast<Slot*>(memory)->is_up ^= (what & 3) != 2;
            if ((what & 6) != 0) {
                change_stones(static_cast<Slot*>(memory)->of.stones, what, turn);
            }
            break;
        case ClassNumber::Trail:
            change_names(static_cast<Trail*>(memory)->of.objects, what, turn);
            break;
    }
}

}  // namespace replayout::worst

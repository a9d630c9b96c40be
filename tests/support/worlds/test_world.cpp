// SPDX-License-Identifier: MIT
#include "support/worlds/test_world.h"

#include <cstdio>
#include <utility>

#include "support/checks/catch.h"

namespace replayout::test {

namespace {

[[nodiscard]] std::unique_ptr<RepLayout> make_layout(const TypeRegistry& registry,
                                                     const Result<const Type*>& type,
                                                     const RepLimits& limits) {
    RepLayoutOptions options;
    options.limits = limits;
    auto layout = RepLayout::create(registry, **type, options);
    REQUIRE(layout);
    return std::move(*layout);
}

[[nodiscard]] std::string text_of_number(float value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.9g", static_cast<double>(value));
    return text;
}

/// Whole when it is short enough to be read.
[[nodiscard]] std::string text_of_string(const std::string& value) {
    constexpr std::size_t readable_bytes = 40;
    if (value.size() <= readable_bytes) {
        return '"' + value + '"';
    }
    return '"' + value.substr(0, readable_bytes) + "\"... " + std::to_string(value.size()) +
           " bytes #" + std::to_string(std::hash<std::string>()(value));
}

[[nodiscard]] std::string text_of_pawn(const Pawn& pawn,
                                       const TestWorld::ReferenceText& reference) {
    std::string text = "Pawn health " + std::to_string(pawn.health) + " name " +
                       text_of_string(pawn.name) + " position " + text_of_number(pawn.position.x) +
                       "," + text_of_number(pawn.position.y) + "," +
                       text_of_number(pawn.position.z) + " target " + reference(pawn.target);
    for (const Hit& hit : pawn.hits) {
        text += " hit " + text_of_number(hit.damage) + "/" + std::to_string(hit.bone) + "/" +
                text_of_string(hit.label);
    }
    for (const ObjectHandle handle : pawn.friends) {
        text += " friend " + reference(handle);
    }
    return text;
}

[[nodiscard]] std::string text_of_archive(const Archive& archive) {
    std::string text = "Archive counter " + std::to_string(archive.counter);
    for (const std::string& page : archive.pages) {
        text += " page " + text_of_string(page);
    }
    for (const std::uint32_t cell : archive.cells) {
        text += " " + std::to_string(cell);
    }
    for (const Chapter& chapter : archive.chapters) {
        text += " chapter " + text_of_string(chapter.title) + text_of_string(chapter.text);
    }
    return text;
}

[[nodiscard]] std::size_t bytes_of(const std::string& value) noexcept {
    // A short text lies within the string itself.
    return value.capacity() == std::string().capacity() ? 0 : value.capacity();
}

[[nodiscard]] std::size_t bytes_of(const Pawn& pawn) noexcept {
    std::size_t bytes = bytes_of(pawn.name) + pawn.hits.capacity() * sizeof(Hit) +
                        pawn.friends.capacity() * sizeof(ObjectHandle);
    for (const Hit& hit : pawn.hits) {
        bytes += bytes_of(hit.label);
    }
    return bytes;
}

[[nodiscard]] std::size_t bytes_of(const Archive& archive) noexcept {
    std::size_t bytes = archive.cells.capacity() * sizeof(std::uint32_t) +
                        archive.chapters.capacity() * sizeof(Chapter);
    for (const std::string& page : archive.pages) {
        bytes += bytes_of(page);
    }
    for (const Chapter& chapter : archive.chapters) {
        bytes += bytes_of(chapter.title) + bytes_of(chapter.text);
    }
    return bytes;
}

[[nodiscard]] std::size_t bytes_of(const Marker&) noexcept {
    return 0;
}

}  // namespace

void Pawn::on_rep_health(const std::int32_t& previous) {
    heard.push_back("health " + std::to_string(previous) + " -> " + std::to_string(health) +
                    ", name " + name);
}

void Pawn::on_rep_target(const ObjectHandle& previous) {
    heard.push_back(std::string("target ") + (previous.is_null() ? "null" : "set") + " -> " +
                    (target.is_null() ? "null" : "set"));
}

const TestSchema& TestSchema::get() {
    static const TestSchema schema;
    return schema;
}

TestSchema::TestSchema() {
    const auto hit = struct_builder<Hit>(registry_, "Hit")
                         .property<&Hit::damage>()
                         .property<&Hit::bone>()
                         .property<&Hit::label>()
                         .build();
    const auto chapter = struct_builder<Chapter>(registry_, "Chapter")
                             .property<&Chapter::title>()
                             .property<&Chapter::text>()
                             .build();
    const auto pawn = class_builder<Pawn>(registry_, "Pawn")
                          .property<&Pawn::health>()
                          .on_rep<&Pawn::on_rep_health>()
                          .property<&Pawn::name>()
                          .property<&Pawn::position>()
                          .property<&Pawn::target>()
                          .on_rep<&Pawn::on_rep_target>()
                          .property<&Pawn::hits>()
                          .property<&Pawn::friends>()
                          .build();
    const auto archive = class_builder<Archive>(registry_, "Archive")
                             .property<&Archive::pages>()
                             .property<&Archive::cells>()
                             .property<&Archive::chapters>()
                             .property<&Archive::counter>()
                             .build();
    const auto marker = class_builder<Marker>(registry_, "Marker").build();
    REQUIRE((hit && chapter && pawn && archive && marker));
    REQUIRE(registry_.freeze());
    pawn_ = make_layout(registry_, pawn, RepLimits());
    archive_ = make_layout(registry_, archive, archive_limits);
    marker_ = make_layout(registry_, marker, RepLimits());
}

const RepLayout& TestSchema::layout_of(const TestObject& object) const noexcept {
    if (std::holds_alternative<Pawn>(object)) {
        return pawn();
    }
    return std::holds_alternative<Archive>(object) ? archive() : marker();
}

void TestSchema::add_to(NetDriver& driver) const {
    for (const RepLayout* layout : {pawn_.get(), archive_.get(), marker_.get()}) {
        REQUIRE(driver.add_layout(*layout));
    }
}

TestWorld::TestWorld(std::uint64_t first_handle) : TypedWorld(first_handle) {
    begin_with(TestSchema::get().pawn(), Pawn());
    begin_with(TestSchema::get().archive(), Archive());
}

void TestWorld::remove(ObjectHandle handle) {
    REQUIRE(find(handle) != nullptr);
    TypedWorld::remove(handle);
}

std::string TestWorld::text_of(const Object& object, const ReferenceText& reference) {
    if (const Pawn* pawn = std::get_if<Pawn>(&object)) {
        return text_of_pawn(*pawn, reference);
    }
    if (const Archive* archive = std::get_if<Archive>(&object)) {
        return text_of_archive(*archive);
    }
    return "Marker";
}

std::size_t TestWorld::value_bytes() const noexcept {
    std::size_t bytes = 0;
    for (const auto& [handle, object] : objects()) {
        bytes += std::visit([](const auto& value) { return bytes_of(value); }, *object);
    }
    return bytes;
}

void* TestWorld::object_memory(ObjectHandle handle) {
    if (find(handle) == nullptr) {
        FAIL("an object that is not there");  // and nothing where it is: threads may ask
    }
    return TypedWorld::object_memory(handle);
}

ObjectHandle TestWorld::spawn(const SpawnInfo& info) {
    if (&info.layout == refused_layout) {
        return {};
    }
    ++spawn_count;
    if (!info.parameters.stable_name.empty() && !found_by_name.is_null()) {
        return found_by_name;
    }
    return add(info.layout);
}

void TestWorld::despawn(ObjectHandle handle, ChannelCloseReason) {
    if (on_despawn) {
        on_despawn(handle);
    }
    ++despawn_count;
    remove(handle);
}

}  // namespace replayout::test

// SPDX-License-Identifier: MIT
#include "support/worlds/session_worlds.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace replayout::test {

namespace {

[[nodiscard]] Value read_as_held(const RawObject& object) {
    return read_object(object.type(), object.memory(),
                       [](ObjectHandle held, const HandlePath&) { return Reference{held.value}; });
}

/// Where the part of `derived` begins that `base` declares.
[[nodiscard]] std::uint32_t offset_of_base(const Type& derived, const Type& base) {
    std::uint32_t offset = 0;
    for (const Type* type = &derived; type != &base; type = type->base()) {
        if (type->base() == nullptr) {
            std::abort();
        }
        offset += type->base_offset();
    }
    return offset;
}

[[nodiscard]] Value read_previous(const NotifyEvent& event) {
    if (event.property.kind == PropertyKind::BitBool) {
        return Bits{*static_cast<const bool*>(event.previous) ? 1u : 0u};
    }
    return read_member(event.property, event.previous);
}

[[nodiscard]] bool mentions(const Value& value, std::uint64_t id) {
    if (const auto* reference = std::get_if<Reference>(&value.content)) {
        return reference->id == id;
    }
    const std::vector<Value>* parts = nullptr;
    if (const auto* record = std::get_if<Record>(&value.content)) {
        parts = &record->parts;
    } else if (const auto* list = std::get_if<List>(&value.content)) {
        parts = &list->parts;
    }
    return parts != nullptr && std::any_of(parts->begin(), parts->end(),
                                           [id](const Value& part) { return mentions(part, id); });
}

}  // namespace

RawObject& ServerWorld::add(ObjectId id, std::uint32_t class_index) {
    auto& object = objects_[id.value];
    object = types_.make_object(class_index);
    return *object;
}

Value ServerWorld::read(ObjectId id) const {
    return read_as_held(at(id));
}

void* ServerWorld::object_memory(ObjectHandle object) {
    return objects_.at(object.value)->memory();
}

ObjectHandle ServerWorld::spawn(const SpawnInfo&) {
    std::abort();
}

void ServerWorld::despawn(ObjectHandle, ChannelCloseReason) {
    std::abort();
}

std::string ClientWorld::refused_type() const {
    return refused_class_ < types_.class_count()
               ? std::string(types_.layout(refused_class_).type().name())
               : std::string();
}

void ClientWorld::fail(std::string problem) {
    if (problem_.empty()) {
        problem_ = std::move(problem);
    }
}

void ClientWorld::note_notify(const NotifyEvent& event) {
    for (const auto& [handle, object] : objects_) {
        if (!object->type().is_child_of(event.declaring_type)) {
            continue;
        }
        const std::byte* part =
            object->memory() + offset_of_base(object->type(), event.declaring_type);
        if (part != event.object) {
            continue;
        }
        const bool is_changed =
            !(read_member(event.property, part + event.property.offset) == read_previous(event));
        if (!is_changed) {
            fail("a notify of \"" + event.property.name + "\" without a change");
        }
        return;
    }
    fail("a notify of \"" + event.property.name + "\" for no object");
}

void* ClientWorld::object_memory(ObjectHandle object) {
    const auto found = objects_.find(object.value);
    if (found == objects_.end()) {
        std::abort();  // a handle that was taken back
    }
    return found->second->memory();
}

ObjectHandle ClientWorld::spawn(const SpawnInfo& info) {
    const std::uint32_t class_index = types_.index_of(info.layout);
    if (class_index == refused_class_) {
        return {};
    }
    last_handle_ += 3;
    objects_.emplace(last_handle_, types_.make_object(class_index));
    return {last_handle_};
}

void ClientWorld::despawn(ObjectHandle object, ChannelCloseReason) {
    check_unreferenced(object);
    if (objects_.erase(object.value) == 0) {
        fail("despawned twice: " + std::to_string(object.value));
    }
}

void ClientWorld::check_unreferenced(ObjectHandle object) {
    for (const auto& [handle, other] : objects_) {
        // Its own references die with it.
        if (handle != object.value && mentions(read_as_held(*other), object.value)) {
            fail("an object is despawned while another one refers to it");
        }
    }
}

Reference DriverView::name_reference(ObjectHandle owner, ObjectHandle held, const HandlePath& path,
                                     std::vector<std::string>& problems) const {
    if (is_in_keyed_array(path)) {
        return name_keyed_reference(held, problems);
    }
    RepPath rep_path;
    std::copy(path.begin(), path.end(), rep_path.handles.begin());
    const NetGUID guid = client_.find_reference(owner, rep_path);
    const ObjectHandle expected = client_.guids().find_object(guid);
    if (held != expected) {
        problems.push_back("a reference holds " + std::to_string(held.value) + " instead of " +
                           std::to_string(expected.value));
    }
    if (!held.is_null() && !world_.objects().contains(held.value)) {
        problems.push_back("a reference holds a dead object");
    }
    return {server_.guids().find_named(guid).value};
}

Reference DriverView::name_keyed_reference(ObjectHandle held,
                                           std::vector<std::string>& problems) const {
    if (held.is_null()) {
        return {Reference::unknown_id};
    }
    if (!world_.objects().contains(held.value)) {
        problems.push_back("a reference in a keyed array holds a dead object");
    }
    return {server_.guids().find_named(client_.guids().find_guid(held)).value};
}

std::vector<ClientView::Object> DriverView::objects(std::vector<std::string>& problems) const {
    std::vector<Object> result;
    for (const auto& [value, object] : world_.objects()) {
        const ObjectHandle handle{value};
        const NetGUID guid = client_.guids().find_guid(handle);
        if (client_.guids().find_object(guid) != handle) {
            problems.push_back("the id of a live object does not lead to it");
        }
        const NameReference name = [&](ObjectHandle held, const HandlePath& path) {
            return name_reference(handle, held, path, problems);
        };
        result.push_back({ObjectId{server_.guids().find_named(guid).value},
                          std::string(object->type().name()),
                          read_object(object->type(), object->memory(), name)});
    }
    return result;
}

}  // namespace replayout::test

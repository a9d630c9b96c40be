// SPDX-License-Identifier: MIT
#include "match/battle/match_world.h"

#include <replayout/quantise.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <set>

namespace replayout::match {

namespace {

constexpr std::uint32_t object_alignment = 8;

struct MemoryForm {
    PropertyKind kind;
    std::uint32_t size;
    std::uint32_t alignment;
};

[[nodiscard]] MemoryForm memory_form(FieldType type) noexcept {
    switch (type) {
        case FieldType::Bool:
            return {PropertyKind::Bool, 1, 1};
        case FieldType::U8:
            return {PropertyKind::UInt8, 1, 1};
        case FieldType::U16:
            return {PropertyKind::UInt16, 2, 2};
        case FieldType::U32:
            return {PropertyKind::UInt32, 4, 4};
        case FieldType::I32:
            return {PropertyKind::Int32, 4, 4};
        case FieldType::F32:
            return {PropertyKind::Float, 4, 4};
        case FieldType::Vec3f:
            return {PropertyKind::Vector, 12, 4};
        case FieldType::Quatf:
            return {PropertyKind::Quat, 16, 4};
        case FieldType::String:
            return {PropertyKind::String, sizeof(std::string), alignof(std::string)};
        case FieldType::ObjectRef:
            return {PropertyKind::ObjectReference, sizeof(ObjectHandle), alignof(ObjectHandle)};
    }
    return {PropertyKind::UInt8, 1, 1};
}

[[nodiscard]] Property make_property(const FieldInfo& info, const std::string& name,
                                     std::uint32_t offset) {
    switch (info.type) {
        case FieldType::String:
            return string_property<std::string>(name, offset);
        case FieldType::ObjectRef:
            return handle_property(name, offset);
        default:
            return plain_property(name, memory_form(info.type).kind, offset);
    }
}

[[nodiscard]] Quantisation quantisation_of(FieldType type) noexcept {
    switch (type) {
        case FieldType::Vec3f:
            return Quantisation::hundredth();
        case FieldType::Quatf:
            return Quantisation::smallest_three();
        default:
            return {};
    }
}

[[nodiscard]] std::string lower(std::string_view text) {
    std::string result(text);
    for (char& letter : result) {
        letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    return result;
}

/// As games call it; of several that of what it inherits from comes last.
[[nodiscard]] std::optional<std::size_t> find_position(const ClassInfo& info) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < info.fields.size(); ++i) {
        const std::string name = lower(info.fields[i].name);
        const std::string last = name.substr(name.rfind('.') + 1);
        const bool is_position =
            last == "position" || last == "origin" || last == "location" || last == "m_vecorigin";
        if (is_position && info.fields[i].type == FieldType::Vec3f) {
            found = i;
        }
    }
    return found;
}

/// A player's pawn: Player, CTFPlayer, Archetypes.Car.Car_Default.
[[nodiscard]] bool is_player(std::string_view class_name) {
    const std::string name = lower(class_name);
    return name.find("player") != std::string::npos || name.find("car_") != std::string::npos;
}

[[nodiscard]] std::uint32_t align_up(std::uint32_t offset, std::uint32_t alignment) noexcept {
    return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace

Result<std::unique_ptr<MatchSchema>> MatchSchema::create(std::span<const Recording> recordings,
                                                         const MatchSchemaOptions& options) {
    std::unique_ptr<MatchSchema> schema(new MatchSchema());
    std::uint64_t id_offset = 0;
    for (std::uint32_t index = 0; index < recordings.size(); ++index) {
        const Recording& recording = recordings[index];
        schema->id_offsets_.push_back(id_offset);
        schema->first_classes_.push_back(schema->classes_.size());
        id_offset += recording.object_count;
        for (std::size_t i = 0; i < recording.classes.size(); ++i) {
            const Status status =
                schema->add_class(recording, index, static_cast<std::uint16_t>(i), options);
            if (!status) {
                return status.error();
            }
        }
    }
    const Status status = schema->make_layouts();
    if (!status) {
        return status.error();
    }
    return schema;
}

Status MatchSchema::add_class(const Recording& recording, std::uint32_t recording_index,
                              std::uint16_t class_index, const MatchSchemaOptions& options) {
    const ClassInfo& info = recording.classes[class_index];
    auto match_class = std::make_unique<MatchClass>();
    match_class->recording_index = recording_index;
    match_class->class_index = class_index;
    match_class->position = find_position(info);
    match_class->is_player = match_class->position.has_value() && is_player(info.name);
    std::vector<Property> properties;
    std::set<std::string> names;
    std::uint32_t size = 0;
    for (std::uint32_t i = 0; i < info.fields.size(); ++i) {
        const FieldInfo& field = info.fields[i];
        const MemoryForm form = memory_form(field.type);
        size = align_up(size, form.alignment);
        // A recording may repeat a name or have none; a type may not.
        std::string name = field.name;
        for (std::uint32_t number = i; name.empty() || !names.insert(name).second; ++number) {
            name = field.name + "#" + std::to_string(number);
        }
        properties.push_back(make_property(field, name, size));
        properties.back().is_push_based = options.is_push_based;
        if (options.is_quantised) {
            properties.back().quantisation = quantisation_of(field.type);
        }
        match_class->fields.push_back(
            {field.type, size, i + 1, ParentIndex{static_cast<std::uint16_t>(i)}});
        size += form.size;
    }
    match_class->size = std::max(align_up(size, object_alignment), object_alignment);
    const std::string type_name =
        std::to_string(recording_index) + ":" + std::to_string(class_index) + ":" + info.name;
    DynamicTypeBuilder builder(registry_, TypeKind::Class, type_name, match_class->size,
                               object_alignment);
    for (Property& property : properties) {
        builder.property(std::move(property));
    }
    const Result<const Type*> type = builder.build();
    if (!type) {
        return type.error();
    }
    for (std::size_t i = 0; i < match_class->fields.size(); ++i) {
        const Property& property = (*type)->properties()[i];
        match_class->fields[i].quantised = property.quantisation ? &property : nullptr;
    }
    types_.push_back(*type);
    classes_.push_back(std::move(match_class));
    return {};
}

Status MatchSchema::make_layouts() {
    const Status status = registry_.freeze();
    if (!status) {
        return status;
    }
    for (std::size_t i = 0; i < classes_.size(); ++i) {
        MatchClass& match_class = *classes_[i];
        MatchObject archetype(match_class);
        RepLayoutOptions options;
        options.limits.string_bytes_max = std::numeric_limits<std::uint16_t>::max();
        options.archetype = archetype.memory();
        Result<std::unique_ptr<RepLayout>> layout =
            RepLayout::create(registry_, *types_[i], options);
        if (!layout) {
            return layout.error();
        }
        match_class.layout = *std::move(layout);
        classes_by_layout_.emplace(match_class.layout.get(), &match_class);
    }
    return {};
}

const MatchClass& MatchSchema::find(std::uint32_t recording_index,
                                    std::uint16_t class_index) const noexcept {
    return *classes_[first_classes_[recording_index] + class_index];
}

const MatchClass& MatchSchema::of(const RepLayout& layout) const noexcept {
    return *classes_by_layout_.at(&layout);
}

ObjectHandle MatchSchema::target_of(const MatchClass::Field& field, std::uint32_t recording_index,
                                    std::span<const std::byte> value) const noexcept {
    if (field.type != FieldType::ObjectRef) {
        return {};
    }
    std::uint32_t id = 0;
    std::memcpy(&id, value.data(), sizeof(id));
    return server_handle(recording_index, id);
}

MatchObject::MatchObject(const MatchClass& match_class)
    : class_(match_class), bytes_(std::make_unique<std::byte[]>(match_class.size)) {
    for (const MatchClass::Field& field : class_.fields) {
        if (field.type == FieldType::String) {
            ::new (bytes_.get() + field.offset) std::string();
        } else if (field.type == FieldType::ObjectRef) {
            ::new (bytes_.get() + field.offset) ObjectHandle();
        } else if (field.quantised != nullptr) {
            const std::vector<std::byte> zero = encode_as_received(field);
            std::memcpy(bytes_.get() + field.offset, zero.data(), zero.size());
        }
    }
}

MatchObject::~MatchObject() {
    for (const MatchClass::Field& field : class_.fields) {
        if (field.type == FieldType::String) {
            std::destroy_at(
                std::launder(reinterpret_cast<std::string*>(bytes_.get() + field.offset)));
        }
    }
}

void MatchObject::set(const MatchClass::Field& field, std::span<const std::byte> value,
                      ObjectHandle target) {
    std::byte* memory = bytes_.get() + field.offset;
    switch (field.type) {
        case FieldType::String:
            std::launder(reinterpret_cast<std::string*>(memory))
                ->assign(reinterpret_cast<const char*>(value.data()), value.size());
            return;
        case FieldType::ObjectRef:
            *std::launder(reinterpret_cast<ObjectHandle*>(memory)) = target;
            return;
        default:
            // Recordings are little-endian, word by word; so is every machine this runs on.
            static_assert(std::endian::native == std::endian::little);
            std::memcpy(memory, value.data(), value.size());
            return;
    }
}

const std::string& MatchObject::text(const MatchClass::Field& field) const noexcept {
    return *std::launder(reinterpret_cast<const std::string*>(this->field(field)));
}

ObjectHandle MatchObject::reference(const MatchClass::Field& field) const noexcept {
    return *std::launder(reinterpret_cast<const ObjectHandle*>(this->field(field)));
}

Vector3 MatchObject::position() const noexcept {
    Vector3 value;
    static_assert(sizeof(value) == 12);
    std::memcpy(&value, field(class_.fields[*class_.position]), sizeof(value));
    return value;
}

std::vector<std::byte> MatchObject::encode(const MatchClass::Field& field) const {
    if (field.type == FieldType::String) {
        const auto bytes = std::as_bytes(std::span(text(field)));
        return {bytes.begin(), bytes.end()};
    }
    const std::byte* bytes = this->field(field);
    return {bytes, bytes + memory_form(field.type).size};
}

std::vector<std::byte> MatchObject::encode_as_received(const MatchClass::Field& field) const {
    std::vector<std::byte> bytes = encode(field);
    if (field.quantised != nullptr) {
        dequantise(*field.quantised, quantise(*field.quantised, bytes.data()), bytes.data());
    }
    return bytes;
}

MatchObject& MatchWorld::add(ObjectHandle handle, const MatchClass& match_class) {
    auto& slot = objects_[handle.value];
    slot = std::make_unique<MatchObject>(match_class);
    return *slot;
}

void MatchWorld::remove(ObjectHandle handle) {
    objects_.erase(handle.value);
}

void MatchWorld::set(std::uint32_t recording_index, const Recording& recording, const Op& op) {
    MatchObject& object = *find(schema_.server_handle(recording_index, op.object));
    const MatchClass::Field& field = object.match_class().fields[op.class_or_field];
    const auto value = recording.value(op);
    object.set(field, value, schema_.target_of(field, recording_index, value));
}

MatchObject* MatchWorld::find(ObjectHandle handle) const noexcept {
    const auto found = objects_.find(handle.value);
    return found == objects_.end() ? nullptr : found->second.get();
}

std::uint64_t MatchWorld::bytes_to_send() const noexcept {
    // A text has a length of three bytes at most, a reference an id of five.
    constexpr std::uint64_t open_bytes = 64;
    constexpr std::uint64_t head_bytes = 5;
    std::uint64_t bytes = 0;
    for (const auto& [handle, object] : objects_) {
        const MatchClass& match_class = object->match_class();
        bytes += open_bytes + match_class.size + head_bytes * match_class.fields.size();
        for (const MatchClass::Field& field : match_class.fields) {
            bytes += field.type == FieldType::String ? object->text(field).size() : 0;
        }
    }
    return bytes;
}

void* MatchWorld::object_memory(ObjectHandle object) {
    if (object.value >= other_handles) {
        return other_->object_memory(object);
    }
    return objects_.at(object.value)->memory();
}

ObjectHandle MatchWorld::spawn(const SpawnInfo& info) {
    const ObjectHandle handle{++last_spawned_};
    add(handle, schema_.of(info.layout));
    return handle;
}

void MatchWorld::despawn(ObjectHandle object, ChannelCloseReason) {
    remove(object);
}

void MatchWorld::peer_joined(PeerId peer) {
    if (other_ != nullptr) {
        other_->peer_joined(peer);
    }
}

void MatchWorld::peer_left(PeerId peer, CloseReason reason) {
    if (other_ != nullptr) {
        other_->peer_left(peer, reason);
    }
}

}  // namespace replayout::match

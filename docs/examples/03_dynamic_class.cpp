// SPDX-License-Identifier: MIT
//
// The dynamic door: a class that no C++ type stands behind. Its fields come from a script, so their
// names, kinds and offsets are known only at run time, and its objects are plain memory.
#include <replayout/changelist_state.h>
#include <replayout/receive_properties.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>
#include <replayout/send_properties.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

using namespace replayout;

namespace {

struct ScriptField {
    const char* name;
    PropertyKind kind;
    std::uint32_t offset;
};

constexpr std::uint32_t angle_offset = sizeof(std::string);
constexpr std::uint32_t door_bytes = angle_offset + 8;

/// An object of the script: memory with a text at its front.
class ScriptObject {
  public:
    ScriptObject() { std::construct_at(&label()); }
    ~ScriptObject() { std::destroy_at(&label()); }
    ScriptObject(const ScriptObject&) = delete;
    ScriptObject& operator=(const ScriptObject&) = delete;

    [[nodiscard]] void* at(std::uint32_t offset) { return bytes_.data() + offset; }
    [[nodiscard]] std::string& label() { return *static_cast<std::string*>(at(0)); }

  private:
    alignas(std::string) std::array<std::byte, door_bytes> bytes_{};
};

void on_rep(void*, const void*, void* field) {
    std::printf("on_rep of \"%s\"\n", static_cast<ScriptField*>(field)->name);
}

Result<const Type*> declare(TypeRegistry& registry, const char* name, std::uint32_t bytes,
                            std::vector<ScriptField>& fields) {
    DynamicTypeBuilder type(registry, TypeKind::Class, name, bytes, alignof(std::string));
    for (ScriptField& field : fields) {
        if (field.kind == PropertyKind::String) {
            type.property(string_property<std::string>(field.name, field.offset));
        } else {
            type.property(field.name, field.kind, field.offset);
        }
        type.on_rep({on_rep, &field});
    }
    return type.build();
}

struct NoReferences final : PackageMap {
    NetGUID guid_of(ObjectHandle) override { return {}; }
    ObjectHandle object_of(NetGUID) override { return {}; }
};

}  // namespace

int main() {
    // The script says: class Door { text label; float angle }
    std::vector<ScriptField> fields{{"label", PropertyKind::String, 0},
                                    {"angle", PropertyKind::Float, angle_offset}};
    TypeRegistry registry;
    const auto gate = declare(registry, "Gate", angle_offset, fields);
    std::printf("refused: %s\n", gate.error().message.c_str());
    const auto door = declare(registry, "Door", door_bytes, fields);
    ScriptObject archetype;  // what a fresh Door holds, on both ends
    RepLayoutOptions options;
    options.archetype = archetype.at(0);
    if (!door || !registry.freeze()) {
        return 1;
    }
    const auto layout = RepLayout::create(registry, **door, options);
    if (!layout) {
        return 1;
    }

    // From here on a Door is like any other class; see 01_layout.cpp.
    NoReferences ids;
    MemoryResource* memory = std::pmr::get_default_resource();
    ReplicationCounters counters;
    SendScratch send_scratch(memory);
    SendContext sending{ids, counters, send_scratch};
    std::array<std::byte, 1'200> packet{};
    BitWriter writer(packet);
    ChangeMask owed(memory);
    ScriptObject server_door;
    ChangelistState state(**layout, memory);
    server_door.label() = "Tür zum Keller";
    *static_cast<float*>(server_door.at(angle_offset)) = 90.0f;
    state.update(server_door.at(0), ids, counters);
    state.collect_owed(OwedVersions(), owed);
    if (send_properties(state, OwedVersions(), owed, writer, sending) != SendResult::Whole) {
        return 1;
    }
    ScriptObject client_door;
    ReceiveScratch receive_scratch(memory);
    ReceiveContext receiving{ids, receive_scratch};
    ReceivingRepState references(memory);
    BitReader reader(writer.bytes());
    if (!receive_properties(**layout, reader, client_door.at(0), references, receiving)) {
        return 1;
    }
    std::printf("%zu bytes: \"%s\"\n", writer.byte_count(), client_door.label().c_str());
    return 0;
}

// SPDX-License-Identifier: MIT
//
// NetSharedSerialization: what the trait does, and what it does not do alone. One struct, promised
// in three ways; its commands, and how often it is serialized for a hundred connections.
#include <replayout/changelist_state.h>
#include <replayout/net_archive.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>
#include <replayout/send_properties.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory_resource>

using namespace replayout;

namespace {

enum class Promise { Shared, Serializer, Both };

template <Promise What>
struct Hit {
    std::uint16_t damage = 0;
    std::uint8_t bone = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        ++calls;
        archive.serialize(damage);
        archive.serialize(bone);
        return true;
    }
    bool operator==(const Hit&) const = default;

    static inline int calls = 0;
};

template <Promise What>
struct Pawn {
    Hit<What> last_hit;
};

}  // namespace

template <Promise What>
struct replayout::StructTraitsOf<Hit<What>> : DefaultStructTraits {
    static constexpr bool with_net_serializer = What != Promise::Shared;
    static constexpr bool with_net_shared_serialization = What != Promise::Serializer;
};

namespace {

class NoReferences final : public PackageMap {
  public:
    NetGUID guid_of(ObjectHandle) override { return {}; }
    ObjectHandle object_of(NetGUID) override { return {}; }
};

template <Promise What>
bool show(const char* title) {
    std::printf("%s\n", title);
    TypeRegistry registry;
    const auto hit = struct_builder<Hit<What>>(registry, "Hit")
                         .template property<&Hit<What>::damage>("damage")
                         .template property<&Hit<What>::bone>("bone")
                         .build();
    const auto pawn = class_builder<Pawn<What>>(registry, "Pawn")
                          .template property<&Pawn<What>::last_hit>("last_hit")
                          .build();
    if (!hit || !pawn || !registry.freeze()) {
        return false;
    }
    const auto layout = RepLayout::create(registry, **pawn);
    if (!layout) {
        return false;
    }
    std::printf("  %u commands", (*layout)->handle_count());
    for (std::uint32_t handle = 1; handle <= (*layout)->handle_count(); ++handle) {
        const RepLayoutCmd& cmd =
            (*layout)->cmd((*layout)->cmd_of((*layout)->root(), RepHandle{handle}));
        const bool is_shared = has_flag(cmd.flags, RepLayoutCmdFlags::IsSharedSerialization);
        std::printf(", \"%s\" %s", cmd.property->name.c_str(), is_shared ? "shared" : "not shared");
    }
    std::printf("\n");
    for (const std::string& note : (*layout)->diagnostics()) {
        std::printf("  note: %s\n", note.c_str());
    }

    NoReferences ids;
    MemoryResource* memory = std::pmr::get_default_resource();
    ReplicationCounters counters;
    SendScratch scratch(memory);
    SendContext sending{ids, counters, scratch};
    sending.is_validating = false;  // it would call net_serialize once more, to compare the bits
    ChangelistState state(**layout, memory);
    std::array<std::byte, 64> packet{};
    Pawn<What> object;
    object.last_hit = {25, 3};
    state.update(&object, ids, counters);
    for (int connection = 0; connection < 100; ++connection) {
        BitWriter writer(packet);
        state.collect_owed(OwedVersions(), scratch.owed);
        if (send_properties(state, OwedVersions(), scratch.owed, writer, sending) !=
            SendResult::Whole) {
            return false;
        }
    }
    std::printf("  100 connections: net_serialize called %d times\n", Hit<What>::calls);
    return true;
}

}  // namespace

int main() {
    const bool is_shown = show<Promise::Shared>("NetSharedSerialization alone") &&
                          show<Promise::Serializer>("NetSerializer alone") &&
                          show<Promise::Both>("both");
    return is_shown ? 0 : 1;
}

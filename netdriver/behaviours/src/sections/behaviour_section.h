// SPDX-License-Identifier: MIT
//
// The section of a behaviour that serializes itself (NetworkBehaviour::on_serialize), beside its
// component in the block of its object. Who is opened the object is sent the initial section, as a
// value of condition InitialOnly; all others the sections of what changed, as calls.
//
// Sections of changes are numbered. The initial one says how many came before it, and a client
// drops those.
#pragma once

#include <replayout/net_archive.h>
#include <replayout/reflection/struct_traits.h>
#include <replayout/reflection/type_registry.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace replayout {

class NetworkWriter;

namespace detail {

class ObjectComponent;

/// Bytes of one section, which UNet's writer has at most.
inline constexpr std::size_t section_bytes_max = 32'767;

/// Their count and the bytes themselves. More than `bytes_max` are refused.
void serialize_counted_bytes(NetArchive& archive, std::vector<std::byte>& bytes,
                             std::size_t bytes_max, bool& ok);

/// A section on its way.
struct SectionParameters {
    std::uint32_t number = 0;
    /// An initial one that could not be written: what comes behind it counts all the same.
    bool is_missing = false;
    std::vector<std::byte> bytes;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok);
    friend bool operator==(const SectionParameters&, const SectionParameters&) = default;
};

/// Where the initial section of a server's object comes from. The shadow of the object shares it,
/// and may outlive the object, whose reliable calls may still be on their way.
struct SectionSource {
    ObjectComponent* component = nullptr;  ///< null: the object is gone, or was unspawned
    SectionParameters last;                ///< what the behaviour was then
};

/// What is compared and sent. On a server `source` gives it, once in each flush in which a client
/// is sent it; on a client it is what came.
struct SectionState {
    std::shared_ptr<SectionSource> source;
    SectionParameters section;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok);
    friend bool operator==(const SectionState& left, const SectionState& right) noexcept {
        return left.section.number == right.section.number;
    }
};

/// Parameters of the calls that bring a section.
struct SectionCall {
    SectionParameters section;

    friend bool operator==(const SectionCall&, const SectionCall&) = default;
};

struct BehaviourSection {
    // `component` is the one whose section it is.

    /// On a server: the initial section, written once in each flush. Its number is to be set.
    [[nodiscard]] SectionParameters& write_initial(ObjectComponent& component);
    /// on_serialize() wrote what changed, which waits to be sent.
    void changes_written(std::span<const std::byte> bytes);
    /// The object is about to be unspawned: its calls that are on their way mean it as it is now.
    void keep_last(ObjectComponent& component);
    /// The object is about to be spawned anew.
    void begin_anew(ObjectComponent& component);

    SectionState state;  ///< first: the property of the layout

    // At a server.

    SectionCall waiting;        ///< what on_serialize() said is done, and was not sent yet
    SectionParameters initial;  ///< as of this flush:
    std::uint64_t initial_flush = 0;
};

/// On a client: the behaviour reads a section. Returns a sentence for the log about its mistake, or
/// nothing.
[[nodiscard]] std::string read_section(ObjectComponent& component, const SectionParameters& section,
                                       bool initial_state);

/// For the log: the behaviour `name` could not write its section.
[[nodiscard]] std::string describe_writer(const std::string& name, const NetworkWriter& writer);

/// The structs above, for NetworkTypes.
void add_section_types(TypeRegistry& registry);

}  // namespace detail

}  // namespace replayout

// The initial one is written for each receiver anew, as a value that is shared would be kept from
// flush to flush; the bytes are there already.
template <>
struct replayout::StructTraitsOf<replayout::detail::SectionState> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

template <>
struct replayout::StructTraitsOf<replayout::detail::SectionParameters>
    : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};

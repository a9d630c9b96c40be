// SPDX-License-Identifier: MIT
//
// Flattening of a type into commands. The only place that recurses over types; their depth was
// bounded when they were registered.
#pragma once

#include <replayout/rep_layout.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace replayout {

// Handles and commands are 16 bit; one value each is kept free as a sentinel.
inline constexpr std::size_t cmd_count_max = 65'534;

// Handles inside one array: 2,048 elements of 512 leaves. A set of them is 128 KiB, which is what a
// few bytes from a peer can make a receiver touch.
inline constexpr std::uint64_t array_handles_max = 1'048'576;

/// Where in the elements of a keyed array something lies; of anything else nothing is a key.
struct KeyLocation {
    const ArrayKey* key = nullptr;
    std::uint32_t offset = 0;  ///< in the element, bytes

    [[nodiscard]] KeyLocation within(std::uint32_t inner) const noexcept {
        return {key, offset + inner};
    }
    /// The property, which lies here, is what tells the elements apart: no leaf.
    [[nodiscard]] bool is_of(const Property& property) const noexcept {
        return key != nullptr && *key && property.array_dim == 1 && is_plain(property.kind) &&
               property.size == key->size && offset == key->offset;
    }
};

class RepLayoutBuilder {
  public:
    RepLayoutBuilder(const Type& type, const RepLayoutOptions& options, MemoryResource* resource);

    [[nodiscard]] Result<std::unique_ptr<RepLayout>> build();

  private:
    /// Where the members of one struct or class are being laid down.
    struct Cursor {
        std::uint16_t scope = 0;
        std::uint32_t object_offset = 0;  ///< of the struct inside the scope's object memory
        std::uint64_t chain = 0;          ///< hash of names and kinds on the way here
        std::string path;                 ///< for messages
        bool is_in_group = false;         ///< within an atomic struct of this scope
        /// Of the array whose elements are laid down, when it is keyed: the key is no leaf.
        const ArrayKey* key = nullptr;
    };

    /// What the layout is to make of the quantisation of a property.
    [[nodiscard]] bool is_quantised(const Property& property) const noexcept {
        return property.quantisation && !options_.is_unquantised;
    }
    [[nodiscard]] std::uint64_t chain_hash(std::uint64_t chain, const Property& property,
                                           std::uint32_t array_index) const;
    void add_parents(const Type& type, std::uint32_t object_offset);
    void add_parent(const Property& property, std::uint32_t object_offset,
                    std::uint32_t array_index);
    void add_condition(LifetimeCondition condition);
    /// Notes the interval of a property with sent_within_us, and refuses one without effect.
    /// `parent` is its command: complete, and the last one so far.
    void add_sent_within(const Property& property, const RepParentCmd& parent);
    void add_property(const Property& property, const Cursor& cursor);
    void add_struct(const Property& property, const Cursor& cursor);
    void add_delta_struct(const Property& property, const Cursor& cursor);
    /// The commands from `cmd_start` on are an atomic group, if there are any.
    void add_group(std::uint16_t scope, std::uint32_t handles_before, std::size_t cmd_start);
    void add_members(const Type& type, const Cursor& cursor);
    void add_leaf(const Property& property, RepLayoutCmdType type, RepLayoutCmdFlags flags,
                  const Cursor& cursor);
    void add_array(const Property& property, const Cursor& cursor);
    void check_array(const Property& property, const Cursor& cursor, std::uint16_t scope);
    [[nodiscard]] RepLayoutCmdFlags array_flags(std::size_t array_cmd) const noexcept;
    void add_return(std::uint16_t scope);

    void begin_scope(std::uint16_t scope);
    /// The second pass: all commands are there, and what lies side by side in memory is found.
    void finish_scopes();
    void lay_down_groups(RepScope& scope);
    void place_quantised(RepScope& scope);
    void diagnose(std::string message);
    void find_shared_serializers();
    void fail(ErrorCode code, const std::string& path, const char* reason);

    const Type& type_;
    RepLayoutOptions options_;
    MemoryResource* resource_;
    std::unique_ptr<RepLayout> layout_;
    Fingerprint fingerprint_;
    /// Atomic groups in the order in which they were found, which within a scope ascends.
    std::vector<std::pair<std::uint16_t, RepGroup>> groups_;  // with the scope
    Error error_;
};

/// Shadow memory that a leaf of this type takes; for a NetSerializer struct that of the struct.
struct ShadowFootprint {
    std::uint32_t size;       ///< bytes
    std::uint32_t alignment;  ///< bytes
};
[[nodiscard]] ShadowFootprint shadow_footprint(RepLayoutCmdType type, const Property& property);

/// The quantisation as the fingerprint has it.
void describe_quantisation(const Quantisation& quantisation, Fingerprint& description);

/// Builds the archetype's shadow from an object, or from a default-constructed one.
[[nodiscard]] Status make_archetype(const RepLayout& layout, const void* archetype,
                                    MemoryResource* resource, std::unique_ptr<ShadowState>& result);

}  // namespace replayout

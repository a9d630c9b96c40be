// SPDX-License-Identifier: MIT
//
// The world of a match: the classes of one or several recordings, registered through the dynamic
// door, and objects of them in plain memory. One on the server, which applies the recorded ops, and
// one at each client, which is filled by the driver.
//
// Several recordings play side by side in one world. An object is named by its recording and its id
// there; its handle on the server is id + the ids of all recordings before, so a reference can name
// an object that is not spawned yet or no longer there.
#pragma once

#include "match/recording/recording.h"

#include <replayout/netdriver/net_world.h>
#include <replayout/rep_layout.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace replayout::match {

/// A recorded class as a layout, and where its fields lie in an object.
struct MatchClass {
    struct Field {
        FieldType type = FieldType::Bool;
        std::uint32_t offset = 0;  ///< bytes
        std::uint32_t handle = 0;  ///< in the layout
        ParentIndex parent;        ///< likewise
        /// Null: it travels as it is.
        const Property* quantised = nullptr;
    };

    std::uint32_t recording_index = 0;
    std::uint16_t class_index = 0;
    std::uint32_t size = 0;  ///< bytes of an object
    std::vector<Field> fields;
    std::unique_ptr<RepLayout> layout;
    /// Of `fields`, by its name: where an object is. Nothing: it is nowhere.
    std::optional<std::size_t> position;
    bool is_player = false;  ///< by its name, and it has a position: clients look with its eyes
};

struct MatchSchemaOptions {
    bool is_push_based = false;  ///< all fields
    bool is_quantised = false;   ///< those of type vec3f, in hundredths, and quatf, smallest three
};

/// All classes of a match. Immutable; shared by server and clients.
class MatchSchema {
  public:
    [[nodiscard]] static Result<std::unique_ptr<MatchSchema>> create(
        std::span<const Recording> recordings, const MatchSchemaOptions& options = {});

    [[nodiscard]] const MatchClass& find(std::uint32_t recording_index,
                                         std::uint16_t class_index) const noexcept;
    [[nodiscard]] const MatchClass& of(const RepLayout& layout) const noexcept;
    [[nodiscard]] const std::vector<std::unique_ptr<MatchClass>>& classes() const noexcept {
        return classes_;
    }

    /// What is added to the ids of a recording to make them unique.
    [[nodiscard]] std::uint64_t id_offset(std::uint32_t recording_index) const noexcept {
        return id_offsets_[recording_index];
    }
    [[nodiscard]] ObjectHandle server_handle(std::uint32_t recording_index,
                                             std::uint32_t id) const noexcept {
        return {id == 0 ? 0 : id_offsets_[recording_index] + id};
    }
    /// Null where the field is no reference.
    [[nodiscard]] ObjectHandle target_of(const MatchClass::Field& field,
                                         std::uint32_t recording_index,
                                         std::span<const std::byte> value) const noexcept;

  private:
    MatchSchema() = default;
    [[nodiscard]] Status add_class(const Recording& recording, std::uint32_t recording_index,
                                   std::uint16_t class_index, const MatchSchemaOptions& options);
    [[nodiscard]] Status make_layouts();

    TypeRegistry registry_;
    std::vector<std::unique_ptr<MatchClass>> classes_;
    std::vector<const Type*> types_;          // beside classes_
    std::vector<std::size_t> first_classes_;  // by recording, into classes_
    std::vector<std::uint64_t> id_offsets_;   // by recording
    std::unordered_map<const RepLayout*, const MatchClass*> classes_by_layout_;
};

/// One object: memory as its class lays it out, everything zero, empty and null at first; what is
/// quantised is what zero becomes on its way.
class MatchObject {
  public:
    explicit MatchObject(const MatchClass& match_class);
    ~MatchObject();
    MatchObject(const MatchObject&) = delete;
    MatchObject& operator=(const MatchObject&) = delete;

    [[nodiscard]] const MatchClass& match_class() const noexcept { return class_; }
    [[nodiscard]] void* memory() noexcept { return bytes_.get(); }
    [[nodiscard]] const std::byte* field(const MatchClass::Field& field) const noexcept {
        return bytes_.get() + field.offset;
    }

    /// `value` as a recording has it; a reference becomes the handle that `target` is.
    void set(const MatchClass::Field& field, std::span<const std::byte> value, ObjectHandle target);

    [[nodiscard]] const std::string& text(const MatchClass::Field& field) const noexcept;
    [[nodiscard]] ObjectHandle reference(const MatchClass::Field& field) const noexcept;
    /// Of a class that has positions.
    [[nodiscard]] Vector3 position() const noexcept;

    /// The value as a recording has it (a string without its length), except for references.
    [[nodiscard]] std::vector<std::byte> encode(const MatchClass::Field& field) const;
    /// The same of the value that whoever is sent it holds then.
    [[nodiscard]] std::vector<std::byte> encode_as_received(const MatchClass::Field& field) const;

  private:
    const MatchClass& class_;
    std::unique_ptr<std::byte[]> bytes_;
};

/// Objects by handle.
class MatchWorld final : public NetWorld {
  public:
    /// From here on handles are no object's of a recording.
    static constexpr std::uint64_t other_handles = std::uint64_t{1} << 62;

    explicit MatchWorld(const MatchSchema& schema) : schema_(schema) {}

    /// Who has the objects with other handles, and is told of peers; null: nobody. It outlives
    /// this.
    void set_other(NetWorld* other) noexcept { other_ = other; }

    MatchObject& add(ObjectHandle handle, const MatchClass& match_class);
    void remove(ObjectHandle handle);
    [[nodiscard]] MatchObject* find(ObjectHandle handle) const noexcept;
    /// What an op of that kind of a recording sets, in the server's world.
    void set(std::uint32_t recording_index, const Recording& recording, const Op& op);
    [[nodiscard]] std::size_t object_count() const noexcept { return objects_.size(); }
    /// Calls visit(handle, object), in no order.
    template <typename Visitor>
    void for_each(Visitor visit) const {
        for (const auto& [handle, object] : objects_) {
            visit(ObjectHandle{handle}, *object);
        }
    }
    /// What a client is sent of all objects at most: their opens, and each value with its handle.
    [[nodiscard]] std::uint64_t bytes_to_send() const noexcept;

    // NetWorld
    [[nodiscard]] void* object_memory(ObjectHandle object) override;
    [[nodiscard]] ObjectHandle spawn(const SpawnInfo& info) override;
    void despawn(ObjectHandle object, ChannelCloseReason) override;
    void peer_joined(PeerId peer) override;
    void peer_left(PeerId peer, CloseReason reason) override;

  private:
    const MatchSchema& schema_;
    NetWorld* other_ = nullptr;
    std::unordered_map<std::uint64_t, std::unique_ptr<MatchObject>> objects_;
    std::uint64_t last_spawned_ = 0;
};

}  // namespace replayout::match

// SPDX-License-Identifier: MIT
#include "match/judge/client_judge.h"

#include <cstring>

namespace replayout::match {

namespace {

[[nodiscard]] std::string describe(const MatchObject& object, std::size_t field_index) {
    return " of class \"" + std::string(object.match_class().layout->type().name()) + "\", field " +
           std::to_string(field_index) + " (" +
           object.match_class().layout->parents()[field_index].property->name + ")";
}

}  // namespace

ServerFacts facts_of(const NetDriver& server) {
    return {[&server](ObjectHandle object) { return server.guids().find_guid(object); },
            [&server](NetGUID guid) { return server.guids().find_named(guid); },
            [&server](PeerId peer, ObjectHandle object) {
                return server.is_relevant_for(peer, server.find_object(object));
            }};
}

void ClientJudge::add_server_crc(std::uint32_t recording_index, EndStateCrc& crc) const {
    end_states_[recording_index].for_each_live(
        [&](std::uint32_t id, std::uint16_t class_index, const SetFields& fields) {
            add_server_object(recording_index, id, class_index, fields, crc);
        });
}

void ClientJudge::add_server_object(std::uint32_t recording_index, std::uint32_t id,
                                    std::uint16_t class_index, const SetFields& fields,
                                    EndStateCrc& crc) const {
    const MatchObject& object = *world_.find(schema_.server_handle(recording_index, id));
    crc.object(id, class_index);
    for (const auto& [index, set_field] : fields) {
        const MatchClass::Field& field = object.match_class().fields[index];
        const ObjectHandle reference =
            field.type == FieldType::ObjectRef ? object.reference(field) : ObjectHandle{};
        add_field(recording_index, index, field, object, reference, crc);
    }
}

ExpectedState ClientJudge::expected_of(PeerId peer) const {
    ExpectedState expected;
    EndStateCrc crc;
    for (std::uint32_t recording = 0; recording < end_states_.size(); ++recording) {
        end_states_[recording].for_each_live(
            [&](std::uint32_t id, std::uint16_t class_index, const SetFields& fields) {
                if (server_.is_relevant(peer, schema_.server_handle(recording, id))) {
                    add_server_object(recording, id, class_index, fields, crc);
                    ++expected.object_count;
                }
            });
    }
    expected.crc32 = crc.value();
    return expected;
}

void ClientJudge::add_field(std::uint32_t recording_index, std::uint16_t index,
                            const MatchClass::Field& field, const MatchObject& object,
                            ObjectHandle reference, EndStateCrc& crc) const {
    if (field.type != FieldType::ObjectRef) {
        // Of what a client holds this is the same, as compare() sees to.
        crc.field(index, field.type, object.encode_as_received(field));
        return;
    }
    const auto id = static_cast<std::uint32_t>(
        reference.is_null() ? 0 : reference.value - schema_.id_offset(recording_index));
    crc.field(index, field.type, std::as_bytes(std::span(&id, 1)));
}

const MatchObject* ClientJudge::find_twin(const Side& side, ObjectHandle server_handle,
                                          ObjectHandle& client_handle) const {
    const NetGUID guid = server_.guid_of(server_handle);
    client_handle = side.driver.guids().find_object(guid);
    return client_handle.is_null() ? nullptr : side.world.find(client_handle);
}

ObjectHandle ClientJudge::named_by(const Side& side, ObjectHandle client_handle,
                                   const MatchClass::Field& field) const {
    RepPath path;
    path.handles[0] = field.handle;
    return server_.named(side.driver.find_reference(client_handle, path));
}

std::string ClientJudge::compare(const Side& side, const MatchObject& server_object,
                                 const MatchObject& client_object,
                                 ObjectHandle client_handle) const {
    if (&server_object.match_class() != &client_object.match_class()) {
        return " is of another class";
    }
    const auto& fields = server_object.match_class().fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const MatchClass::Field& field = fields[i];
        if (field.type != FieldType::ObjectRef) {
            if (server_object.encode_as_received(field) != client_object.encode(field)) {
                return describe(server_object, i) + " has another value";
            }
            continue;
        }
        const ObjectHandle named = named_by(side, client_handle, field);
        const ObjectHandle held = client_object.reference(field);
        // What it holds must be what it names, if that is there, and null if it is not.
        const ObjectHandle expected = side.driver.guids().find_object(server_.guid_of(named));
        if (named != server_object.reference(field) || held != expected) {
            return describe(server_object, i) + " names another object";
        }
    }
    return {};
}

ClientVerdict ClientJudge::judge(const MatchWorld& client_world, const NetDriver& client,
                                 bool is_started, std::optional<PeerId> peer) const {
    ClientVerdict verdict;
    verdict.is_joined = is_started && client.state() == ConnectionState::Joined;
    if (!verdict.is_joined) {
        verdict.difference =
            is_started ? "it is not joined (" + std::string(to_string(client.close_reason())) + ")"
                       : "it never started";
        return verdict;
    }
    const Side side{client_world, client};
    EndStateCrc crc;
    EndStateCrc server_crc;
    std::size_t object_count = 0;
    const auto note = [&](std::string difference) {
        if (verdict.difference.empty()) {
            verdict.difference = std::move(difference);
        }
    };
    for (std::uint32_t recording = 0; recording < end_states_.size(); ++recording) {
        end_states_[recording].for_each_live(
            [&](std::uint32_t id, std::uint16_t class_index, const SetFields& fields) {
                const ObjectHandle server_handle = schema_.server_handle(recording, id);
                if (peer.has_value() && !server_.is_relevant(*peer, server_handle)) {
                    return;  // if the client has it all the same, it has one too many
                }
                add_server_object(recording, id, class_index, fields, server_crc);
                ObjectHandle client_handle;
                const MatchObject* object = find_twin(side, server_handle, client_handle);
                if (object == nullptr) {
                    note("object " + std::to_string(id) + " of recording " +
                         std::to_string(recording) + " is missing");
                    return;
                }
                ++object_count;
                const std::string difference =
                    compare(side, *world_.find(server_handle), *object, client_handle);
                if (!difference.empty()) {
                    note("object " + std::to_string(id) + " of recording " +
                         std::to_string(recording) + difference);
                }
                crc.object(id, object->match_class().class_index);
                for (const auto& [index, set_field] : fields) {
                    const MatchClass::Field& field = object->match_class().fields[index];
                    const ObjectHandle reference = field.type == FieldType::ObjectRef
                                                       ? named_by(side, client_handle, field)
                                                       : ObjectHandle{};
                    add_field(recording, index, field, *object, reference, crc);
                }
            });
    }
    if (object_count != client_world.object_count()) {
        note("it has " + std::to_string(client_world.object_count()) + " objects, and is to have " +
             std::to_string(object_count));
    }
    verdict.crc32 = crc.value();
    verdict.server_crc32 = server_crc.value();
    return verdict;
}

void add_server_crcs(const ClientJudge& judge, std::span<const Recording> recordings,
                     MatchResult& result) {
    EndStateCrc all;
    for (std::uint32_t index = 0; index < recordings.size(); ++index) {
        judge.add_server_crc(index, all);
        EndStateCrc own;
        judge.add_server_crc(index, own);
        result.recordings.push_back({recordings[index].name, own.value()});
    }
    result.server_crc32 = all.value();
}

}  // namespace replayout::match

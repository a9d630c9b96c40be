// SPDX-License-Identifier: MIT
//
// Compares what a client holds with what the server has: every object, every field, references by
// the object that they name, and the checksum over the fields that the recording has set. Where a
// field is quantised, the client must hold what the server's value becomes on its way, exactly.
#pragma once

#include "match/battle/match_world.h"
#include "match/judge/end_state.h"
#include "match/session/match_result.h"

#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace replayout::match {

struct ClientVerdict {
    bool is_joined = false;
    /// Over all recordings, of the objects that the client is to have: as its values give it, and
    /// as the server's do.
    std::uint32_t crc32 = 0;
    std::uint32_t server_crc32 = 0;
    std::string difference;  ///< the first one; empty: none
};

/// What a judge asks of a server: itself, where it is in this process, or what it told of itself.
struct ServerFacts {
    /// The id of an object that is there.
    std::function<NetGUID(ObjectHandle)> guid_of;
    /// The object that an id was ever given to, there or not; null: none.
    std::function<ObjectHandle(NetGUID)> named;
    /// By what the server decided: whether a client is to have the object.
    std::function<bool(PeerId, ObjectHandle)> is_relevant;
};

/// Of a driver that keeps names. It outlives the answer.
[[nodiscard]] ServerFacts facts_of(const NetDriver& server);

/// What a client is to have.
struct ExpectedState {
    std::uint32_t crc32 = 0;
    std::uint32_t object_count = 0;
};

class ClientJudge {
  public:
    /// `end_states` say what exists and which fields were ever set; values are taken from `world`.
    ClientJudge(const MatchSchema& schema, std::span<const EndState> end_states,
                const MatchWorld& world, ServerFacts server)
        : schema_(schema), end_states_(end_states), world_(world), server_(std::move(server)) {}
    ClientJudge(const MatchSchema& schema, std::span<const EndState> end_states,
                const MatchWorld& world, const NetDriver& server)
        : ClientJudge(schema, end_states, world, facts_of(server)) {}

    void add_server_crc(std::uint32_t recording_index, EndStateCrc& crc) const;
    [[nodiscard]] ExpectedState expected_of(PeerId peer) const;

    /// `peer`: under which the server knows the client; none: it is to have everything.
    [[nodiscard]] ClientVerdict judge(const MatchWorld& client_world, const NetDriver& client,
                                      bool is_started, std::optional<PeerId> peer) const;

  private:
    struct Side {
        const MatchWorld& world;
        const NetDriver& driver;
    };

    /// Of one object, all fields that were ever set.
    void add_server_object(std::uint32_t recording_index, std::uint32_t id,
                           std::uint16_t class_index, const SetFields& fields,
                           EndStateCrc& crc) const;
    /// The client's object that stands for a server's, or null.
    [[nodiscard]] const MatchObject* find_twin(const Side& side, ObjectHandle server_handle,
                                               ObjectHandle& client_handle) const;
    [[nodiscard]] std::string compare(const Side& side, const MatchObject& server_object,
                                      const MatchObject& client_object,
                                      ObjectHandle client_handle) const;
    /// The server's handle of what a reference at the client names.
    [[nodiscard]] ObjectHandle named_by(const Side& side, ObjectHandle client_handle,
                                        const MatchClass::Field& field) const;
    void add_field(std::uint32_t recording_index, std::uint16_t index,
                   const MatchClass::Field& field, const MatchObject& object,
                   ObjectHandle reference, EndStateCrc& crc) const;

    const MatchSchema& schema_;
    std::span<const EndState> end_states_;
    const MatchWorld& world_;
    ServerFacts server_;
};

/// Of the server, over all recordings and each by itself, into the result.
void add_server_crcs(const ClientJudge& judge, std::span<const Recording> recordings,
                     MatchResult& result);

}  // namespace replayout::match

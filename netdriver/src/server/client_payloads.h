// SPDX-License-Identifier: MIT
//
// What a client's packet may hold: calls of objects, and messages of the control channel. Lives as
// long as the packet is read.
#pragma once

#include "client_calls.h"
#include "layout_messages.h"
#include "net_connection.h"
#include "server_clients.h"
#include "server_log.h"

#include <cstddef>
#include <span>

namespace replayout {

class ClientPayloads final : public PayloadHandler {
  public:
    ClientPayloads(ServerClient& client, ClientCalls& calls, ServerLog& log) noexcept
        : client_(client), calls_(calls), log_(log) {}

    CloseReason handle_bunch(const BunchHeader& header, std::span<const std::byte> payload,
                             DecodeBudget&) override {
        return calls_.receive(client_, header, payload);
    }
    CloseReason handle_control(std::span<const std::byte> message) override {
        ClassDifference told;
        if (client_.may_tell_difference && read_layout_difference(message, told)) {
            client_.may_tell_difference = false;
            log_.closes.difference_told(client_.connection.peer(), told.class_name,
                                        to_sentence(told.difference), client_.connection.now());
            return CloseReason::None;
        }
        Hello hello;
        return read_hello(message, hello) ? CloseReason::None : CloseReason::NotAllowed;
    }
    CloseReason handle_blocks(BitReader& reader) override {
        if (reader.bits_left() != 0) {
            return CloseReason::NotAllowed;
        }
        const CloseReason reason =
            client_.due_calls.may_exist ? calls_.run(client_) : CloseReason::None;
        // Several held packets may be read in turn. Each pays for its own acks alone.
        client_.due_calls.fates_before = client_.connection.packets().sent().fate_units();
        return reason;
    }

  private:
    ServerClient& client_;
    ClientCalls& calls_;
    ServerLog& log_;
};

}  // namespace replayout

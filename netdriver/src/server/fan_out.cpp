// SPDX-License-Identifier: MIT
#include "fan_out.h"

#include "packet_builder.h"
#include "scoped_value.h"

#include <algorithm>

namespace replayout {

FanOut::FanOut(const ServerEnvironment& environment, const Parts& parts)
    : settings_(environment.settings),
      transport_(environment.transport),
      parts_(parts),
      clients_(parts.clients),
      lanes_(parts.lanes),
      changes_(parts.objects.changes),
      bundles_({parts.objects.store, changes_, parts.values.shared.unasked()}, parts.interest,
               environment.settings.config.packet_bytes_max - PacketBuilder::reserved_bytes,
               lanes_.count(), environment.memory) {}

void FanOut::lay_down() {
    changes_.find_young([this](std::size_t word) { return opening_of(word); });
    ask_shared_values();
    build_bundles();
}

void FanOut::replicate_alone(ServerClient& client, std::uint32_t initial_opens) {
    bundles_.clear();
    replicate_to(client, initial_opens);
}

void FanOut::trim() {
    bundles_.trim();
    for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
        lanes_[i].trim();
    }
}

std::uint64_t FanOut::sending_work(std::uint32_t initial_opens) const noexcept {
    if (!clients_.type_counters().empty()) {
        return 0;  // which all connections have in common
    }
    // Blocks that are copied in bundles cost a few nanoseconds each, so few that to keep their
    // packets for the driver's thread would cost more than is gained.
    constexpr std::uint64_t copies_per_object = 16;
    const bool is_transport_concurrent = transport_.is_concurrent();
    const std::uint64_t changed = changes_.has_any() ? changes_.objects.count() : 0;
    const std::uint64_t copied = is_transport_concurrent ? changed / copies_per_object : 0;
    std::uint64_t work = 0;
    std::uint32_t count = 0;
    clients_.for_each_joined([&](const ServerClient& client) {
        const bool is_joining =
            client.sender.initial_batch().state() == InitialBatch::State::Sending;
        work += client.sender.takes_bundles() ? copied : changed;
        work += is_joining ? initial_opens : 0;
        ++count;
    });
    return count > 1 ? work + 1 : 0;  // so that what is little may be split, too
}

void FanOut::replicate_in_lanes(std::uint32_t initial_opens) {
    const bool is_any_written_alone = !parts_.values.alone.is_empty();
    for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
        lanes_[i].client_numbers.clear();
        lanes_[i].transport.begin_keeping();
    }
    for (std::uint32_t number = 0; number < clients_.size(); ++number) {
        ServerClient& client = clients_[number];
        client.is_alone = client.is_joined() && is_any_written_alone &&
                          client.sender.may_send_any(parts_.values.alone, changes_.objects);
        if (client.is_joined() && !client.is_alone) {
            client.lane.client_numbers.push_back(number);
        }
    }
    const bool sends_packets_of_run =
        std::any_of(clients_.begin(), clients_.end(), [](ServerClient* client) {
            return client->sender.takes_bundles() && !client->sender.is_capped();
        });
    if (bundles_.is_built() && bundles_.has_bytes() && sends_packets_of_run) {
        bundles_.expect_lanes(lanes_.worker_count());
    }
    parts_.objects.store.set_shared(true);
    lanes_.run([&](std::uint32_t i) {
        const ScopedValue at_rest(lanes_[i].context.may_ask_game, false);
        for (const std::uint32_t number : lanes_[i].client_numbers) {
            ServerClient& client = clients_[number];
            const std::uint32_t kept = lanes_[i].transport.kept_count();
            replicate_to(client, initial_opens);
            client.kept_count = lanes_[i].transport.kept_count() - kept;
        }
        bundles_.give_back_bytes(i);
    });
    parts_.objects.store.set_shared(false);
    for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
        lanes_[i].transport.end_keeping();
    }
    for (ServerClient* client : clients_) {
        if (client->is_alone) {
            replicate_to(*client, initial_opens);
        } else {
            client->lane.transport.send_kept(client->kept_count);
        }
        client->is_alone = false;
        client->kept_count = 0;
    }
}

std::uint64_t FanOut::opening_of(std::size_t word) const noexcept {
    std::uint64_t opening = 0;
    for (const ServerClient* client : clients_) {
        opening |= client->sender.pairs().opening().word(word);
    }
    return opening;
}

void FanOut::ask_shared_values() {
    if (!parts_.values.shared.has_objects()) {
        return;
    }
    parts_.values.shared.note(changes_);
    const auto shown_of = [&](std::size_t word, std::uint64_t objects) {
        std::uint64_t shown = 0;
        for (const ServerClient* client : clients_) {
            if ((objects & ~shown) == 0) {
                break;
            }
            if (client->is_joined()) {
                const PairVisibility& resting = client->sender.dormancy();
                shown |= ~(resting.dormant.word(word) | resting.irrelevant.word(word));
            }
        }
        return shown;
    };
    parts_.values.shared.ask(parts_.objects.store, lanes_[0].context, clients_.type_counters(),
                             shown_of);
}

void FanOut::build_bundles() {
    bundles_.thin_old_runs([this](const BundleRun& run, std::span<std::uint64_t> held) {
        for (const ServerClient* client : clients_) {
            client->connection.packets().sent().mark_held(run, held);
        }
    });
    const auto is_taker = [](const ServerClient* client) {
        return client->is_joined() && client->sender.takes_bundles();
    };
    const auto is_capped_taker = [&](const ServerClient* client) {
        return client->sender.is_capped() && is_taker(client);
    };
    if (std::all_of(clients_.begin(), clients_.end(),
                    [](const ServerClient* client) { return client->is_replay; })) {
        bundles_.give_back();
        return;
    }
    if (!changes_.has_any() || std::none_of(clients_.begin(), clients_.end(), is_taker)) {
        bundles_.clear();
        return;
    }
    using Contents = ServerBundles::Contents;
    Contents contents = Contents::Bytes;
    if (settings_.sharing != SharingLevel::Bundles) {
        contents = std::any_of(clients_.begin(), clients_.end(), is_capped_taker)
                       ? Contents::Measured
                       : Contents::Objects;
    }
    // What is counted by type all lanes have in common.
    const bool may_split = lanes_.count() > 1 && clients_.type_counters().empty() &&
                           !changes_.objects.intersects(parts_.values.alone);
    if (lanes_.is_worth(may_split ? changes_.objects.count() : 0)) {
        bundles_.build_in_lanes(lanes_, contents);
    } else {
        bundles_.build(lanes_[0].context, contents, clients_.type_counters());
    }
}

void FanOut::replicate(bool is_any_joining) {
    const std::uint32_t initial_opens = is_any_joining ? parts_.batches.opens_per_client() : 0;
    for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
        lanes_[i].begin_sending();
    }
    if (lanes_.is_worth(lanes_.count() > 1 ? sending_work(initial_opens) : 0)) {
        replicate_in_lanes(initial_opens);
    } else {
        clients_.for_each_joined(
            [&](ServerClient& client) { replicate_to(client, initial_opens); });
    }
    for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
        lanes_[i].end_flush();
    }
}

void FanOut::replicate_to(ServerClient& client, std::uint32_t initial_opens) {
    parts_.notices.send(client);
    if (client.sender.send_whole_run(bundles_)) {
        return;  // most often, where much changes and little comes and goes
    }
    client.sender.begin_sending();
    parts_.batches.finish_for(client);  // before anything new is under way
    client.sender.tell_wanted();
    switch (client.sender.send_as_another(bundles_)) {
        case ReplicationSender::Copied::All:
            return;
        case ReplicationSender::Copied::Start:
            client.sender.send_rest(parts_.priorities.inputs(client));
            return;
        case ReplicationSender::Copied::Nothing:
            break;
    }
    const bool is_ready = client.sender.initial_batch().state() != InitialBatch::State::Before;
    bool has_room = client.sender.resend_opens();
    has_room = client.sender.write_first_bunches() && has_room;
    if (!has_room && !client.sender.resend_opens_with_what_is_left()) {
        client.sender.skip_objects(parts_.priorities.inputs(client));
    } else if (is_ready) {
        client.sender.process_prioritized_actors(initial_opens, bundles_,
                                                 parts_.priorities.inputs(client));
    } else {
        client.sender.decline_bundles();
    }
    client.sender.end_copy();
    client.sender.validate_pairs();
}

}  // namespace replayout

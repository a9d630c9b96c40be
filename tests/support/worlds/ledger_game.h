// SPDX-License-Identifier: MIT
//
// A game whose calls know what their object was when they were made: every member counts up, a call
// carries the counts, and the end that runs it notes what was older than that.
//
//     ArenaGame game(options, add_ledgers({}));
//     NetworkIdentity& object = game.spawn(game.types().find("Ledger"), &game.connection(0));
//     write(object.component<Ledger>(0), ++count);
//     object.component<Ledger>(0).call<&Ledger::rpc_check>(counts_of(object.component<Ledger>(0)));
#pragma once

#include <replayout/behaviours/sync_dictionary.h>
#include <replayout/behaviours/sync_list.h>
#include <replayout/behaviours/sync_set.h>
#include <replayout/reflection/type_builder.h>
#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/checks/seeded_random.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {

/// The counts of the members of a Ledger and of its Note.
struct Counts {
    std::int32_t value = 0;
    std::int32_t list = 0;
    std::int32_t book = 0;
    std::int32_t set = 0;
    std::int32_t note = 0;
};

/// Serializes itself.
class Note : public NetworkBehaviour {
  public:
    std::int32_t count = 0;

    bool on_serialize(NetworkWriter& writer, bool /*initial_state*/) override {
        writer.write_int32(count);
        return true;
    }
    bool on_deserialize(NetworkReader& reader, bool /*initial_state*/) override {
        count = reader.read_int32();
        return true;
    }
};

class Ledger : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> value;
    SyncList<std::int32_t> list;
    SyncDictionary<std::int32_t, std::int32_t> book;
    SyncSet<std::int32_t> set;

    std::vector<std::string> told;
    std::uint32_t call_count = 0;
    std::uint32_t early_count = 0;  ///< calls before its start
    std::uint32_t stale_count = 0;  ///< calls that found something older than when they were made
    bool is_started = false;
    std::function<void(Ledger&)> on_call;
    static inline std::vector<std::string> last_told;  ///< of the one that stopped last

    void on_value(std::int32_t, std::int32_t current) {
        told.push_back("hook " + std::to_string(current));
    }
    void on_start_client() override {
        is_started = true;
        told.emplace_back("start client");
    }
    void on_start_local_player() override { told.emplace_back("start local player"); }
    void on_stop_client() override {
        told.emplace_back("stop client");
        last_told = told;
    }

    void rpc_check(const Counts& counts) {
        early_count += is_started ? 0u : 1u;
        check(counts);
    }
    void target_check(const Counts& counts) { rpc_check(counts); }
    void rpc_glance(const Counts& counts) { rpc_check(counts); }
    void cmd_check(const Counts& counts) { check(counts); }
    void cmd_glance() { ++call_count; }

  private:
    void check(const Counts& counts);
};

[[nodiscard]] inline std::int32_t newest(const Ledger& ledger, char member) {
    std::int32_t count = 0;
    switch (member) {
        case 'l':
            for (const std::int32_t item : ledger.list) {
                count = std::max(count, item);
            }
            break;
        case 'b':
            for (const auto& entry : ledger.book) {
                count = std::max(count, entry.value);
            }
            break;
        default:
            for (const std::int32_t item : ledger.set) {
                count = std::max(count, item);
            }
    }
    return count;
}

[[nodiscard]] inline Counts counts_of(const Ledger& ledger) {
    const Note* note = ledger.identity().get_component<Note>();
    return {ledger.value.get(), newest(ledger, 'l'), newest(ledger, 'b'), newest(ledger, 's'),
            note == nullptr ? 0 : note->count};
}

inline void Ledger::check(const Counts& counts) {
    ++call_count;
    const Counts now = counts_of(*this);
    const bool is_stale = now.value < counts.value || now.list < counts.list ||
                          now.book < counts.book || now.set < counts.set ||
                          (counts.note > 0 && now.note < counts.note);
    stale_count += is_stale ? 1u : 0u;
    told.push_back("call " + std::to_string(now.value) + "," + std::to_string(now.list));
    if (on_call) {
        on_call(*this);
    }
}

/// Prefab "Ledger": 0 what the server decides, 1 what the owner decides, 2 a Note. `how` is of all.
[[nodiscard]] inline std::function<void(NetworkTypes&)> add_ledgers(SyncSettings how) {
    return [how](NetworkTypes& types) {
        REQUIRE(struct_builder<Counts>(types.registry(), "Counts")
                    .property<&Counts::value>()
                    .property<&Counts::list>()
                    .property<&Counts::book>()
                    .property<&Counts::set>()
                    .property<&Counts::note>()
                    .build()
                    .has_value());
        const auto ledger = BehaviourBuilder<Ledger>(types, "Ledger")
                                .sync_var<&Ledger::value, &Ledger::on_value>()
                                .sync_list<&Ledger::list>()
                                .sync_dictionary<&Ledger::book>()
                                .sync_set<&Ledger::set>()
                                .client_rpc<&Ledger::rpc_check>()
                                .client_rpc<&Ledger::rpc_glance>()
                                .unreliable()
                                .target_rpc<&Ledger::target_check>()
                                .command<&Ledger::cmd_check>()
                                .command<&Ledger::cmd_glance>()
                                .unreliable()
                                .build();
        REQUIRE(ledger.has_value());
        const auto note = BehaviourBuilder<Note>(types, "Note").custom_serialization().build();
        REQUIRE(note.has_value());
        SyncSettings owners = how;
        owners.sync_direction = SyncDirection::ClientToServer;
        const auto prefab =
            types.add_prefab("Ledger", {{*ledger, how}, {*ledger, owners}, {*note, how}});
        REQUIRE(prefab.has_value());
        const auto plain = types.add_prefab("Plain", {{*ledger, how}});
        REQUIRE(plain.has_value());
    };
}

/// Everything in it counts as far as that.
inline void write(Ledger& ledger, std::int32_t count) {
    ledger.value = count;
    (void)ledger.list.add(count);
    (void)ledger.book.set(count % 3, count);
    (void)ledger.set.add(count);
}

/// One thing of it, by chance, counts as far as that.
inline void write_some(Ledger& ledger, std::int32_t count, SeededRandom& random) {
    switch (random.below(5)) {
        case 0:
            ledger.value = count;
            break;
        case 1:
            (void)ledger.list.add(count);
            if (ledger.list.size() > 6) {
                (void)ledger.list.remove_at(0);
            }
            break;
        case 2:
            (void)ledger.book.set(static_cast<std::int32_t>(random.below(3)), count);
            break;
        case 3:
            (void)ledger.set.add(count);
            break;
        default:
            if (Note* note = ledger.identity().get_component<Note>();
                note != nullptr && ledger.identity().is_server()) {
                note->count = count;
                note->set_dirty_bit(1);
            }
    }
}

}  // namespace replayout::test

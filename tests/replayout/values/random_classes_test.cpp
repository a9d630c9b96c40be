// SPDX-License-Identifier: MIT
//
// A random game of one object of a random class (support/types/random_types.h), with everything
// that a layout may hold: keyed and fast arrays, maps and sets, custom deltas, atomic structs,
// conditions, push based properties that are marked where they were edited, and now and then for
// nothing. Receivers lose blocks and opens, get the object in parts and large values reliably,
// become owners and cease to be. Two senders run in lock step, each with an ObjectReplicator for
// each receiver: one shares and compares what is marked, the other does not share and compares
// everything.
//
//     always             both owe the same and write the same bytes; what a receiver shows was the
//                        server's (support/replication/reference_replicator.h); hooks and notifies
//                        run once an update, in their order, with the value before it
//     a pair at rest     holds what the server holds, as far as it may see it; at the end all do
//
// A failure names its seed; see support/checks/run_seed.h for how to run it alone.
#include <replayout/object_replicator.h>
#include <replayout/receive_properties.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/replication/reference_replicator.h"
#include "support/types/collection_types.h"
#include "support/types/random_class_receiver.h"
#include "support/types/random_types.h"
#include "support/types/tree_editor.h"

namespace replayout::test {
namespace {

constexpr ObjectId object_id{1};

struct Events {
    std::uint64_t blocks = 0;
    std::uint64_t losses = 0;
    std::uint64_t parts = 0;
    std::uint64_t array_parts = 0;
    std::uint64_t stops = 0;
    std::uint64_t large_values = 0;
    std::uint64_t reopens = 0;
    std::uint64_t rests = 0;
    std::uint64_t owner_changes = 0;
    std::uint64_t switches = 0;
    std::uint64_t scans = 0;  // updates of a class that can be scanned
    std::uint64_t keyed = 0;
    std::uint64_t ordered = 0;      // games with a keyed array that keeps its order
    std::uint64_t collections = 0;  // games with a map or set
    std::uint64_t notifies = 0;
};

[[nodiscard]] RandomTypesSettings draw_types(std::uint64_t seed) {
    SeededRandom random(seed * 53 + 5);
    RandomTypesSettings settings;
    settings.class_count = random.between(1, 3);
    settings.property_count_max = random.percent(70) ? 8 : 25;
    settings.depth_max = random.between(1, 3);
    settings.limits.array_count_max = random.between(4, 20);
    settings.limits.string_bytes_max = 60;
    constexpr std::uint32_t percents[] = {0, 30, 100};
    settings.push_based_percent = random.pick(percents);
    constexpr std::uint32_t keyed_percents[] = {0, 20, 50};
    settings.keyed_percent = random.pick(keyed_percents);
    constexpr std::uint32_t condition_percents[] = {0, 0, 30};
    settings.condition_percent = random.pick(condition_percents);
    return settings;
}

[[nodiscard]] TreeEditLimits edit_limits(const RandomTypesSettings& types) {
    TreeEditLimits limits;
    limits.array_count_max = types.limits.array_count_max;
    limits.string_bytes_max = types.limits.string_bytes_max;
    limits.property_bytes_max = 2'000;
    limits.large_percent = 5;
    return limits;
}

[[nodiscard]] Value read_as_held(const RawObject& object) {
    return read_object(object.type(), object.memory(),
                       [](ObjectHandle held, const HandlePath&) { return Reference{held.value}; });
}

/// One of the two senders.
struct Side {
    explicit Side(const RepLayout& layout, bool is_sharing) : sender(layout) {
        sender.is_sharing = is_sharing;
        for (std::uint64_t handle = 1; handle <= target_count; ++handle) {
            REQUIRE(sender.package_map.guid_of(ObjectHandle{handle}).value == handle);
        }
    }
    BlockSender sender;
};

class Game {
  public:
    Game(std::uint64_t seed, Events& events)
        : events_(events),
          random_(seed),
          settings_(draw_types(seed)),
          server_types_(seed, settings_),
          client_types_(seed, settings_),
          class_index_(server_types_.class_count() - 1),
          layout_(server_types_.layout(class_index_)),
          server_(server_types_.make_object(class_index_)),
          editor_(seed * 7 + 1, edit_limits(settings_),
                  [this] { return Reference{random_.below(target_count + 1)}; }),
          on_(layout_, true),
          off_(layout_, false),
          is_active_(layout_.parents().size(), true),
          loss_percent_(random_.below(60)) {
        for_each_member(layout_.type(), nullptr, [&](const Property& property, std::uint32_t) {
            properties_.push_back(&property);
        });
        REQUIRE(properties_.size() == layout_.parents().size());
        count_kinds();
        effective_ = read_as_held(*server_);
        oracle_.add_object(object_id, layout_.type(), effective_);
    }

    void play(std::uint32_t tick_count) {
        for (std::uint32_t tick = 0; tick < tick_count; ++tick) {
            // Between busy spells there are quiet ones, in which receivers can come to rest.
            const bool is_quiet = tick % 8 >= 5;
            if (!is_quiet) {
                edit();
            }
            update();
            if (receivers_.size() < 4 && random_.percent(13)) {
                join();
            }
            for (const auto& receiver : receivers_) {
                disturb(*receiver);
                resolve(*receiver, is_quiet ? 1'000 : random_.below(3));
                if (random_.percent(10)) {
                    change_owner(*receiver);  // behind losses, and before these are sent again
                }
                if (random_.percent(70)) {
                    replicate(*receiver);
                }
                check_at_rest(*receiver);
            }
        }
    }

    /// Without edits and losses everybody comes to hold everything.
    void finish() {
        join();
        loss_percent_ = 0;
        may_stop_early_ = false;
        for (const auto& receiver : receivers_) {
            for (int round = 0; round < 6; ++round) {
                resolve(*receiver, 1'000);
                replicate(*receiver);
            }
            resolve(*receiver, 1'000);
            end_update(*receiver);
            REQUIRE(receiver->is_at_rest());
            check_at_rest(*receiver);
            events_.notifies += receiver->judge.notify_count();
        }
    }

  private:
    void count_kinds() {
        bool is_ordered = false;
        bool has_collection = false;
        for (const RepLayoutCmd& cmd : layout_.cmds()) {
            const Property* property = cmd.property;
            is_ordered = is_ordered || (cmd.type == RepLayoutCmdType::KeyedArray &&
                                        property->array_key.order == ArrayOrder::Kept);
            has_collection =
                has_collection || (cmd.type == RepLayoutCmdType::NetSerializeStruct &&
                                   CollectionType::find(*property->struct_type) != nullptr);
        }
        events_.ordered += is_ordered ? 1u : 0u;
        events_.collections += has_collection ? 1u : 0u;
    }

    void join() {
        const ClientId id{++last_client_id_};
        receivers_.push_back(std::make_unique<RandomClassReceiver>(
            client_types_, class_index_, id, on_.sender.state, off_.sender.state));
        oracle_.add_client(id, "");
    }

    void edit() {
        for (const SavedValue& saved : editor_.edit(*server_, random_.below(4))) {
            mark(parent_of(saved));
        }
        if (random_.percent(20)) {
            mark(ParentIndex{static_cast<std::uint16_t>(
                random_.below(static_cast<std::uint32_t>(properties_.size())))});
        }
        if (random_.percent(10)) {
            switch_custom();
        }
    }

    /// The parent with the slot of that number, which is replicated.
    [[nodiscard]] ParentIndex parent_of(const SavedValue& saved) const {
        std::uint32_t slot = 0;
        std::uint16_t parent = 0;
        std::optional<ParentIndex> found;
        for_each_slot(layout_.type(), 0, [&](const Property& property, std::uint32_t) {
            if (slot++ == saved.slot) {
                found = ParentIndex{parent};
            }
            parent = static_cast<std::uint16_t>(parent + (property.is_replicated ? 1 : 0));
        });
        return *found;
    }

    void mark(ParentIndex parent) { on_.sender.state.mark_dirty(parent); }

    void switch_custom() {
        const std::uint32_t parent = random_.below(static_cast<std::uint32_t>(properties_.size()));
        if (properties_[parent]->condition != LifetimeCondition::Custom) {
            return;
        }
        is_active_[parent] = !is_active_[parent];
        ++events_.switches;
        for (Side* side : {&on_, &off_}) {
            side->sender.state.set_active(ParentIndex{static_cast<std::uint16_t>(parent)},
                                          is_active_[parent]);
        }
    }

    void update() {
        off_.sender.state.mark_all_dirty();
        const bool is_changed = scan_and_update();
        REQUIRE(off_.sender.update(server_->memory()) == is_changed);
        REQUIRE(on_.sender.state.version() == off_.sender.state.version());
        // What is switched off is compared once more, and then stays what it was.
        const Value now = read_as_held(*server_);
        for (std::size_t parent = 0; parent < properties_.size(); ++parent) {
            if (is_active_[parent] || was_active_.empty() || was_active_[parent]) {
                std::get<Record>(effective_.content).parts[parent] =
                    std::get<Record>(now.content).parts[parent];
            }
        }
        was_active_ = is_active_;
        oracle_.set_state(object_id, effective_);
    }

    /// As a server does, which calls update() only where a look does not tell.
    [[nodiscard]] bool scan_and_update() {
        const ScannedObject scanned = on_.sender.state.scanned();
        const void* const memory = server_->memory();
        if (scanned.plan == nullptr) {
            return on_.sender.update(memory);
        }
        ++events_.scans;
        return find_changed(&scanned, &memory, 1).changed != 0 &&
               on_.sender.state.update_changed(memory, on_.sender.package_map, on_.sender.counters);
    }

    // What a receiver shows.

    class View final : public ClientView {
      public:
        explicit View(Object object) : object_(std::move(object)) {}
        [[nodiscard]] std::vector<Object> objects(std::vector<std::string>&) const override {
            return {object_};
        }

      private:
        Object object_;
    };

    [[nodiscard]] Value shown(const RandomClassReceiver& receiver) const {
        const NameReference name = [&](ObjectHandle held, const HandlePath& path) {
            if (!held.is_null()) {
                REQUIRE(receiver.is_present[held.value]);
                return Reference{held.value};
            }
            if (is_in_keyed_array(path)) {
                return Reference{Reference::unknown_id};
            }
            RepPath rep_path;
            std::copy(path.begin(), path.end(), rep_path.handles.begin());
            return Reference{receiver.end->state.find_reference(rep_path).value};
        };
        return read_object(receiver.object->type(), receiver.object->memory(), name);
    }

    void observe(const RandomClassReceiver& receiver) {
        const View view({object_id, std::string(layout_.type().name()), shown(receiver)});
        REQUIRE(oracle_.observe(receiver.client_id, view) == "");
    }

    [[nodiscard]] static bool is_hidden(const Property& property,
                                        const RandomClassReceiver& receiver) {
        switch (property.condition) {
            case LifetimeCondition::InitialOnly:
                return true;  // what it was when the receiver was opened
            case LifetimeCondition::OwnerOnly:
            case LifetimeCondition::InitialOrOwner:
            case LifetimeCondition::ReplayOrOwner:
                return !receiver.is_owner;
            case LifetimeCondition::AutonomousOnly:
            case LifetimeCondition::ReplayOnly:
            case LifetimeCondition::Never:
                return true;  // all receivers simulate, and none is a replay
            case LifetimeCondition::SkipOwner:
                return receiver.is_owner;
            default:
                return false;
        }
    }

    void check_at_rest(RandomClassReceiver& receiver) {
        if (!receiver.is_at_rest()) {
            return;
        }
        ++events_.rests;
        REQUIRE(receiver.replicators[0].shadow().is_exact());
        end_update(receiver);
        for (std::uint64_t target = 1; target <= target_count; ++target) {
            set_present(receiver, target, true);
        }
        const Value held = read_as_held(*receiver.object);
        for (std::size_t parent = 0; parent < properties_.size(); ++parent) {
            if (!is_hidden(*properties_[parent], receiver)) {
                const Value& holds = std::get<Record>(held.content).parts[parent];
                const Value& owed = std::get<Record>(effective_.content).parts[parent];
                INFO(properties_[parent]->name
                     << " (" << to_string(properties_[parent]->condition)
                     << (properties_[parent]->is_push_based ? ", push based" : "")
                     << ") ought to be " << to_string(owed) << ", is " << to_string(holds));
                REQUIRE(holds == owed);
            }
        }
    }

    // What happens to a receiver.

    /// Something may happen to it that has nothing to do with blocks.
    void disturb(RandomClassReceiver& receiver) {
        if (random_.percent(25)) {
            set_present(receiver, random_.between(1, target_count), random_.percent(50));
        }
        if (random_.percent(15)) {
            end_update(receiver);
        }
        if (random_.percent(5)) {
            change_owner(receiver);
        }
        if (random_.percent(3)) {
            reopen(receiver);
        }
    }

    void set_present(RandomClassReceiver& receiver, std::uint64_t target, bool is_present) {
        if (receiver.is_present[target] == is_present) {
            return;
        }
        receiver.is_present[target] = is_present;
        receiver.judge.begin(*receiver.object, *receiver.end);
        (void)receiver.end->rebind(receiver.object->memory(), NetGUID{target},
                                   is_present ? ObjectHandle{target} : ObjectHandle{});
        receiver.judge.check(*receiver.object, *receiver.end);
        observe(receiver);
    }

    void end_update(RandomClassReceiver& receiver) {
        receiver.judge.begin(*receiver.object, *receiver.end);
        ReceiveContext context = receiver.end->context();
        finish_update(layout_of_clients(), receiver.object->memory(), receiver.end->state, context);
        receiver.judge.check(*receiver.object, *receiver.end);
        observe(receiver);
    }

    void change_owner(RandomClassReceiver& receiver) {
        receiver.is_owner = !receiver.is_owner;
        ++events_.owner_changes;
        set_flags(receiver);
    }

    static void set_flags(RandomClassReceiver& receiver) {
        ReplicationFlags flags;
        flags.is_owner = receiver.is_owner;
        for (ObjectReplicator& replicator : receiver.replicators) {
            replicator.set_flags(flags);
        }
    }

    /// It makes the object anew, and what is in flight is not taken.
    void reopen(RandomClassReceiver& receiver) {
        ++events_.reopens;
        receiver.object = client_types_.make_object(class_index_);
        receiver.end = std::make_unique<BlockReceiver>(layout_of_clients());
        std::fill(std::begin(receiver.is_present), std::end(receiver.is_present), false);
        for (ObjectReplicator& replicator : receiver.replicators) {
            replicator.restart();
        }
        std::erase_if(receiver.flights,
                      [](const Flight& flight) { return flight.large_value.value != 0; });
        oracle_.remove_client(receiver.client_id);
        receiver.client_id = ClientId{++last_client_id_};
        oracle_.add_client(receiver.client_id, "");
    }

    /// The fate of the oldest packets becomes known.
    void resolve(RandomClassReceiver& receiver, std::uint64_t count) {
        for (; count > 0 && !receiver.flights.empty(); --count) {
            const Flight flight = receiver.flights.front();
            receiver.flights.pop_front();
            if (flight.large_value.value != 0) {
                receive(receiver, flight.block, false);
            }
            for (ObjectReplicator& replicator : receiver.replicators) {
                if (flight.large_value.value != 0) {
                    replicator.large_value_delivered(flight.large_value);
                } else if (flight.is_lost) {
                    replicator.packet_lost(flight.packet);
                } else {
                    replicator.packet_delivered(flight.packet);
                }
            }
        }
    }

    // What it is sent.

    [[nodiscard]] const RepLayout& layout_of_clients() const {
        return client_types_.layout(class_index_);
    }

    struct Written {
        SendResult result = SendResult::Nothing;
        const BlockFindings* findings = nullptr;
        Bytes bytes;
    };

    /// Calls `write(replicator, sender, writer)` for both, with the same outcome.
    template <typename Write>
    [[nodiscard]] Written write_by_both(RandomClassReceiver& receiver, std::size_t capacity_bytes,
                                        Write write) {
        Written written[2];
        BlockSender* const senders[] = {&on_.sender, &off_.sender};
        for (std::size_t side = 0; side < 2; ++side) {
            Bytes memory(capacity_bytes);
            BitWriter writer(memory);
            SendContext context = senders[side]->context();
            const SentBlock block = write(receiver.replicators[side], writer, context);
            written[side] = {block.result, block.findings, to_bytes(writer.bytes())};
        }
        REQUIRE(written[0].result == written[1].result);
        REQUIRE(written[0].bytes == written[1].bytes);
        return written[0];
    }

    void replicate(RandomClassReceiver& receiver) {
        PacketRoom room = random_.percent(50) ? PacketRoom::Rest : PacketRoom::Whole;
        bool is_in_parts = false;
        while (receiver.owes_any()) {
            if (is_in_parts && may_stop_early_ && random_.percent(10)) {
                ++events_.stops;  // the rest is for the next tick, or is owed anew
                return;
            }
            const std::uint64_t packet = ++receiver.last_packet;
            const std::size_t capacity_bytes = 24 + random_.below(random_.percent(25) ? 60 : 1'500);
            const Written block = write_by_both(
                receiver, capacity_bytes,
                [&](ObjectReplicator& replicator, BitWriter& writer, SendContext& context) {
                    return replicator.replicate_properties(writer, packet, context, room);
                });
            is_in_parts = block.result == SendResult::Part;
            if (is_in_parts) {
                const auto& carried = block.findings->carried;
                events_.array_parts +=
                    std::any_of(carried.begin(), carried.end(),
                                [](const LostPart& part) {
                                    return part.range.is_single() &&
                                           part.range !=
                                               RepRange::of(RepHandle{part.range.handle_begin});
                                })
                        ? 1u
                        : 0u;
            }
            if (block.result == SendResult::DoesNotFit) {
                REQUIRE(room == PacketRoom::Rest);
                room = PacketRoom::Whole;
            } else if (block.result == SendResult::ValueTooLarge) {
                send_large_value(receiver);
            } else if (block.result != SendResult::Nothing) {
                send(receiver, packet, block.bytes, is_in_parts);
            }
        }
    }

    void send_large_value(RandomClassReceiver& receiver) {
        ++events_.large_values;
        Flight flight;
        flight.large_value = receiver.replicators[0].large_value();
        const Written value = write_by_both(
            receiver, 64 * 1024,
            [&](ObjectReplicator& replicator, BitWriter& writer, SendContext& context) {
                REQUIRE(replicator.large_value() == flight.large_value);
                const std::size_t size = replicator.measure_large_value(context);
                const SentBlock sent = replicator.replicate_large_value(writer, context);
                REQUIRE(writer.byte_count() == size);
                return sent;
            });
        REQUIRE(value.result == SendResult::Whole);
        flight.block = value.bytes;
        receiver.flights.push_back(flight);
    }

    void send(RandomClassReceiver& receiver, std::uint64_t packet, const Bytes& block,
              bool more_parts_follow) {
        const bool is_lost = random_.below(100) < loss_percent_;
        receiver.flights.push_back({packet, is_lost, RepHandle{0}, {}});
        ++events_.blocks;
        events_.parts += more_parts_follow ? 1u : 0u;
        events_.losses += is_lost ? 1u : 0u;
        events_.keyed += layout_.needs_held_version() || layout_.has_delta_structs() ? 1u : 0u;
        if (!is_lost) {
            receive(receiver, block, more_parts_follow);
        }
    }

    void receive(RandomClassReceiver& receiver, const Bytes& block, bool more_parts_follow) {
        receiver.judge.begin(*receiver.object, *receiver.end);
        REQUIRE(receiver.end->receive(receiver.object->memory(), block, more_parts_follow));
        REQUIRE(receiver.end->bits_left == 0);
        receiver.judge.check(*receiver.object, *receiver.end);
        observe(receiver);
    }

    Events& events_;
    SeededRandom random_;
    RandomTypesSettings settings_;
    RandomTypes server_types_;
    RandomTypes client_types_;
    std::uint32_t class_index_;
    const RepLayout& layout_;
    std::unique_ptr<RawObject> server_;
    TreeEditor editor_;
    ReferenceReplicator oracle_;
    Side on_;
    Side off_;
    std::vector<const Property*> properties_;  // by parent
    std::vector<bool> is_active_;              // likewise
    std::vector<bool> was_active_;             // at the last compare
    Value effective_;                          // what was compared last of each property
    std::vector<std::unique_ptr<RandomClassReceiver>> receivers_;
    std::uint32_t last_client_id_ = 0;
    std::uint32_t loss_percent_;
    bool may_stop_early_ = true;
};

}  // namespace

TEST_CASE("Random game: objects of random classes arrive at all receivers, shared or not",
          "[replayout][replication_random]") {
    constexpr std::uint64_t seed_count = 400;
    const SeedRange seeds = seed_range(run_seed() * 1'000'000, seed_count);
    Events events;
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        Game game(seed, events);
        game.play(40);
        game.finish();
    }
    if (!seeds.is_default) {
        return;
    }
    CHECK(events.blocks > 10 * seed_count);
    CHECK(events.losses > 2 * seed_count);
    CHECK(events.parts > seed_count);
    CHECK(events.array_parts > seed_count / 2);
    CHECK(events.stops > seed_count / 10);
    CHECK(events.large_values > seed_count / 10);
    CHECK(events.reopens > seed_count / 2);
    CHECK(events.rests > 3 * seed_count);
    CHECK(events.owner_changes > seed_count);
    CHECK(events.switches > 20);
    CHECK(events.scans > seed_count);
    CHECK(events.keyed > 2 * seed_count);
    CHECK(events.ordered > seed_count / 10);
    CHECK(events.collections > seed_count / 4);
    CHECK(events.notifies > seed_count);
}

}  // namespace replayout::test

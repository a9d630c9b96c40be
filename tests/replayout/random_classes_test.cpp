// SPDX-License-Identifier: MIT
//
// A random game of one object of a random class (support/random_types.h), with everything that a
// layout may hold: keyed and fast arrays, custom deltas, atomic structs, conditions, push based
// properties that are marked where they were edited, and now and then for nothing. Receivers lose
// blocks and opens, get the object in parts, become owners and cease to be. Two senders run in lock
// step: one shares and compares what is marked, the other does not share and compares everything.
//
//     always             both owe the same and write the same bytes; what a receiver shows was the
//                        server's (support/reference_replicator.h); hooks and notifies run once an
//                        update, in their order, with the value before it
//     a pair at rest     holds what the server holds, as far as it may see it; at the end all do
//
// A failure names its seed; see support/run_seed.h for how to run it alone.
#include <replayout/receive_properties.h>
#include <replayout/send_properties.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/block_receiver.h"
#include "support/block_sender.h"
#include "support/catch.h"
#include "support/random_class_receiver.h"
#include "support/random_types.h"
#include "support/reference_replicator.h"
#include "support/run_seed.h"
#include "support/seeded_random.h"
#include "support/tree_editor.h"

namespace replayout::test {
namespace {

constexpr ObjectId object_id{1};

struct Events {
    std::uint64_t blocks = 0;
    std::uint64_t losses = 0;
    std::uint64_t parts = 0;
    std::uint64_t stops = 0;
    std::uint64_t reopens = 0;
    std::uint64_t rests = 0;
    std::uint64_t owner_changes = 0;
    std::uint64_t switches = 0;
    std::uint64_t keyed = 0;
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

/// One of the two senders. Its view of a receiver: DeltaStates hold what a sender made.
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
            REQUIRE(is_at_rest(*receiver));
            check_at_rest(*receiver);
            events_.notifies += receiver->judge.notify_count();
        }
    }

  private:
    void join() {
        const ClientId id{++last_client_id_};
        receivers_.push_back(
            std::make_unique<RandomClassReceiver>(client_types_, class_index_, id));
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
        const bool is_changed = on_.sender.update(server_->memory());
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

    // What a receiver shows ---------------------------------------------------------------------

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

    [[nodiscard]] bool is_at_rest(const RandomClassReceiver& receiver) const {
        return receiver.is_exact() && receiver.flights.empty() &&
               receiver.pair.sent_version == on_.sender.state.version();
    }

    void check_at_rest(RandomClassReceiver& receiver) {
        if (!is_at_rest(receiver)) {
            return;
        }
        ++events_.rests;
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

    // What happens to a receiver ----------------------------------------------------------------

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
        const LifetimeConditionSet was = receiver.conditions().passing;
        receiver.is_owner = !receiver.is_owner;
        ++events_.owner_changes;
        const LifetimeConditionSet turned_on =
            receiver.conditions().passing.without(was) & layout_.conditions();
        receiver.turned_on = receiver.turned_on | turned_on;
    }

    /// The open was lost: what came after it was dropped, and is owed anew.
    void reopen(RandomClassReceiver& receiver) {
        ++events_.reopens;
        receiver.object = client_types_.make_object(class_index_);
        receiver.end = std::make_unique<BlockReceiver>(layout_of_clients());
        std::fill(std::begin(receiver.is_present), std::end(receiver.is_present), false);
        receiver.lost_range = RepRange();
        receiver.pair.lose_everything();
        receiver.is_initial = true;
        for (DeltaStates& deltas : receiver.deltas) {
            deltas.forget();
        }
        oracle_.remove_client(receiver.client_id);
        receiver.client_id = ClientId{++last_client_id_};
        oracle_.add_client(receiver.client_id, "");
    }

    /// The fate of the oldest packets becomes known.
    void resolve(RandomClassReceiver& receiver, std::uint64_t count) {
        for (; count > 0 && !receiver.flights.empty(); --count) {
            const SentBlock flight = receiver.flights.front();
            receiver.flights.pop_front();
            receiver.in_flight.resolved();
            if (flight.is_lost) {
                receiver.widen_lost_range(flight.range);
                receiver.pair.lose(flight.versions);
                receiver.is_initial = receiver.is_initial || flight.is_initial;
            } else {
                receiver.pair.delivered();
            }
            resolve_deltas(receiver, !flight.is_lost);
        }
    }

    void resolve_deltas(RandomClassReceiver& receiver, bool is_delivered) {
        Vector<RepHandle> missed{Allocator<RepHandle>(std::pmr::get_default_resource())};
        Vector<RepHandle> missed_by_twin{missed.get_allocator()};
        receiver.deltas[0].block_resolved(is_delivered, missed);
        receiver.deltas[1].block_resolved(is_delivered, missed_by_twin);
        REQUIRE(missed == missed_by_twin);
        for (const RepHandle handle : missed) {
            const Version version = on_.sender.state.last_changed(handle);
            if (version <= receiver.pair.sent_version) {
                receiver.widen_lost_range({handle.value, handle.value + 1, 0, RepRange::no_end});
                receiver.pair.return_unsent({{version - 1, version}, {}});
            }
        }
    }

    // What it is sent ---------------------------------------------------------------------------

    [[nodiscard]] const RepLayout& layout_of_clients() const {
        return client_types_.layout(class_index_);
    }

    /// Makes both senders' sets of what is owed, which are equal. Returns whether there is
    /// anything.
    [[nodiscard]] bool collect(const RandomClassReceiver& receiver, const OwedVersions& position) {
        int side = 0;
        for (BlockSender* sender : {&on_.sender, &off_.sender}) {
            sender->state.collect_owed(position, receiver.conditions(), sender->scratch.owed);
            receiver.deltas[side++].remove_held(sender->state, sender->scratch.owed);
        }
        REQUIRE(on_.sender.scratch.owed == off_.sender.scratch.owed);
        return on_.sender.scratch.owed.any();
    }

    struct Written {
        SendResult result = SendResult::Nothing;
        RepRange range;
        RepCursor cursor;
        Bytes bytes;
    };

    /// By both, with the same outcome. `cursor` null: all in one block.
    [[nodiscard]] Written write(RandomClassReceiver& receiver, const OwedVersions& position,
                                const RepCursor* cursor, std::size_t capacity_bytes) {
        Written written[2];
        int side = 0;
        for (BlockSender* sender : {&on_.sender, &off_.sender}) {
            Bytes memory(capacity_bytes);
            BitWriter writer(memory);
            SendContext context = sender->context();
            context.delta_states = &receiver.deltas[side];
            Written& entry = written[side];
            entry.cursor = cursor != nullptr ? *cursor : RepCursor();
            const ChangeMask& owed = sender->scratch.owed;
            entry.result = cursor == nullptr
                               ? send_properties(sender->state, position, owed, writer, context)
                               : send_part(sender->state, position, owed, entry.cursor, entry.range,
                                           writer, context);
            entry.bytes = to_bytes(writer.bytes());
            if (entry.result != SendResult::DoesNotFit) {
                receiver.deltas[side].note_unchanged(sender->scratch.unchanged);
            }
            ++side;
        }
        REQUIRE(written[0].result == written[1].result);
        REQUIRE(written[0].bytes == written[1].bytes);
        REQUIRE(written[0].range == written[1].range);
        return written[0];
    }

    void replicate(RandomClassReceiver& receiver) {
        const Version version = on_.sender.state.version();
        if (!receiver.pair.owes_any(version) && receiver.turned_on.is_empty()) {
            receiver.is_initial = false;
            return;
        }
        const OwedVersions position = receiver.position(on_.sender.state);
        if (!collect(receiver, position)) {
            receiver.skip(version);
            return;
        }
        const OwedVersions from =
            on_.sender.state.conditions().block_position(receiver.conditions(), position);
        const std::size_t capacity_bytes =
            std::max<std::size_t>(24 + random_.below(random_.percent(25) ? 60 : 1'500),
                                  std::exchange(receiver.capacity_min, 0));
        const Written whole = write(receiver, from, nullptr, capacity_bytes);
        if (whole.result == SendResult::Nothing) {
            receiver.skip(version);
        } else if (whole.result == SendResult::Whole) {
            send(receiver, receiver.take_owed(version), whole.bytes, false);
        } else {
            replicate_parts(receiver, from, capacity_bytes);
        }
    }

    void replicate_parts(RandomClassReceiver& receiver, const OwedVersions& position,
                         std::size_t capacity_bytes) {
        SentBlock flight = receiver.take_owed(on_.sender.state.version());
        const ChangeMask& owed = on_.sender.scratch.owed;
        RepCursor cursor;
        while (cursor.element > 0 || owed.next(cursor.handle.value - 1) < owed.bit_count()) {
            const RepCursor before = cursor;
            const bool is_stopped = may_stop_early_ && random_.percent(10);
            Written part;
            if (!is_stopped) {
                part = write(receiver, position, &cursor, capacity_bytes);
                cursor = part.cursor;
            }
            if (part.result == SendResult::Nothing && !is_stopped) {
                return;
            }
            if (is_stopped || part.result == SendResult::ValueTooLarge) {
                // The window is full, or the value would travel on its own: the rest is owed again.
                receiver.capacity_min = is_stopped ? 0 : 64 * 1024;
                events_.stops += is_stopped ? 1u : 0u;
                receiver.widen_lost_range(
                    {before.handle.value, RepRange::no_end, 0, RepRange::no_end});
                receiver.pair.return_unsent(flight.versions);
                receiver.is_initial = receiver.is_initial || flight.is_initial;
                return;
            }
            ++events_.parts;
            flight.range = part.range;
            send(receiver, flight, part.bytes, part.result == SendResult::Part);
        }
    }

    void send(RandomClassReceiver& receiver, SentBlock flight, const Bytes& block,
              bool more_parts_follow) {
        flight.is_lost = random_.below(100) < loss_percent_;
        receiver.pair.send_part();
        receiver.in_flight.sent(flight.versions);
        receiver.deltas[0].block_sent(on_.sender.scratch.deltas);
        receiver.deltas[1].block_sent(off_.sender.scratch.deltas);
        receiver.flights.push_back(flight);
        ++events_.blocks;
        events_.losses += flight.is_lost ? 1u : 0u;
        events_.keyed += layout_.needs_held_version() || layout_.has_delta_structs() ? 1u : 0u;
        if (!flight.is_lost) {
            receiver.judge.begin(*receiver.object, *receiver.end);
            REQUIRE(receiver.end->receive(receiver.object->memory(), block, more_parts_follow));
            REQUIRE(receiver.end->bits_left == 0);
            receiver.judge.check(*receiver.object, *receiver.end);
            observe(receiver);
        }
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
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
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
    CHECK(events.stops > seed_count / 10);
    CHECK(events.reopens > seed_count / 2);
    CHECK(events.rests > 3 * seed_count);
    CHECK(events.owner_changes > seed_count);
    CHECK(events.switches > 20);
    CHECK(events.keyed > 2 * seed_count);
    CHECK(events.notifies > seed_count);
}

}  // namespace replayout::test

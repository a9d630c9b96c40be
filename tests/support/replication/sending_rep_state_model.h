// SPDX-License-Identifier: MIT
//
// A world small enough to visit every state of it: one object, one connection, one unreliable
// channel. It drives the real SendingRepState, or rules that differ from it in one place, through
// every order of events, and asks in every state whether the promises of that header hold.
//
//     server                            channel                         client
//     +---------------------------+     newest               oldest     +--------------+
//     | object   C C  <- edit     |     +------+------+-----------+     | values  A A  |
//     | shadow   C B  <- compare  | --> | p0=C | p1=B | open p0=B | --> | open?   no   |
//     | history, version          |     +------+------+-----------+     +--------------+
//     | pair: the rules on trial  | <-- one event a packet, oldest first:
//     +---------------------------+     delivered, lost, or lost though received
//
// What makes it small, and why nothing is lost by it:
//
// * One connection: history and version are shared by all connections and changed by none.
// * The client reads a packet when its event reaches the server. Only the server decides anything;
//   it knows of the client by these events alone, and packets are read in order of sending.
// * An ack that resolves several packets is several events with nothing done in between.
// * A reliable open is a flag of packets, written into the next one until one of them is delivered.
//   Closing is part of opening again. The client drops updates of a life of the channel that it has
//   not opened yet, though their packets are delivered.
// * Versions are only ever compared, so a state is the order of its versions and not their numbers.
//   canonicalize() renumbers them densely, 0 staying 0: runs of any length visit few states.
#pragma once

#include <replayout/owed_versions.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/sending_rep_state.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace replayout::model {

/// A is what the archetype holds.
enum class Value : std::uint8_t { A, B, C };

/// A set of properties: bit i is property i.
using PropertyMask = std::uint8_t;

enum class Step : std::uint8_t {
    Edit,            ///< The game writes a property; nobody sees it before the compare.
    Compare,         ///< Object against shadow; a difference makes a new version.
    Send,            ///< Everything owed goes into a packet, and the open if that is due.
    SendParts,       ///< The same in two packets, each with half of the properties.
    SendFirstPart,   ///< The same, and the window closed after the first packet.
    SendOpenAlone,   ///< The packet had room for the open only.
    Skip,            ///< Something is new, and nothing of it is owed.
    Deliver,         ///< The oldest packet arrived.
    Lose,            ///< The oldest packet did not arrive.
    LoseReceived,    ///< The oldest packet arrived, and its ack never did.
    Open,            ///< The client does not have the object, or no longer.
    ReopenSameSlot,  ///< The client kept the object, and the server kept the pair.
    ReopenNewSlot,   ///< The client kept the object; the pair is new and knows nothing.
    Hide,            ///< The condition of the last property turns false for this connection.
    Show,            ///< It turns true again.
};
inline constexpr std::size_t step_count = static_cast<std::size_t>(Step::Show) + 1;

struct Action {
    Step step = Step::Compare;
    std::uint8_t property = 0;  ///< of an Edit
    Value value = Value::A;     ///< of an Edit
};

/// What can be wrong with a state, in the order in which it is asked.
enum class Fault : std::uint8_t {
    None,
    Unsafe,    ///< A visible property of the client differs, and nothing on its way will repair it.
    Inexact,   ///< is_exact() holds, and the client does not hold the values at sent_version.
    Wasteful,  ///< Something is owed that was sent, and that nothing made owed again.
    Restless,  ///< With everything sent and delivered there is still something to do.
};

/// A set of faults: bit i is the fault of value i.
using FaultMask = std::uint8_t;
inline constexpr FaultMask all_faults = 0xFF;
[[nodiscard]] constexpr FaultMask only(Fault fault) {
    return static_cast<FaultMask>(1u << static_cast<unsigned>(fault));
}

/// What the object keeps of one property, once for all receivers: its value and the two before, and
/// the versions at which these three began.
class PropertyHistory {
  public:
    [[nodiscard]] Value value() const { return values_[0]; }
    [[nodiscard]] Version last_changed() const { return starts_[0]; }

    void change(Value value, Version version) {
        values_ = {value, values_[0], values_[1]};
        starts_ = {version, starts_[0], starts_[1]};
    }

    /// The value at `version`; nothing if that is older than what is kept.
    [[nodiscard]] std::optional<Value> value_at(Version version) const {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            if (version >= starts_[i]) {
                return values_[i];
            }
        }
        return std::nullopt;
    }

    void each_value(auto& visit) { std::for_each(values_.begin(), values_.end(), visit); }

    /// Forgets what makes no difference to who asks for version 0, for `asked`, and for versions
    /// still to come: all that sent_version can become.
    void canonicalize(Version asked) {
        for (std::size_t i = 1; i < starts_.size(); ++i) {
            if (starts_[i] != 0) {
                starts_[i] = starts_[i] > asked ? starts_[0] : std::min(asked, starts_[0]);
            }
            if (starts_[i] == starts_[i - 1]) {
                values_[i] = Value::A;
            }
        }
    }

    template <class Visitor>
    void visit(Visitor& visitor) {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            visitor.version(starts_[i]);
            visitor.number(values_[i]);
        }
    }

  private:
    std::array<Value, 3> values_ = {};
    std::array<Version, 3> starts_ = {};
};

/// `Rules` is SendingRepState with the decisions of its driver; see the test. The last of the
/// properties has a condition.
template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
class Model {
  public:
    static constexpr std::size_t property_count = PropertyCount;
    static_assert(PropertyCount >= 1 && PropertyCount <= 8);

    /// Does one step. False, and nothing done, if this state does not allow it.
    [[nodiscard]] bool apply(Action action);

    /// The first of the faults asked for that this state has.
    [[nodiscard]] Fault check(FaultMask asked) const;

    /// Gives states that behave alike the same form: versions are renumbered densely, values
    /// renamed, and what can no longer be asked for is forgotten.
    void canonicalize();

    /// Of a canonical state.
    [[nodiscard]] std::uint64_t hash();

    [[nodiscard]] Version version() const { return version_; }

    /// One line.
    [[nodiscard]] std::string describe() const;

  private:
    struct Packet {
        bool opens = false;        ///< carries the open
        bool is_former = false;    ///< belongs to the life of the channel before this one
        bool has_record = false;   ///< carries an update, whose record belongs to the pair
        PropertyMask carried = 0;  ///< the properties in the update
        PropertyMask current = 0;  ///< of these, those that did not change since
        PropertyMask fresh = 0;    ///< of these, those whose change no record covered before
        /// Unchanged since, and sent, held already or hidden at the send.
        PropertyMask covered = 0;
        std::array<Value, PropertyCount> values = {};
        SentVersions record;
        RepRange range;       ///< the part of the object that the update is
        bool widens = false;  ///< takes a lost interval along that was about another part
    };

    /// What one send takes from the pair, for one packet or for two.
    struct Update {
        PropertyMask owed = 0;
        PropertyMask fresh = 0;
        PropertyMask covered = 0;
        SentVersions record;
        bool widens = false;
    };

    static constexpr PropertyMask all_properties = (1u << PropertyCount) - 1u;

    static constexpr PropertyMask bit(std::size_t property) {
        return static_cast<PropertyMask>(1u << property);
    }
    static constexpr bool has_gap(VersionInterval left, VersionInterval right) {
        return !left.is_empty() && !right.is_empty() &&
               std::max(left.after, right.after) > std::min(left.through, right.through);
    }
    static constexpr RepHandle handle_of(std::size_t property) {
        return RepHandle{static_cast<std::uint32_t>(property) + 1};
    }
    static constexpr PropertyMask properties_in(const RepRange& range) {
        PropertyMask properties = 0;
        for (std::size_t property = 0; property < PropertyCount; ++property) {
            properties |= range.contains(handle_of(property)) ? bit(property) : PropertyMask{0};
        }
        return properties;
    }

    [[nodiscard]] bool is_visible(std::size_t property) const {
        return !is_hidden_ || property != PropertyCount - 1;
    }

    [[nodiscard]] bool has_edits() const;
    [[nodiscard]] bool owes(std::size_t property) const;
    [[nodiscard]] PropertyMask owed() const;
    [[nodiscard]] PropertyMask differing() const;
    [[nodiscard]] PropertyMask arriving() const;
    [[nodiscard]] bool is_repairing() const;
    [[nodiscard]] bool holds_values_at_sent_version() const;
    [[nodiscard]] bool is_economic() const;
    [[nodiscard]] bool comes_to_rest();
    [[nodiscard]] Model healed() const;

    bool edit(std::size_t property, Value value);
    bool compare();
    bool send(bool has_room_for_update);
    bool send_parts(bool both);
    bool skip();
    bool resolve(bool is_received, bool is_acked);
    bool open();
    bool reopen(bool keeps_pair);
    bool hide();
    bool show();

    [[nodiscard]] Update begin_update();
    [[nodiscard]] Packet packet_of(const Update& update, const RepRange& range) const;
    void push(Packet packet);
    void note_loss(const Packet& packet);
    void receive(const Packet& packet);
    void owe_everything_again();
    void excuse_everything();

    void each_value(std::size_t property, auto visit);
    void rename_values(std::size_t property);
    template <class Visitor>
    void visit(Visitor& visitor);

    // The object, and what is kept of it for all connections. The value of a history is the shadow.
    std::array<Value, PropertyCount> object_ = {};
    std::array<PropertyHistory, PropertyCount> history_ = {};
    Version version_ = 0;

    // The pair, and what its driver knows beside it.
    Rules pair_;
    RepRange lost_range_;
    Version hidden_at_ = 0;
    bool is_hidden_ = false;
    bool is_open_ = false;
    bool open_is_owed_ = false;
    bool open_is_acked_ = false;

    // The channel, oldest first; room for one packet more than the steps use, for healed().
    std::array<Packet, InFlightMax + 1> packets_ = {};
    std::size_t packet_count_ = 0;

    // The client. As long as it does not have the object: what it will create.
    std::array<Value, PropertyCount> client_ = {};
    bool client_has_open_ = false;

    // What happened, told without the rules on trial: the measure of economy.
    PropertyMask changed_ = 0;  ///< since the last send or skip
    PropertyMask settled_ = 0;  ///< whose current change a record covered, or a skip
    PropertyMask excused_ = 0;  ///< since the last send or skip: lost, shown or opened again
};

}  // namespace replayout::model

#include "support/replication/sending_rep_state_model_promises.h"
#include "support/replication/sending_rep_state_model_steps.h"

// SPDX-License-Identifier: MIT
//
// What must hold in every state of the world of sending_rep_state_model.h, and the form in which
// its states are compared and printed. A part of that header; included there.
#pragma once

#include "support/replication/sending_rep_state_model.h"

namespace replayout::model {

// The promises.

/// The visible properties whose value at the client is not the one of the shadow.
template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
PropertyMask Model<Rules, PropertyCount, InFlightMax>::differing() const {
    PropertyMask differing = 0;
    for (std::size_t property = 0; property < PropertyCount; ++property) {
        if (is_visible(property) && client_[property] != history_[property].value()) {
            differing |= bit(property);
        }
    }
    return differing;
}

/// The properties whose current change is in a packet that the client takes if all are delivered,
/// and whose loss the pair would learn of.
template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
PropertyMask Model<Rules, PropertyCount, InFlightMax>::arriving() const {
    PropertyMask arriving = 0;
    bool has_open = client_has_open_;
    for (std::size_t i = 0; i < packet_count_; ++i) {
        const Packet& packet = packets_[i];
        has_open = has_open || packet.opens;
        if (packet.has_record && packet.is_former != has_open) {
            arriving |= packet.current;
        }
    }
    return arriving;
}

/// What the world becomes when everything owed is sent and everything in flight is delivered.
template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
auto Model<Rules, PropertyCount, InFlightMax>::healed() const -> Model {
    Model model = *this;
    model.send(true);
    while (model.packet_count_ > 0) {
        model.resolve(true, true);
    }
    return model;
}

/// What differs is owed or arriving. (A world can also heal by luck, by a value sent for an older
/// change.)
template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::is_repairing() const {
    return (differing() & ~(owed() | arriving())) == 0;
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::holds_values_at_sent_version() const {
    for (std::size_t property = 0; property < PropertyCount; ++property) {
        const auto value = history_[property].value_at(pair_.sent_version);
        if (is_visible(property) && value.has_value() && client_[property] != *value) {
            return false;
        }
    }
    return true;
}

/// What newer packets carry is not owed for the loss of older ones, and the rest has a reason.
template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::is_economic() const {
    const PropertyMask owed = this->owed();
    for (const Packet& packet : packets_) {
        if ((owed & packet.fresh) != 0) {
            return false;
        }
    }
    return (owed & ~(changed_ | excused_)) == 0;
}

/// Asked of a healed world: nothing is owed any more, and the pair knows it.
template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::comes_to_rest() {
    skip();
    return owed() == 0 && !pair_.owes_any(version_) && pair_.is_exact();
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
Fault Model<Rules, PropertyCount, InFlightMax>::check(FaultMask asked) const {
    if (!is_open_) {
        return Fault::None;
    }
    const auto asks = [asked](Fault fault) { return (asked & only(fault)) != 0; };
    Model end = healed();
    if (asks(Fault::Unsafe) && (end.differing() != 0 || !is_repairing())) {
        return Fault::Unsafe;
    }
    if (asks(Fault::Inexact) && pair_.is_exact() && !holds_values_at_sent_version()) {
        return Fault::Inexact;
    }
    if (asks(Fault::Wasteful) && !is_economic()) {
        return Fault::Wasteful;
    }
    if (asks(Fault::Restless) && !end.comes_to_rest()) {
        return Fault::Restless;
    }
    return Fault::None;
}

// States as keys and as text.

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
void Model<Rules, PropertyCount, InFlightMax>::each_value(std::size_t property, auto visit) {
    visit(object_[property]);
    history_[property].each_value(visit);
    visit(client_[property]);
    for (std::size_t i = 0; i < packet_count_; ++i) {
        visit(packets_[i].values[property]);
    }
}

/// B and C differ by nothing but their names: of each property, B is what is met first.
template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
void Model<Rules, PropertyCount, InFlightMax>::rename_values(std::size_t property) {
    Value first = Value::A;
    each_value(property, [&first](Value value) { first = first == Value::A ? value : first; });
    if (first == Value::C) {
        each_value(property, [](Value& value) {
            value = value == Value::A ? Value::A : value == Value::B ? Value::C : Value::B;
        });
    }
}

namespace detail {

/// The versions that a state mentions, as bits; a canonical state and its successors stay below 64.
struct UsedVersions {
    std::uint64_t versions = 1;
    void version(Version version) {
        REPLAYOUT_ASSERT(version < 64);
        versions |= std::uint64_t{1} << version;
    }
    void number(auto) {}
};

struct Renumber {
    std::uint64_t used;
    void version(Version& version) const {
        version = static_cast<Version>(std::popcount(used & ((std::uint64_t{1} << version) - 1)));
    }
    void number(auto) const {}
};

/// Every number of a state fits a byte. Eight are mixed at a time, as splitmix64 does.
class Hash {
  public:
    void version(Version version) { number(version); }
    void number(auto value) {
        word_ = word_ << 8 | static_cast<std::uint8_t>(value);
        if (++count_ % 8 == 0) {
            mix();
        }
    }
    [[nodiscard]] std::uint64_t finish() {
        word_ = word_ << 8 | count_;
        mix();
        return hash_;
    }

  private:
    void mix() {
        hash_ ^= std::exchange(word_, 0);
        hash_ = (hash_ ^ hash_ >> 30) * 0xBF58476D1CE4E5B9u;
        hash_ = (hash_ ^ hash_ >> 27) * 0x94D049BB133111EBu;
        hash_ ^= hash_ >> 31;
    }

    std::uint64_t hash_ = 0x9E3779B97F4A7C15u;
    std::uint64_t word_ = 0;
    std::uint8_t count_ = 0;
};

}  // namespace detail

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
template <class Visitor>
void Model<Rules, PropertyCount, InFlightMax>::visit(Visitor& visitor) {
    for (std::size_t property = 0; property < PropertyCount; ++property) {
        visitor.number(object_[property]);
        history_[property].visit(visitor);
        visitor.number(client_[property]);
    }
    visitor.version(version_);
    VersionInterval lost = pair_.lost();
    visitor.version(pair_.sent_version);
    visitor.version(lost.after);
    visitor.version(lost.through);
    pair_.set_lost(lost);  // counted back from sent_version, which may be another now
    visitor.number(lost_range_.handle_begin);
    visitor.number(lost_range_.handle_end);
    visitor.number(pair_.in_flight);
    visitor.version(hidden_at_);
    visitor.number(is_hidden_ | is_open_ << 1 | open_is_owed_ << 2 | open_is_acked_ << 3 |
                   client_has_open_ << 4);
    visitor.number(packet_count_);
    for (std::size_t i = 0; i < packet_count_; ++i) {
        Packet& packet = packets_[i];
        visitor.number(packet.opens | packet.is_former << 1 | packet.has_record << 2 |
                       packet.widens << 3);
        visitor.number(packet.carried);
        visitor.number(packet.current);
        visitor.number(packet.fresh);
        visitor.number(packet.covered);
        for (const Value value : packet.values) {
            visitor.number(value);
        }
        visitor.number(packet.range.handle_begin);
        visitor.number(packet.range.handle_end);
        visitor.version(packet.record.sent.after);
        visitor.version(packet.record.sent.through);
        visitor.version(packet.record.lost.after);
        visitor.version(packet.record.lost.through);
    }
    visitor.number(changed_);
    visitor.number(settled_);
    visitor.number(excused_);
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
void Model<Rules, PropertyCount, InFlightMax>::canonicalize() {
    if (pair_.lost().is_empty()) {
        lost_range_ = {};
    }
    for (std::size_t property = 0; property < PropertyCount; ++property) {
        if (Rules::sent_version_only_grows) {
            history_[property].canonicalize(pair_.sent_version);
        }
        rename_values(property);
    }
    detail::UsedVersions used;
    visit(used);
    detail::Renumber renumber{used.versions};
    visit(renumber);
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
std::uint64_t Model<Rules, PropertyCount, InFlightMax>::hash() {
    detail::Hash hash;
    visit(hash);
    return hash.finish();
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
std::string Model<Rules, PropertyCount, InFlightMax>::describe() const {
    const auto name = [](Value value) { return static_cast<char>('A' + static_cast<int>(value)); };
    const auto interval = [](VersionInterval versions) {
        return "(" + std::to_string(versions.after) + "," + std::to_string(versions.through) + "]";
    };
    std::string shadow;
    std::string client;
    for (std::size_t property = 0; property < PropertyCount; ++property) {
        shadow += name(history_[property].value());
        client += name(client_[property]);
    }
    std::string line = "v" + std::to_string(version_) + " " + shadow +
                       " | s=" + std::to_string(pair_.sent_version) +
                       " lost=" + interval(pair_.lost());
    for (std::size_t i = 0; i < packet_count_; ++i) {
        const Packet& packet = packets_[i];
        line += packet.opens ? " [open" : " [";
        for (std::size_t property = 0; property < PropertyCount; ++property) {
            if ((packet.carried & bit(property)) != 0) {
                line += " p" + std::to_string(property) + "=" + name(packet.values[property]);
            }
        }
        if (packet.has_record) {
            line += " " + interval(packet.record.sent) + interval(packet.record.lost);
        }
        line += "]";
    }
    return line + " | client " + client + (client_has_open_ ? "" : " (not open)");
}

}  // namespace replayout::model

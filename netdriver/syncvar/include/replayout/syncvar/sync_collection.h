// SPDX-License-Identifier: MIT
//
// What SyncList, SyncDictionary and SyncSet have in common: members of a NetworkBehaviour that are
// kept the same on all clients, and travel as operations.
//
//     server                    has the items, and a number: how many operations there ever were
//     who is opened the object  is sent both, in its first block (a property of the layout)
//     who has it                is sent the operations since, with the number of the first: one
//                               call of a function of the object, encoded once for all
//
// A client drops the operations that the items it began with contain, by their numbers; the driver
// lets no call overtake the first block. So nothing is applied twice, whoever joins when, and what
// is sent does not depend on who is there. Operations are kept from one late_update() to the next,
// and only while somebody is connected. A client for whose calls there is no room any more
// (NetConfig::calls_waiting_max) holds them up for all, until it takes some or is given up; they
// are never more than the items said anew, or 1,024.
//
// Of a component of SyncMode::Owner there is no property, as nobody else may see it: its owner is
// sent the items by a call, when it becomes the owner or is shown the object, and so may be given
// them behind on_start_client().
//
// Rules. The server writes, and either end what is not spawned there; any other write is refused:
// false, a warning in the log, and nothing changed. What would be as before is no operation. There
// is room for RepLimits::array_count_max items of the prefab; one more is refused likewise. All
// items together must fit into NetConfig::bunch_bytes_max, or who joins later is not sent them. An
// item that no call can carry arrives as a default one, and that is an error in the log. Items are
// whatever a property may be, except references, which would not know when their object goes:
// keep its net_id().
//
// Callbacks run where the operations of the server arrive, and on a host when it writes; never for
// the items that a client begins with, which it finds in on_start_client(). Until its object is
// started they wait, and come just before that. An operation that cannot be, which no server of
// ours sends, is counted and logged, and the collection stays as it is until it is cleared or
// shown anew.
#pragma once

#include <replayout/netdriver/remote_function.h>
#include <replayout/reflection/error.h>
#include <replayout/reflection/member_property.h>
#include <replayout/reflection/type_builder.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace replayout::syncvar {

class NetworkBehaviour;
class NetworkIdentity;
class NetworkPrefab;
class NetworkServer;

namespace detail {

class CollectionCall;

/// The part of a collection that is sent whole, in the first block or by a call.
template <typename Item>
struct CollectionState {
    std::vector<Item> items;
    /// Operations that the items contain; wraps around.
    std::uint32_t changes_count = 0;

    friend bool operator==(const CollectionState&, const CollectionState&) = default;
};

/// Parameters of the call that brings operations.
template <typename Operation>
struct CollectionChanges {
    std::uint32_t first = 0;  ///< number of the first; the others follow
    std::vector<Operation> operations;

    friend bool operator==(const CollectionChanges&, const CollectionChanges&) = default;
};

/// Structs of the registry for one class of collections.
struct CollectionTypes {
    const Type* state = nullptr;
    const Type* changes = nullptr;
};

/// What an operation that comes later does to one that was not sent yet.
enum class OperationMerge : std::uint8_t {
    Done,    ///< it is part of that now
    Passes,  ///< the order of the two does not matter
    Stops,   ///< it does
};

/// Whether there is a reference in values of this property.
[[nodiscard]] bool has_references(const Property& property) noexcept;
/// "int32", "Hit", "array of Hit".
[[nodiscard]] std::string item_name(const Property& item);
/// That name, or with a number behind it where another type has it already.
[[nodiscard]] std::string free_name(const TypeRegistry& registry, std::string name);

}  // namespace detail

/// See the head of this file. Asserts what is wrong about arguments, such as an index.
class SyncCollection {
  public:
    SyncCollection(const SyncCollection&) = delete;
    SyncCollection& operator=(const SyncCollection&) = delete;

    /// A client's, of an object that is spawned.
    [[nodiscard]] bool is_read_only() const noexcept;
    /// Of a client: calls of the server whose operations could not be applied.
    [[nodiscard]] std::uint32_t refused_count() const noexcept { return refused_count_; }
    /// Of a server: operations that wait to be sent.
    [[nodiscard]] virtual std::size_t waiting_count() const noexcept = 0;

  protected:
    SyncCollection() = default;
    virtual ~SyncCollection() = default;

    /// False, and a warning in the log: this end may not write, or there is no room for more than
    /// `count` items.
    [[nodiscard]] bool may_write() const;
    [[nodiscard]] bool may_grow(std::size_t count) const;
    [[nodiscard]] bool has_room(std::size_t count) const noexcept;
    /// Somebody is to be sent what is written now.
    [[nodiscard]] bool is_recording() const noexcept;
    [[nodiscard]] bool may_coalesce() const noexcept { return may_coalesce_; }
    void written();
    /// A host, which is told what it writes.
    [[nodiscard]] bool tells_what_is_written() const noexcept;
    /// Callbacks of what arrived: at once, or when the object is started.
    template <typename Tell>
    void tell_received(Tell tell) {
        if (is_started()) {
            tell();
        } else {
            defer(std::move(tell));
        }
    }
    template <typename Callback, typename... Arguments>
    static void run(const Callback& callback, const Arguments&... arguments) {
        if (callback) {
            callback(arguments...);
        }
    }
    void refuse_received();
    void begin_anew() noexcept;

  private:
    friend class NetworkBehaviour;
    friend class NetworkIdentity;
    friend class NetworkPrefab;
    friend class NetworkServer;

    void bind(NetworkBehaviour& behaviour, std::uint8_t index) noexcept;
    [[nodiscard]] bool is_started() const noexcept;
    void defer(std::function<void()> callback);

    // Of a server.

    /// True: nothing waits any more. `count_max` operations in a call at most.
    [[nodiscard]] bool send_waiting(const detail::CollectionCall& call, std::size_t count_max);
    [[nodiscard]] virtual CallResult send(std::size_t first, std::size_t count,
                                          const detail::CollectionCall& call) = 0;
    [[nodiscard]] virtual CallResult send_state(const detail::CollectionCall& call) const = 0;
    /// The first `count` operations wait no more.
    virtual void forget(std::size_t count) noexcept = 0;
    /// The operation becomes one with a default item; of a dictionary, with a default key, too.
    virtual void make_blank(std::size_t operation, bool is_key_too) = 0;
    [[nodiscard]] virtual std::size_t item_count() const noexcept = 0;
    /// What waits becomes: clear, and all items anew.
    virtual void restate() = 0;

    // Of a client. `params` are of the types of CollectionTypes.

    virtual void receive(const void* params) = 0;
    virtual void receive_state(const void* params) = 0;

    /// As in the prefab; `source` is of the same class.
    virtual void reset(const SyncCollection& source) = 0;

    NetworkBehaviour* behaviour_ = nullptr;
    std::uint32_t refused_count_ = 0;
    std::uint8_t index_ = 0;
    /// Who is opened the object from now on begins with what was said last, or with what is said
    /// next, and never with a part of it: see send_waiting().
    bool may_coalesce_ = false;
};

/// The items, and the operations that wait. `Operation` has clear(), is_clear(), make_blank(),
/// merge_into(earlier) and describe().
template <typename Item, typename Operation>
class LoggedCollection : public SyncCollection {
  public:
    using value_type = Item;

    [[nodiscard]] std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(state_.items.size());
    }
    [[nodiscard]] bool empty() const noexcept { return state_.items.empty(); }
    [[nodiscard]] const std::vector<Item>& items() const noexcept { return state_.items; }
    [[nodiscard]] auto begin() const noexcept { return state_.items.begin(); }
    [[nodiscard]] auto end() const noexcept { return state_.items.end(); }
    [[nodiscard]] std::size_t waiting_count() const noexcept override {
        return log_.operations.size();
    }

    // For BehaviourBuilder.

    /// Registers what is missing. `name` is that of the collection for what it holds.
    [[nodiscard]] static Result<detail::CollectionTypes> describe(TypeRegistry& registry,
                                                                  std::string name);
    [[nodiscard]] static std::uint32_t state_offset() noexcept {
        return member_offset<LoggedCollection, &LoggedCollection::state_>();
    }

  protected:
    using State = detail::CollectionState<Item>;
    using Changes = detail::CollectionChanges<Operation>;

    [[nodiscard]] std::vector<Item>& editable() noexcept { return state_.items; }
    /// The items changed by this operation, which is made only if somebody is to be sent it.
    template <typename Make>
    void record(Make make) {
        if (!is_recording()) {
            ++state_.changes_count;
            log_.operations.clear();
        } else {
            log(make());
        }
        written();
    }
    /// Applies one of the server's, and tells of it. False: it cannot be.
    [[nodiscard]] virtual bool apply(const Operation& operation) = 0;
    /// Appends the operations that make these items out of none.
    virtual void list_items(std::vector<Operation>& operations) const = 0;

  private:
    /// How many operations are looked at for one to be merged into.
    static constexpr std::size_t merge_steps_max = 64;

    void log(Operation operation) {
        if (operation.is_clear()) {
            log_.operations.clear();  // A clear may come behind a gap.
        }
        if (!may_coalesce() || !merge(operation)) {
            ++state_.changes_count;
            log_.operations.push_back(std::move(operation));
        }
    }
    [[nodiscard]] bool merge(Operation& operation) {
        const std::size_t count = log_.operations.size();
        for (std::size_t i = count; i > count - std::min(count, merge_steps_max); --i) {
            const detail::OperationMerge merged = operation.merge_into(log_.operations[i - 1]);
            if (merged != detail::OperationMerge::Passes) {
                return merged == detail::OperationMerge::Done;
            }
        }
        return false;
    }

    [[nodiscard]] CallResult send(std::size_t first, std::size_t count,
                                  const detail::CollectionCall& call) override;
    [[nodiscard]] CallResult send_state(const detail::CollectionCall& call) const override;
    void forget(std::size_t count) noexcept override {
        log_.operations.erase(log_.operations.begin(),
                              log_.operations.begin() + static_cast<std::ptrdiff_t>(count));
    }
    void make_blank(std::size_t operation, bool is_key_too) override {
        log_.operations[operation].make_blank(is_key_too);
    }
    [[nodiscard]] std::size_t item_count() const noexcept override { return state_.items.size(); }
    void restate() override {
        log_.operations.assign(1, Operation::clear());
        list_items(log_.operations);
        state_.changes_count += static_cast<std::uint32_t>(log_.operations.size());
    }
    void receive(const void* params) override;
    void receive_state(const void* params) override { state_ = *static_cast<const State*>(params); }
    void reset(const SyncCollection& source) override {
        state_ = static_cast<const LoggedCollection&>(source).state_;
        log_.operations.clear();
        begin_anew();
    }

    State state_;
    Changes log_;
};

namespace detail {

/// A function of an object, to be called of the server.
class CollectionCall {
  public:
    virtual ~CollectionCall() = default;
    [[nodiscard]] virtual CallResult run(const void* params) const = 0;
};

}  // namespace detail

template <typename Item, typename Operation>
CallResult LoggedCollection<Item, Operation>::send(std::size_t first, std::size_t count,
                                                   const detail::CollectionCall& call) {
    const auto size = static_cast<std::uint32_t>(log_.operations.size());
    log_.first = state_.changes_count - size;
    if (count == size) {
        return call.run(&log_);
    }
    Changes part;
    part.first = log_.first + static_cast<std::uint32_t>(first);
    const auto begin = log_.operations.begin() + static_cast<std::ptrdiff_t>(first);
    part.operations.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    return call.run(&part);
}

template <typename Item, typename Operation>
CallResult LoggedCollection<Item, Operation>::send_state(const detail::CollectionCall& call) const {
    return call.run(&state_);
}

template <typename Item, typename Operation>
void LoggedCollection<Item, Operation>::receive(const void* params) {
    const Changes& changes = *static_cast<const Changes*>(params);
    std::uint32_t number = changes.first;
    for (const Operation& operation : changes.operations) {
        const auto ahead = static_cast<std::int32_t>(number - state_.changes_count);
        ++number;
        if (ahead < 0) {
            continue;  // The items that it began with contain it.
        }
        if (ahead > 0 && !operation.is_clear()) {
            refuse_received();
            return;
        }
        if (!apply(operation)) {
            refuse_received();
            return;
        }
        state_.changes_count = number;
    }
}

template <typename Item, typename Operation>
Result<detail::CollectionTypes> LoggedCollection<Item, Operation>::describe(TypeRegistry& registry,
                                                                            std::string name) {
    if (const Type* changes = registry.find(type_key_of<Changes>())) {
        return detail::CollectionTypes{registry.find(type_key_of<State>()), changes};
    }
    const Result<Property> items = member_property<State, &State::items>(registry, "items");
    if (!items) {
        return items.error();
    }
    if (detail::has_references(*items)) {
        return Error{ErrorCode::Unsupported, "items hold no references: keep net ids"};
    }
    // A list and a set of the same items share it.
    const Type* state = registry.find(type_key_of<State>());
    if (state == nullptr) {
        const std::string state_name = "Items<" + detail::item_name(*items->element) + ">";
        const Result<const Type*> built =
            struct_builder<State>(registry, detail::free_name(registry, state_name))
                .template property<&State::items>("items")
                .template property<&State::changes_count>("changes_count")
                .build();
        if (!built) {
            return built.error();
        }
        state = *built;
    }
    name = detail::free_name(registry, std::move(name));
    if (Status described = Operation::describe(registry, name + ".Operation"); !described) {
        return described.error();
    }
    const Result<const Type*> changes = struct_builder<Changes>(registry, name)
                                            .template property<&Changes::first>("first")
                                            .template property<&Changes::operations>("operations")
                                            .build();
    if (!changes) {
        return changes.error();
    }
    return detail::CollectionTypes{state, *changes};
}

}  // namespace replayout::syncvar

/// Items and number arrive together, whatever is lost.
template <typename Item>
struct replayout::StructTraitsOf<replayout::syncvar::detail::CollectionState<Item>>
    : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

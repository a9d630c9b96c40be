// SPDX-License-Identifier: MIT
//
// One end of a collection (sync_collection.h), a server's or a client's: whether it may be written,
// the operations that wait to be sent, those that arrived, and when callbacks run. The library
// calls it (src/sections/inside.h), and the classes of collections add all that depends on their
// items. A game sees SyncCollection.
#pragma once

#include <replayout/netdriver/calls.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace replayout {
class RepLayout;
}  // namespace replayout

namespace replayout::detail {

class ObjectComponent;

template <typename Signature>
class FunctionRef;

/// Names a function object that outlives this, which is given to a call and not kept.
template <typename Result, typename... Arguments>
class FunctionRef<Result(Arguments...)> {
  public:
    template <typename Function>
    FunctionRef(const Function& function) noexcept
        : function_(&function), call_([](const void* called, Arguments... arguments) -> Result {
              return (*static_cast<const Function*>(called))(arguments...);
          }) {}

    Result operator()(Arguments... arguments) const { return call_(function_, arguments...); }

  private:
    const void* function_;
    Result (*call_)(const void* called, Arguments... arguments);
};

/// Calls a function of an object with these parameters.
using CollectionCall = FunctionRef<CallResult(const void* params)>;
/// Operations that arrive otherwise than in a call of the object. False: these are no operations of
/// this collection.
using CollectionReader = FunctionRef<bool(void* params)>;

class CollectionEnd {
  public:
    CollectionEnd(const CollectionEnd&) = delete;
    CollectionEnd& operator=(const CollectionEnd&) = delete;

    /// This end may not write: the object is spawned, and another end decides what this is.
    [[nodiscard]] bool is_read_only() const noexcept;
    /// At a client: calls of the server that could not be, and items.
    [[nodiscard]] std::uint32_t refused_count() const noexcept { return refused_count_; }
    /// Operations that wait to be sent.
    [[nodiscard]] virtual std::size_t waiting_count() const noexcept = 0;

    // Functions that the library calls.

    /// For the log: "Bag.items", in quotes.
    [[nodiscard]] std::string name() const;
    /// It is the collection `index` of that component.
    void bind(ObjectComponent& component, std::uint8_t index) noexcept {
        component_ = &component;
        index_ = index;
    }
    /// The object is about to be spawned anew.
    void begin_anew() noexcept {
        owner_epoch_ = 0;
        next_owner_epoch_ = 0;
        refused_count_ = 0;
        may_coalesce_ = false;
        is_broken_ = false;
    }

    // At a server.

    /// True: nothing waits any longer. `count_max` operations in a call at most.
    [[nodiscard]] bool send_waiting(const CollectionCall& call, std::size_t count_max,
                                    std::size_t calls_max = ~std::size_t{0});
    [[nodiscard]] virtual CallResult send(std::size_t first, std::size_t count,
                                          const CollectionCall& call) = 0;
    [[nodiscard]] virtual CallResult send_state(const CollectionCall& call) const = 0;
    /// The same with that number.
    [[nodiscard]] virtual CallResult send_items(std::uint32_t number,
                                                const CollectionCall& call) const = 0;
    /// Clients that begin to see the object from now on are sent the items at once if they take
    /// `bytes_max` at most, else in parts.
    void update_opening(std::size_t bytes_max);
    virtual void hold_back(bool is_held_back) noexcept = 0;
    [[nodiscard]] virtual const void* item_at(std::size_t index) const noexcept = 0;
    /// Makes calls with operations that build the items from none, in parts of about `bytes_max`.
    virtual void pack(const CollectionCall& call, std::size_t bytes_max) = 0;
    /// Operations logged so far stay as they are.
    void stop_coalescing() noexcept { may_coalesce_ = false; }
    /// Sends the items to the client that owns the object from now on; with epoch 0, to the one
    /// that owns it no longer.
    [[nodiscard]] CallResult send_to_owner(std::uint32_t epoch, const CollectionCall& call) {
        // A client that is sent all of it begins here, so later operations must not join those
        // before.
        may_coalesce_ = false;
        return epoch == 0 ? send_state(call) : send_items(epoch, call);
    }
    /// The owner of that epoch still owns the object.
    [[nodiscard]] bool is_owner_epoch(std::uint32_t epoch) const noexcept;
    /// Applies operations of the owner. False: nothing was done, as they cannot be.
    [[nodiscard]] virtual bool receive_from_owner(const void* params) = 0;
    [[nodiscard]] virtual std::uint32_t epoch_of(const void* params) const noexcept = 0;
    /// The first `count` operations wait no longer.
    virtual void forget(std::size_t count) noexcept = 0;
    /// The operation becomes one with a default item; of a dictionary, with a default key, too.
    virtual void make_blank(std::size_t operation, bool is_key_too) = 0;
    [[nodiscard]] virtual std::size_t item_count() const noexcept = 0;
    /// Replaces the operations that wait by a clear and all items anew.
    virtual void restate() = 0;

    // At a client. `params` are of the types of CollectionTypes.

    virtual void receive(const void* params) = 0;
    virtual void receive_state(const void* params) = 0;
    /// The items alone, over all that waits. False: they cannot be.
    [[nodiscard]] virtual bool take_items(const void* params) = 0;
    [[nodiscard]] virtual std::uint32_t number_of(const void* params) const noexcept = 0;
    /// Of others, or of its own.
    void receive_changes(const void* params) {
        if (owner_epoch_ == 0) {  // else they are its own
            receive(params);
        }
    }
    void receive_as_owner(const void* params);
    void receive_as_last_owner(const void* params) {
        owner_epoch_ = 0;
        next_owner_epoch_ = 0;
        forget(waiting_count());
        receive_state(params);
    }
    /// It may tell the server what it does.
    [[nodiscard]] bool is_told() const noexcept;
    /// Bytes of the arrays and texts of calls that wait, whose parameters have the layout
    /// `changes`. `are_items_counted`: the items as well, because they are no property of the
    /// object.
    [[nodiscard]] virtual std::uint64_t kept_bytes(const RepLayout& changes,
                                                   bool are_items_counted) const = 0;
    /// It has no items yet: the server sends them in parts.
    [[nodiscard]] virtual bool is_partial() const noexcept = 0;
    void take_part(const CollectionReader& reader, bool is_last);
    virtual void receive_part(const CollectionReader& reader, bool is_last) = 0;
    /// The first call that waits.
    void apply_kept(bool is_telling) {
        is_telling_ = is_telling;
        apply_first_kept();
        is_telling_ = true;
    }
    virtual void apply_first_kept() = 0;
    /// The first block had the items.
    void items_received();
    [[nodiscard]] virtual bool are_items_valid() const = 0;

    /// As in the prefab; `source` is of the same class.
    virtual void reset(const CollectionEnd& source) = 0;
    /// The same. Where the first block says that the items come in parts, those of now stay until
    /// then.
    virtual void reset_and_keep(const CollectionEnd& source) = 0;
    /// The first block is there.
    virtual void end_keeping() = 0;

  protected:
    CollectionEnd() = default;
    virtual ~CollectionEnd() = default;

    /// False, and a warning in the log: this end may not write, or there is no room for more than
    /// `count` items.
    [[nodiscard]] bool may_write() const;
    [[nodiscard]] bool may_grow(std::size_t count) const;
    [[nodiscard]] bool has_room(std::size_t count) const noexcept;
    /// The same for an item that cannot be sent: it is beyond a limit of the prefab, holds text
    /// that is not UTF-8, or is a key that differs from itself (NaN).
    [[nodiscard]] bool may_hold(const void* item, bool is_like_itself = true) const;
    /// Whether any other end is to be sent the operations of now.
    [[nodiscard]] bool is_recording() const noexcept;
    [[nodiscard]] bool may_coalesce() const noexcept { return may_coalesce_; }
    void written();
    /// Whether callbacks run for writes: on a host that shows the object.
    [[nodiscard]] bool tells_what_is_written() const noexcept;
    /// Whether callbacks run for operations of the server.
    [[nodiscard]] bool tells_what_arrives() const noexcept { return is_telling_; }
    /// On a client: whether operations wait until the object is started.
    [[nodiscard]] bool must_wait() const noexcept;
    /// A call with that many operations waits.
    void note_kept(std::size_t operation_count);
    /// At a client: no callback ended the object meanwhile.
    [[nodiscard]] bool is_spawned() const noexcept;
    [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }
    void set_broken(bool is_broken) noexcept { is_broken_ = is_broken; }
    template <typename Callback, typename... Arguments>
    static void run(const Callback& callback, const Arguments&... arguments) {
        if (callback) {
            callback(arguments...);
        }
    }
    /// On a client: the ownership under which the server sent it all; 0: none.
    [[nodiscard]] std::uint32_t owner_epoch() const noexcept { return owner_epoch_; }
    void refuse_received();
    /// An operation before it is missing.
    void refuse_gap();
    /// Client: all parts of the collection have come.
    void parts_ended();
    /// Client: the collection has no items yet, so it asks for them.
    void want_parts();
    /// Bytes that an item takes in a message, estimated a little too high.
    [[nodiscard]] std::size_t item_bytes(const void* item) const;
    [[nodiscard]] std::size_t count_max() const noexcept;

  private:
    ObjectComponent* component_ = nullptr;  // null: it is a member of no component
    std::uint32_t refused_count_ = 0;
    std::uint32_t owner_epoch_ = 0;
    std::uint32_t next_owner_epoch_ = 0;  // once all parts are there
    std::uint8_t index_ = 0;
    /// A client that begins to see the object from now on begins with the last operation that was
    /// sent, or with the next one, and never with a part of one: see send_waiting().
    bool may_coalesce_ = false;
    bool is_telling_ = true;
    bool is_broken_ = false;  ///< of a client: only a clear makes sense of what comes
};

}  // namespace replayout::detail
